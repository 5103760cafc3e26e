// GMRES: nonsymmetric systems, restarts, and early stopping.
#include "gpu/dfcp/solvers/gmres.cuh"

#include "tests/backend_test.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// y_i = (2 + i / n) x_i - 0.9 x_{i-1}, in blocks of three.
void bidiagonal(Context& ctx, std::size_t n, const Vec<double, 3>* x, Vec<double, 3>* y) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t c) {
    const double diagonal = 2 + static_cast<double>(c) / static_cast<double>(n);
    y[c] = diagonal * x[c];
    if (c > 0) y[c] -= 0.9 * x[c - 1];
  });
}

struct Outcome {
  double reached = 0, residual = 0;  // residual reported by GMRES, and |b - A x| / |b|
  int products = 0;
};

Outcome solve(Context& ctx, int iterations, const std::function<bool(int products)>& stop) {
  constexpr std::size_t n = 500;
  Outcome out;
  Buffer<Vec<double, 3>> b(ctx, n), x(ctx, n), image(ctx, n);
  fill(ctx, b.data(), n, Vec<double, 3>{1, -2, 0.5});
  Gmres<3> gmres;
  out.reached = gmres.solve(
      ctx, n, b.data(), x.data(), 1e-12, iterations,
      [&](const Vec<double, 3>* in, Vec<double, 3>* to) {
        ++out.products;
        bidiagonal(ctx, n, in, to);
      },
      stop ? Gmres<3>::Stop([&] { return stop(out.products); }) : nullptr);
  bidiagonal(ctx, n, x.data(), image.data());
  const auto right = b.download(ctx), left = image.download(ctx);
  double error = 0, size = 0;
  for (std::size_t c = 0; c < n; ++c) error += norm2(right[c] - left[c]), size += norm2(right[c]);
  out.residual = std::sqrt(error / size);
  return out;
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Gmres, Solves) {
  const Outcome out = solve(ctx, 2000, nullptr);
  EXPECT_LE(out.reached, 1e-12);
  EXPECT_LT(out.residual, 1e-11);
}

BACKEND_TEST(Gmres, StopsSoonAfterItIsAskedToWithTheBestThatItHas) {
  const Outcome full = solve(ctx, 2000, nullptr), out = solve(ctx, 2000, [](int n) { return n >= 8; });
  EXPECT_LE(out.products, 16);
  EXPECT_LT(out.products, full.products);
  EXPECT_LT(out.residual, 0.1);
  EXPECT_NEAR(out.residual, out.reached, 1e-9);
  EXPECT_EQ(solve(ctx, 2000, [](int) { return false; }).products, full.products);
}
