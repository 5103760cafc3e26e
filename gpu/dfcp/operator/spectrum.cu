#include "gpu/dfcp/operator/spectrum.cuh"

#include <algorithm>
#include <cmath>

#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Number of eigenvalues of the symmetric tridiagonal matrix (a, b) below x: sign
/// changes of Sturm's sequence.
int eigenvalues_below(const std::vector<double>& a, const std::vector<double>& b, double x) {
  int count = 0;
  double d = 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    d = a[i] - x - (i == 0 ? 0.0 : b[i - 1] * b[i - 1] / d);
    if (d == 0) d = 1e-300;
    if (d < 0) ++count;
  }
  return count;
}

/// The eigenvalue of the given rank, by bisection in Gershgorin's interval.
double eigenvalue(const std::vector<double>& a, const std::vector<double>& b, int rank) {
  double reach = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    reach = std::max(reach, std::fabs(a[i]) + (i > 0 ? b[i - 1] : 0.0) + (i < b.size() ? b[i] : 0.0));
  double low = -reach, high = reach;
  for (int i = 0; i < 100 && high - low > 1e-14 * reach; ++i) {
    const double middle = 0.5 * (low + high);
    (eigenvalues_below(a, b, middle) > rank ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

/// In [-1, 1]; depends on the index only.
SS_HD double noise(std::size_t i) {
  auto x = static_cast<std::uint32_t>(i * 2654435761u + 12345u);
  x ^= x >> 15;
  x *= 0x2c1b3c6du;
  x ^= x >> 12;
  return static_cast<double>(x) / 2147483648.0 - 1.0;
}

/// *out = <x, y>.
template <int D>
void store_product(Context& ctx, std::size_t n, const Vec<double, D>* x, const Vec<double, D>* y,
                   double* out) {
  reduce_sum(
      ctx, n, [=] SS_LAMBDA(std::size_t c) { return dot(x[c], y[c]); }, out);
}

/// y -= *factor x.
template <int D>
void subtract(Context& ctx, std::size_t n, const double* factor, const Vec<double, D>* x, Vec<double, D>* y) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t c) { y[c] += -*factor * x[c]; });
}

}  // namespace

template <int D>
Spectrum estimate_spectrum(Context& ctx, const Delassus<D>& W, int steps) {
  const std::size_t n = W.blocks();
  if (n == 0) return {};
  steps = std::min(steps, static_cast<int>(std::min<std::size_t>(n * D, 1000)));
  // <q, W q> and |next|^2 of a step, in one host read; a product with a basis vector.
  Buffer<Vec<double, 2>> sums(ctx, 1);
  Buffer<double> product_with(ctx, 1);
  double *along = reinterpret_cast<double*>(sums.data()), *square = along + 1;
  std::vector<Buffer<Vec<double, D>>> basis;
  Buffer<Vec<double, D>> next(ctx, n);
  Vec<double, D>* start = next.data();
  launch(ctx, n, [=] SS_LAMBDA(std::size_t c) {
    for (int i = 0; i < D; ++i) start[c][i] = noise(c * D + static_cast<std::size_t>(i));
  });
  store_product(ctx, n, start, start, square);
  double length = std::sqrt(read_back(ctx, square));
  std::vector<double> diagonal, off;
  for (int k = 0; k < steps; ++k) {
    basis.emplace_back(ctx, n);
    Vec<double, D>* q = basis.back().data();
    const Vec<double, D>* rest = next.data();
    const double inverse = 1 / length;
    launch(ctx, n, [=] SS_LAMBDA(std::size_t c) { q[c] = inverse * rest[c]; });
    W.apply(ctx, q, next.data(), false);
    store_product(ctx, n, static_cast<const Vec<double, D>*>(q), rest, along);
    for (int pass = 0; pass < 2; ++pass)  // twice is enough for orthogonality
      for (const Buffer<Vec<double, D>>& v : basis) {
        store_product(ctx, n, v.data(), rest, product_with.data());
        subtract(ctx, n, product_with.data(), v.data(), next.data());
      }
    store_product(ctx, n, rest, rest, square);
    const Vec<double, 2> read = read_back(ctx, sums.data());
    diagonal.push_back(read[0]);
    length = std::sqrt(read[1]);
    if (!(length > 1e-12 * std::fabs(diagonal.front())) || k + 1 == steps) break;
    off.push_back(length);
  }
  return {eigenvalue(diagonal, off, static_cast<int>(diagonal.size()) - 1), eigenvalue(diagonal, off, 0)};
}

template Spectrum estimate_spectrum(Context&, const Delassus<3>&, int);
template Spectrum estimate_spectrum(Context&, const Delassus<4>&, int);
template Spectrum estimate_spectrum(Context&, const Delassus<5>&, int);

}  // namespace stickslip::STICKSLIP_BACKEND
