#include "gpu/linear/split_matrix.cuh"

#include "gpu/linear/row_product.cuh"
#include "tests/backend_test.h"
#include "tests/fixtures/fresh_seed.h"
#include "tests/linear/device_system.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

void expect_product(Context& ctx, DeviceSystem& device, const test::System& system, test::Random& random) {
  const std::vector<Vec3> x = random.vectors(system.node_count);
  Real x_dot_y = 0;
  const test::Vector got = test::to_eigen(device.times(ctx, x, &x_dot_y));
  const test::Sparse a = system.matrix();
  const test::Vector want = a * test::to_eigen(x);
  const double size = (a.cwiseAbs() * test::to_eigen(x).cwiseAbs()).maxCoeff();
  EXPECT_LE((got - want).cwiseAbs().maxCoeff(), test::kRounding * size);
  const double want_dot = want.dot(test::to_eigen(x));
  EXPECT_NEAR(x_dot_y, want_dot, 100 * test::kRounding * want_dot);
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(SplitMatrix, MatchesEigen) {
  struct Case {
    int nx, ny, nz;
    std::size_t stencils;
  };
  for (const Case c : {Case{1, 1, 1, 0}, Case{2, 2, 2, 5}, Case{7, 5, 6, 100}, Case{14, 15, 16, 0},
                       Case{20, 18, 17, 3000}}) {
    const unsigned seed = stickslip::fixtures::fresh_seed();
    SCOPED_TRACE("seed " + std::to_string(seed) + ", lattice of " + std::to_string(c.nx * c.ny * c.nz));
    test::Random random(seed);
    const test::System system = test::make_system(random, c.nx, c.ny, c.nz, c.stencils);
    DeviceSystem device(ctx, system);
    expect_product(ctx, device, system, random);
  }
}

BACKEND_TEST(SplitMatrix, ReassemblesWithOtherStencilsWithoutAllocating) {
  FRESH_SEED(seed);
  test::Random random(seed);
  test::System system = test::make_system(random, 9, 8, 7, 400);
  DeviceSystem device(ctx, system);
  expect_product(ctx, device, system, random);
  const Buffer<Vec3> x(ctx, random.vectors(system.node_count));
  Buffer<Vec3> y(ctx, system.node_count);
  ctx.counters() = {};
  for (const std::size_t stencils : {300U, 0U, 400U}) {
    system.stencils.nodes.resize(stencils, {0, 1, 2, 3});
    system.stencils.blocks.resize(kCornerBlocks * stencils, Mat3::identity());
    device.assemble(ctx, system);
    device.matrix.multiply(ctx, x.data(), y.data());
    EXPECT_EQ(ctx.counters().allocations, 0U);
    EXPECT_EQ(device.matrix.stencil_count(), stencils);
    expect_product(ctx, device, system, random);
    ctx.counters() = {};
  }
}

BACKEND_TEST(SplitMatrix, AssemblesInBatches) {
  FRESH_SEED(seed);
  test::Random random(seed);
  const test::System system = test::make_system(random, 9, 8, 7, 0);
  DeviceSystem device(ctx, system);
  const std::size_t tets = system.tets.nodes.size();
  const Vec<std::size_t, 4> bounds{0, tets / 3, tets / 3 + 1, tets};
  for (int b = 0; b < 3; ++b) {
    const auto* blocks = system.tets.blocks.data();
    const Buffer<Mat3> batch(ctx,
                             {blocks + kCornerBlocks * bounds[b], blocks + kCornerBlocks * bounds[b + 1]});
    device.matrix.assemble_batch(ctx, batch.data(), {bounds[b], bounds[b + 1]});
  }
  device.matrix.add_diagonal(ctx, device.diagonal.data());
  expect_product(ctx, device, system, random);
}

BACKEND_TEST(SplitMatrix, AssemblesWhatWasRenewed) {
  FRESH_SEED(seed);
  test::Random random(seed);
  test::System system = test::make_system(random, 7, 6, 5, 30);
  const test::System other = test::make_system(random, 7, 6, 5, 0);
  DeviceSystem device(ctx, system);
  const std::size_t tets = system.tets.nodes.size();
  const auto assemble = [&](const std::vector<std::uint8_t>& renewed, bool known) {
    const Buffer<std::uint8_t> flags(ctx, renewed);
    device.blocks.upload(ctx, system.tets.blocks);
    device.matrix.assemble_renewed(ctx, device.blocks.data(), flags.data(), known);
    device.matrix.add_diagonal(ctx, device.diagonal.data());
    device.matrix.set_stencils(ctx, device.stencils.data(), device.stencils.size(),
                               device.stencil_blocks.data());
    expect_product(ctx, device, system, random);
  };
  assemble(std::vector<std::uint8_t>(tets, 0), false);
  for (const std::size_t every : {1U, 5U, 50U, 1000000U}) {
    std::vector<std::uint8_t> renewed(tets, 0);
    for (std::size_t t = 0; t < tets; ++t) {
      if (t % every != every - 1) continue;
      renewed[t] = 1;
      for (int k = 0; k < kCornerBlocks; ++k)
        system.tets.blocks[kCornerBlocks * t + k] += other.tets.blocks[kCornerBlocks * t + k];
    }
    assemble(renewed, true);
  }
}

BACKEND_TEST(SplitMatrix, IsSymmetric) {
  FRESH_SEED(seed);
  test::Random random(seed);
  const test::System system = test::make_system(random, 12, 11, 13, 500);
  DeviceSystem device(ctx, system);
  const std::vector<Vec3> x = random.vectors(system.node_count), y = random.vectors(system.node_count);
  const test::Vector ax = test::to_eigen(device.times(ctx, x)), ay = test::to_eigen(device.times(ctx, y));
  const double x_ay = test::to_eigen(x).dot(ay), y_ax = test::to_eigen(y).dot(ax);
  const double size = test::to_eigen(y).cwiseAbs().dot(ax.cwiseAbs());
  EXPECT_NEAR(x_ay, y_ax, test::kRounding * size);
}

BACKEND_TEST(SplitMatrix, CountsTheBlocksOfItsParts) {
  FRESH_SEED(seed);
  test::Random random(seed);
  const test::System system = test::make_system(random, 6, 5, 4, 40);
  DeviceSystem device(ctx, system);
  const test::Sparse a = system.matrix();
  const auto n = static_cast<std::int32_t>(system.node_count);
  const MatrixParts parts = device.matrix.parts(ctx, n);
  ASSERT_EQ(parts.cells, n) << "a cell per block";
  std::vector<std::uint8_t> filled(system.node_count * system.node_count, 0);
  for (int column = 0; column < a.outerSize(); ++column)
    for (test::Sparse::InnerIterator entry(a, column); entry; ++entry)
      if (entry.value() != 0) filled[static_cast<std::size_t>(entry.row() / 3 * n + column / 3)] = 1;
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < n; ++j) {
      const MatrixParts::Counts& count = parts.at(i, j);
      EXPECT_EQ(count[0] + count[1] + count[2] > 0, filled[static_cast<std::size_t>(i * n + j)] != 0);
      EXPECT_EQ(count[MatrixParts::diagonal], i == j);
      EXPECT_LE(count[MatrixParts::elastic], 1);
      EXPECT_LE(count[MatrixParts::contact], 1);
    }
  EXPECT_EQ(parts.total[MatrixParts::elastic], static_cast<std::int64_t>(2 * device.matrix.pair_count()));
}

