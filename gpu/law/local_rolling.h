// One block with friction and rolling resistance, in the scaled rows of local_data.h: y = r'_T has two parts,
// the scaled friction y_A and the scaled rolling moment y_B, each in a disc of radius r_N [Acary21].
//
// A block that is pressed on has multipliers a, b >= 0 with u'_A = -a y_A, u'_B = -b y_B, that is
//   (C + diag(a, a, b, b)) y = p,   w_NN r_N + c . y = Q,
//   |y_A| <= r_N and a (r_N - |y_A|) = 0,   |y_B| <= r_N and b (r_N - |y_B|) = 0.
// For a given b, eliminating y_B leaves the problem of local_slide.h in y_A. The right b is the root of a
// scalar function, r_N / |y_B(b)| - 1, or 0 where that is positive at b = 0. The function grows: where C is
// isotropic and r_N fixed, linearly. For b -> infinity y_B vanishes and r_N stays positive.
#pragma once

#include "gpu/law/local_slide.h"

namespace stickslip::law_detail {

/// y and r_N for some b; `excess` = r_N / |y_B| - 1, infinite where y_B = 0, and -1 where no r_N was found.
struct DiscImpulses {
  Vec<double, 4> y;
  double normal, a, b, excess;
  bool solved;  // by solve_two_discs
};

/// The data of the problem above; `matrix` = C.
struct TwoDiscs {
  Mat<double, 4> matrix;
  Vec<double, 4> p, coupling;
  double w_nn, pressure;

  /// Its solution for a given b, with b (r_N - |y_B|) = 0 left out. `a`: in: a guess, or 0; out: that of y_A.
  SS_HD DiscImpulses at(double b, double& a) const {
    using Pair = Vec<double, 2>;
    Mat<double, 2> lower{};
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) lower(i, j) = matrix(i + 2, j + 2) + (i == j ? b : 0.0);
    lower = cholesky(lower);
    const auto solve = [&](const Pair& x) { return FactorResolvent<2>::solve(lower, x); };
    // y_B = free - response y_A
    const Pair free = solve({p[2], p[3]});
    const Pair columns[2] = {solve({matrix(2, 0), matrix(3, 0)}), solve({matrix(2, 1), matrix(3, 1)})};
    Mat<double, 2> schur{};
    Pair right{}, along{};
    for (int i = 0; i < 2; ++i) {
      right[i] = p[i] - matrix(i, 2) * free[0] - matrix(i, 3) * free[1];
      along[i] = coupling[i] - coupling[2] * columns[i][0] - coupling[3] * columns[i][1];
      for (int j = 0; j < 2; ++j)
        schur(i, j) = matrix(i, j) - matrix(i, 2) * columns[j][0] - matrix(i, 3) * columns[j][1];
      const double floor = least_pivot * matrix(i, i);
      if (!(schur(i, i) > floor)) schur(i, i) = floor;
    }
    schur(0, 1) = schur(1, 0) = 0.5 * (schur(0, 1) + schur(1, 0));
    const double left = pressure - coupling[2] * free[0] - coupling[3] * free[1];
    DiscImpulses found{};
    const Pair y = slide(schur, right, along, left, a, found.normal);
    found.a = a;
    found.b = b;
    for (int i = 0; i < 2; ++i) {
      found.y[i] = y[i];
      found.y[i + 2] = free[i] - columns[0][i] * y[0] - columns[1][i] * y[1];
    }
    const double length = disc_length(found.y, 1);
    found.excess = !(found.normal > 0) ? -1.0
                   : length > 0        ? found.normal / length - 1
                                       : std::numeric_limits<double>::infinity();
    return found;
  }

 private:
  static constexpr double kUnsolved = 1e-9;  // relative: the search for y_A ended beside a root

