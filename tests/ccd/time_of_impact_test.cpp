#include "gpu/ccd/half_space.h"
#include "tests/ccd/moving_pairs.h"

namespace stickslip {
namespace {

using namespace testing;

struct Additive {
  template <class Pair, class T>
  static T toi(const Pair& pair, T kept, T t_max) {
    return additive::toi(pair, kept, t_max);
  }
  template <class Pair, class T>
  static bool may_touch(const Vec<T, 3> (&start)[4], const Vec<T, 3> (&end)[4]) {
    return additive::may_touch<Pair>(start, end);
  }
};
struct CubicRoots {
  template <class Pair, class T>
  static T toi(const Pair& pair, T kept, T t_max) {
    return cubic::toi(pair, kept, t_max);
  }
};
struct Multivariate {
  template <class Pair, class T>
  static T toi(const Pair& pair, T kept, T t_max) {
    return multivariate::toi(pair, kept, t_max);
  }
  template <class Pair, class T>
  static bool may_touch(const Vec<T, 3> (&start)[4], const Vec<T, 3> (&end)[4]) {
    return multivariate::may_touch<Pair>(start, end);
  }
};
struct Inclusion {
  template <class Pair, class T>
  static T toi(const Pair& pair, T kept, T t_max) {
    return inclusion::toi(pair, kept, t_max);
  }
  template <class Pair, class T>
  static bool may_touch(const Vec<T, 3> (&start)[4], const Vec<T, 3> (&end)[4]) {
    return inclusion::may_touch<Pair>(start, end);
  }
};

template <class M, class S>
struct Case {
  using Method = M;
  using T = S;
};
template <class C>
class TimeOfImpact : public ::testing::Test {
 protected:
  using T = typename C::T;
  using P = Vec<T, 3>;

