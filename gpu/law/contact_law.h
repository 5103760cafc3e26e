// The law of one contact, independent of any solver: the impulses that it allows and the velocities that
// belong to them.
//
// A contact has D rows, normal first: D = 3 (two tangents), 4 with a torsional row, or 5 with two rolling
// rows. Impulse r [N s], velocity u [m/s]. Torsional and rolling rows are scaled by a length of the user's
// choice, so that units agree; a length of 1 m leaves N m s and rad/s, and then the coefficient of rolling is
// a length [m].
#pragma once

#include <cstdint>

#include "gpu/math/vec.h"

namespace stickslip {

/// What the section {r_T : r_N = 1} of the admissible cone K is.
enum class FrictionSet : std::uint8_t {
  ellipsoid,  // sum (r_i / mu_i)^2 <= r_N^2: Coulomb's disc, elliptic, with D = 4 torsional; mu = 0
              // frictionless
  box,        // |r_i| <= mu_i r_N, the pyramid
  bilateral,  // K = R^D, u = 0: rows of joints
  rolling,    // D = 5 only: |(r_1, r_2)| <= mu_1 r_N and |(r_3, r_4)| <= mu_3 r_N, friction and rolling
              // resistance [Acary21]; mu_1 = mu_2, mu_3 = mu_4
};

/// Rows of a block with rolling resistance.
inline constexpr int kRollingRows = 5;

/// Exact: r in K, u + sigma(u_T) n in K*, orthogonal (De Saxce), which for the disc is Coulomb's law.
/// Associated: the same without the shift, a convex problem; sliding then opens the gap by mu |u_T|.
enum class FlowRule : std::uint8_t { exact, associated };

template <int D>
struct ContactLaw {
  Vec<double, D - 1> mu;  // friction coefficient along each tangential row, >= 0
  FrictionSet set = FrictionSet::ellipsoid;
  FlowRule flow = FlowRule::exact;
  std::uint8_t unused[6] = {};  // no padding: laws are copied from device to host whole
};

template <int D>
SS_HD inline Vec<double, D - 1> tangential(const Vec<double, D>& x) {
  Vec<double, D - 1> t{};
  for (int i = 1; i < D; ++i) t[i - 1] = x[i];
  return t;
}

template <int D>
SS_HD inline Vec<double, D> from_parts(double normal, const Vec<double, D - 1>& t) {
  Vec<double, D> x{};
  x[0] = normal;
  for (int i = 1; i < D; ++i) x[i] = t[i - 1];
  return x;
}

/// The section is the product of two discs, each of two tangential rows. False at compile time for other D.
template <int D>
SS_HD inline bool is_rolling(const ContactLaw<D>& law) {
  if constexpr (D == kRollingRows) return law.set == FrictionSet::rolling;
  else return false;
}

/// Length of a tangential vector's part in one of the two discs, 0 (friction) or 1 (rolling).
template <int N>
SS_HD inline double disc_length(const Vec<double, N>& t, int disc) {
  static_assert(N == kRollingRows - 1);
  return std::sqrt(t[2 * disc] * t[2 * disc] + t[2 * disc + 1] * t[2 * disc + 1]);
}

/// All tangential coefficients are the same: K is a circular cone and projections are closed forms.
template <int D>
SS_HD inline bool is_circular(const ContactLaw<D>& law) {
  if (law.set != FrictionSet::ellipsoid) return false;
  for (int i = 1; i < D - 1; ++i)
    if (law.mu[i] != law.mu[0]) return false;
  return true;
}

/// sigma(u_T) = max of -u_T . d over the section d: mu |u_T| for Coulomb, sum mu_i |u_i| for a box, the sum
/// over both discs with rolling. >= 0, convex.
template <int D>
SS_HD inline double support(const ContactLaw<D>& law, const Vec<double, D>& u) {
  if constexpr (D == kRollingRows)
    if (is_rolling(law))
      return law.mu[0] * disc_length(tangential(u), 0) + law.mu[2] * disc_length(tangential(u), 1);
  double sum = 0;
  for (int i = 1; i < D; ++i) {
    const double x = law.mu[i - 1] * u[i];
    sum += law.set == FrictionSet::box ? std::fabs(x) : x * x;
  }
  return law.set == FrictionSet::box ? sum : std::sqrt(sum);
}

/// De Saxce's change of variable: u + sigma(u_T) n under the exact rule, u otherwise.
template <int D>
SS_HD inline Vec<double, D> shifted(const ContactLaw<D>& law, Vec<double, D> u) {
  if (law.flow == FlowRule::exact && law.set != FrictionSet::bilateral) u[0] += support(law, u);
  return u;
}

}  // namespace stickslip
