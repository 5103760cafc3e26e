// DeviceModel: a Model in backend memory, in Real. DeviceState: positions and velocities of its nodes.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/math/mat.h"
#include "gpu/model/friction_table.h"
#include "gpu/model/model.h"
#include "gpu/model/plane.h"

namespace stickslip {

/// x = linear * X + shift: a scripted motion at one instant.
struct RigidPose {
  Mat3 linear;
  Vec3 shift;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

struct DeviceModel {
  std::size_t node_count = 0, material_count = 0;
  Real diagonal = 1;        // [m] of the bounding box of all solids at the start
  Real mean_mass = 1;       // [kg] per free node
  Real mean_stiffness = 0;  // [N/m] of a node against its neighbours: E times the size of a tet
  Buffer<Vec3> rest;        // stress-free positions
  Buffer<Vec3> start;       // positions at t = 0
  Buffer<Vec3i> triangles;
  Buffer<Vec2i> edges;
  Buffer<std::int32_t> surface_nodes;
  /// [m] per node: half the thickness of a thin object, else 0. Empty without thin objects.
  Buffer<Real> radius;
  Buffer<Real> plane_radius;  // the same over half-spaces, where scale_radii changes nothing
  /// With rods, `triangles` and behind them each segment of rods and of colliders as a triangle {a, b, b}, so
  /// that points touch segments too. Empty without rods.
  Buffer<Vec3i> faces;
  Buffer<std::int32_t> node_object;
  Buffer<std::int32_t> node_material;
  Buffer<std::uint8_t> script_moves;  // per script: its motion is not static
  Buffer<std::int32_t> node_script;   // the script that acts now, into Model::scripted; -1 when free
  Buffer<std::uint8_t> scripted;      // 1 where node_script >= 0
  /// Pairs whose nodes have a bit in common never collide: bit 0 of scripted nodes, bit g of those of
  /// no_contact_group g.
  Buffer<std::uint8_t> apart;
  /// Empty unless bodies stand for rigid ones (see barrier_model.h): per node its object if that is such a
  /// body, else -1.
  Buffer<std::int32_t> node_body;
  Buffer<Vec2i> exempt_objects;  // ascending pairs of objects that never touch
  Buffer<Vec3> anchor;           // argument of a script's motion: the scripted node's position at t = 0
  Buffer<Vec3> acceleration;     // [m/s^2] of the forces that act now
  /// [kg]. Affine bodies have it at their mesh nodes and none at their control nodes; for bodies that stand
  /// for rigid ones it is the reverse. Nodes of colliders have the mean mass, which only scales penalties.
  Buffer<Real> mass;
  /// What a contact finds at a node: 1 / mass [1/kg], of a quarter of the body where it keeps its shape; and
  /// 1 / the trace of the node's block of the elastic Hessian at rest [m/N]. The latter is 0 for bodies that
  /// keep their shape, and infinite for thin objects, which bend. Scripts are not considered.
  Buffer<Real> inverse_mass, compliance;
  Buffer<Real> mu;  // of pairs, see FrictionTable
  Buffer<Plane> planes;

  FrictionTable friction() const {
    const auto columns = static_cast<std::int32_t>(material_count + planes.size());
    return {mu.data(), node_material.data(), static_cast<std::int32_t>(material_count), columns};
  }

  /// Triangles, and with rods also segments: what points and shapes touch.
  const Buffer<Vec3i>& contact_faces() const { return faces.size() > 0 ? faces : triangles; }

  void upload(Context& ctx, const Model& model);
  /// Uploads masses, friction coefficients and planes again, after materials or half-spaces changed.
  void upload_materials(Context& ctx, const Model& model);

  /// Uploads inverse_mass and compliance, for the masses of nodes [kg].
  void upload_resistance(Context& ctx, const Model& model, const std::vector<double>& masses);

  /// Radii between objects become those of the model times a factor for each object.
  void scale_radii(Context& ctx, const Model& model, const std::vector<double>& factor);

  /// Selects the scripts and forces that act in the step from `time` to `time + dt`; `x` are the positions at
  /// its start. Returns true if a script releases nodes that it held in the step before.
  bool select_acting(Context& ctx, const Model& model, double time, double dt, const Vec3* x);
  /// How often it has changed the nodes that scripts hold.
  int script_changes() const { return script_changes_; }
  /// Call after a jump in time: the anchors of all scripts are then found anew.
  void forget_acting(Context& ctx);

 private:
  void upload_bodies(Context& ctx, const Model& model);
  void upload_thin(Context& ctx, const Model& model);
  /// Sets the nodes of the scripts that act, and the anchors of nodes that a script takes over at positions
  /// x.
  void select_scripts(Context& ctx, const Model& model, const std::vector<bool>& acting, double time,
                      const Vec3* x);

  std::vector<bool> acting_scripts_, acting_forces_;
  bool selected_ = false;  // since the last jump in time
  int script_changes_ = 0;
};

struct DeviceState {
  int frame = 0;
  double time = 0;  // [s]
  Buffer<Vec3> x;   // [m]
  Buffer<Vec3> v;   // [m/s]
};

/// The pose of every script of `model` at `time`.
std::vector<RigidPose> script_poses(const Model& model, double time);

/// Where a script's `frames` put its nodes at `time` [m], in their order.
std::vector<Vec3> frame_positions(const Model& model, const ScriptedNodes& script, double time);

}  // namespace stickslip::STICKSLIP_BACKEND