  template <class Pair>
  static T toi(const Pair& pair, T kept = T(0.1), T t_max = T(1)) {
    return C::Method::toi(pair, kept, t_max);
  }
  /// A point above a triangle in the plane y = 0.
  static PointTriangle<T> point_over_triangle(P p, P motion) {
    return {{p, {0, 0, 0}, {1, 0, 0}, {0, 0, 1}}, {motion, {}, {}, {}}};
  }
  static EdgeEdge<T> edge_over_edge(P b0, P b1, P motion) {
    return {{{-1, 0, 0}, {1, 0, 0}, b0, b1}, {{}, {}, motion, motion}};
  }
};
using Cases = ::testing::Types<Case<Additive, double>, Case<Additive, float>, Case<CubicRoots, double>,
                               Case<CubicRoots, float>, Case<Multivariate, double>, Case<Multivariate, float>,
                               Case<Inclusion, double>, Case<Inclusion, float>>;
TYPED_TEST_SUITE(TimeOfImpact, Cases);

TYPED_TEST(TimeOfImpact, OfKnownImpacts) {
  using T = typename TypeParam::T;
  // Boxes end within a 32nd of what may be used of the gap.
  const double tolerance = std::is_same_v<typename TypeParam::Method, Inclusion> ? 0.03 : 1e-4;
  // Straight down, impact at t = 1/2: a tenth of the path remains.
  const auto down = this->point_over_triangle({T(0.2), 1, T(0.2)}, {0, -2, 0});
  EXPECT_NEAR(this->toi(down), 0.45, tolerance);
  EXPECT_NEAR(this->toi(down, T(0.5)), 0.25, tolerance);
  EXPECT_NEAR(this->toi(down, T(0.1), T(0.3)), 0.3, tolerance);
  EXPECT_NEAR(this->toi(down, T(0.1), T(0.48)), 0.45, tolerance);
  EXPECT_NEAR(this->toi(this->edge_over_edge({0, 1, -1}, {0, 1, 1}, {0, -2, 0})), 0.45, tolerance);
  // Onto a corner, and onto a side seen edge-on.
  EXPECT_NEAR(this->toi(this->point_over_triangle({-1, 0, 0}, {2, 0, 0})), 0.45, tolerance);
  EXPECT_NEAR(this->toi(this->point_over_triangle({T(0.5), 0, -1}, {0, 0, 2})), 0.45, tolerance);
  // Parallel edges touch along their length.
  EXPECT_NEAR(this->toi(this->edge_over_edge({-1, 1, 0}, {1, 1, 0}, {0, -2, 0})), 0.45, tolerance);
  // Collinear edges touch at their ends.
  EXPECT_NEAR(this->toi(this->edge_over_edge({2, 0, 0}, {3, 0, 0}, {-2, 0, 0})), 0.45, tolerance);
}

TYPED_TEST(TimeOfImpact, OfMissesIsTheFullStep) {
  using T = typename TypeParam::T;
  EXPECT_EQ(this->toi(this->point_over_triangle({T(0.2), 1, T(0.2)}, {0, 2, 0})), T(1));  // away
  EXPECT_EQ(this->toi(this->point_over_triangle({T(0.2), 1, T(0.2)}, {0, 0, 0})), T(1));  // at rest
  EXPECT_EQ(this->toi(this->point_over_triangle({T(0.2), 1, T(0.2)}, {5, 0, 1})), T(1));  // along the plane
  EXPECT_EQ(this->toi(this->point_over_triangle({2, 1, 2}, {0, -2, 0})), T(1));           // beside
  EXPECT_EQ(this->toi(this->edge_over_edge({3, 1, -1}, {3, 1, 1}, {0, -2, 0})), T(1));    // beside
  EXPECT_EQ(this->toi(this->edge_over_edge({-1, 1, 0}, {1, 1, 0}, {1, 0, 0})), T(1));     // parallel, sliding
  EXPECT_EQ(this->toi(this->point_over_triangle({T(0.2), T(1e-3), T(0.2)}, {1, 0, 1})), T(1));  // grazing
}

/// Requires that the distance stays above the share `clear` of its initial value up to the returned time.
template <template <class> class Pair, class Method, class T>
void expect_safe(const Pair<T>& pair, double clear, int& stopped) {
  const Pair<double> exact = cast<Pair, double>(pair);
  const double d0 = distance_at(exact, 0.0);
  const T t = Method::toi(pair, T(0.1), T(1));
  ASSERT_GE(t, T(0));
  ASSERT_LE(t, T(1));
  const double end = static_cast<double>(t);
  ASSERT_GT(first_time_within(exact, clear * d0, end), end);
  // The positions that the caller would store.
  Pair<double> moved = exact;
  for (int i = 0; i < 4; ++i) moved.x[i] = Vec<T, 3>(pair.x[i] + t * pair.p[i]).template cast<double>();
  ASSERT_GT(distance_at(moved, 0.0), clear * d0);
  stopped += t < T(1);
}

/// `smallest_gap`: closer pairs are skipped. The cubic detects impacts, not the distance of a near miss (so
/// its `clear` is small: of ten million pairs one passes at a millionth of its gap), and in float its roots
/// have only a few correct digits.
template <template <class> class Pair, class Method, class T>
void expect_random_safe(int count, double smallest_gap, double clear, double off_parallel) {
  Random random;
  SCOPED_TRACE(random.trace());
  int stopped = 0;
  for (int n = 0; n < count && !::testing::Test::HasFatalFailure(); ++n) {
    Pair<T> pair = cast<Pair, T>(random_motion<Pair>(random, off_parallel));
    if (distance_at(cast<Pair, double>(pair), 0.0) < smallest_gap) continue;
    SCOPED_TRACE(n);
    expect_safe<Pair, Method, T>(pair, clear, stopped);
  }
  // Many pairs were on a collision course.
  EXPECT_GT(stopped, count / 20);
}

template <class Method, class T>
struct SafetyLimits {
  static constexpr double smallest_gap = 1e-9, clear = 0.09, off_parallel = 1e-7;
};
template <>
struct SafetyLimits<Additive, float> {
  static constexpr double smallest_gap = 1e-4, clear = 0.09, off_parallel = 1e-4;
};
template <>
struct SafetyLimits<Multivariate, float> : SafetyLimits<Additive, float> {};
template <>
struct SafetyLimits<Inclusion, float> : SafetyLimits<Additive, float> {};
template <>
struct SafetyLimits<CubicRoots, double> {
  static constexpr double smallest_gap = 1e-6, clear = 1e-9, off_parallel = 0;
};
template <>
struct SafetyLimits<CubicRoots, float> {
  static constexpr double smallest_gap = 0.02, clear = 1e-9, off_parallel = 0;
};

TYPED_TEST(TimeOfImpact, LetsNoRandomPairThrough) {
  using Method = typename TypeParam::Method;
  using T = typename TypeParam::T;
  using Limits = SafetyLimits<Method, T>;
  expect_random_safe<PointTriangle, Method, T>(3000, Limits::smallest_gap, Limits::clear,
                                               Limits::off_parallel);
  expect_random_safe<EdgeEdge, Method, T>(3000, Limits::smallest_gap, Limits::clear, Limits::off_parallel);
}

/// The methods that miss no contact.
template <class M>
class CertainMethod : public ::testing::Test {};
using CertainMethods = ::testing::Types<Additive, Multivariate, Inclusion>;
TYPED_TEST_SUITE(CertainMethod, CertainMethods);

template <class Method, template <class> class Pair>
void expect_scale_does_not_matter(double scale) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 1000; ++n) {
    const Pair<double> pair = random_motion<Pair>(random);
    Pair<double> scaled = pair;
    transform(scaled, scale, Vec<double, 3>::zero());
    EXPECT_NEAR(Method::toi(scaled, 0.1, 1.0), Method::toi(pair, 0.1, 1.0), 1e-5);
  }
}
TYPED_TEST(CertainMethod, ScaleDoesNotMatter) {
  for (const double scale : {0x1p-40, 0x1p40}) {
    expect_scale_does_not_matter<TypeParam, PointTriangle>(scale);
    expect_scale_does_not_matter<TypeParam, EdgeEdge>(scale);
  }
}

