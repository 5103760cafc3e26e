// Friction whose coefficients depend on the solution of the contact problem: speed-dependent friction,
// Tresca's law, friction tensors, one-sided friction. Solvers take fixed coefficients;
// ContactSystem::update_friction finds those of the next problem.
#pragma once

#include <cmath>

#include "gpu/law/projection.h"
#include "gpu/rigid/contact_rows.h"

namespace stickslip {

/// The point at which the coefficients of a contact are evaluated.
struct FrictionState {
  double speed = 0;                         // [m/s] slip speed
  double load = 0;                          // [N s] normal impulse; 0: unknown
  Vec<double, 3> slide{0, 0, 0};            // direction of sliding, world; zero: the contact sticks
  double last_speed = 0, last_outcome = 0;  // [m/s] of the round before: its `speed`, and where it led
  double low = -1, high = -1;  // [m/s] speeds that led to larger and to smaller ones; -1: not known
  int rounds = 0;
  Vec<double, 2> way{
      0, 0};  // > 0, < 0: one-sided friction is that of sliding along t_i, along -t_i; 0: as given

  /// The speed of the next round, after `speed` led to `outcome`: that one, or further along the secant
  /// through the last two, up to kFurthest times, as rounds are many where sticking just ends. Once the
  /// solution lies between two speeds, as where friction grows with the speed, the secant there, or bisection
  /// while friction stops the contact at one of the two.
  SS_HD double next_speed(double outcome) {
    constexpr double kFurthest = 8;
    (outcome > speed ? low : high) = speed;
    double next = outcome;
    if (rounds > 0 && speed != last_speed) {
      const double slope = (outcome - last_outcome) / (speed - last_speed), further = 1 / (1 - slope),
                   secant = speed + further * (outcome - speed);
      if (low >= 0 && low < high) {
        const bool is_smooth = outcome > 0 && last_outcome > 0 && secant > low && secant < high;
        next = is_smooth ? secant : 0.5 * (low + high);
        // Other contacts may have moved the solution out of the bracket.
        if (high - low < 1e-9 * high) low = high = -1;
      } else if (outcome > 0 && last_outcome > 0 && slope > 0 && slope < 1) {
        next = speed + (further < kFurthest ? further : kFurthest) * (outcome - speed);
        if (next < 0) next = outcome;
      }
    }
    last_speed = speed;
    last_outcome = outcome;
    ++rounds;
    return next;
  }
};

/// Largest coefficient that stands for Tresca's bound: a contact with less load than this share of the bound
/// has the friction kMostTresca r_N.
inline constexpr double kMostTresca = 1e3;

/// The coefficient of Tresca's bound `force` dt at the normal impulse r_N > 0.
SS_HD inline double tresca_coefficient(double force, double dt, double normal_impulse) {
  return force * dt < kMostTresca * normal_impulse ? force * dt / normal_impulse : kMostTresca;
}

/// mu(s) of the coefficient `mu` of sliding contacts along some direction, at the slip speed s:
/// mu + (mu_static - mu) exp(-(s / stribeck_speed)^2) + viscous s [Course §1.5.1, Stribeck's curve].
SS_HD inline double coefficient_at(const SurfacePair& pair, double mu, double speed) {
  double sum = mu + pair.viscous * speed;
  if (pair.mu_static != pair.mu) {
    const double x = speed / pair.stribeck_speed, share = pair.mu > 0 ? mu / pair.mu : 1.0;
    sum += (pair.mu_static - pair.mu) * share * std::exp(-x * x);
  }
  return sum;
}

/// L at the slip speed s: L mu(s) / mu with the viscous part in all directions.
SS_HD inline Mat2d tensor_at(const SurfacePair& pair, const Mat2d& tensor, double speed) {
  const double viscous = pair.viscous * speed,
               factor = pair.mu > 0 ? (coefficient_at(pair, pair.mu, speed) - viscous) / pair.mu : 1.0;
  Mat2d l = factor * tensor;
  l(0, 0) += viscous;
  l(1, 1) += viscous;
  return l;
}

/// True if the contact's coefficients are those of a FrictionState.
SS_HD inline bool depends_on_solution(const SurfacePair& pair, const FrictionFrame& base) {
  return pair.lags() || base.is_one_sided;
}

/// The law of a contact at `state`: `base` with the coefficients, and for a tensor the tangents, that a
/// solver takes.
SS_HD inline FrictionFrame friction_at(const SurfacePair& pair, const FrictionFrame& base,
                                       const FrictionState& state, double dt) {
  FrictionFrame f = base;
  if (pair.tresca > 0) {
    f.is_tensor = f.is_one_sided = false;
    if (state.load > 0) f.mu1 = f.mu2 = tresca_coefficient(pair.tresca, dt, state.load);
    return f;
  }
  if (!f.is_tensor) {
    for (int i = 0; i < 2 && f.is_one_sided; ++i) {
      f.take_way(i, state.way[i]);
      f.forth[i] = coefficient_at(pair, base.forth[i], state.speed);
      f.back[i] = coefficient_at(pair, base.back[i], state.speed);
    }
    f.mu1 = coefficient_at(pair, f.mu1, state.speed);
    f.mu2 = coefficient_at(pair, f.mu2, state.speed);
    return f;
  }
  f.tensor = tensor_at(pair, base.tensor, state.speed);
  const Vec<double, 2> d{dot(f.frame.t1, state.slide), dot(f.frame.t2, state.slide)};
  const double length = norm(d);
  rigid_detail::turn_to_ellipse(
      ellipse_of(length > 0 ? sliding_ellipse(f.tensor, d / length) : sticking_ellipse(f.tensor)), f);
  return f;
}

/// What the solution of a problem says of a contact, along the tangents of its base frame.
struct FrictionOutcome {
  double load;                 // [N s] r_N
  Vec<double, 2> r, u;         // [N s], [m/s] friction and slip velocity, with w_T
  double speed;                // [m/s] |u|, of all rows but the normal
  double mobility;             // [1/kg] s_c
  double twist = 0, rate = 0;  // [N s], [m/s] of a torsional row
};

namespace friction_state_detail {

/// The friction of this law next to the natural map's argument.
SS_HD inline Vec<double, 3> nearest_friction(const FrictionFrame& f, double torsional_mu,
                                             const FrictionOutcome& at) {
  ContactLaw<4> law{{f.mu1, f.mu2, torsional_mu}};
  const Vec<double, 3> r{at.r[0], at.r[1], at.twist}, u{at.u[0], at.u[1], at.rate};
  return project_section(law, at.load, r - (1 / at.mobility) * u);
}

/// Where one-sided friction opposes sliding along t_i: > 0, along -t_i: < 0. Without friction, where the
/// contact slides.
SS_HD inline void find_way(const FrictionOutcome& at, Vec<double, 2>& way) {
  constexpr double kNoFriction = 1e-9, kStill = 1e-9;  // of the load; [m/s]
  for (int i = 0; i < 2; ++i) {
    if (std::fabs(at.r[i]) > kNoFriction * at.load) way[i] = -at.r[i];
    else if (std::fabs(at.u[i]) > kStill) way[i] = at.u[i];
  }
}

}  // namespace friction_state_detail

/// Moves `state` to this outcome. Returns by how much the friction impulse changes with it [N s]; 0 if the
/// contact sticks under both laws. Contacts of a tensor slide if the projection of [Course Eq.219b] says so.
SS_HD inline double update_friction_state(const SurfacePair& pair, const FrictionFrame& base, double dt,
                                          const FrictionOutcome& at, FrictionState& state) {
  const FrictionState before = state;
  if (!(at.load > 0)) return 0;  // open: it has no friction, whatever its coefficients are
  state.load = at.load;
  state.speed = state.next_speed(at.speed);
  if (base.is_tensor && !(pair.tresca > 0)) {
    const Mat2d l = tensor_at(pair, base.tensor, at.speed), used = tensor_at(pair, base.tensor, before.speed);
    const Vec<double, 2> z = coulomb_image(l, at.r) - at.u / at.mobility;
    const double length = norm(z);
    const Vec<double, 2> was{dot(base.frame.t1, before.slide), dot(base.frame.t2, before.slide)};
    if (length <= mean_friction(l) * at.load) {
      state.slide = {0, 0, 0};
      return norm(at.u) / at.mobility;
    }
    const Vec<double, 2> d = -z / length;
    state.slide = d[0] * base.frame.t1 + d[1] * base.frame.t2;
    return at.load * norm(l * d - used * was);
  }
  FrictionState there = before;
  there.speed = at.speed;
  there.load = at.load;
  const bool one_sided = base.is_one_sided && !(pair.tresca > 0);
  if (one_sided) {
    friction_state_detail::find_way(at, state.way);
    there.way = state.way;
  }
  const FrictionFrame now = friction_at(pair, base, there, dt), old = friction_at(pair, base, before, dt);
  if (one_sided) {
    using friction_state_detail::nearest_friction;
    const bool twists = pair.torsion_radius > 0;
    return norm(nearest_friction(now, twists ? now.torsional_mu() : 0.0, at) -
                nearest_friction(old, twists ? old.torsional_mu() : 0.0, at));
  }
  constexpr double kInside = 0.999;
  const auto share = [&](const FrictionFrame& f) {
    if (!(f.mu1 > 0) || !(f.mu2 > 0)) return 1.0;  // at its bound
    return std::sqrt(at.r[0] * at.r[0] / (f.mu1 * f.mu1) + at.r[1] * at.r[1] / (f.mu2 * f.mu2)) / at.load;
  };
  const double change1 = std::fabs(now.mu1 - old.mu1), change2 = std::fabs(now.mu2 - old.mu2);
  if (share(now) < kInside && share(old) < kInside) return 0;
  return at.load * (change1 > change2 ? change1 : change2);
}

}  // namespace stickslip