BACKEND_TEST(SplitMatrix, AddsSymmetricBlocksToTheDiagonal) {
  FRESH_SEED(seed);
  test::Random random(seed);
  const test::System system = test::make_system(random, 3, 3, 3, 0);
  DeviceSystem device(ctx, system);
  std::vector<Mat3> blocks(system.node_count);
  for (Mat3& block : blocks)
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c <= r; ++c) block(r, c) = block(c, r) = random.uniform();
  const std::vector<Vec3> x = random.vectors(system.node_count);
  const test::Vector before = test::to_eigen(device.times(ctx, x));
  const Buffer<Mat3> added(ctx, blocks);
  device.matrix.add_diagonal(ctx, added.data());
  const test::Vector after = test::to_eigen(device.times(ctx, x));
  for (std::size_t i = 0; i < system.node_count; ++i)
    for (int r = 0; r < 3; ++r)
      EXPECT_NEAR(after[3 * i + r] - before[3 * i + r], (blocks[i] * x[i])[r], 1e3 * test::kRounding);
}

BACKEND_TEST(SplitMatrix, RefusesBadElements) {
  SplitMatrix matrix;
  for (const Vec4i bad :
       {Vec4i{0, 1, 2, 4}, Vec4i{0, -1, 2, 3}, Vec4i{0, 1, 2, 1}, Vec4i{-1, 0, 1, 2}, Vec4i{0, 1, -2, -1}}) {
    const std::vector<Vec4i> tets{{0, 1, 2, 3}, bad};
    try {
      matrix.set_pattern(ctx, 4, tets);
      ADD_FAILURE() << "accepted";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("element 1"), std::string::npos) << error.what();
    }
  }
}

