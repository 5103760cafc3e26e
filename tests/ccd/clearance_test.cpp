#include "gpu/ccd/clearance.h"

#include "gpu/math/lanes.h"
#include "tests/ccd/moving_pairs.h"

namespace stickslip {
namespace {

using namespace testing;

template <template <class> class PairOf>
struct Kind {
  template <class T>
  using Pair = PairOf<T>;
};
template <class K>
class Clearance : public ::testing::Test {
 protected:
  using Pair = typename K::template Pair<double>;

  static Pair random_pair(Random& random, double offset = 3) {
    Pair pair = random_motion<K::template Pair>(random, std::pow(10.0, random.uniform(-12, -1)));
    transform(pair, std::pow(10.0, random.uniform(-4, 4)), random.point(-offset, offset));
    return pair;
  }
  template <class T>
  static auto closest(const Vec<T, 3> (&y)[4]) {
    return K::template Pair<T>::closest(y);
  }
  static void relative(const Pair& pair, Vec<double, 3> (&y)[4]) {
    for (int i = 0; i < 4; ++i) y[i] = pair.x[i] - pair.x[0];
  }
  static clearance::Way<double> way_of(const Pair& pair) {
    clearance::Way<double> way;
    relative(pair, way.start);
    for (int i = 0; i < 4; ++i) way.end[i] = way.start[i] + (pair.p[i] - pair.p[0]);
    way.origin = larger_reach(pair.x[0], pair.p[0], 0.0);
    return way;
  }
};
using Kinds = ::testing::Types<Kind<PointTriangle>, Kind<EdgeEdge>>;
TYPED_TEST_SUITE(Clearance, Kinds);

TYPED_TEST(Clearance, BoundsTheDistanceFromBelowAndClosely) {
  using Pair = typename TestFixture::Pair;
  Random random;
  SCOPED_TRACE(random.trace());
  int close = 0, count = 0;
  for (int n = 0; n < 50000; ++n) {
    Vec<double, 3> y[4];
    this->relative(this->random_pair(random), y);
    Vec<long double, 3> precise[4];
    for (int i = 0; i < 4; ++i) precise[i] = y[i].template cast<long double>();
    // Closest points of nearly parallel edges are good to the root of the rounding.
    const auto distance =
        static_cast<double>(std::sqrt(TestFixture::template closest<long double>(precise).d2) * (1 + 1e-8L));
    const double least = clearance::least_distance<Pair>(y);
    if (!(least > 0)) continue;
    ++count;
    EXPECT_LE(least, distance);
    close += least > 0.999 * distance;
  }
  EXPECT_GT(count, 45000);
  EXPECT_GT(close, 0.98 * count);
}

TYPED_TEST(Clearance, ShowsNothingOfPairsThatTouch) {
  using Pair = typename TestFixture::Pair;
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 5000; ++n) {
    Pair pair = this->random_pair(random, 0);
    // A corner of a on a side of b, or the same corner; without rounding.
    for (auto& x : pair.x) x = x.template cast<float>().template cast<double>();
    const double t = 0.25 * (n % 5);
    pair.x[0] = (1 - t) * pair.x[2] + t * pair.x[3];
    Vec<double, 3> y[4];
    this->relative(pair, y);
    const auto way = this->way_of(pair);
    EXPECT_FALSE(clearance::least_distance<Pair>(y) > 0) << n;
    EXPECT_FALSE((clearance::keeps_clear<Pair>(way, 0.1, 0.0))) << n;
  }
}

TYPED_TEST(Clearance, ShowsNothingOfCoordinatesThatAreNoNumbers) {
  using Pair = typename TestFixture::Pair;
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 1000; ++n) {
    const auto clear = this->way_of(this->random_pair(random));
    for (int i = 1; i < 4; ++i)
      for (int k = 0; k < 3; ++k) {
        auto way = clear;
        way.start[i][k] = way.end[i][k] = std::numeric_limits<double>::quiet_NaN();
        EXPECT_FALSE(clearance::least_distance<Pair>(way.start) > 0);
        EXPECT_FALSE((clearance::keeps_clear<Pair>(way, 0.1, 0.0)));
        EXPECT_FALSE((clearance::keeps_away<Pair>(way, 0.0, 0.0)));
        way.start[i][k] = clear.start[i][k];
        EXPECT_FALSE((clearance::keeps_clear<Pair>(way, 0.1, 0.0)));
        EXPECT_FALSE((clearance::keeps_away<Pair>(way, 0.0, 0.0)));
      }
  }
}

