// The functions whose zero nonsmooth Newton finds, in velocity units so that blocks are commensurate.
#pragma once

#include "gpu/law/fischer_burmeister.h"
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
};

/// r-factor rho_t / s_c, and values times s_c: at rho_t = 1 the merit uses the same errors as the judge.
template <int D>
struct MinimumMap {
  const ContactLaw<D>* law;
  const double* scale;
  double rho_t;

  SS_HD NonsmoothBlock<D> operator()(std::size_t c, const Vec<double, D>& r, const Vec<double, D>& u) const {
    return in_velocities(minimum_map(law[c], r, u, rho_t / scale[c]), {scale[c], scale[c]});
  }
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
};

}  // namespace stickslip