  /// y_A by local_slide.h in the basis of the eigenvectors. r_N = 0 where the moment lifts the contact.
  SS_HD Vec<double, 2> slide(const Mat<double, 2>& schur, const Vec<double, 2>& right,
                             const Vec<double, 2>& along, double left, double& a, double& normal) const {
    const SymmetricEigen<double, 2> eigen = decompose(schur);
    const double largest = eigen.values[0] > eigen.values[1] ? eigen.values[0] : eigen.values[1];
    Vec<double, 2> values = eigen.values;
    for (int i = 0; i < 2; ++i)
      if (!(values[i] > least_pivot * largest)) values[i] = least_pivot * largest;
    const EigenResolvent<2> resolvent{values, transposed_times(eigen.vectors, right)};
    const Vec<double, 2> turned = transposed_times(eigen.vectors, along);
    if (left > 0) {
      const Vec<double, 2> y = stick_or_slide(resolvent, turned, w_nn, values[0], left, a, normal);
      const double along_y = dot(turned, y), size = w_nn * normal + std::fabs(along_y) + left;
      if (!(std::fabs(w_nn * normal + along_y - left) <= kUnsolved * size)) normal = 0;
      return eigen.vectors * y;
    }
    const Vec<double, 2> stuck = resolvent(0).y;
    normal = (left - dot(turned, stuck)) / w_nn;
    a = 0;
    if (normal >= norm(stuck)) return eigen.vectors * stuck;
    normal = 0;
    return Vec<double, 2>::zero();
  }
};

/// The values of a function at both ends of an interval that has a root: negative at `low`, not at `high`.
/// Regula falsi in the Illinois form: an end that stays for a second step counts half.
struct RootBracket {
  double low, at_low, high, at_high;
  int side = 0;

  SS_HD double next() const { return low + (high - low) * (at_low / (at_low - at_high)); }
  SS_HD bool closed() const { return !(high - low > 2 * std::numeric_limits<double>::epsilon() * high); }
  SS_HD void take(double x, double value) {
    if (value < 0) {
      low = x;
      at_low = value;
      if (side < 0) at_high *= 0.5;
      side = -1;
    } else {
      high = x;
      at_high = value;
      if (side > 0) at_low *= 0.5;
      side = 1;
    }
  }
};

/// The root of a function that is negative at bracket.low; until a value is not, places go away by `growth`.
struct RootSearch {
  RootBracket bracket;
  double growth;
  bool open = true;

  /// From the value at x to the next place; false where there is none between.
  SS_HD bool move(double& x, double value) {
    if (open && value < 0) {
      bracket.low = x;
      bracket.at_low = value;
      x *= growth;
      return true;
    }
    bracket.take(x, value);
    open = false;
    if (bracket.closed()) return false;
    const double middle = bracket.next();
    x = middle > bracket.low && middle < bracket.high ? middle : 0.5 * (bracket.low + bracket.high);
    return true;
  }
};

/// `multiplier`: b; in: a guess, or 0.
SS_HD inline DiscImpulses solve_two_discs(const TwoDiscs& discs, double& multiplier) {
  constexpr double negligible = 8 * std::numeric_limits<double>::epsilon(), most = 1e6;
  double a = 0;
  DiscImpulses found = discs.at(0, a);
  const double guess = multiplier;
  multiplier = 0;
  found.solved = found.excess >= 0;
  if (found.solved) return found;
  const double size = 0.5 * (discs.matrix(2, 2) + discs.matrix(3, 3));
  // Beyond the root: from the line through the value at 0, which is right where C is isotropic.
  const double rest = 1 + found.excess;
  double x = guess > 0 ? guess : size * (rest * most > 1 ? -found.excess / rest * (1 + 1e-3) : 1.0);
  RootSearch search{{0, found.excess, 0, 0}, 4};
  for (int iteration = 0; iteration < 100; ++iteration) {
    found = discs.at(x, a);
    if (std::fabs(found.excess) <= negligible) break;
    const double value = found.excess < most ? found.excess : most;
    if (!search.move(x, value)) break;
  }
  multiplier = found.b;
  // Where rows are coupled strongly, y_A can have several solutions or none for the same b, and the function
  // of b jumps over its root.
  constexpr double jump = 1e-9;
  found.solved = std::fabs(found.excess) <= jump;
  // Onto the rim.
  const double length = disc_length(found.y, 1);
  for (int i = 2; i < 4; ++i) found.y[i] *= length > 0 ? found.normal / length : 0.0;
  return found;
}

