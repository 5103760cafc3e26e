// ElasticSolids: residuals of the equations at the end of a step.
#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/elastic/elastic_solids.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// dt^4 |r|^2 / resistance of a node, with the residual r of A / dt^2; and its rounding.
struct NodeBalance {
  const Vec3* residual;
  NodeMotion motion;
  double dt4;

  SS_HD SolidBalance operator()(std::size_t i) const {
    SolidBalance sum;
    const double resistance = motion.resistance[i];
    if (!(resistance > 0)) return sum;
    const double rounding = motion.rounding(i);
    sum.left2 = dt4 * norm2(residual[i].template cast<double>()) / resistance;
    sum.rounding2 = rounding * rounding / resistance;
    return sum;
  }
};

}  // namespace

NodeMotion ElasticSolids::motion() const {
  return {.mass = device_.mass.data(),
          .held = device_.scripted.data(),
          .object = device_.node_object.data(),
          .group = group_.data(),
          .tied = tied_.data(),
          .at = saved_x_.data(),
          .before = saved_v_.data(),
          .after = v.data(),
          .acceleration = device_.acceleration.data(),
          .resistance = resistance_.data(),
          .dt = params_.dt,
          .gravity = params_.gravity,
          .pull = pull_,
          .drag = {air_faces_.data(), air_faces_.size(), air_.start, v.data(), air_.linear_at, wind_}};
}

void ElasticSolids::launch_balance(Context& ctx, const Vec3* impulse, SolidBalance* out) {
  const double dt2 = params_.dt * params_.dt;
  balance_.resize(ctx, 3);
  SolidBalance* parts = balance_.data();
  Vec3* const start = change_.data();
  copy(ctx, start, saved_v_.data(), size());
  const auto measure = [&](const Vec3* loads, Vec3* velocity, SolidBalance* part) {
    correct(ctx, loads, velocity);
    reduce(ctx, size(), NodeBalance{residual_.data(), motion(), dt2 * dt2}, AddBalance{}, SolidBalance{},
           part, kMedium);
  };
  measure(nullptr, start, parts);
  measure(impulse, start, parts + 1);
  measure(impulse, v.data(), parts + 2);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    *out = {parts[0].left2, parts[1].left2, parts[2].left2, parts[2].rounding2};
  });
}

}  // namespace stickslip::STICKSLIP_BACKEND
