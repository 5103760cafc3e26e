#include "gpu/law/projection.h"

#include "gpu/law/natural_map.h"
#include "tests/fixtures/fresh_seed.h"
#include "tests/law/random_laws.h"

namespace stickslip {
namespace {

using testing::RandomLaws;

constexpr FrictionSet kSets[] = {FrictionSet::ellipsoid, FrictionSet::box};

/// Excess over |r_T| <= mu r_N, relative to the section at r_N, as an impulse.
template <int D>
double excess(const ContactLaw<D>& law, const Vec<double, D>& r) {
  double most = -r[0], sum = 0;
  for (int i = 1; i < D; ++i) {
    const double mu = law.mu[i - 1];
    if (mu == 0) {
      most = std::max(most, std::fabs(r[i]));
      continue;
    }
    if (law.set == FrictionSet::box) most = std::max(most, std::fabs(r[i]) - mu * r[0]);
    sum += r[i] * r[i] / (mu * mu);
  }
  // For the ellipsoid: the distance in r_N, or in r_T if mu is small.
  if (law.set == FrictionSet::ellipsoid) {
    double largest = 0;
    for (int i = 0; i < D - 1; ++i) largest = std::max(largest, law.mu[i]);
    most = std::max(most, (std::sqrt(sum) - r[0]) * std::min(1.0, largest));
  }
  return most;
}

/// The three conditions that characterise the projection: p in K, p - x in K*, orthogonal.
template <int D>
void expect_projection(const ContactLaw<D>& law, const Vec<double, D>& x, double tolerance) {
  const Vec<double, D> p = project(law, x), rest = p - x;
  const double size = norm(x);
  EXPECT_LE(excess(law, p), tolerance * size);
  EXPECT_LE(support(law, rest) - rest[0], tolerance * size * (1 + norm(law.mu)));
  EXPECT_LE(std::fabs(dot(p, rest)), tolerance * size * size);
  EXPECT_LE(norm(project(law, p) - p), tolerance * size);
}

template <int D>
void check_projection(RandomLaws& random) {
  for (int n = 0; n < 4000; ++n) {
    const ContactLaw<D> law = random.law<D>(kSets[n % 2], FlowRule::exact, 1e6);
    const double scale = n % 3 == 0 ? random.power(12) : 1.0;
    Vec<double, D> x = random.vector<D>();
    if (n % 5 == 0) x[0] = 0;
    if (n % 7 == 0) x[D - 1] = 0;
    if (n % 11 == 0)  // near the cone or its polar
      for (int i = 1; i < D; ++i) x[i] *= law.mu[i - 1];
    SCOPED_TRACE(n);
    expect_projection(law, scale * x, 1e-13);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Projection, SatisfiesItsConditions) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  check_projection<3>(random);
  check_projection<4>(random);
}

TEST(Projection, OfSimpleCones) {
  const ContactLaw<3> circular{{0.5, 0.5}}, slippery{{0, 0}}, strip{{0.5, 0}};
  const Vec<double, 3> zero = Vec<double, 3>::zero();
  EXPECT_EQ(project(circular, {2, 0.6, 0.8}), (Vec<double, 3>{2, 0.6, 0.8}));
  EXPECT_EQ(project(circular, {-1, 0.6, 0.8}), zero);
  EXPECT_LT(norm(project(circular, {0, 0, 5}) - Vec<double, 3>{2, 0, 1}), 1e-15);
  EXPECT_EQ(project(slippery, {2, 3, 4}), (Vec<double, 3>{2, 0, 0}));
  EXPECT_EQ(project(slippery, {-2, 3, 4}), zero);
  EXPECT_LT(norm(project(strip, {0, 5, 7}) - Vec<double, 3>{2, 1, 0}), 1e-15);
  EXPECT_EQ(project(circular, zero), zero);
  EXPECT_EQ(project(strip, zero), zero);
  ContactLaw<3> joint{{0.5, 0.5}, FrictionSet::bilateral};
  EXPECT_EQ(project(joint, {-1, 2, 3}), (Vec<double, 3>{-1, 2, 3}));
  EXPECT_EQ((Vec<double, 3>{-1, 2, 3}) + project(joint, {1, -2, -3}), zero);
}

/// No point of the section, sampled finely along its rim, is closer.
TEST(Projection, SectionIsClosest) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (int n = 0; n < 300; ++n) {
    const ContactLaw<3> law = random.law<3>(kSets[n % 2], FlowRule::exact, 1e3);
    const double radius = random.power(6);
    const Vec<double, 2> x = radius * std::max(law.mu[0], 1e-3) * 2.0 * random.vector<2>();
    const Vec<double, 2> p = project_section(law, radius, x);
    EXPECT_LE(excess(law, from_parts<3>(radius, p)), 1e-14 * radius * (1 + norm(law.mu)));
    double closest = std::numeric_limits<double>::max();
    for (int k = 0; k < 720; ++k) {
      const double angle = k * std::acos(-1.0) / 360, c = std::cos(angle), s = std::sin(angle);
      const double stretch = law.set == FrictionSet::box ? 1 / std::max(std::fabs(c), std::fabs(s)) : 1;
      const Vec<double, 2> rim{radius * stretch * law.mu[0] * c, radius * stretch * law.mu[1] * s};
      closest = std::min(closest, norm(rim - x));
    }
    EXPECT_LE(norm(p - x), closest * (1 + 1e-12)) << n;
  }
  const ContactLaw<3> law{{0.5, 0.25}};
  EXPECT_EQ(project_section(law, -1, {1, 1}), (Vec<double, 2>{0, 0}));
  EXPECT_EQ(project_section(law, 2, {0.1, 0.1}), (Vec<double, 2>{0.1, 0.1}));
  EXPECT_LT(norm(project_section(law, 2, {3, 0}) - Vec<double, 2>{1, 0}), 1e-15);
}

/// x - p is normal to the ellipsoid at p, also with very different axes.
TEST(Projection, SectionOfAnEllipsoid) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (int n = 0; n < 2000; ++n) {
    ContactLaw<4> law{};
    for (int i = 0; i < 3; ++i) law.mu[i] = random.power(3);
    const Vec<double, 3> x = random.power(3) * random.vector<3>(), p = project_section(law, 1, x);
    Vec<double, 3> gradient{};
    double value = 0;
    for (int i = 0; i < 3; ++i) {
      gradient[i] = p[i] / (law.mu[i] * law.mu[i]);
      value += p[i] * gradient[i];
    }
    if (p == x) continue;
    EXPECT_NEAR(value, 1, 1e-13);
    const Vec<double, 3> away = x - p;
    EXPECT_LE(norm(away - (dot(away, gradient) / norm2(gradient)) * gradient), 1e-12 * norm(x)) << n;
    EXPECT_GT(dot(away, gradient), 0);
  }
}

}  // namespace
}  // namespace stickslip