BACKEND_TEST(SplitMatrix, DoesNothingIfTheSkipFlagIsSet) {
  test::Random random(1);
  const test::System system = test::make_system(random, 4, 4, 4, 0);
  DeviceSystem device(ctx, system);
  const std::vector<Vec3> x = random.vectors(system.node_count);
  const Buffer<Vec3> from(ctx, x);
  Buffer<Vec3> to(ctx, x);
  const Buffer<std::int32_t> skip(ctx, std::vector<std::int32_t>{3});
  device.matrix.multiply(ctx, from.data(), to.data(), nullptr, skip.data());
  EXPECT_EQ(to.download(ctx), x);
}

// The product of this backend compared with the generic one.
BACKEND_TEST(SplitMatrix, LowerProductAgreesWithRows) {
  FRESH_SEED(seed);
  test::Random random(seed);
  const std::vector<Vec4i> tets = test::lattice_tets(23, 24, 25);
  const std::size_t n = 23 * 24 * 25;
  const Pattern pattern = make_pattern(n, tets, LowerProduct::chunk_size(n));
  std::vector<Mat3> diagonal(n + 1, Mat3::zero()), lower(pattern.entries.size() + 1, Mat3::zero());
  for (std::size_t i = 0; i < n; ++i)
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c <= r; ++c) diagonal[i](r, c) = diagonal[i](c, r) = random.uniform();
  for (std::size_t e = 0; e < pattern.entries.size(); ++e)
    for (Real& v : lower[e].m) v = random.uniform();
  const Buffer<Mat3> d(ctx, diagonal), l(ctx, lower);
  const Buffer<Vec3> x(ctx, random.vectors(n));
  Buffer<Vec3> y(ctx, n);
  Buffer<Real> dot(ctx, 1);

  RowProduct rows;
  rows.set_pattern(ctx, pattern);
  rows.multiply(ctx, d.data(), l.data(), x.data(), y.data(), dot.data());
  const test::Vector by_rows = test::to_eigen(y.download(ctx));
  const Real dot_by_rows = read_back(ctx, dot.data());
  LowerProduct own;
  own.set_pattern(ctx, pattern);
  own.multiply(ctx, d.data(), l.data(), x.data(), y.data(), dot.data());
  EXPECT_LE((by_rows - test::to_eigen(y.download(ctx))).cwiseAbs().maxCoeff(), 100 * test::kRounding);
  EXPECT_NEAR(dot_by_rows, read_back(ctx, dot.data()), test::kRounding * 50 * static_cast<double>(n));
}

BACKEND_TEST(SplitMatrix, SameBitsForAnyThreadCount) {
  FRESH_SEED(seed);
  test::Random random(seed);
  const test::System system = test::make_system(random, 20, 21, 22, 2000);
  const std::vector<Vec3> x = random.vectors(system.node_count);
  std::vector<Vec3> first;
  Real first_dot = 0;
  for (const int threads : {1, 2, 3, 8}) {
    Context own(threads);
    DeviceSystem device(own, system);
    Real dot = 0;
    const std::vector<Vec3> y = device.times(own, x, &dot);
    if (threads == 1) {
      first = y;
      first_dot = dot;
    }
    EXPECT_EQ(y, first) << threads << " threads";
    EXPECT_EQ(dot, first_dot) << threads << " threads";
  }
}