// The step is close to the largest safe one.
TYPED_TEST(CertainMethod, UsesUpTheDistance) {
  Random random;
  SCOPED_TRACE(random.trace());
  int stopped = 0, early = 0;
  for (int n = 0; n < 10000; ++n) {
    const auto pair = random_motion<EdgeEdge>(random);
    const double d0 = distance_at(pair, 0.0), t = TypeParam::toi(pair, 0.1, 1.0);
    if (t == 1 || d0 < 1e-5) continue;
    ++stopped;
    early += distance_at(pair, t) > 0.2 * d0;
    EXPECT_GT(distance_at(pair, t), 0.0999 * d0);
  }
  EXPECT_GT(stopped, 1000);
  // Pairs that reached the limit of iterations.
  EXPECT_LT(early, stopped / 50);
}

TYPED_TEST(CertainMethod, HoldsOnToTouchingPairs) {
  const PointTriangle<double> touching{{{0.2, 0, 0.2}, {0, 0, 0}, {1, 0, 0}, {0, 0, 1}},
                                       {{0, -1, 0}, {}, {}, {}}};
  EXPECT_EQ(TypeParam::toi(touching, 0.1, 1.0), 0);
  // Far from the origin in float: the gap is comparable to the rounding of positions.
  const float far = 1000, gap = 1e-4f;
  PointTriangle<float> pair{{{far + 0.2f, far + gap, 0.2f}, {far, far, 0}, {far + 1, far, 0}, {far, far, 1}},
                            {{0, -1, 0}, {}, {}, {}}};
  EXPECT_EQ(TypeParam::toi(pair, 0.1f, 1.0f), 0.0f);
  pair.p[0] = {0, 1, 0};
  EXPECT_EQ(TypeParam::toi(pair, 0.1f, 1.0f), pair.x[0][1] > far ? 1.0f : 0.0f);
}

/// Of corners that move from `start` to `end`.
template <class C, template <class> class Pair, class T = typename C::T>
bool may_touch(const Vec<double, 3> (&start)[4], const Vec<double, 3> (&end)[4]) {
  Vec<T, 3> from[4], to[4];
  for (int i = 0; i < 4; ++i) {
    from[i] = start[i].cast<T>();
    to[i] = end[i].cast<T>();
  }
  return C::Method::template may_touch<Pair<T>>(from, to);
}

template <class C>
class MayTouch : public ::testing::Test {};
using TouchCases =
    ::testing::Types<Case<Additive, double>, Case<Additive, float>, Case<Multivariate, double>,
                     Case<Multivariate, float>, Case<Inclusion, double>, Case<Inclusion, float>>;
TYPED_TEST_SUITE(MayTouch, TouchCases);

