// ElasticSolids: further linearisations of a step.
#include <cmath>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/elastic/elastic_solids.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// to = from + dt v.
void move_nodes(Context& ctx, std::size_t n, const Vec3* from, const Vec3* v, Real dt, Vec3* to) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { to[i] = from[i] + dt * v[i]; });
}

/// m |v - before|^2 of a free node.
struct ChangeTerm {
  const Real* mass;
  const std::uint8_t* held;
  const Vec3 *v, *before;

  SS_HD double operator()(std::size_t i) const {
    return held[i] != 0 ? 0.0
                        : static_cast<double>(mass[i]) * norm2((v[i] - before[i]).template cast<double>());
  }
};

/// m of a free node.
struct MassTerm {
  const Real* mass;
  const std::uint8_t* held;

  SS_HD double operator()(std::size_t i) const { return held[i] != 0 ? 0.0 : static_cast<double>(mass[i]); }
};

}  // namespace

void ElasticSolids::relinearise(Context& ctx, double time) {
  guess_.resize(ctx, size());
  ahead_.resize(ctx, size());
  copy(ctx, guess_.data(), v.data(), size());
  move_nodes(ctx, size(), saved_x_.data(), guess_.data(), static_cast<Real>(params_.dt), ahead_.data());
  copy(ctx, v.data(), saved_v_.data(), size());
  assemble(ctx, ahead_.data(), guess_.data());
  set_load(ctx, time, saved_x_.data());
}

void ElasticSolids::linearise_at_start(Context& ctx, double time) {
  copy(ctx, v.data(), saved_v_.data(), size());
  assemble(ctx, saved_x_.data(), nullptr);
  set_load(ctx, time, saved_x_.data());
}

double ElasticSolids::first_change(Context& ctx, double least) {
  const Real* mass = device_.mass.data();
  const std::uint8_t* held = device_.scripted.data();
  reduce_sum(ctx, size(), MassTerm{mass, held}, number_.data(), kMedium);
  const double all = read_back(ctx, number_.data());
  return std::sqrt(change_from(ctx, saved_v_.data())) + least * std::sqrt(all);
}

double ElasticSolids::further_change(Context& ctx) { return std::sqrt(change_from(ctx, guess_.data())); }

double ElasticSolids::change_from(Context& ctx, const Vec3* before) {
  reduce_sum(ctx, size(), ChangeTerm{device_.mass.data(), device_.scripted.data(), v.data(), before},
             number_.data(), kMedium);
  return read_back(ctx, number_.data());
}

}  // namespace stickslip::STICKSLIP_BACKEND
