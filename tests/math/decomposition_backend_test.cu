// Decompositions in kernels give the host's results up to rounding.
#include <vector>

#include "gpu/core/buffer.h"
#include "gpu/core/launch.h"
#include "gpu/math/spd.h"
#include "gpu/math/svd.h"
#include "tests/backend_test.h"
#include "tests/math/random_matrices.h"

BACKEND_TEST(Decomposition, SvdInKernelReproducesItsMatrix) {
  testing::RandomMatrices random;
  SCOPED_TRACE(random.trace());
  std::vector<Mat3> f(10000);
  for (Mat3& m : f) m = random.deformation<Real>();
  Buffer<Mat3> in(ctx, f);
  Buffer<Svd3<Real>> out(ctx, f.size());
  const Mat3* from = in.data();
  Svd3<Real>* to = out.data();
  launch(ctx, f.size(), [=] SS_LAMBDA(std::size_t i) { to[i] = svd3(from[i]); });
  const std::vector<Svd3<Real>> result = out.download(ctx);
  for (std::size_t i = 0; i < f.size(); ++i) {
    Mat3 us = result[i].u;
    for (int k = 0; k < 9; ++k) us.m[k] *= result[i].s[k % 3];
    ASSERT_LE(testing::max_abs(us * result[i].v.transposed() - f[i]),
              32 * std::numeric_limits<Real>::epsilon() * testing::max_abs(f[i]));
  }
}

BACKEND_TEST(Decomposition, ProjectionInKernelEqualsHost) {
  testing::RandomMatrices random;
  SCOPED_TRACE(random.trace());
  using M = Mat<Real, 12>;
  std::vector<M> a(2000);
  for (M& m : a) m = random.symmetric<Real, 12>();
  Buffer<M> matrices(ctx, a);
  M* m = matrices.data();
  launch(ctx, a.size(), [=] SS_LAMBDA(std::size_t i) { project_spd(m[i]); });
  const std::vector<M> result = matrices.download(ctx);
  for (std::size_t i = 0; i < a.size(); ++i) {
    M expected = a[i];
    project_spd(expected);
    ASSERT_LE(testing::max_abs(result[i] - expected),
              400 * std::numeric_limits<Real>::epsilon() * testing::max_abs(a[i]));
  }
}
