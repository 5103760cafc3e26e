// Functions of (r, u) that vanish exactly where a block satisfies its law, with their Jacobians, for Newton's
// method: Alart-Curnier [Bertails11], the minimum map and Fischer-Burmeister [Course §3.3].
//
// They all solve either flow rule: under the associated one (u, r) satisfies the law where (u - sigma(u_T) n,
// r) satisfies the exact one. Values are impulses [N s]; parameters turn velocities into impulses (order of 1
// / W). The value of a bilateral block is parameter * u.
#pragma once

#include "gpu/law/projection_derivative.h"
#include "gpu/params/printed_variants.h"

namespace stickslip {

template <int D>
struct NonsmoothBlock {
  Vec<double, D> f;
  Mat<double, D> df_dr, df_du;
};

namespace law_detail {

/// d sigma(u_T) / du, its normal entry zero; zero at the kinks (u_T = 0, u_i = 0 of a box, or no slip in a
/// disc).
template <int D>
SS_HD inline Vec<double, D> support_gradient(const ContactLaw<D>& law, const Vec<double, D>& u) {
  Vec<double, D> g = Vec<double, D>::zero();
  if constexpr (D == kRollingRows)
    if (is_rolling(law)) {
      for (int i = 1; i < D; ++i) {
        const double length = disc_length(tangential(u), (i - 1) / 2);
        g[i] = length > 0 ? law.mu[i - 1] * (u[i] / length) : 0.0;
      }
      return g;
    }
  const double slip = support(law, u);
  for (int i = 1; i < D; ++i) {
    const double m = law.mu[i - 1];
    if (law.set == FrictionSet::box) g[i] = u[i] > 0 ? m : u[i] < 0 ? -m : 0.0;
    else g[i] = slip > 0 ? m * (m * u[i] / slip) : 0.0;
  }
  return g;
}

/// u with `share` * sigma(u_T) added to its normal part; row 0 of its Jacobian, which else is the identity.
template <int D>
struct ShiftedVelocity {
  Vec<double, D> u;
  Vec<double, D> normal_row;

  SS_HD ShiftedVelocity(const ContactLaw<D>& law, const Vec<double, D>& given, double share)
      : u(given), normal_row(Vec<double, D>::zero()) {
    if (share != 0) {
      u[0] += share * support(law, given);
      normal_row = share * support_gradient(law, given);
    }
    normal_row[0] = 1;
  }
  /// j of f(u) becomes that of f(shifted u).
  SS_HD void chain(Mat<double, D>& j) const {
    for (int i = 0; i < D; ++i) {
      const double normal = j(i, 0);
      for (int k = 1; k < D; ++k) j(i, k) += normal * normal_row[k];
    }
  }
};

/// -sigma under the associated rule, for functions made for the exact law.
template <int D>
SS_HD inline ShiftedVelocity<D> velocity_of_exact_law(const ContactLaw<D>& law, const Vec<double, D>& u) {
  return {law, u, law.flow == FlowRule::associated ? -1.0 : 0.0};
}

/// +sigma under the exact rule, for functions of the cones.
template <int D>
SS_HD inline ShiftedVelocity<D> velocity_of_cones(const ContactLaw<D>& law, const Vec<double, D>& u) {
  return {law, u, law.flow == FlowRule::exact ? 1.0 : 0.0};
}

template <int D>
SS_HD inline NonsmoothBlock<D> joint_block(double parameter, const Vec<double, D>& u) {
  return {parameter * u, Mat<double, D>::zero(), parameter * Mat<double, D>::identity()};
}

}  // namespace law_detail

/// f_N = max(r_N - rho_n u_N, 0) - r_N, f_T = P_{radius section}(r_T - rho_t u_T) - r_T [Bertails11].
template <int D>
SS_HD inline NonsmoothBlock<D> alart_curnier(const ContactLaw<D>& law, const Vec<double, D>& r,
                                             const Vec<double, D>& velocity, double rho_n, double rho_t,
                                             SectionRadius choice = SectionRadius::augmented) {
  if (law.set == FrictionSet::bilateral) return law_detail::joint_block(rho_n, velocity);
  const auto shift = law_detail::velocity_of_exact_law(law, velocity);
  const Vec<double, D>& u = shift.u;
  NonsmoothBlock<D> block{Vec<double, D>::zero(), -1.0 * Mat<double, D>::identity(), Mat<double, D>::zero()};
  const double pressed = r[0] - rho_n * u[0];
  block.f[0] = (pressed > 0 ? pressed : 0.0) - r[0];
  if (pressed > 0) {
    block.df_dr(0, 0) = 0;
    block.df_du(0, 0) = -rho_n;
  }
  const bool augmented = choice == SectionRadius::augmented;
  const double radius = augmented ? pressed : r[0];
  const auto section = differentiate_section(law, radius, tangential(r - rho_t * u));
  for (int i = 1; i < D; ++i) {
    block.f[i] = section.p[i - 1] - r[i];
    for (int j = 1; j < D; ++j) {
      block.df_dr(i, j) += section.by_x(i - 1, j - 1);
      block.df_du(i, j) = -rho_t * section.by_x(i - 1, j - 1);
    }
    block.df_dr(i, 0) = section.by_radius[i - 1];
    if (augmented) block.df_du(i, 0) = -rho_n * section.by_radius[i - 1];
  }
  shift.chain(block.df_du);
  return block;
}

/// An ellipsoid, or two discs: r - P_K(r - r_factor u~), the natural map. A box, row by row: min(r_N,
/// r_factor u_N) and r_T - clamp(r_T - r_factor u_T, mu max(r_N, 0)) [Course §3.3.1 with the scaling of
/// §3.3.5].
template <int D>
SS_HD inline NonsmoothBlock<D> minimum_map(const ContactLaw<D>& law, const Vec<double, D>& r,
                                           const Vec<double, D>& u, double r_factor) {
  if (law.set == FrictionSet::bilateral) return law_detail::joint_block(r_factor, u);
  if (law.set == FrictionSet::box) {
    NonsmoothBlock<D> block = alart_curnier(law, r, u, r_factor, r_factor, SectionRadius::impulse);
    return {-block.f, -1.0 * block.df_dr, -1.0 * block.df_du};
  }
  const auto shift = law_detail::velocity_of_cones(law, u);
  const Vec<double, D> z = r - r_factor * shift.u;
  const Mat<double, D> d = differentiate_projection(law, z);
  NonsmoothBlock<D> block{r - project(law, z), Mat<double, D>::identity() - d, r_factor * d};
  shift.chain(block.df_du);
  return block;
}

}  // namespace stickslip
