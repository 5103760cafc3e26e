// Scalings and steps of interior-point methods.
#include "gpu/law/interior.h"

#include "gpu/law/projection.h"
#include "tests/fixtures/fresh_seed.h"
#include "tests/law/random_laws.h"

namespace stickslip {
namespace {

using testing::RandomLaws;

/// With friction along every row: then a cone has an interior.
template <int D>
ContactLaw<D> rough_law(RandomLaws& random) {
  ContactLaw<D> law{};
  const double common = random.uniform(0.05, 1.5);
  const bool circular = random.index(2) == 0;
  for (int i = 0; i < D - 1; ++i) law.mu[i] = circular ? common : random.uniform(0.05, 1.5);
  law.flow = random.index(2) == 0 ? FlowRule::exact : FlowRule::associated;
  return law;
}

/// x = (r_N, r_i / mu_i) of the second-order cone.
template <int D>
Vec<double, D> scaled_impulse(const ContactLaw<D>& law, Vec<double, D> r) {
  for (int i = 1; i < D; ++i) r[i] /= law.mu[i - 1];
  return r;
}
template <int D>
Vec<double, D> scaled_velocity(const ContactLaw<D>& law, Vec<double, D> y) {
  for (int i = 1; i < D; ++i) y[i] *= law.mu[i - 1];
  return y;
}

/// A point inside K, at a depth of at least 1e-6 of its size.
template <int D>
Vec<double, D> inside(const ContactLaw<D>& law, RandomLaws& random, bool dual) {
  const Vec<double, D> x = random.vector<D>();
  Vec<double, D> point = dual ? x + project(law, -x) : project(law, x);
  point[0] += std::pow(10.0, random.uniform(-6, 0)) * norm(x);
  return random.power(3) * point;
}

template <int D>
void expect_near(const Vec<double, D>& a, const Vec<double, D>& b, double tolerance) {
  EXPECT_LE(norm(a - b), tolerance * (norm(a) + norm(b)));
}

template <int D>
void check_scaling(RandomLaws& random) {
  const ContactLaw<D> law = rough_law<D>(random);
  const Vec<double, D> r = inside(law, random, false), y = inside(law, random, true);
  const ConeScaling<D> scaling(law, r, y);
  const Vec<double, D> x = scaling.impulse(r), z = scaling.velocity(y);
  expect_near(x, scaled_impulse(law, r), 1e-15);
  expect_near(z, scaled_velocity(law, y), 1e-15);
  // N x = N^-1 z = lambda, which also lies inside the cone, and the products are equal.
  expect_near(scaling.apply(x), scaling.lambda, 1e-14);
  expect_near(scaling.apply_inverse(z), scaling.lambda, 1e-8);
  EXPECT_GT(scaling.lambda[0], norm(tangential(scaling.lambda)));
  EXPECT_NEAR(norm2(scaling.lambda), dot(r, y), 1e-8 * dot(r, y));
  // The axis lies on the hyperbola, N and N^-1 are inverse to each other, N is symmetric.
  EXPECT_NEAR(law_detail::cone_determinant(scaling.axis), 1, 1e-8 * norm2(scaling.axis));
  const Vec<double, D> v = random.vector<D>(), w = random.vector<D>();
  const double condition = norm2(scaling.axis);
  expect_near(scaling.apply_inverse(scaling.apply(v)), v, 1e-14 * condition * condition);
  EXPECT_NEAR(dot(v, scaling.apply(w)), dot(w, scaling.apply(v)),
              1e-14 * scaling.size * condition * norm(v) * norm(w));
  // M = S N^2 S with S = row_scale maps r to y.
  const Mat<double, D> m = scaling.impedance();
  const Vec<double, D> twice = scaling.unscaled_velocity(scaling.apply(scaling.apply(scaling.impulse(v))));
  double size = 0;
  for (const double entry : m.m) size = std::max(size, std::fabs(entry));
  EXPECT_LE(norm(m * v - twice), 1e-8 * size * norm(v));
  EXPECT_LE(norm(m * r - y), 1e-8 * size * norm(r));
}

/// Whether x + t d is inside the second-order cone.
template <int D>
bool stays(const Vec<double, D>& x, const Vec<double, D>& d, double t) {
  const Vec<double, D> at = x + t * d;
  return at[0] >= norm(tangential(at));
}

/// The first step that leaves the cone, by a fine grid and then bisection; infinite if none does.
template <int D>
double walk(const Vec<double, D>& x, const Vec<double, D>& d) {
  double low = 0, high = 1e-9;
  while (stays(x, d, high)) {
    low = high;
    high *= 1.05;
    if (high > 1e12) return std::numeric_limits<double>::infinity();
  }
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (stays(x, d, middle) ? low : high) = middle;
  }
  return low;
}

template <int D>
void check_steps(RandomLaws& random) {
  ContactLaw<D> law = rough_law<D>(random);
  const Vec<double, D> r = inside(law, random, false), y = inside(law, random, true);
  const Vec<double, D> dr = random.power(2) * random.vector<D>(), dy = random.power(2) * random.vector<D>();
  const double a = walk(scaled_impulse(law, r), scaled_impulse(law, dr));
  const double b = walk(scaled_velocity(law, y), scaled_velocity(law, dy));
  const double step = interior_step(law, r, y, dr, dy), expected = std::min(a, b);
  if (std::isinf(expected)) {
    EXPECT_GT(step, 1e11);
  } else {
    EXPECT_NEAR(step, expected, 1e-6 * expected);
  }
  law.set = FrictionSet::bilateral;
  EXPECT_TRUE(std::isinf(interior_step(law, r, y, dr, dy)));
}

TEST(Interior, ScalingMapsTheTwoOntoEachOther) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (int n = 0; n < 2000; ++n) {
    check_scaling<3>(random);
    check_scaling<4>(random);
  }
}

