// ImpactConstraints: pairs that CCD found, as constraints without a barrier, for the stepper `ccd_al`.
// Each pair k keeps its gap g_k, linearised at the configuration x of the last impact (LinearGap), above a
// gap h: the target y of a step minimises
//   E(y) + sum_k penalty/2 max(0, h + m_k / penalty - g_k(y))^2,
// with multipliers m_k >= 0 [N], which become m_k - penalty (g_k(y) - h) or zero between Newton iterations.
// The idea of active sets from CCD with multipliers in place of barriers: [Zheng26], whose abstract alone is
// the source; this linearisation and these updates are ours.
#pragma once

#include "gpu/barrier/augmented_set.cuh"
#include "gpu/energy/friction.h"

namespace stickslip {

struct ConstraintLaw {
  Real penalty;  // [N/m]
  Real gap;      // [m] h

  SS_HD ContactPotential potential(Real multiplier) const {
    return ContactPotential::constraint(gap, penalty, multiplier);
  }
};

/// Friction acts along the displacement from `still`, smoothed below `threshold` [m].
struct SlidingFrom {
  const Vec3* still;
  Real threshold;
};

/// One stencil per constraint, as in ContactTerms.
struct StencilTerms {
  Vec4i* nodes;
  CornerVectors* gradients;
  CornerBlocks* blocks;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

class ImpactConstraints {
 public:
  /// Linearises the gaps of `count` contacts at x, in the order of the augmented pairs.
  void linearise_at(Context& ctx, const Contact* contacts, std::size_t count, const Proximity& near,
                    const Vec3* x);
  const LinearGap* gaps() const { return gaps_.data(); }

  /// Friction limits from the normal forces at y; frames are those of the linearised gaps.
  void update_friction(Context& ctx, const AugmentedPair* pairs, const Vec3* y, const ConstraintLaw& law);
  /// Writes both energies at y [J] to backend memory.
  void values(Context& ctx, const AugmentedPair* pairs, const Vec3* y, const ConstraintLaw& law,
              const SlidingFrom& sliding, double* constraints, double* friction);
  /// Gradient [N] and SPD Hessian [N/m] at y; `secant`: see friction_hessian.
  void linearise(Context& ctx, const AugmentedPair* pairs, const Vec3* y, const ConstraintLaw& law,
                 const SlidingFrom& sliding, Real secant, const StencilTerms& out);
  /// max_k |force_k(y) - m_k| / penalty [m]: it bounds the violation of the gaps and of complementarity. One
  /// host read.
  Real residual(Context& ctx, const AugmentedPair* pairs, const Vec3* y, const ConstraintLaw& law);

 private:
  std::size_t count_ = 0;
  Buffer<LinearGap> gaps_;
  Buffer<FrictionStencil> friction_;
  Buffer<Real> residual_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
