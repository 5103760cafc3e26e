// One proximal step of a block: z = r - R u, then the projection onto the law's set [Course §3.4].
//
// The text projects z in the plain norm. That keeps the law's solutions only where R is a multiple of the
// identity: at a fixed point r_T = P(r_T - R_T u_T) it is R_T u_T, not u_T, that opposes r_T. So the closest
// point is taken in the norm of M = R_T^-1, |x|^2 = x' M x; for a scalar R this is the text's projection.
#pragma once

#include "gpu/law/local_rolling.h"
#include "gpu/law/projection.h"
#include "gpu/math/spd.h"
#include "gpu/params/lab_params.h"

namespace stickslip {

/// The r-factors of one block [Course §3.4.4].
template <int D>
struct ProxBlock {
  double normal = 0;            // R_N [kg]; 0: the block is immovable, and r = 0
  double least = 0;             // the smallest of all factors
  Mat<double, D - 1> metric{};  // M = R_T^-1
  Vec<double, D - 1>
      values{};  // S M S = V diag(values) V', S = diag(mu), 1 in bilateral blocks; not of rolling ones
  Mat<double, D - 1> basis{};  // S V
  double multiplier = 0;       // multiplier of the last sliding step, the initial guess of the next search
};

namespace law_detail {

template <int D>
SS_HD inline void decompose_metric(const ContactLaw<D>& law, ProxBlock<D>& block) {
  if (is_rolling(law)) return;  // prox_discs works with the metric
  const double size = trace(block.metric);
  Mat<double, D - 1> scaled{};
  Vec<double, D - 1> s{};
  for (int i = 0; i < D - 1; ++i) s[i] = law.set == FrictionSet::bilateral ? 1.0 : law.mu[i];
  for (int i = 0; i < D - 1; ++i)
    for (int j = 0; j < D - 1; ++j) scaled(i, j) = s[i] * s[j] * block.metric(i, j);
  for (int i = 0; i < D - 1; ++i)
    if (!(s[i] > 0)) scaled(i, i) = size;  // its zero row of the basis removes it
  const SymmetricEigen<double, D - 1> eigen = decompose(scaled);
  double largest = 0;
  for (int i = 0; i < D - 1; ++i) largest = eigen.values[i] > largest ? eigen.values[i] : largest;
  for (int j = 0; j < D - 1; ++j) {
    const double floor = least_pivot * largest;
    block.values[j] = eigen.values[j] > floor ? eigen.values[j] : floor;
    for (int i = 0; i < D - 1; ++i) block.basis(i, j) = s[i] * eigen.vectors(i, j);
  }
}

/// The x >= 0 with |y(x)| = radius, given |y(0)| > radius. radius / |y| is concave and increasing: from the
/// right of the root Newton's method steps to its left, then approaches it from there. `guess`, the
/// previous root, saves most steps.
template <int N>
SS_HD inline double section_multiplier(const PoleSum<N>& poles, double radius, double guess) {
  double x = guess > 0 ? guess : 0.0;
  for (int iteration = 0; iteration < 100; ++iteration) {
    Vec<double, N> y{};
    double slope = 0;  // -|y| d|y| / dx
    for (int i = 0; i < N; ++i) {
      if (poles.numerator[i] == 0) continue;
      const double inverse = 1 / (poles.offset[i] + x);
      y[i] = poles.numerator[i] * inverse;
      slope += y[i] * y[i] * inverse;
    }
    const double length2 = norm2(y), length = std::sqrt(length2);
    const double step = (length - radius) * length2 / (radius * slope);
    if (!(step > std::numeric_limits<double>::epsilon() * x) && (iteration > 0 || step >= 0)) break;
    x = x + step > 0 ? x + step : 0.0;
  }
  return x;
}

/// A point of the box |x_i| <= bound_i and how far it is from the conditions of the least x' M x / 2 - pull .
/// x.
template <int N>
struct BoxPoint {
  Vec<double, N> x;
  double violation;
};

/// The point with each row free (side 0) or at its upper (1) or lower bound (-1).
template <int N>
SS_HD inline BoxPoint<N> box_point(const Mat<double, N>& metric, const Vec<double, N>& pull,
                                   const Vec<double, N>& bound, const int (&side)[N]) {
  Mat<double, N> reduced = metric;
  Vec<double, N> right = pull;
  for (int i = 0; i < N; ++i) {
    if (side[i] == 0) continue;
    for (int j = 0; j < N; ++j) {
      right[j] -= metric(j, i) * side[i] * bound[i];
      reduced(i, j) = reduced(j, i) = i == j;
    }
  }
  for (int i = 0; i < N; ++i)
    if (side[i] != 0) right[i] = side[i] * bound[i];
  BoxPoint<N> point{solve_spd(reduced, right), 0};
  const Vec<double, N> force = pull - metric * point.x;  // pushes outward at an active bound
  for (int i = 0; i < N; ++i) {
    const double wrong =
        side[i] == 0 ? metric(i, i) * (std::fabs(point.x[i]) - bound[i]) : -side[i] * force[i];
    if (wrong > point.violation || std::isnan(wrong)) point.violation = wrong;
    if (side[i] == 0) point.x[i] = clamp(point.x[i], bound[i]);
  }
  return point;
}

/// The point of the box with the least x' M x / 2 - pull . x. Tries all choices of rows at a bound and
/// returns the point with the smallest violation. Begins with the rows that `near` has at a bound: usually
/// they are right.
template <int N>
SS_HD inline Vec<double, N> least_in_box(const Mat<double, N>& metric, const Vec<double, N>& pull,
                                         const Vec<double, N>& bound, const Vec<double, N>& near) {
  int side[N];
  for (int i = 0; i < N; ++i) side[i] = near[i] >= bound[i] ? 1 : near[i] <= -bound[i] ? -1 : 0;
  BoxPoint<N> best = box_point(metric, pull, bound, side);
  int ways = 1;
  for (int i = 0; i < N; ++i) ways *= 3;
  const double rounding = 1e-14 * (norm(pull) + norm(metric * bound));
  for (int way = 0; way < ways && !(best.violation <= rounding); ++way) {
    for (int i = 0, code = way; i < N; ++i, code /= 3) side[i] = code % 3 - 1;
    const BoxPoint<N> point = box_point(metric, pull, bound, side);
    if (point.violation < best.violation || std::isnan(best.violation)) best = point;
  }
  return best.x;
}

/// Projects onto a box in the norm of M / factor: row by row until none changes, else at once.
template <int D>
SS_HD inline Vec<double, D - 1> prox_box(const ContactLaw<D>& law, const ProxBlock<D>& block, double factor,
                                         double radius, const Vec<double, D - 1>& r,
                                         const Vec<double, D - 1>& u) {
  const Vec<double, D - 1> pull = block.metric * r - factor * u;  // M x = pull without active bounds
  Vec<double, D - 1> bound{};
  for (int i = 0; i < D - 1; ++i) bound[i] = law.mu[i] * (radius > 0 ? radius : 0.0);
  Vec<double, D - 1> x = project_section(law, radius, r);
  for (int pass = 0; pass < 20; ++pass) {
    const Vec<double, D - 1> before = x;
    for (int i = 0; i < D - 1; ++i) {
      double rest = pull[i];
      for (int j = 0; j < D - 1; ++j)
        if (j != i) rest -= block.metric(i, j) * x[j];
      x[i] = clamp(rest / block.metric(i, i), bound[i]);
    }
    if (x == before) return x;
  }
  return least_in_box(block.metric, pull, bound, x);
}

/// Projects onto the two discs of rolling resistance in the norm of M / factor.
template <int D>
SS_HD inline Vec<double, D - 1> prox_discs(const ContactLaw<D>& law, ProxBlock<D>& block, double factor,
                                           double radius, const Vec<double, D - 1>& r,
                                           const Vec<double, D - 1>& u) {
  TwoDiscs discs{};
  const Vec<double, D - 1> pull = block.metric * r - factor * u;
  for (int i = 0; i < D - 1; ++i) {
    for (int j = 0; j < D - 1; ++j) discs.matrix(i, j) = law.mu[i] * law.mu[j] * block.metric(i, j);
    if (!(law.mu[i] > 0)) discs.matrix(i, i) = trace(block.metric);
    discs.p[i] = law.mu[i] * pull[i];
  }
  discs.w_nn = 1;
  discs.pressure = radius;
  Vec<double, D - 1> x = solve_two_discs(discs, block.multiplier).y;
  for (int i = 0; i < D - 1; ++i) x[i] *= law.mu[i];
  return x;
}

}  // namespace law_detail

/// Factors of a block; w is its diagonal block of W [1/kg]. `global`: the factor of the global strategy [kg].
template <int D>
SS_HD inline ProxBlock<D> prepare_prox(const ContactLaw<D>& law, const Mat<double, D>& w,
                                       RFactorStrategy strategy, double global, double scale) {
  ProxBlock<D> block;
  const double size = trace(w);
  if (!(size > 0)) return block;
  const double tiny = law_detail::least_pivot * size;
  const auto entry = [&](int i) {
    return strategy == RFactorStrategy::global ? 1 / global : w(i, i) > tiny ? w(i, i) : tiny;
  };
  block.normal = scale / entry(0);
  double largest = 0;  // bound on the metric's eigenvalues
  for (int i = 1; i < D; ++i) {
    double row = 0;
    for (int j = 1; j < D; ++j) {
      double value = i == j ? entry(i) : 0.0;
      if (strategy == RFactorStrategy::blocked && i != j) value = 0.5 * (w(i, j) + w(j, i));
      block.metric(i - 1, j - 1) = value / scale;
      row += std::fabs(value) / scale;
    }
    largest = row > largest ? row : largest;
  }
  block.least = block.normal * largest > 1 ? 1 / largest : block.normal;
  law_detail::decompose_metric(law, block);
  return block;
}

/// The new normal impulse, from the block's r and u with all factors multiplied by `factor`.
template <int D>
SS_HD inline double prox_normal(const ContactLaw<D>& law, const ProxBlock<D>& block, double factor, double r,
                                double u) {
  const double z = r - factor * block.normal * u;
  return z > 0 || law.set == FrictionSet::bilateral ? z : 0.0;
}

/// The new tangential impulse: the x in radius * section with the least (x - r)' M (x - r) / (2 factor) + u .
/// x.
template <int D>
SS_HD inline Vec<double, D - 1> prox_tangential(const ContactLaw<D>& law, ProxBlock<D>& block, double factor,
                                                double radius, const Vec<double, D - 1>& r,
                                                const Vec<double, D - 1>& u) {
  const bool bilateral = law.set == FrictionSet::bilateral;
  if (!bilateral && !(radius > 0)) return Vec<double, D - 1>::zero();
  if constexpr (D == kRollingRows)
    if (is_rolling(law)) return law_detail::prox_discs(law, block, factor, radius, r, u);
  if (law.set == FrictionSet::box) return law_detail::prox_box(law, block, factor, radius, r, u);
  const law_detail::PoleSum<D - 1> poles{transposed_times(block.basis, block.metric * r - factor * u),
                                         block.values, Vec<double, D - 1>::filled(1)};
  const Vec<double, D - 1> free = poles.at(0);
  if (bilateral || norm2(free) <= radius * radius) return block.basis * free;
  block.multiplier = law_detail::section_multiplier(poles, radius, block.multiplier);
  return block.basis * poles.at(block.multiplier);
}

/// The associated rule couples u_N and u_T: the least factor steps against all of u, then back onto the cone.
template <int D>
SS_HD inline bool steps_onto_cone(const ContactLaw<D>& law) {
  return law.flow == FlowRule::associated && law.set != FrictionSet::bilateral;
}

/// r after one step that uses only the old r, for friction's bound too.
template <int D>
SS_HD inline Vec<double, D> prox_step(const ContactLaw<D>& law, ProxBlock<D>& block, double factor,
                                      const Vec<double, D>& r, const Vec<double, D>& u) {
  if (!(block.normal > 0)) return Vec<double, D>::zero();
  if (steps_onto_cone(law)) return project(law, r - factor * block.least * u);
  return from_parts<D>(prox_normal(law, block, factor, r[0], u[0]),
                       prox_tangential(law, block, factor, r[0], tangential(r), tangential(u)));
}

/// r after `steps` local steps, from the block's r and u = W r + q; `w` is its diagonal block of W. The
/// normal part comes first; the tangential part uses its result and the velocity that follows. The text uses
/// one velocity for both, which needs smaller factors where normal and tangent are coupled.
template <int D>
SS_HD inline Vec<double, D> prox_block(const ContactLaw<D>& law, ProxBlock<D>& block, const Mat<double, D>& w,
                                       double factor, int steps, Vec<double, D> r, Vec<double, D> u) {
  if (!(block.normal > 0)) return Vec<double, D>::zero();
  const bool associated = steps_onto_cone(law);
  for (int step = 0; step < steps; ++step) {
    const Vec<double, D> before = r;
    if (associated) {
      r = project(law, r - factor * block.least * u);
    } else {
      r[0] = prox_normal(law, block, factor, r[0], u[0]);
      const double dn = r[0] - before[0];
      for (int i = 0; i < D; ++i) u[i] += w(i, 0) * dn;
      r = from_parts<D>(r[0], prox_tangential(law, block, factor, r[0], tangential(r), tangential(u)));
    }
    if (step + 1 == steps || r == before) break;
    for (int i = 0; i < D; ++i)
      for (int j = associated ? 0 : 1; j < D; ++j) u[i] += w(i, j) * (r[j] - before[j]);
  }
  return r;
}

}  // namespace stickslip