TEST(Interior, StepsEndAtTheBoundary) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (int n = 0; n < 500; ++n) {
    check_steps<3>(random);
    check_steps<4>(random);
  }
}

TEST(Interior, StepsByHand) {
  using law_detail::step_to_boundary;
  const Vec<double, 3> x{1, 0, 0};
  EXPECT_DOUBLE_EQ(step_to_boundary(x, {-1, 0, 0}), 1);    // to the apex
  EXPECT_DOUBLE_EQ(step_to_boundary(x, {0, 0, 2}), 0.5);   // to the side
  EXPECT_DOUBLE_EQ(step_to_boundary(x, {-1, 1, 0}), 0.5);  // along the other side: a quadratic without x^2
  EXPECT_TRUE(std::isinf(step_to_boundary(x, {1, 0, 0})));
  EXPECT_TRUE(std::isinf(step_to_boundary(x, {1, 0.6, 0.8})));  // parallel to the side
  EXPECT_TRUE(std::isinf(step_to_boundary(x, {0, 0, 0})));
}

TEST(Interior, JordanProductsAndQuotients) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (int n = 0; n < 200; ++n) {
    const ContactLaw<4> law = rough_law<4>(random);
    const Vec<double, 4> x = scaled_impulse(law, inside(law, random, false)), b = random.vector<4>();
    const Vec<double, 4> y = law_detail::jordan_divide(x, b);
    const double size = norm(x) * norm(y);
    EXPECT_LE(norm(law_detail::jordan_product(x, y) - b), 1e-13 * size);
    EXPECT_LE(norm(law_detail::jordan_product(x, b) - law_detail::jordan_product(b, x)),
              1e-14 * size + 1e-14);
  }
}

/// Rows without friction are omitted on both sides; boxes have no such cones.
TEST(Interior, RowsWithoutFriction) {
  ContactLaw<3> law{{0.5, 0.0}, FrictionSet::ellipsoid, FlowRule::exact};
  const ConeScaling<3> scaling(law, {2, 0.3, 0}, {1, 0.4, 7});
  EXPECT_EQ(scaling.row_scale[2], 0);
  EXPECT_EQ(scaling.lambda[2], 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(scaling.impedance()(i, 2), 0);
  EXPECT_TRUE(has_interior(law));
  EXPECT_DOUBLE_EQ(interior_step(law, {2, 0.3, 0}, {1, 0.4, 7}, {0, 0, 5}, {0, 0, -5}),
                   std::numeric_limits<double>::infinity());
  law.set = FrictionSet::box;
  EXPECT_FALSE(has_interior(law));
  law.set = FrictionSet::bilateral;
  EXPECT_TRUE(has_interior(law));
}

}  // namespace
}  // namespace stickslip
