#include "gpu/barrier/impact_constraints.cuh"

#include <cmath>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {

void ImpactConstraints::linearise_at(Context& ctx, const Contact* contacts, std::size_t count,
                                     const Proximity& near, const Vec3* x) {
  count_ = count;
  gaps_.resize(ctx, count);
  friction_.resize(ctx, count);
  LinearGap* gaps = gaps_.data();
  const Plane* planes = near.planes;
  launch(
      ctx, count, [=] SS_LAMBDA(std::size_t i) { gaps[i] = linear_gap(contacts[i], planes, x); }, kMedium);
}

void ImpactConstraints::update_friction(Context& ctx, const AugmentedPair* pairs, const Vec3* y,
                                        const ConstraintLaw& law) {
  const LinearGap* gaps = gaps_.data();
  FrictionStencil* friction = friction_.data();
  const ConstraintLaw with = law;
  launch(ctx, count_, [=] SS_LAMBDA(std::size_t i) {
    const LinearGap& g = gaps[i];
    const Real force = -with.potential(pairs[i].multiplier).jet(g.gap(y)).first;
    friction[i] = {g.weights, g.normal, g.mu * force};
  });
}

void ImpactConstraints::values(Context& ctx, const AugmentedPair* pairs, const Vec3* y,
                               const ConstraintLaw& law, const SlidingFrom& sliding, double* constraints,
                               double* friction_out) {
  const LinearGap* gaps = gaps_.data();
  const FrictionStencil* friction = friction_.data();
  const ConstraintLaw with = law;
  const SlidingFrom from = sliding;
  reduce_sum(
      ctx, count_,
      [=] SS_LAMBDA(std::size_t i) {
        return static_cast<double>(with.potential(pairs[i].multiplier).value(gaps[i].gap(y)));
      },
      constraints);
  reduce_sum(
      ctx, count_,
      [=] SS_LAMBDA(std::size_t i) {
        const CornerVectors moved = corner_displacements(gaps[i].nodes, y, from.still);
        return static_cast<double>(friction_value(friction[i], moved, from.threshold));
      },
      friction_out);
}

void ImpactConstraints::linearise(Context& ctx, const AugmentedPair* pairs, const Vec3* y,
                                  const ConstraintLaw& law, const SlidingFrom& sliding, Real secant,
                                  const StencilTerms& out) {
  const LinearGap* gaps = gaps_.data();
  const FrictionStencil* friction = friction_.data();
  const ConstraintLaw with = law;
  const SlidingFrom from = sliding;
  const StencilTerms to = out;
  launch(
      ctx, count_,
      [=] SS_LAMBDA(std::size_t i) {
        const LinearGap& g = gaps[i];
        const Jet2<Real> jet = with.potential(pairs[i].multiplier).jet(g.gap(y));
        const CornerVectors moved = corner_displacements(g.nodes, y, from.still);
        CornerVectors gradient = friction_gradient(friction[i], moved, from.threshold);
        CornerBlocks blocks = friction_hessian(friction[i], moved, from.threshold, secant);
        const Mat3 normal = jet.second * outer(g.normal, g.normal);
        for (int a = 0; a < 4; ++a) {
          gradient[a] += (jet.first * g.weights[a]) * g.normal;
          for (int b = 0; b <= a; ++b) blocks(a, b) += (g.weights[a] * g.weights[b]) * normal;
        }
        to.nodes[i] = g.nodes;
        to.gradients[i] = gradient;
        to.blocks[i] = blocks;
      },
      kMedium);
}

Real ImpactConstraints::residual(Context& ctx, const AugmentedPair* pairs, const Vec3* y,
                                 const ConstraintLaw& law) {
  if (count_ == 0) return 0;
  residual_.resize(ctx, 1);
  const LinearGap* gaps = gaps_.data();
  const ConstraintLaw with = law;
  reduce_max(
      ctx, count_,
      [=] SS_LAMBDA(std::size_t i) {
        const Real m = pairs[i].multiplier, force = -with.potential(m).jet(gaps[i].gap(y)).first;
        return std::abs(force - m) / with.penalty;
      },
      Real(0), residual_.data());
  return read_back(ctx, residual_.data());
}

}  // namespace stickslip::STICKSLIP_BACKEND
