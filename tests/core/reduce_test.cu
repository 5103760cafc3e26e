#include <algorithm>
#include <cstring>
#include <limits>

#include "gpu/core/reduce.h"
#include "gpu/math/vec.h"
#include "tests/backend_test.h"
#include "tests/core/fixture.h"

BACKEND_TEST(Reduce, SumOfIntegersIsExact) {
  FRESH_SEED(seed);
  for (const std::size_t n : kSizes) {
    const auto host = random_integers<std::int32_t>(n, -1000, 1000, seed);
    std::int64_t expected = 0;
    for (const std::int32_t v : host) expected += v;
    const Buffer<std::int32_t> values(ctx, host);
    Buffer<std::int64_t> sum(ctx, 1);
    const std::int32_t* v = values.data();
    reduce_sum(
        ctx, n, [=] SS_LAMBDA(std::size_t i) { return std::int64_t{v[i]}; }, sum.data());
    EXPECT_EQ(read_back(ctx, sum.data()), expected) << "n " << n;
  }
}

BACKEND_TEST(Reduce, SumOfRealsIsNearTheSerialOne) {
  FRESH_SEED(seed);
  for (const std::size_t n : kSizes) {
    const auto host = random_reals(n, -1, 1, seed);
    long double expected = 0;
    for (const double v : host) expected += v;
    const Buffer<double> values(ctx, host);
    Buffer<double> sum(ctx, 1);
    const double* v = values.data();
    reduce_sum(
        ctx, n, [=] SS_LAMBDA(std::size_t i) { return v[i]; }, sum.data());
    EXPECT_NEAR(read_back(ctx, sum.data()), static_cast<double>(expected), 1e-15 * static_cast<double>(n))
        << "n " << n;
  }
}

BACKEND_TEST(Reduce, SumOfVectorsOfIntegersIsExact) {
  FRESH_SEED(seed);
  using V = Vec<float, 3>;
  for (const std::size_t n : kSizes) {
    const auto host = random_integers<std::int32_t>(n, -3, 3, seed);
    V expected{};
    for (const std::int32_t v : host) expected += V{float(v), float(2 * v), 1.0f};
    const Buffer<std::int32_t> values(ctx, host);
    Buffer<V> sum(ctx, 1);
    const std::int32_t* v = values.data();
    reduce_sum(
        ctx, n,
        [=] SS_LAMBDA(std::size_t i) {
          return V{float(v[i]), float(2 * v[i]), 1.0f};
        },
        sum.data());
    EXPECT_EQ(read_back(ctx, sum.data()), expected) << "n " << n;
  }
}

BACKEND_TEST(Reduce, MinAndMaxAreThoseOfTheSerialLoop) {
  FRESH_SEED(seed);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const std::size_t n : kSizes) {
    const auto reals = random_reals(n, -1, 1, seed);
    const std::vector<float> host(reals.begin(), reals.end());
    const Buffer<float> values(ctx, host);
    Buffer<float> result(ctx, 2);
    const float* v = values.data();
    auto value = [=] SS_LAMBDA(std::size_t i) { return v[i]; };
    reduce_min(ctx, n, value, infinity, result.data());
    reduce_max(ctx, n, value, -infinity, result.data() + 1);
    const std::vector<float> found = result.download(ctx);
    EXPECT_EQ(found[0], n == 0 ? infinity : *std::min_element(host.begin(), host.end())) << "n " << n;
    EXPECT_EQ(found[1], n == 0 ? -infinity : *std::max_element(host.begin(), host.end())) << "n " << n;
  }
}

BACKEND_TEST(Reduce, SumHasTheSameBitsForAnyNumberOfThreads) {
  FRESH_SEED(seed);
  for (const std::size_t n : kSizes) {
    const auto host = random_reals(n, -1, 1, seed);
    std::vector<double> sums;
    for_thread_counts([&](Context& c) {
      const Buffer<double> values(c, host);
      Buffer<double> sum(c, 1);
      const double* v = values.data();
      reduce_sum(
          c, n, [=] SS_LAMBDA(std::size_t i) { return v[i]; }, sum.data());
      sums.push_back(read_back(c, sum.data()));
    });
    for (const double sum : sums) EXPECT_EQ(std::memcmp(&sum, &sums[0], sizeof sum), 0) << "n " << n;
  }
}
