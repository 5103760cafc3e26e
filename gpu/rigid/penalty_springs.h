// Springs of penalty contact as functions of the gap: energy, force and stiffness, each the derivative of the
// one before.
#pragma once

#include <cmath>
#include <limits>

#include "gpu/core/backend.h"
#include "gpu/params/params.h"

namespace stickslip {

/// With the overlap d = -gap [m] the force on the bodies along the normal is [N]
///   linear       k d                                                [Course Eq.273, 285]
///   power        k L (d / L)^p                                      [Course Eq.286: L^(1-p) k is its k_n]
///   exponential  k L exp(d / L), of the energy k L^2 exp(-gap / L)  [Course Eq.280-281: c = k L^2, eps = L]
///   layered      sum_i k i^3 max(0, eta i^(-1/4) - gap), i = 1 ... layers  [Course Eq.289-290]
/// The first two are zero at gaps, and layered springs from `thickness` on. The exponential spring pushes at
/// any gap; its contacts end at Params::contact_margin.
struct PenaltySpringLaw {
  PenaltySpring kind = PenaltySpring::linear;
  double stiffness = 0;  // k [N/m]
  double exponent = 1;   // p
  double length = 1;     // L [m]
  double thickness = 0;  // eta [m]
  int layers = 1;

  /// The gap [m] from which on it does not push.
  SS_HD double reach() const {
    if (kind == PenaltySpring::exponential) return std::numeric_limits<double>::infinity();
    return kind == PenaltySpring::layered ? thickness : 0;
  }
  /// The gap [m] below which surfaces count as touching: dampers act, and overlaps are counted from there.
  SS_HD double surface() const { return kind == PenaltySpring::layered ? thickness : 0; }
};

namespace penalty_detail {

/// exp(x), continued by its tangent above kSteepest: deeper overlaps would overflow.
constexpr double kSteepest = 50;
struct Exponential {
  double integral, value, slope;
};
SS_HD inline Exponential exponential(double x) {
  const double at = x < kSteepest ? x : kSteepest, e = std::exp(at), beyond = x - at;
  return {e * (1 + beyond + 0.5 * beyond * beyond), e * (1 + beyond), e};
}

/// sum_{i=1}^n i^s for s = 5/2 and 11/4, by Euler and Maclaurin's formula beyond the first terms. Its error
/// is below 1e-10 of the sum.
constexpr int kSummed = 16;
SS_HD inline double power_sum(double s, int n) {
  double sum = 0;
  const int few = n < kSummed ? n : kSummed - 1;
  for (int i = 1; i <= few; ++i) sum += std::pow(static_cast<double>(i), s);
  if (n < kSummed) return sum;
  const double a = kSummed, b = n;
  return sum + (std::pow(b, s + 1) - std::pow(a, s + 1)) / (s + 1) + (std::pow(a, s) + std::pow(b, s)) / 2 +
         s * (std::pow(b, s - 1) - std::pow(a, s - 1)) / 12 -
         s * (s - 1) * (s - 2) * (std::pow(b, s - 3) - std::pow(a, s - 3)) / 720;
}
/// sum_{i=1}^n i^3.
SS_HD inline double cubes(int n) {
  const double m = n;
  return m * m * (m + 1) * (m + 1) / 4;
}

/// Number of layers that push at a gap < thickness: eta i^(-1/4) > gap.
SS_HD inline int pushing_layers(const PenaltySpringLaw& law, double gap) {
  if (!(gap > 0)) return law.layers;
  const double ratio = law.thickness / gap, most = ratio * ratio * ratio * ratio;
  return most <= law.layers ? static_cast<int>(std::ceil(most)) - 1 : law.layers;
}

}  // namespace penalty_detail

/// [J]
SS_HD inline double penalty_energy(const PenaltySpringLaw& law, double gap) {
  using namespace penalty_detail;
  if (!(gap < law.reach())) return 0;
  const double k = law.stiffness, l = law.length, d = -gap;
  switch (law.kind) {
    case PenaltySpring::linear:
      return 0.5 * k * d * d;
    case PenaltySpring::power:
      return k * l * l * std::pow(d / l, law.exponent + 1) / (law.exponent + 1);
    case PenaltySpring::exponential:
      return k * l * l * exponential(d / l).integral;
    case PenaltySpring::layered: {
      const int n = pushing_layers(law, gap);
      const double eta = law.thickness;
      return 0.5 * k *
             (eta * eta * power_sum(2.5, n) - 2 * eta * gap * power_sum(2.75, n) + gap * gap * cubes(n));
    }
  }
  return 0;
}

/// [N], the negative derivative of the energy by the gap.
SS_HD inline double penalty_force(const PenaltySpringLaw& law, double gap) {
  using namespace penalty_detail;
  if (!(gap < law.reach())) return 0;
  const double k = law.stiffness, l = law.length, d = -gap;
  switch (law.kind) {
    case PenaltySpring::linear:
      return k * d;
    case PenaltySpring::power:
      return k * l * std::pow(d / l, law.exponent);
    case PenaltySpring::exponential:
      return k * l * exponential(d / l).value;
    case PenaltySpring::layered: {
      const int n = pushing_layers(law, gap);
      return k * (law.thickness * power_sum(2.75, n) - gap * cubes(n));
    }
  }
  return 0;
}

/// [N/m], the negative derivative of the force by the gap.
SS_HD inline double penalty_stiffness(const PenaltySpringLaw& law, double gap) {
  using namespace penalty_detail;
  if (!(gap < law.reach())) return 0;
  const double k = law.stiffness, l = law.length, d = -gap;
  switch (law.kind) {
    case PenaltySpring::linear:
      return k;
    case PenaltySpring::power:
      return k * law.exponent * std::pow(d / l, law.exponent - 1);
    case PenaltySpring::exponential:
      return k * exponential(d / l).slope;
    case PenaltySpring::layered:
      return k * cubes(pushing_layers(law, gap));
  }
  return 0;
}

}  // namespace stickslip
