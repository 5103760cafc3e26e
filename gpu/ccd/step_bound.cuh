// The longest step that no candidate pair forbids.
#pragma once

#include "gpu/broadphase/candidates.h"
#include "gpu/core/context.h"
#include "gpu/params/params.h"

namespace stickslip {

struct CcdSettings {
  CcdMethod method = CcdMethod::additive;
  Real slack = Real(0.9);  // share of a pair's gap that a step may use, in (0, 1)
  /// [m] per node, see SurfaceView: the gap is the distance less both radii. `cubic` finds only impacts of
  /// primitives without thickness: pairs with thickness take `additive`.
  const Real* radius = nullptr;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// *alpha (backend memory) = the largest step in [0, 1] along the displacements p [m] that is safe for every
/// candidate at positions x [m]. `candidates` must contain every pair that can touch within the full step.
void step_bound(Context& ctx, const CandidateView& candidates, const Vec3* x, const Vec3* p,
                const CcdSettings& settings, Real* alpha);

}  // namespace stickslip::STICKSLIP_BACKEND