TYPED_TEST(MayTouch, CountsContactAtBothEndsAndAtRest) {
  using P = Vec<double, 3>;
  const auto falls = [](P from, P to) {
    return may_touch<TypeParam, PointTriangle>({from, {0, 0, 0}, {1, 0, 0}, {0, 0, 1}},
                                               {to, {0, 0, 0}, {1, 0, 0}, {0, 0, 1}});
  };
  EXPECT_TRUE(falls({0.25, 1, 0.25}, {0.25, -1, 0.25}));
  EXPECT_TRUE(falls({0.25, 1, 0.25}, {0.25, 0, 0.25}));
  EXPECT_TRUE(falls({0.25, 0, 0.25}, {0.25, 1, 0.25}));
  EXPECT_TRUE(falls({0, 0, 0}, {0, 0, 0}));
  EXPECT_TRUE(falls({-1, 0, 0.25}, {0, 0, 0.25}));
  EXPECT_FALSE(falls({0.25, 1, 0.25}, {0.25, 1e-3, 0.25}));
  EXPECT_FALSE(falls({-1e-3, 1, 0.25}, {-1e-3, -1, 0.25}));
  EXPECT_FALSE(falls({0.51, 1, 0.51}, {0.51, -1, 0.51}));
  EXPECT_FALSE(falls({0.25, 1, 0.25}, {0.25, 1, 0.25}));
}

TYPED_TEST(MayTouch, JudgesParallelAndDegenerateEdges) {
  using P = Vec<double, 3>;
  const auto falls = [](P b0, P b1) {
    const P down{0, -2, 0};
    return may_touch<TypeParam, EdgeEdge>({{-1, 0, 0}, {1, 0, 0}, b0, b1},
                                          {{-1, 0, 0}, {1, 0, 0}, b0 + down, b1 + down});
  };
  EXPECT_TRUE(falls({-1, 1, 0}, {1, 1, 0}));
  EXPECT_TRUE(falls({1, 1, 0}, {3, 1, 0}));
  EXPECT_FALSE(falls({1.001, 1, 0}, {3, 1, 0}));
  EXPECT_FALSE(falls({-1, 1, 1e-3}, {1, 1, 1e-3}));
  EXPECT_TRUE(falls({0, 1, 0}, {0, 1, 0}));
  EXPECT_FALSE(falls({0, 1, 1e-3}, {0, 1, 1e-3}));
}

TYPED_TEST(MayTouch, DoesNotDependOnACommonTranslation) {
  using P = Vec<double, 3>;
  // Grid points, so that float represents them at a distance of a thousand; a common translation of a
  // million.
  const P far{1024, -512, 2048}, drift{0x1p20, 0, -0x1p20};
  const auto falls = [&](P b, double to) {
    const P down{0, to, 0}, ends[2] = {P{-1, 0, 0} + far, P{1, 0, 0} + far};
    return may_touch<TypeParam, EdgeEdge>(
        {ends[0], ends[1], b + far, P{0, 1, 2} + far},
        {ends[0] + drift, ends[1] + drift, b + far + drift + down, P{0, 1, 2} + far + drift + down});
  };
  EXPECT_TRUE(falls({0, 1, -2}, -2));
  EXPECT_FALSE(falls({0, 1, -2}, -0.5));
  EXPECT_FALSE(falls({0, 1, 0.5}, -2));
}

TEST(StaysApart, ImpliesAFullStep) {
  Random random;
  SCOPED_TRACE(random.trace());
  int apart = 0;
  for (int n = 0; n < 20000; ++n) {
    auto pair = random_motion<PointTriangle>(random);
    transform(pair, 1, random.point(-3, 3));
    pair.x[0] += random.point(-2, 2);
    if (!stays_apart(pair, 0.1, 1.0)) continue;
    ++apart;
    EXPECT_EQ(additive::toi(pair, 0.1, 1.0), 1);
  }
  EXPECT_GT(apart, 500);
}

