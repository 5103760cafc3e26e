#include "gpu/broadphase/float_box.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/fixtures/fresh_seed.h"

namespace stickslip {

TEST(FloatBox, ContainsTheBoxItWasMadeFrom) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  for (const double scale : {0.0, 1e-30, 1e-6, 1.0, 1e9})
    for (int i = 0; i < 10000; ++i) {
      const Vec3 a{Real(scale * u(rng)), Real(scale * u(rng)), Real(scale * u(rng))};
      const FloatBox box = round_outward({a, a});
      for (int k = 0; k < 3; ++k) {
        EXPECT_LT(box.lo[k], a[k]);
        EXPECT_GT(box.hi[k], a[k]);
        EXPECT_LE(box.hi[k] - box.lo[k], 1e-6 * std::abs(a[k]) + 1e-37);
      }
    }
}

}  // namespace stickslip