TYPED_TEST(Clearance, PairsThatKeepClearKeepTheirShareOfTheGap) {
  using Pair = typename TestFixture::Pair;
  Random random;
  SCOPED_TRACE(random.trace());
  int clear = 0, apart = 0, missed = 0;
  for (int n = 0; n < 20000; ++n) {
    const Pair pair = this->random_pair(random);
    const double gap = distance_at(pair, 0.0), kept = random.uniform(0.05, 0.9);
    const double thickness = n % 2 == 0 ? 0 : gap * random.uniform(0, 0.9);
    const bool shown = clearance::keeps_clear<Pair>(this->way_of(pair), kept, thickness);
    if (stays_apart(pair, kept, 1.0, thickness)) {
      ++apart;
      missed += !shown;
    }
    if (!shown) continue;
    ++clear;
    EXPECT_EQ(additive::toi(pair, kept, 1.0, thickness), 1);
    EXPECT_GT(first_time_within(pair, (thickness + kept * (gap - thickness)) * (1 - 2e-4), 1.0), 1.0);
  }
  EXPECT_GT(clear, 2000);
  EXPECT_GT(apart, 500);
  EXPECT_LT(missed, 0.01 * apart);  // boxes hardly ever show more
}

// Corners may be anywhere in their boxes, each for itself.
TYPED_TEST(Clearance, PairsThatKeepAwayStayApartInTheirBoxes) {
  using Pair = typename TestFixture::Pair;
  Random random;
  SCOPED_TRACE(random.trace());
  int away = 0, apart = 0;
  for (int n = 0; n < 20000; ++n) {
    const Pair pair = this->random_pair(random);
    auto way = this->way_of(pair);
    for (int i = 0; i < 4; ++i) way.end[i] = way.start[i] + pair.p[i];
    const double distance = distance_at(pair, 0.0), least = distance * random.uniform(0, 1);
    const double spare = distance * random.uniform(0, 0.3);
    const bool shown = clearance::keeps_away<Pair>(way, least, spare);
    AabbT<double> a = AabbT<double>::empty(), b = a;
    for (int i = 0; i < 4; ++i) {
      auto& side = i < Pair::kCornersOfA ? a : b;
      side = merge(merge(side, pair.x[i]), pair.x[i] + pair.p[i]);
    }
    apart += norm(max(Vec<double, 3>::zero(), max(a.lo - b.hi, b.lo - a.hi))) > least + 4 * spare;
    if (!shown) continue;
    ++away;
    for (int sample = 0; sample < 20; ++sample) {
      Pair moved = pair;
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 3; ++k) {
          // Ends of the box more often than what lies between them.
          const double share = std::clamp(random.uniform(-1, 2), 0.0, 1.0);
          const double beside = std::clamp(random.uniform(-3, 3), -1.0, 1.0);
          moved.x[i][k] += share * pair.p[i][k] + beside * spare;
        }
      EXPECT_GT(distance_at(moved, 0.0), least * (1 - 1e-9));
    }
  }
  EXPECT_GT(away, 1000);
  EXPECT_GT(away, apart);  // more than boxes around the sides show
}

#if !STICKSLIP_ON_CUDA
TYPED_TEST(Clearance, IsTheSameInLanes) {
  using Pair = typename TestFixture::Pair;
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 2000; ++n) {
    Vec<WideLanes, 3> y[4];
    Vec<double, 3> one[kLaneCount][4];
    for (int lane = 0; lane < kLaneCount; ++lane) {
      this->relative(this->random_pair(random), one[lane]);
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 3; ++k) y[i][k].v[lane] = one[lane][i][k];
    }
    const WideLanes least = clearance::least_distance<Pair>(y);
    for (int lane = 0; lane < kLaneCount; ++lane) {
      const double alone = clearance::least_distance<Pair>(one[lane]);
      const double size = std::sqrt(Pair::closest(one[lane]).d2);
      if (!(alone > 0)) continue;
      EXPECT_NEAR(least.v[lane], alone, 1e-6 * size);
    }
  }
}
#endif

}  // namespace
}  // namespace stickslip
