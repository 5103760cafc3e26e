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

/// Terms of LinearisationError at one node: what the elastic impulses do to the kinetic energy, and the
/// scale.
struct ErrorTerm {
  const Vec3 *gradient, *product;  // product: A / dt^2 times v
  const Real *inertia, *mass;
  const Vec3 *before, *v;
  const std::uint8_t* held;
  double dt, fall;

  SS_HD Vec<double, 2> operator()(std::size_t i) const {
    const Vec<double, 3> elastic = (product[i] - inertia[i] * v[i]).template cast<double>(),
                         now = v[i].template cast<double>(), start = before[i].template cast<double>();
    const double impulse = -dt * dot(now, gradient[i].template cast<double>() + dt * elastic);
    if (held[i]) return {impulse, 0.0};
    const double m = static_cast<double>(mass[i]);
    return {impulse - 0.5 * m * norm2(now - start), 0.5 * m * (norm2(start) + norm2(now) + fall * fall)};
  }
};

/// `drag`: [W] of the air, whose impulses are among those of `terms`.
void combine_error(Context& ctx, const Vec<double, 2>* terms, const double* drag, double dt,
                   LinearisationError* error) {
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    error->created = error->end - error->start + (*terms)[0] - dt * *drag;
    error->scale = error->start + (*terms)[1];
  });
}

}  // namespace

/// The elastic impulses are -dt (grad Psi(x_k) + K (x_t + dt v - x_k)) = -dt (`gradient_` + dt K v), since
/// `gradient_` is grad Psi(x_k) - dt K v^k and x_k = x_t + dt v^k; K contains C / dt. They change the kinetic
/// energy by their product with v, less |v - v_t|^2 / 2 in the norm of the masses. At the minimum of a convex
/// energy this is at most -(Psi(x_t + dt v) - Psi(x_t)). Both contain the drag of the air, whose work is
/// taken out.
LinearisationError ElasticSolids::linearisation_error(Context& ctx) {
  const Real dt = static_cast<Real>(params_.dt);
  Vec3 *to = trial_.data(), *product = residual_.data();
  move_nodes(ctx, size(), saved_x_.data(), v.data(), dt, to);
  embedding_.expand(ctx, to);
  multiply(ctx, v.data(), product);
  error_terms_.resize(ctx, 1);
  LinearisationError* out = error_.data();
  launch_energy(ctx, saved_x_.data(), &out->start);
  launch_energy(ctx, to, &out->end);
  reduce_sum(ctx, size(),
             ErrorTerm{.gradient = gradient_.data(),
                       .product = product,
                       .inertia = inertia_.data(),
                       .mass = device_.mass.data(),
                       .before = saved_v_.data(),
                       .v = v.data(),
                       .held = device_.scripted.data(),
                       .dt = params_.dt,
                       .fall = params_.gravity * params_.dt},
             error_terms_.data(), kMedium);
  AirMotion air = air_;
  air.velocity = v.data();
  energy_.drag_power(ctx, {to, to, dt, nullptr, false, air}, number_.data());
  combine_error(ctx, error_terms_.data(), number_.data(), params_.dt, out);
  LinearisationError error = read_back(ctx, out);
  error.rounding = energy_.energy_rounding();
  return error;
}

void ElasticSolids::relinearise(Context& ctx) { linearise_at(ctx, v.data()); }

void ElasticSolids::linearise_at(Context& ctx, const Vec3* velocity) {
  guess_.resize(ctx, size());
  ahead_.resize(ctx, size());
  copy(ctx, guess_.data(), velocity, size());
  move_nodes(ctx, size(), saved_x_.data(), guess_.data(), static_cast<Real>(params_.dt), ahead_.data());
  copy(ctx, v.data(), saved_v_.data(), size());
  assemble(ctx, ahead_.data(), guess_.data(), saved_x_.data(),
           {.start = saved_x_.data(), .velocity = guess_.data(), .linear_at = guess_.data()});
  set_load(ctx, time_, saved_x_.data());
}

void ElasticSolids::linearise_at_start(Context& ctx, double time) {
  has_split_ = false;  // a problem that diverged may have left copies that are not finite
  copy(ctx, v.data(), saved_v_.data(), size());
  linearise_first(ctx, time);
}

void ElasticSolids::linearise_first(Context& ctx, double time) {
  const bool has_strands = !strands_.empty();
  const Vec3 *at = has_strands ? first_x_.data() : rigid_x_.data(),
             *guess = has_strands ? first_v_.data() : rigid_v_.data();
  assemble(ctx, at, guess, rigid_x_.data(),
           {.start = saved_x_.data(), .velocity = guess, .linear_at = saved_v_.data()});
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
