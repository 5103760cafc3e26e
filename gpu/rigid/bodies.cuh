// DeviceBodies: the rigid bodies of a model in backend memory, and their motion without contacts.
#pragma once

#include <limits>

#include "gpu/core/buffer.h"
#include "gpu/dfcp/problem/constraint_block.h"
#include "gpu/math/quat.h"
#include "gpu/model/model.h"
#include "gpu/rigid/stabilisation.h"

namespace stickslip {

/// Sums over all movable bodies.
struct BodySums {
  double kinetic = 0, gravity = 0;   // [J]
  Vec<double, 3> momentum{0, 0, 0};  // [kg m/s]
  Vec<double, 3> angular{0, 0, 0};   // [kg m^2/s] about the origin
};

/// The impulse of the mouse spring on one body.
struct MouseSpring {
  std::int32_t body = -1;                           // -1: none
  Vec<double, 3> impulse{0, 0, 0}, twist{0, 0, 0};  // [N s, N m s] in a step
};

/// The bodies at the start of a step, as input of constraint rows. Backend memory, one entry per body.
struct BodiesView {
  const Pose* pose;
  const Vec<double, 3>*velocity, *spin, *grain;
  const BodyInverse* inverse;
  const std::int32_t* material;
  const Pose* texture_frame;                                         // body frame
  std::int32_t textured = std::numeric_limits<std::int32_t>::max();  // bodies from here on have no texture

  /// For b < 0, a half-space or no body: the world.
  SS_HD BodyAtStep at_step(std::int32_t b) const {
    if (b < 0) return BodyAtStep::world();
    return {pose[b], velocity[b], spin[b], inverse[b]};
  }
  SS_HD Vec<double, 3> world_grain(std::int32_t b) const {
    return b < 0 ? Vec<double, 3>{0, 0, 0} : pose[b].q.rotate(grain[b]);
  }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

class DeviceBodies {
 public:
  /// Loads the bodies of a finalized model at their start.
  void load(Context& ctx, const Model& model);
  /// Updates masses after densities changed; velocities stay.
  void set_materials(Context& ctx, const Model& model);

  std::size_t size() const { return pose.size(); }
  std::size_t moving() const { return moving_; }

  BodiesView view() const {
    return {pose.data(),    velocity.data(), spin.data(),          grain.data(),
            inverse.data(), material.data(), texture_frame.data(), textured};
  }

  /// Sets velocities and spins of scripted bodies so that they reach the pose of their motion at the end of
  /// the step that starts at `time`. Computed on the host: there are few.
  void follow_motions(Context& ctx, const Model& model, double time, double dt);

  /// Sets `inverse` at the present poses, and `free`: the velocities (linear, angular) of the bodies after dt
  /// without impulses, 6 numbers each. Sleeping bodies (`asleep`, null: none) get a zero inverse.
  void predict(Context& ctx, double dt, double gravity, bool gyroscopic, const MouseSpring& spring,
               const std::uint8_t* asleep);
  /// Advances poses by `dt` with the present velocities: x + dt v, exp(dt spin) q. Sleeping bodies stay.
  /// `share`: of dt, per body; null: all of it.
  void advance(Context& ctx, double dt, const std::uint8_t* asleep, const double* share);

  /// Saves poses and velocities; restores them.
  void save(Context& ctx);
  void restore(Context& ctx);

  /// World positions [m] of all nodes of rigid objects; other nodes are unchanged.
  void place_nodes(Context& ctx, Vec3* x) const;
  /// Velocities [m/s] of these nodes.
  void node_velocities(Context& ctx, Vec3* v) const;

  /// Writes to backend memory.
  void launch_sums(Context& ctx, double gravity, BodySums* out) const;

  // One entry per body.
  Buffer<Pose> pose;
  Buffer<Vec<double, 3>> velocity, spin;  // [m/s] of the centre, [rad/s] world
  Buffer<Vec<double, 3>> inertia;         // [kg m^2] principal moments
  Buffer<double> mass;                    // [kg]; 0: immovable
  Buffer<std::uint8_t> moves;
  Buffer<std::int32_t> material;
  Buffer<Vec<double, 3>> grain;  // body frame
  Buffer<Pose> texture_frame;    // likewise
  /// Bodies from this one on have no texture, whatever their material: points of elastic solids.
  std::int32_t textured = std::numeric_limits<std::int32_t>::max();
  Buffer<BodyInverse> inverse;
  Buffer<double> free;  // 6 per body, see predict

 private:
  std::size_t moving_ = 0;
  Buffer<Pose> saved_pose_;
  Buffer<Vec<double, 3>> saved_velocity_, saved_spin_;
  std::vector<std::int32_t> scripted_;
  Buffer<std::int32_t> node_, node_body_;  // of rigid objects: node index and its body
  Buffer<Vec<double, 3>> node_rest_;       // in the body's frame
};

}  // namespace stickslip::STICKSLIP_BACKEND
