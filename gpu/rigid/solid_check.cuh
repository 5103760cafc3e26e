// SolidChecker: the part of the judge that balances the momentum of elastic solids over their nodes.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/elastic/elastic_solids.cuh"
#include "gpu/elastic/touched_surfaces.cuh"
#include "gpu/law/law_check.h"
#include "gpu/rigid/cohesion.cuh"
#include "gpu/rigid/solid_frames.h"
#include "gpu/rigid/solid_momentum.h"

namespace stickslip {

/// Sides of joints with the impulses on them. Backend memory.
struct JointedSides {
  const SolidSide* sides = nullptr;
  const Wrench* impulse = nullptr;
  std::size_t count = 0;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Elasticity and damping give an object no momentum as a whole, so that of its nodes changes by gravity,
/// other given accelerations, the air, the mouse and the impulses on its touched points and joints alone.
/// Objects that springs join are one object here, which springs give no momentum.
/// This needs masses and velocities only, and shares neither A nor B' with the solver. Objects with a
/// scripted node, or a spring to the world, are left out: the force there is unknown. Angular momentum too:
/// the linearised elastic force turns with an object to first order in dt.
class SolidChecker {
 public:
  /// `impulse`: of the contacts of `touching` in world axes. Writes to `out` in backend memory; no host read.
  /// `joints`: the sides of joints that solids hold. `pulls`: of all contacts, the first of `touching` is
  /// number `first`.
  void check(Context& ctx, const ElasticSolids& solids, const TouchedSurfaces& touching,
             const Vec<double, 4>* impulse, const JointedSides& joints, const CohesivePulls& pulls,
             std::size_t first, SolidMomentum* out);

 private:
  Buffer<std::int32_t> held_;  // per group of objects: scripted nodes, and ties to the world
};

}  // namespace stickslip::STICKSLIP_BACKEND
