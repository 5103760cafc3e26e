// Sticking and sliding of one block under exact Coulomb friction, in the scaled rows of local_data.h.
//
// Sliding: u_N = 0, u'_T = -lambda y, |y| = r_N for y = r'_T. Eliminating r_N = (Q - w' . y) / W_NN, Q = -q_N
// > 0,
//   y(lambda) = (C' + lambda 1)^-1 b,   G(lambda) = W_NN |y| + w' . y = Q,
// where G(0) > Q if sticking (lambda = 0) is not admissible, and G goes to 0 < Q: a root always exists.
#pragma once

#include "gpu/law/local_data.h"

namespace stickslip::law_detail {

/// y and its derivatives: y' = -v, y'' = 2 x.
template <int N>
struct Resolved {
  Vec<double, N> y, v, x;
};

/// (C' + lambda 1)^-1 in the basis of C' eigenvectors.
template <int N>
struct EigenResolvent {
  Vec<double, N> values, b;

  SS_HD Vec<double, N> moved() const {
    Vec<double, N> result{};
    for (int i = 0; i < N; ++i) result[i] = values[i] * b[i];
    return result;
  }
  SS_HD Resolved<N> operator()(double lambda) const {
    Resolved<N> result{};
    for (int i = 0; i < N; ++i) {
      const double inverse = 1 / (values[i] + lambda);
      result.y[i] = b[i] * inverse;
      result.v[i] = result.y[i] * inverse;
      result.x[i] = result.v[i] * inverse;
    }
    return result;
  }
};

/// The same by a factorisation, whose errors scale with the rows.
template <int N>
struct FactorResolvent {
  Mat<double, N> schur;
  Vec<double, N> b;

  SS_HD static Vec<double, N> solve(const Mat<double, N>& l, Vec<double, N> x) {
    for (int i = 0; i < N; ++i) {
      for (int k = 0; k < i; ++k) x[i] -= l(i, k) * x[k];
      x[i] /= l(i, i);
    }
    for (int i = N - 1; i >= 0; --i) {
      for (int k = i + 1; k < N; ++k) x[i] -= l(k, i) * x[k];
      x[i] /= l(i, i);
    }
    return x;
  }
  SS_HD Vec<double, N> moved() const { return schur * b; }
  SS_HD Resolved<N> operator()(double lambda) const {
    Mat<double, N> a = schur;
    for (int i = 0; i < N; ++i) a(i, i) += lambda;
    const Mat<double, N> l = cholesky(a);
    const Vec<double, N> y = solve(l, b), v = solve(l, y);
    return {y, v, solve(l, v)};
  }
};

/// The root is between `low` (G > Q) and `high` (G < Q).
struct SlideBracket {
  double low = 0, high = std::numeric_limits<double>::infinity();

  SS_HD double inside(double guess, double size) const {
    if (guess > low && guess < high) return guess;
    if (!(high < std::numeric_limits<double>::infinity())) return 4 * (low > size ? low : size);
    if (low > 0.0625 * high) return 0.5 * (low + high);
    return low > 0 ? std::sqrt(low) * std::sqrt(high) : 0.0625 * high;
  }
};

/// Where G = Q by its expansion for large lambda, 1 / G = lambda / k + m / k^2. Close where friction does
/// little.
template <int N, class Resolvent>
SS_HD inline double far_guess(const Resolvent& resolvent, const Vec<double, N>& coupling, double w_nn,
                              double pressure) {
  const Vec<double, N>& b = resolvent.b;
  const Vec<double, N> moved = resolvent.moved();
  const double length = norm(b);
  const double k = w_nn * length + dot(coupling, b);
  if (!(k > 0)) return 0;
  return k / pressure - (w_nn * dot(b, moved) / length + dot(coupling, moved)) / k;
}

/// y, and r_N in `normal`, of a block that is pressed on, Q > 0. `lambda`: in: a guess, or 0; out: 0 where it
/// sticks. Halley's method on G, because G is a hyperbola in lambda where C' is isotropic: then the first
/// step is exact.
template <int N, class Resolvent>
SS_HD inline Vec<double, N> stick_or_slide(const Resolvent& resolvent, const Vec<double, N>& coupling,
                                           double w_nn, double size, double pressure, double& lambda,
                                           double& normal) {
  constexpr double negligible = 16 * std::numeric_limits<double>::epsilon();
  Resolved<N> at = resolvent(0);
  double cross = dot(coupling, at.y), length2 = norm2(at.y);
  const double stick = pressure - cross;  // W_NN r_N
  if (stick >= 0 && w_nn * w_nn * length2 <= stick * stick) {
    lambda = 0;
    normal = stick / w_nn;
    return at.y;
  }
  SlideBracket bracket;
  double next = lambda, here = 0;
  bool warm = lambda > 0;
  for (int iteration = 0; iteration < 60; ++iteration) {
    normal = std::sqrt(length2);
    const double inverse = 1 / normal, excess = w_nn * normal + cross - pressure;
    if (iteration > 0 && std::fabs(excess) <= negligible * (pressure + std::fabs(cross))) break;
    (excess > 0 ? bracket.low : bracket.high) = here;
    if (!warm) {
      const double yv = dot(at.y, at.v) * inverse;
      const double first = -w_nn * yv - dot(coupling, at.v);
      const double second = w_nn * (3 * dot(at.v, at.v) - yv * yv) * inverse + 2 * dot(coupling, at.x);
      next = here - 2 * excess * first / (2 * first * first - excess * second);
      if (iteration == 0) {
        const double far = far_guess(resolvent, coupling, w_nn, pressure);
        next = far > next ? far : next;
      }
    }
    warm = false;
    next = bracket.inside(next, size);
    if (next == here) break;
    here = next;
    at = resolvent(here);
    cross = dot(coupling, at.y);
    length2 = norm2(at.y);
  }
  lambda = here;
  return at.y;
}

}  // namespace stickslip::law_detail