/// Sides about one unit wide that slide over each other and turn, whose closest points lie inside of both.
template <template <class> class Pair>
Pair<double> random_slide(Random& random) {
  using P = Vec<double, 3>;
  const double gap = std::pow(10.0, random.uniform(-8, -3));
  Pair<double> pair;
  if (Pair<double>::kCornersOfA == 2) {
    const double angle = random.uniform(0.2, 1.5);
    const P along{std::cos(angle), 0, std::sin(angle)};
    pair.x[0] = P{-1, gap, 0};
    pair.x[1] = P{1, gap, 0};
    pair.x[2] = -1.0 * along;
    pair.x[3] = along;
  } else {
    pair.x[0] = P{0, gap, 0};
    pair.x[1] = P{-1, 0, -1};
    pair.x[2] = P{1, 0, -1};
    pair.x[3] = P{0, 0, 1};
  }
  const double turn = std::pow(10.0, random.uniform(-3, -1));
  const P slide = 0.1 * P{random.uniform(-1, 1), 0, random.uniform(-1, 1)}, axis = turn * random.direction();
  for (int i = 0; i < 4; ++i)
    pair.p[i] =
        i < Pair<double>::kCornersOfA ? slide : cross(axis, pair.x[i]) + P{0, random.uniform(-1, 1) * gap, 0};
  transform(pair, 1, random.point(-3, 3));
  return pair;
}

/// The multivariate method is the reference: it does not advance along directions.
template <template <class> class Pair>
void expect_the_way_of_slides() {
  Random random;
  SCOPED_TRACE(random.trace());
  int short_of_the_end = 0;
  for (int n = 0; n < 2000; ++n) {
    const auto pair = random_slide<Pair>(random);
    const double expected = multivariate::toi(pair, 0.1, 1.0), found = additive::toi(pair, 0.1, 1.0);
    short_of_the_end += expected < 1;
    EXPECT_GE(found, 0.9 * expected) << distance_at(pair, 0.0);
    EXPECT_GE(distance_at(pair, found), 0.0999 * distance_at(pair, 0.0) - 1e-14);
  }
  EXPECT_GT(short_of_the_end, 500);
}
TEST(Additive, PointsGoAsFarAsTheyCanWhereTheySlide) { expect_the_way_of_slides<PointTriangle>(); }
TEST(Additive, EdgesGoAsFarAsTheyCanWhereTheySlide) { expect_the_way_of_slides<EdgeEdge>(); }

TEST(CubicRoots, AreThoseOfTheFactors) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 20000; ++n) {
    double r[3];
    for (double& x : r) x = random.uniform(-2, 3);
    std::sort(r, r + 3);
    const double k = random.uniform(-1, 1);
    const cubic::Cubic<double> f{{-k * r[0] * r[1] * r[2], k * (r[0] * r[1] + r[1] * r[2] + r[2] * r[0]),
                                  -k * (r[0] + r[1] + r[2]), k},
                                 1e-15};
    const auto roots = cubic::roots_between(f, -1e-12, 1 + 1e-12);
    int expected = 0;
    const double apart = std::min(r[1] - r[0], r[2] - r[1]);
    if (apart < 1e-4) continue;
    for (const double x : r)
      if (x >= 0 && x <= 1) {
        ASSERT_LT(expected, roots.count);
        EXPECT_NEAR(roots.t[expected++], x, 1e-10 / (apart * apart));
      }
    EXPECT_EQ(roots.count, expected);
  }
  // A double root touches zero; a line and a constant have one root and none.
  const auto touching = cubic::roots_between<double>({{0.25, -1, 1, 0}, 1e-15}, 0, 1);
  ASSERT_GE(touching.count, 1);
  EXPECT_NEAR(touching.t[0], 0.5, 1e-12);
  EXPECT_EQ(cubic::roots_between<double>({{0.5, -1, 0, 0}, 1e-15}, 0, 1).count, 1);
  EXPECT_EQ(cubic::roots_between<double>({{0.5, 0, 0, 0}, 1e-15}, 0, 1).count, 0);
}

TEST(HalfSpaceToi, IsLinear) {
  using P = Vec<double, 3>;
  const P up{0, 1, 0};
  EXPECT_DOUBLE_EQ(half_space_toi<double>(up, 1, P{5, 3, 0}, P{7, -4, 0}, 0.1, 1), 0.45);
  EXPECT_DOUBLE_EQ(half_space_toi<double>(up, 1, P{5, 3, 0}, P{7, -1, 0}, 0.1, 1), 1);
  EXPECT_DOUBLE_EQ(half_space_toi<double>(up, 1, P{5, 3, 0}, P{7, 2, 0}, 0.1, 1), 1);
  EXPECT_DOUBLE_EQ(half_space_toi<double>(up, 1, P{5, 1, 0}, P{7, -2, 0}, 0.1, 1), 0);
}

}  // namespace
}  // namespace stickslip
