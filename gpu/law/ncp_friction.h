// Coulomb's law by maximal dissipation, as complementarity problems with a multiplier gamma of friction's
// bound [Course §3.3.3, Eqs. 194-197; §6.1.5, Eqs. 311-313]:
//
//   0 <= u_N | r_N >= 0,   u_T + gamma grad eta(r_T) = 0,   0 <= gamma | m r_N - eta(r_T) >= 0.
//
// eta(r_T) = m (sum (r_i / mu_i)^2)^(1/2) with the mean m of mu: |r_T| for a disc, where the bound is mu r_N
// as printed and gamma becomes the slip speed |u_T|. Values are velocities; mobilities turn impulses into
// them.
#pragma once

#include "gpu/law/fischer_burmeister.h"

namespace stickslip {

/// psi(a, b) = 0 exactly where 0 <= a, 0 <= b and a b = 0, with its derivatives. a belongs to an impulse, b
/// to a velocity.
struct Complementarity {
  double f, by_a, by_b;

  SS_HD Complementarity(NcpFunction function, FischerBurmeisterOrigin origin, double a, double b) {
    if (function == NcpFunction::minimum) {
      const bool impulse = a <= b;
      f = impulse ? a : b;
      by_a = impulse ? 1.0 : 0.0;
      by_b = impulse ? 0.0 : 1.0;
      return;
    }
    const law_detail::ScalarFischerBurmeister psi(a, b, origin);
    f = psi.f;
    by_a = psi.by_a;
    by_b = psi.by_b;
  }
};

/// What the functions of a contact depend on beside r and u.
struct NcpChoice {
  double normal, tangential;  // mobilities [1/kg]
  NcpFunction function = NcpFunction::fischer_burmeister;
  FischerBurmeisterOrigin origin = FischerBurmeisterOrigin::diagonal;
};

/// The D + 1 equations of a block in r and gamma, u being a function of r, and their derivatives. The last
/// one is that of gamma.
template <int D>
struct NcpEquations {
  Vec<double, D + 1> f;
  Mat<double, D + 1, D> by_r, by_u;
  Vec<double, D + 1> by_gamma;
};

namespace law_detail {

/// eta of the impulses, its gradient (zero along rows without friction), and the slip speed that gamma
/// becomes. Where r_T = 0 the gradient is a set; the element against the velocity is taken.
template <int D>
struct FrictionBound {
  double eta = 0, slip = 0;
  Vec<double, D> gradient = Vec<double, D>::zero();

  SS_HD FrictionBound(const ContactLaw<D>& law, double mean, const Vec<double, D>& r,
                      const Vec<double, D>& u) {
    for (int i = 1; i < D; ++i) {
      const double m = law.mu[i - 1];
      if (!(m > 0)) continue;
      eta += (r[i] / m) * (r[i] / m);
      slip += (m * u[i]) * (m * u[i]);
    }
    eta = mean * std::sqrt(eta);
    slip = std::sqrt(slip) / mean;
    for (int i = 1; i < D; ++i) {
      const double share = law.mu[i - 1] / mean;
      if (!(share > 0)) continue;
      if (eta > 0) gradient[i] = r[i] / (eta * share * share);
      else if (slip > 0) gradient[i] = -u[i] / slip;
    }
  }
};

/// The equations of a block that needs no gamma: gamma = 0 is the last one.
template <int D>
SS_HD inline NcpEquations<D> equations_without_gamma(const NonsmoothBlock<D>& block, double gamma) {
  NcpEquations<D> e{};
  for (int i = 0; i < D; ++i) {
    e.f[i] = block.f[i];
    for (int j = 0; j < D; ++j) {
      e.by_r(i, j) = block.df_dr(i, j);
      e.by_u(i, j) = block.df_du(i, j);
    }
  }
  e.f[D] = gamma;
  e.by_gamma[D] = 1;
  return e;
}

/// The rows of friction, and the one of gamma.
template <int D>
SS_HD inline void put_friction(const ContactLaw<D>& law, double mean, const NcpChoice& choice,
                               const Vec<double, D>& r, const Vec<double, D>& u, double gamma,
                               NcpEquations<D>& e) {
  const FrictionBound<D> bound(law, mean, r, u);
  const Vec<double, D>& g = bound.gradient;
  const double m = choice.tangential;
  const Complementarity psi(choice.function, choice.origin, m * (mean * r[0] - bound.eta), gamma);
  e.f[D] = psi.f;
  e.by_gamma[D] = psi.by_b;
  e.by_r(D, 0) = psi.by_a * m * mean;
  for (int i = 1; i < D; ++i) {
    const double share = law.mu[i - 1] / mean;
    if (!(share > 0)) {
      e.f[i] = m * r[i];
      e.by_r(i, i) = m;
      continue;
    }
    e.f[i] = u[i] + gamma * g[i];
    e.by_u(i, i) = 1;
    e.by_gamma[i] = g[i];
    e.by_r(D, i) = -psi.by_a * m * g[i];
    // The curvature of eta, infinite at r_T = 0: there the row holds the direction alone.
    if (!(bound.eta > 0)) continue;
    for (int j = 1; j < D; ++j) {
      const double delta = i == j ? 1 / (share * share) : 0.0;
      e.by_r(i, j) = gamma * (delta - g[i] * g[j]) / bound.eta;
    }
  }
}

}  // namespace law_detail

/// The equations [Course Eq. 198] without its first row, the momentum balance, which u = W r + q is. Boxes
/// and joints have no gamma: a box takes the functions of its rows.
template <int D>
SS_HD inline NcpEquations<D> ncp_equations(const ContactLaw<D>& law, const NcpChoice& choice,
                                           const Vec<double, D>& r, const Vec<double, D>& velocity,
                                           double gamma) {
  if (law.set == FrictionSet::bilateral || law.set == FrictionSet::box) {
    const double scale = 1 / choice.normal;
    NonsmoothBlock<D> block = choice.function == NcpFunction::minimum
                                  ? minimum_map(law, r, velocity, scale)
                                  : fischer_burmeister(law, r, velocity, scale, choice.origin);
    block = {choice.normal * block.f, choice.normal * block.df_dr, choice.normal * block.df_du};
    return law_detail::equations_without_gamma(block, gamma);
  }
  const auto shift = law_detail::velocity_of_exact_law(law, velocity);
  const Vec<double, D>& u = shift.u;
  NcpEquations<D> e{};
  const Complementarity normal(choice.function, choice.origin, choice.normal * r[0], u[0]);
  e.f[0] = normal.f;
  e.by_r(0, 0) = choice.normal * normal.by_a;
  for (int j = 0; j < D; ++j) e.by_u(0, j) = normal.by_b * shift.normal_row[j];
  const double mean = law_detail::mean_friction(law);
  if (mean > 0) {
    law_detail::put_friction(law, mean, choice, r, u, gamma, e);
    return e;
  }
  for (int i = 1; i < D; ++i) {
    e.f[i] = choice.tangential * r[i];
    e.by_r(i, i) = choice.tangential;
  }
  e.f[D] = gamma;
  e.by_gamma[D] = 1;
  return e;
}

/// The equations with gamma's step eliminated: a reflection turns gamma's column into a multiple of the last
/// unit vector, so that the first D rows are free of it. The pivot is the length of that column, where a
/// Schur complement would divide by d psi / d gamma, which is zero for a sliding contact.
template <int D>
struct NcpElimination {
  NonsmoothBlock<D> block;  // the first D rows
  double f;                 // the last one: f + by_r . dr + by_u . du + pivot dgamma = 0
  Vec<double, D> by_r, by_u;
  double pivot;

