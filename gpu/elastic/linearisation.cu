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

/// Terms of LinearisationError at one node: less the rise that the linearised forces give, and the scale.
struct ErrorTerm {
  const Vec3 *gradient, *d, *product;  // product: A / dt^2 times d
  const Real *inertia, *mass;
  const Vec3 *guess, *before, *v;
  const std::uint8_t* held;
  double dt, fall;

  SS_HD Vec<double, 2> operator()(std::size_t i) const {
    const Vec<double, 3> elastic = (product[i] - inertia[i] * d[i]).template cast<double>(),
                         along = d[i].template cast<double>();
    const double rise = dot(gradient[i].template cast<double>(), along) +
                        dt * dot(guess[i].template cast<double>(), elastic) + 0.5 * dot(along, elastic);
    const double speed2 =
        norm2(before[i].template cast<double>()) + norm2(v[i].template cast<double>()) + fall * fall;
    return {-rise, held[i] ? 0.0 : 0.5 * static_cast<double>(mass[i]) * speed2};
  }
};

void set_displacement(Context& ctx, std::size_t n, const Vec3* x, const Vec3* v, Real dt, const Vec3* from,
                      Vec3* to, Vec3* d) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    to[i] = x[i] + dt * v[i];
    d[i] = to[i] - from[i];
  });
}

void combine_error(Context& ctx, const Vec<double, 2>* terms, LinearisationError* error) {
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    error->created = error->end - error->start + (*terms)[0];
    error->scale = error->start + (*terms)[1];
  });
}

}  // namespace

/// The rise of the quadratic model from x_k to x_t + dt v along d is g . d + d . K d / 2, where g is the
/// gradient at x_k and K contains C / dt. `gradient_` is g - dt K v^k.
LinearisationError ElasticSolids::linearisation_error(Context& ctx) {
  const Real dt = static_cast<Real>(params_.dt);
  Vec3 *to = trial_.data(), *d = change_.data(), *product = residual_.data();
  set_displacement(ctx, size(), saved_x_.data(), v.data(), dt, linear_x_, to, d);
  embedding_.expand(ctx, to);
  embedding_.expand(ctx, d);
  matrix_.multiply(ctx, d, product);
  error_terms_.resize(ctx, 1);
  LinearisationError* out = error_.data();
  energy_.energy(ctx, {linear_x_, linear_still_, dt}, &out->start);
  energy_.energy(ctx, {to, linear_still_, dt}, &out->end);
  reduce_sum(ctx, size(),
             ErrorTerm{.gradient = gradient_.data(),
                       .d = d,
                       .product = product,
                       .inertia = inertia_.data(),
                       .mass = device_.mass.data(),
                       .guess = linear_v_,
                       .before = saved_v_.data(),
                       .v = v.data(),
                       .held = device_.scripted.data(),
                       .dt = params_.dt,
                       .fall = params_.gravity * params_.dt},
             error_terms_.data(), kMedium);
  combine_error(ctx, error_terms_.data(), out);
  return read_back(ctx, out);
}

void ElasticSolids::relinearise(Context& ctx, double time) {
  guess_.resize(ctx, size());
  ahead_.resize(ctx, size());
  copy(ctx, guess_.data(), v.data(), size());
  move_nodes(ctx, size(), saved_x_.data(), guess_.data(), static_cast<Real>(params_.dt), ahead_.data());
  copy(ctx, v.data(), saved_v_.data(), size());
  assemble(ctx, ahead_.data(), guess_.data(), saved_x_.data());
  set_load(ctx, time, saved_x_.data());
}

void ElasticSolids::linearise_at_start(Context& ctx, double time) {
  copy(ctx, v.data(), saved_v_.data(), size());
  assemble(ctx, rigid_x_.data(), rigid_v_.data(), rigid_x_.data());
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
