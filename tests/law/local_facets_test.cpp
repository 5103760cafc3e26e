// Blocks whose friction disc is a polygon, against the definition of the law and a search along the rim.
#include "gpu/law/local_facets.h"

#include <algorithm>
#include <numbers>

#include "gpu/law/local_solve.h"
#include "tests/fixtures/fresh_seed.h"
#include "tests/law/random_laws.h"

namespace stickslip {
namespace {

using testing::RandomLaws;
using Vec2d = Vec<double, 2>;
using Vec3d = Vec<double, 3>;

Vec2d corner(int i, int facets) {
  const double angle = 2 * std::numbers::pi * i / facets;
  return {std::cos(angle), std::sin(angle)};
}

/// The nearest point of the sides, or the point itself where it is to the left of all of them. Beside a
/// corner it is known up to the square root of rounding: distances to both sides then differ by less.
Vec2d nearest_of_polygon(const Vec2d& t, double radius, int facets) {
  bool is_inside = true;
  Vec2d nearest = radius * corner(0, facets);
  for (int i = 0; i < facets; ++i) {
    const Vec2d a = radius * corner(i, facets), side = radius * corner(i + 1, facets) - a;
    if (side[0] * (t[1] - a[1]) - side[1] * (t[0] - a[0]) < 0) is_inside = false;
    const Vec2d foot = a + std::clamp(dot(t - a, side) / dot(side, side), 0.0, 1.0) * side;
    if (norm(t - foot) < norm(t - nearest)) nearest = foot;
  }
  return is_inside ? t : nearest;
}

TEST(LocalFacets, ProjectsOntoTheNearestSide) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (int n = 0; n < 20000; ++n) {
    const int facets = 4 + n % 29;
    const Vec2d t = 2.0 * random.vector<2>();
    EXPECT_LT(norm(project_on_polygon(t, 0.7, facets) - nearest_of_polygon(t, 0.7, facets)), 1e-6)
        << facets << ": " << t[0] << ", " << t[1];
  }
}

/// The largest violation of Signorini's condition, of the polygon, and of the largest power of friction.
double facet_error(const ContactLaw<3>& law, int facets, const Vec3d& r, const Vec3d& u) {
  const Vec2d t{r[1] / law.mu[0], r[2] / law.mu[1]}, slip{law.mu[0] * u[1], law.mu[1] * u[2]};
  double most = -1e300;
  for (int i = 0; i < facets; ++i) most = std::max(most, -dot(corner(i, facets), slip));
  return std::max({-u[0], -r[0], std::fabs(u[0] * r[0]), norm(t - nearest_of_polygon(t, r[0], facets)),
                   std::fabs(r[0] * most + dot(t, slip))});
}

TEST(LocalFacets, SolvesTheLawWithCorners) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  int slides = 0, opens = 0;
  for (int n = 0; n < 3000; ++n) {
    const int facets = 4 + n % 13;
    ContactLaw<3> law;
    law.mu = {random.uniform(0.1, 0.6), random.uniform(0.1, 0.6)};
    const Mat<double, 3> w = random.block<3>(n % 2 == 0 ? 1 : 3);
    Vec3d q = random.vector<3>();
    if (n % 4 != 0) q[0] = -std::fabs(q[0]);
    const Vec3d r = solve_facets(law, facets, w, q, 0.1 * random.vector<3>());
    EXPECT_LT(facet_error(law, facets, r, w * r + q), 1e-6 * (1 + norm2(q))) << n;
    opens += r[0] == 0;
    slides += r[0] > 0 && norm(tangential(w * r + q)) > 1e-6;
  }
  EXPECT_GT(slides, 300);
  EXPECT_GT(opens, 300);
}

/// Where the rows do not couple, passes are exact; many corners approach the disc by the square of the angle
/// between them.
TEST(LocalFacets, ManyCornersApproachTheDisc) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  ContactLaw<3> law;
  law.mu = {0.4, 0.4};
  const Mat<double, 3> w = 2.0 * Mat<double, 3>::identity();
  for (const int facets : {8, 64, 512}) {
    double off = 0;
    for (int n = 0; n < 500; ++n) {
      Vec3d q = random.vector<3>();
      q[0] = -std::fabs(q[0]);
      const Vec3d r = solve_facets(law, facets, w, q, Vec3d{0, 0, 0});
      EXPECT_LT(facet_error(law, facets, r, w * r + q), 1e-9 * (1 + norm2(q)));
      off = std::max(off, norm(r - local_solve(law, w, q)) / r[0]);
    }
    const double angle = std::numbers::pi / facets;
    EXPECT_LE(off, 2 * law.mu[0] * std::sin(0.5 * angle) + 1e-12) << facets;  // from a corner to a side's end
    EXPECT_GT(off, 0.1 * law.mu[0] * angle) << facets;
  }
}

}  // namespace
}  // namespace stickslip
