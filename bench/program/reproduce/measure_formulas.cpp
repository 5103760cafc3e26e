// Smoothed energies of contact beside what they replace, by the functions that steps use. A run has the
// smoothing lengths, each smaller than the last; quantities have one sample per length, ratios one per pair
// of neighbours.
//
// `barrier_limit` [Course §5.3, Fig. 32]: lengths are d_hat [m], in units of a stiffness of 1 N/m. reach: the
// largest distance with energy, over d_hat. area: the integral of b over all distances, over 11/18 d_hat^3;
// area_ratio: that of a length over that of the next. gap: distance at which b holds a load of 1 N, over
// d_hat. falls: whether b falls with the distance everywhere; wall: whether it is infinite at zero.
//
// `friction_limit` [Course §5.3.4, Fig. 34]: lengths are eps_v [m/s]. outside: largest | |F| / (mu N) - 1 |
// at speeds of eps_v and more; beyond: largest |F| / (mu N) - 1 at any speed; turned: largest sine between F
// and the direction against sliding; area: the integral of 1 - |F| / (mu N) over the speed, over eps_v / 3;
// energy: largest | D / (mu N) - sliding distance |, over eps_v dt / 3; and area_ratio.
#include <algorithm>
#include <cmath>
#include <functional>

#include "app/io/file/number_text.h"
#include "bench/program/reproduce/measure.h"
#include "gpu/energy/barrier.h"
#include "gpu/energy/friction.h"

namespace stickslip {
namespace {

constexpr int kSamples = 200000;  // of an integral

/// The integral of f over (0, to), by the midpoint rule in t with x = to t^3: samples are dense at zero.
template <class F>
double integral(double to, F f) {
  double sum = 0;
  for (int i = 0; i < kSamples; ++i) {
    const double t = (i + 0.5) / kSamples;
    sum += f(to * t * t * t) * 3 * t * t;
  }
  return sum * to / kSamples;
}

/// The x in (low, high) at which the decreasing f falls below `value`.
template <class F>
double falls_below(double value, double low, double high, F f) {
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (f(middle) > value ? low : high) = middle;
  }
  return high;
}

void expect_lengths(const Claim& claim, const ClaimRun& run) {
  const bool falls = std::ranges::is_sorted(run.values, std::greater<>());
  if (run.values.size() < 2 || !falls || !(run.values.back() > 0))
    throw InputError("claim " + claim.name + ": values have to be at least two lengths, each below the last");
}

/// Force and energy of a contact that slides by y [m] along the first tangent, over mu N.
struct Slide {
  double along, across, energy;
};
Slide slide(double y, double eps) {
  // A point over a triangle, the contact's normal along z.
  constexpr double kLimit = 3;  // [N] mu N
  const FrictionStencil stencil{{Real(1), Real(-0.5), Real(-0.3), Real(-0.2)}, {0, 0, 1}, Real(kLimit)};
  CornerVectors dx{};
  dx[0] = {static_cast<Real>(0.6 * y), static_cast<Real>(0.8 * y), Real(0.1)};
  const Vec3 force = friction_gradient(stencil, dx, static_cast<Real>(eps))[0];
  return {(0.6 * force[0] + 0.8 * force[1]) / kLimit, (0.6 * force[1] - 0.8 * force[0]) / kLimit,
          friction_value(stencil, dx, static_cast<Real>(eps)) / kLimit};
}

}  // namespace

Measurement measure_barrier_limit(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  expect_lengths(claim, run);
  Measurement out;
  out.x_name = "distance, m";
  out.y_name = "barrier, m^2";
  out.x_log = out.y_log = true;
  double last = 0;
  const double widest = run.values.front();
  for (const double d_hat : run.values) {
    context.check();
    const auto b = [&](double d) {
      return static_cast<double>(barrier(static_cast<Real>(d), static_cast<Real>(d_hat)));
    };
    const auto force = [&](double d) {
      return -static_cast<double>(barrier_jet(static_cast<Real>(d), static_cast<Real>(d_hat)).first);
    };
    Curve curve{"d_hat = " + number_text(d_hat), {}};
    bool falls = true;
    double before = b(0);
    out.add("wall", std::isinf(before) ? 1 : 0);
    for (int i = 0; i <= 300; ++i) {
      const double d = 2 * widest * std::pow(10.0, (i - 300) / 50.0);
      falls = falls && b(d) <= before;
      before = b(d);
      if (i % 3 == 0 && before > 1e-7 * d_hat * d_hat) curve.points.emplace_back(d, before);
    }
    out.add("falls", falls ? 1 : 0);
    out.curves.push_back(curve);
    out.add("reach", falls_below(0, 0, 10 * widest, b) / d_hat);
    out.add("gap", falls_below(1, 0, d_hat, force) / d_hat);
    const double area = integral(d_hat, b);
    out.add("area", area / (11.0 / 18 * d_hat * d_hat * d_hat));
    if (last > 0) out.add("area_ratio", last / area);
    last = area;
  }
  return out;
}

Measurement measure_friction_limit(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  constexpr double kDt = 0.01;
  expect_lengths(claim, run);
  Measurement out;
  out.x_name = "sliding speed, m/s";
  out.y_name = "friction over mu N";
  out.x_log = true;
  double last = 0;
  const double widest = run.values.front();
  for (const double eps_v : run.values) {
    context.check();
    const double eps = eps_v * kDt;
    Curve curve{"eps_v = " + number_text(eps_v), {}};
    double outside = 0, beyond = -1, turned = 0, energy = 0;
    for (int i = 0; i <= 600; ++i) {
      const double speed = 10 * widest * std::pow(10.0, (i - 600) / 75.0);
      const Slide s = slide(speed * kDt, eps);
      if (speed >= eps_v) outside = std::max(outside, std::fabs(s.along - 1));
      beyond = std::max(beyond, std::hypot(s.along, s.across) - 1);
      turned = std::max(turned, std::fabs(s.across) / std::hypot(s.along, s.across));
      energy = std::max(energy, std::fabs(s.energy - speed * kDt));
      if (i % 6 == 0) curve.points.emplace_back(speed, s.along);
    }
    out.curves.push_back(curve);
    out.add("outside", outside);
    out.add("beyond", beyond);
    out.add("turned", turned);
    out.add("energy", energy / (eps / 3));
    const double area = integral(2 * eps_v, [&](double speed) { return 1 - slide(speed * kDt, eps).along; });
    out.add("area", area / (eps_v / 3));
    if (last > 0) out.add("area_ratio", last / area);
    last = area;
  }
  return out;
}

}  // namespace stickslip
