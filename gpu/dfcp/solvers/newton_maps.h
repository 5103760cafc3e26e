// The functions whose zero nonsmooth Newton finds, in velocity units so that blocks are commensurate.
#pragma once

#include "gpu/law/fischer_burmeister.h"
#include "gpu/law/ncp_friction.h"
#include "gpu/law/nonsmooth.h"

namespace stickslip {

/// W_nn and the mean of W_tt, which turn impulses into velocities.
struct Mobility {
  double normal, tangential;
};

template <int D>
SS_HD inline Mobility mobility(const Mat<double, D>& w, double scale) {
  const double t = (trace(w) - w(0, 0)) / (D - 1);
  return {w(0, 0) > 0 ? w(0, 0) : scale, t > 0 ? t : scale};
}

/// Row i times the mobility in its direction.
template <int D>
SS_HD inline NonsmoothBlock<D> in_velocities(NonsmoothBlock<D> block, const Mobility& m) {
  for (int i = 0; i < D; ++i) {
    const double factor = i == 0 ? m.normal : m.tangential;
    block.f[i] *= factor;
    for (int j = 0; j < D; ++j) {
      block.df_dr(i, j) *= factor;
      block.df_du(i, j) *= factor;
    }
  }
  return block;
}

/// rho_N = rho_n / W_nn, rho_T = rho_t / mean W_tt [Bertails11].
template <int D>
struct AlartCurnierMap {
  const ContactLaw<D>* law;
  const Mat<double, D>* diagonal;
  const double* scale;
  double rho_n, rho_t;
  SectionRadius radius = SectionRadius::augmented;

  SS_HD NonsmoothBlock<D> operator()(std::size_t c, const Vec<double, D>& r, const Vec<double, D>& u) const {
    const Mobility m = mobility(diagonal[c], scale[c]);
    return in_velocities(alart_curnier(law[c], r, u, rho_n / m.normal, rho_t / m.tangential, radius), m);
  }
  SS_HD Vec<float, 2> rho(std::size_t c) const {
    const Mobility m = mobility(diagonal[c], scale[c]);
    return {static_cast<float>(rho_n / m.normal), static_cast<float>(rho_t / m.tangential)};
  }
};

/// rho_t / s_c, in both directions.
SS_HD inline Vec<float, 2> rho_by_scale(double rho_t, double scale) {
  const auto rho = static_cast<float>(rho_t / scale);
  return {rho, rho};
}

/// r-factor rho_t / s_c, and values times s_c: at rho_t = 1 the merit uses the same errors as the judge.
template <int D>
struct MinimumMap {
  const ContactLaw<D>* law;
  const double* scale;
  double rho_t;

  SS_HD NonsmoothBlock<D> operator()(std::size_t c, const Vec<double, D>& r, const Vec<double, D>& u) const {
    return in_velocities(minimum_map(law[c], r, u, rho_t / scale[c]), {scale[c], scale[c]});
  }
  SS_HD Vec<float, 2> rho(std::size_t c) const { return rho_by_scale(rho_t, scale[c]); }
};

template <int D>
struct FischerBurmeisterMap {
  const ContactLaw<D>* law;
  const double* scale;
  double rho_t;
  FischerBurmeisterOrigin origin = FischerBurmeisterOrigin::diagonal;

  SS_HD NonsmoothBlock<D> operator()(std::size_t c, const Vec<double, D>& r, const Vec<double, D>& u) const {
    return in_velocities(fischer_burmeister(law[c], r, u, rho_t / scale[c], origin), {scale[c], scale[c]});
  }
  SS_HD Vec<float, 2> rho(std::size_t c) const { return rho_by_scale(rho_t, scale[c]); }
};

/// What both maps of newton_ncp read. Mobilities are multiplied by rho_t [Course §3.3.5].
template <int D>
struct NcpParts {
  const ContactLaw<D>* law;
  const Mat<double, D>* diagonal;
  const double* scale;
  double rho_t;
  NcpFunction function = NcpFunction::fischer_burmeister;
  FischerBurmeisterOrigin origin = FischerBurmeisterOrigin::diagonal;

  SS_HD NcpChoice choice(std::size_t c) const {
    const Mobility m = mobility(diagonal[c], scale[c]);
    return {rho_t * m.normal, rho_t * m.tangential, function, origin};
  }
};

/// The equations of r and gamma with gamma's step eliminated: gamma is an unknown of each block that takes
/// the same step lengths as r.
template <int D>
struct NcpMap {
  using InnerUnknown = double;
  NcpParts<D> parts;
  double *gamma, *gamma_step;  // per block [m/s], backend memory

  SS_HD NcpEquations<D> equations(std::size_t c, const Vec<double, D>& r, const Vec<double, D>& u,
                                  double length) const {
    const double there = length != 0 ? gamma[c] + length * gamma_step[c] : gamma[c];
    return ncp_equations(parts.law[c], parts.choice(c), r, u, there);
  }
  SS_HD NonsmoothBlock<D> operator()(std::size_t c, const Vec<double, D>& r, const Vec<double, D>& u) const {
    return NcpElimination<D>(equations(c, r, u, 0)).block;
  }
  SS_HD double merit(std::size_t c, const Vec<double, D>& r, const Vec<double, D>& u, double length) const {
    return 0.5 * norm2(equations(c, r, u, length).f);
  }
  SS_HD void find_step(std::size_t c, const Vec<double, D>& r, const Vec<double, D>& u,
                       const Vec<double, D>& dr, const Vec<double, D>& du) const {
    gamma_step[c] = NcpElimination<D>(equations(c, r, u, 0)).gamma_step(dr, du);
  }
  SS_HD void move(std::size_t c, double length) const { gamma[c] += length * gamma_step[c]; }
};

/// The symmetric fixed point. Its own values jump with the compliance, so steps are measured by the minimum
/// map.
template <int D>
struct NcpFixedPointMap {
  using Symmetric = void;
  NcpParts<D> parts;

  SS_HD NonsmoothBlock<D> operator()(std::size_t c, const Vec<double, D>& r, const Vec<double, D>& u) const {
    return ncp_fixed_point(parts.law[c], parts.choice(c), r, u);
  }
  SS_HD double merit(std::size_t c, const Vec<double, D>& r, const Vec<double, D>& u, double) const {
    return 0.5 * norm2(MinimumMap<D>{parts.law, parts.scale, parts.rho_t}(c, r, u).f);
  }
};

}  // namespace stickslip
