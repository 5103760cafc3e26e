// ElasticSolids: steps of rods with nodal_integrator = admm.
#include "gpu/core/launch.h"
#include "gpu/elastic/elastic_solids.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// Of admm_tolerance: largest last step of a local minimisation.
constexpr double kLocalShare = 0.05;

/// m (v_t + dt (g + force)) and the impulse of the mouse spring at a node [N s]; see LoadWriter.
struct InelasticLoad {
  const Vec3 *force, *at, *before, *added;  // added may be null
  const Real* mass;
  Real dt, g;
  SolidPull pull;
  Vec3* out;

  SS_HD void operator()(std::size_t i) const {
    Vec3 sum = mass[i] * (before[i] + dt * (Vec3{0, g, 0} + force[i]));
    for (int c = 0; c < 3; ++c)
      if (pull.nodes[c] == static_cast<std::int32_t>(i))
        sum += static_cast<Real>(dt * pull.weights[c] * pull.stiffness) *
               (pull.targets[c].template cast<Real>() - at[i]);
    out[i] = added != nullptr ? sum + added[i] : sum;
  }
};

}  // namespace

RodSplitting::Step ElasticSolids::splitting_step() {
  return {.device = &device_,
          .rods = energy_.rods(),
          .x_t = saved_x_.data(),
          .turned = strands_.empty() ? rigid_x_.data() : first_x_.data(),
          .inertia = inertia_.data(),
          .load = inelastic_.data(),
          .dt = params_.dt,
          .tolerance = kLocalShare * params_.admm_tolerance};
}

void ElasticSolids::begin_splitting(Context& ctx, const double* weight, const Vec3* velocity) {
  inelastic_.resize(ctx, size());
  launch(ctx, size(),
         InelasticLoad{.force = device_.acceleration.data(),
                       .at = saved_x_.data(),
                       .before = saved_v_.data(),
                       .added = has_added_ ? added_.data() : nullptr,
                       .mass = device_.mass.data(),
                       .dt = static_cast<Real>(params_.dt),
                       .g = static_cast<Real>(params_.gravity),
                       .pull = pull_,
                       .out = inelastic_.data()});
  const RodSplitting::Step step = splitting_step();
  if (!has_split_) splitting_.begin_step(ctx, step, velocity);
  has_split_ = true;
  splitting_.factorise(ctx, step, weight, velocity);
}

double ElasticSolids::separate(Context& ctx, const Vec3* velocity) {
  return splitting_.separate(ctx, splitting_step(), velocity);
}

void ElasticSolids::join(Context& ctx, const Vec3* pull, const double* weight, double momentum,
                         Vec3* velocity) {
  splitting_.join(ctx, splitting_step(), pull, weight, momentum, velocity);
}

}  // namespace stickslip::STICKSLIP_BACKEND