  SS_HD explicit NcpElimination(NcpEquations<D> e) {
    Vec<double, D + 1> axis = e.by_gamma;
    const double length = norm(axis);
    pivot = axis[D] > 0 ? -length : length;
    axis[D] -= pivot;
    const double weight = length > 0 ? 2 / norm2(axis) : 0.0;
    e.f -= (weight * dot(axis, e.f)) * axis;
    e.by_r -= outer(weight * axis, transposed_times(e.by_r, axis));
    e.by_u -= outer(weight * axis, transposed_times(e.by_u, axis));
    for (int i = 0; i < D; ++i) {
      block.f[i] = e.f[i];
      for (int j = 0; j < D; ++j) {
        block.df_dr(i, j) = e.by_r(i, j);
        block.df_du(i, j) = e.by_u(i, j);
      }
    }
    f = e.f[D];
    by_r = e.by_r.row(D);
    by_u = e.by_u.row(D);
  }

  /// The step of gamma that belongs to steps of r and u; zero where it has none.
  SS_HD double gamma_step(const Vec<double, D>& dr, const Vec<double, D>& du) const {
    const double step = -(f + dot(by_r, dr) + dot(by_u, du)) / pivot;
    return std::isfinite(step) ? step : 0.0;
  }
};

/// The symmetric fixed point that eliminates gamma [Macklin19; Course §3.3.4]: friction is a compliance c
/// that is refreshed in every iteration, u_T + c r_T = 0 with c = (|u_T| - psi) / (|r_T| + psi / mobility),
/// which is |u_T| / |r_T| at a solution. Divided by d psi / d u_N the normal row has the form u_N + c r_N +
/// ..., too, so that df_du is the identity, df_dr diagonal, and W + df_dr symmetric.
template <int D>
SS_HD inline NonsmoothBlock<D> ncp_fixed_point(const ContactLaw<D>& law, const NcpChoice& choice,
                                               const Vec<double, D>& r, const Vec<double, D>& velocity) {
  constexpr double kStiff = 1e8;  // compliance of a row without impulse, in mobilities
  NonsmoothBlock<D> block{velocity, Mat<double, D>::zero(), Mat<double, D>::identity()};
  if (law.set == FrictionSet::bilateral) return block;
  const Vec<double, D> u = law_detail::velocity_of_exact_law(law, velocity).u;
  const Complementarity normal(choice.function, choice.origin, choice.normal * r[0], u[0]);
  const double slope = normal.by_b > 1 / kStiff ? normal.by_b : 1 / kStiff;
  block.f[0] = normal.f / slope;
  block.df_dr(0, 0) = choice.normal * normal.by_a / slope;
  const double mean = law_detail::mean_friction(law), most = kStiff * choice.tangential;
  const auto compliance = [&](double bound, double eta, double slip) {
    const Complementarity psi(choice.function, choice.origin, choice.tangential * (bound - eta), slip);
    const double speed = slip - psi.f, impulse = eta + psi.f / choice.tangential;
    if (!(speed > 0)) return 0.0;
    return speed < most * impulse ? speed / impulse : most;
  };
  const bool box = law.set == FrictionSet::box;
  double common = most;
  if (!box && mean > 0) {
    const law_detail::FrictionBound<D> bound(law, mean, r, u);
    common = compliance(mean * r[0], bound.eta, bound.slip);
  }
  for (int i = 1; i < D; ++i) {
    const double mu = law.mu[i - 1];
    double c = most;
    if (box && mu > 0) c = compliance(mu * r[0], std::fabs(r[i]), std::fabs(u[i]));
    if (!box && mu > 0) c = common * (mean / mu) * (mean / mu);
    block.f[i] = (mu > 0 ? u[i] : 0.0) + c * r[i];
    block.df_dr(i, i) = c;
  }
  return block;
}

}  // namespace stickslip
