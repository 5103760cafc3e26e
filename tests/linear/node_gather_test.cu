#include "gpu/linear/node_gather.cuh"

#include "tests/backend_test.h"
#include "tests/fixtures/fresh_seed.h"
#include "tests/linear/systems.h"

BACKEND_TEST(NodeGather, SumsCornersByNode) {
  for (const std::size_t n : {0U, 1U, 31U, 5000U}) {
    const unsigned seed = stickslip::fixtures::fresh_seed();
    SCOPED_TRACE("seed " + std::to_string(seed) + ", stencils " + std::to_string(n));
    test::Random random(seed);
    const std::size_t node_count = 900;
    std::vector<Vec4i> stencils;
    for (std::size_t s = 0; s < n; ++s)
      stencils.push_back(random.stencil(node_count, static_cast<int>(s % 5)));
    const std::vector<Vec3> values = random.vectors(4 * n), start = random.vectors(node_count);
    // A node's corners are added in ascending order; the previous value is added last.
    std::vector<Vec3> sums(node_count, Vec3::zero());
    std::vector<bool> touched(node_count, false);
    for (std::size_t c = 0; c < 4 * n; ++c)
      if (const std::int32_t node = stencils[c / 4][c % 4]; node >= 0) {
        sums[node] = touched[node] ? sums[node] + values[c] : values[c];
        touched[node] = true;
      }

    const Buffer<Vec4i> device_stencils(ctx, stencils);
    const Buffer<Vec3> device_values(ctx, values);
    const Vec3* value = device_values.data();
    NodeGather gather;
    gather.build(ctx, device_stencils.data(), n, node_count);
    for (const Accumulate accumulate : {Accumulate::add, Accumulate::overwrite}) {
      Buffer<Vec3> out(ctx, start);
      gather.sum(
          ctx, [=] SS_LAMBDA(std::int32_t corner) { return value[corner]; }, out.data(), accumulate);
      const std::vector<Vec3> got = out.download(ctx);
      for (std::size_t i = 0; i < node_count; ++i) {
        const Vec3 added = accumulate == Accumulate::add ? sums[i] + start[i] : sums[i];
        EXPECT_EQ(got[i], touched[i] ? added : start[i]) << "node " << i;
      }
    }
  }
}

BACKEND_TEST(NodeGather, AllCornersUnused) {
  const Buffer<Vec4i> stencils(ctx, std::vector<Vec4i>(10, Vec4i{-1, -1, -1, -1}));
  NodeGather gather;
  gather.build(ctx, stencils.data(), 10, 4);
  Buffer<Real> out(ctx, std::vector<Real>{1, 2, 3, 4});
  gather.sum(
      ctx, [=] SS_LAMBDA(std::int32_t) { return Real(5); }, out.data());
  EXPECT_EQ(out.download(ctx), (std::vector<Real>{1, 2, 3, 4}));
}