/// The tangential rows W'_TT of a block, its p for a given r_N, and the same discs.
template <int D>
SS_HD inline TwoDiscs discs_of_radius(const LocalData<D>& data, const Vec<double, D>& q, double normal) {
  TwoDiscs discs{};
  for (int i = 1; i < D; ++i) {
    for (int j = 1; j < D; ++j) discs.matrix(i - 1, j - 1) = data.scaled(i, j);
    discs.p[i - 1] = -q[i] - data.scaled(i, 0) * normal;
  }
  discs.w_nn = 1;
  discs.pressure = normal;
  return discs;
}

/// The associated rule: for a given r_N the least energy has multipliers a, b of the discs, and its slope
/// along r_N is u_N - (a + b) r_N. The energy is convex in r_N: the slope grows, and is negative at 0.
template <int D>
SS_HD inline Vec<double, D> solve_rolling_associated(const LocalData<D>& data, const Vec<double, D>& q,
                                                     double& lambda) {
  DiscImpulses found{};
  const auto slope = [&](double normal) {
    found = solve_two_discs(discs_of_radius(data, q, normal), lambda);
    double u = data.normal * normal + q[0];
    for (int i = 1; i < D; ++i) u += data.scaled(0, i) * found.y[i - 1];
    return u - (found.a + found.b) * normal;
  };
  const double sigma = disc_length(tangential(q), 0) + disc_length(tangential(q), 1);
  const double size = std::fabs(q[0]) + sigma;
  double x = (sigma - q[0]) * data.inverse_normal;
  RootSearch search{{0, q[0] - sigma, 0, 0}, 2};
  for (int iteration = 0; iteration < 300; ++iteration) {
    const double value = slope(x);
    if (std::fabs(value) <= 8 * std::numeric_limits<double>::epsilon() * size) break;
    if (!search.move(x, value)) break;
  }
  return from_parts<D>(x, found.y);
}

/// The exact rule by De Saxce's shift s: with q_N + s in place of q_N the associated rule has one solution,
/// and its sigma(u_T) is continuous in s, not less than s at 0, and less where the block opens, at s =
/// sigma(q_T) - q_N. A root of sigma(u_T) - s solves the law [Acary11].
template <int D>
SS_HD inline Vec<double, D> solve_rolling_by_shift(const LocalData<D>& data, const Vec<double, D>& q) {
  const auto slip = [](const Vec<double, D>& u) {
    return disc_length(tangential(u), 0) + disc_length(tangential(u), 1);
  };
  Vec<double, D> r = Vec<double, D>::zero();
  double multiplier = 0;
  const double size = slip(q) - q[0];
  RootBracket bracket{0, 0, size, -q[0]};
  for (int iteration = 0; iteration < 200; ++iteration) {
    const double s = iteration == 0 ? 0.0 : iteration == 1 ? 0.5 * size : bracket.next();
    Vec<double, D> lifted = q;
    lifted[0] += s;
    r = solve_rolling_associated(data, lifted, multiplier);
    // Positive beyond the root.
    const double value = s - slip(data.scaled * r + q);
    if (std::fabs(value) <= 8 * std::numeric_limits<double>::epsilon() * size) break;
    if (iteration == 0) bracket.at_low = value;
    else bracket.take(s, value);
    if (bracket.closed()) break;
  }
  return r;
}

/// r' of a block that does not open. q in scaled rows. `lambda` as in local_solve: the multiplier b.
template <int D>
SS_HD inline Vec<double, D> solve_rolling(const LocalData<D>& data, FlowRule rule, const Vec<double, D>& q,
                                          double& lambda) {
  if (rule == FlowRule::associated) return solve_rolling_associated(data, q, lambda);
  TwoDiscs discs{schur_complement(data), {}, {}, data.normal, -q[0]};
  for (int i = 1; i < D; ++i) {
    discs.coupling[i - 1] = data.scaled(i, 0);
    discs.p[i - 1] = data.scaled(i, 0) * (data.inverse_normal * q[0]) - q[i];
  }
  const DiscImpulses found = solve_two_discs(discs, lambda);
  if (found.solved) return from_parts<D>(found.normal, found.y);
  lambda = 0;
  return solve_rolling_by_shift(data, q);
}

}  // namespace stickslip::law_detail
