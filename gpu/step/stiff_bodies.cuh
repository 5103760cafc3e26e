// StiffBodies: poses, velocities and drawn surfaces of rigid bodies, from the affine bodies that stand for
// them in barrier steps. On the backend.
#pragma once

#include "gpu/model/barrier_model.h"
#include "gpu/model/device_model.cuh"

namespace stickslip {

/// A body that moves. `body`: its index in the scene; `control`: the first of its control nodes.
struct KeptBody {
  std::int32_t body, control;
  Vec<double, 3> axes;          // [m], see equimomental_axes
  Vec<double, 3> unit_inertia;  // [m^2]
};

struct DrawnNode {
  std::int32_t node;    // of the barrier model
  std::int32_t kept;    // index of the moving body that it follows; -1: none
  Vec<double, 3> rest;  // [m] in the body's frame
};

struct BodyFit {
  BodyState state;
  double strain = 0;  // |F'F - I|; infinite where det F <= 0
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Pose: centre of mass and polar rotation of F. Velocity and spin: those of a rigid body with the momentum
/// and the angular momentum of the control nodes. In double, whatever Real is.
class StiffBodies {
 public:
  /// `barrier` is the barrier model of `scene`.
  void load(Context& ctx, const Model& scene, const BarrierModel& barrier);

  /// Poses and strains of the bodies that move, from the nodes of the barrier model. A body that is mirrored,
  /// det F <= 0, keeps the pose of the last fit, and its strain is infinite.
  void fit(Context& ctx, const DeviceState& moving);
  /// Largest |F'F - I| of the last `fit`, in Frobenius' norm; 0 without bodies that move. One host read.
  double largest_strain(Context& ctx);
  /// Where control nodes and those of scripted bodies are; without skins and what is of no body.
  BarrierMemory memory(Context& ctx, const Model& scene, const DeviceState& moving) const;
  /// All bodies after the last `fit`.
  std::vector<BodyState> states(Context& ctx, const Model& scene, double time, double dt) const;
  /// Places the nodes of the scene after the last `fit`: surfaces of moving bodies by their poses, all others
  /// as in the barrier model.
  void draw(Context& ctx, const DeviceState& moving, DeviceState& nodes) const;

 private:
  Buffer<KeptBody> kept_;
  Buffer<BodyFit> fits_;
  Buffer<DrawnNode> drawn_;
  Buffer<double> strain_;
  Buffer<std::int32_t> remembered_;  // nodes: four of each body that moves, and those of scripted bodies
};

}  // namespace stickslip::STICKSLIP_BACKEND
