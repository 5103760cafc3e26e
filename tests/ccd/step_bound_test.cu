#include "gpu/ccd/step_bound.cuh"

#include <vector>

#include "gpu/ccd/clearance.h"
#include "gpu/core/buffer.h"
#include "tests/backend_test.h"
#include "tests/ccd/moving_pairs.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Quadruples of separate nodes.
struct Scene {
  std::vector<Vec3> x, p;
  std::vector<Vec4i> point_triangle, edge_edge;
};

constexpr CcdMethod kMethods[] = {CcdMethod::additive, CcdMethod::cubic, CcdMethod::multivariate,
                                  CcdMethod::inclusion};

template <template <class> class Pair>
void add(Scene& scene, std::vector<Vec4i>& pairs, const Pair<double>& pair) {
  if (distance_at(pair, 0.0) < 1e-3) return;
  const auto first = static_cast<std::int32_t>(scene.x.size());
  pairs.push_back({first, first + 1, first + 2, first + 3});
  for (int i = 0; i < 4; ++i) {
    scene.x.push_back(pair.x[i].template cast<Real>());
    scene.p.push_back(pair.p[i].template cast<Real>());
  }
}

template <class Pair>
Pair gather(const Scene& scene, const Vec4i& nodes) {
  Pair pair;
  for (int i = 0; i < 4; ++i) {
    pair.x[i] = scene.x[nodes[i]];
    pair.p[i] = scene.p[nodes[i]];
  }
  return pair;
}

template <class Pair>
bool keeps_clear(const Pair& pair, Real kept, Real limit) {
  clearance::Way<Real> way;
  for (int i = 0; i < 4; ++i) {
    way.start[i] = pair.x[i] - pair.x[0];
    way.end[i] = way.start[i] + limit * (pair.p[i] - pair.p[0]);
  }
  way.origin = larger_reach(pair.x[0], limit * pair.p[0], Real(0));
  return clearance::keeps_clear<Pair>(way, kept, Real(0));
}

/// The smallest bound over every stride-th pair, none above `limit`.
template <template <class> class Pair>
Real smallest_toi(const Scene& scene, const std::vector<Vec4i>& pairs, CcdMethod method, Real kept,
                  Real limit, std::size_t stride) {
  Real smallest = limit;
  for (std::size_t i = 0; i < pairs.size(); i += stride) {
    const auto pair = gather<Pair<Real>>(scene, pairs[i]);
    if (keeps_clear(pair, kept, limit)) continue;
    smallest = std::min(smallest, method == CcdMethod::additive       ? additive::toi(pair, kept, limit)
                                  : method == CcdMethod::cubic        ? cubic::toi(pair, kept, limit)
                                  : method == CcdMethod::multivariate ? multivariate::toi(pair, kept, limit)
                                                                      : inclusion::toi(pair, kept, limit));
  }
  return smallest;
}

/// As step_bound, which looks ahead over all of the step for a few pairs, and over their bound for the
/// others: within their tolerances, the methods' bounds depend on how far they look.
Real smallest_toi(const Scene& scene, CcdMethod method, Real kept) {
  Real limit = 1;
  for (const std::size_t stride : {16, 1}) {
    limit = std::min(smallest_toi<PointTriangle>(scene, scene.point_triangle, method, kept, limit, stride),
                     smallest_toi<EdgeEdge>(scene, scene.edge_edge, method, kept, limit, stride));
  }
  return limit;
}

template <template <class> class Pair>
void expect_apart(const Scene& scene, const std::vector<Vec4i>& pairs, double end) {
  for (const Vec4i& nodes : pairs) {
    const Pair<double> pair = testing::cast<Pair, double>(gather<Pair<Real>>(scene, nodes));
    EXPECT_GT(testing::first_time_within(pair, 1e-6 * distance_at(pair, 0.0), end), end);
  }
}

Real bound_of(Context& ctx, const Scene& scene, const CcdSettings& settings) {
  const Buffer<Vec3> x(ctx, scene.x), p(ctx, scene.p);
  const Buffer<Vec4i> point_triangle(ctx, scene.point_triangle), edge_edge(ctx, scene.edge_edge);
  Buffer<Real> alpha(ctx, 1);
  step_bound(ctx, {point_triangle.data(), point_triangle.size(), edge_edge.data(), edge_edge.size()},
             x.data(), p.data(), settings, alpha.data());
  return read_back(ctx, alpha.data());
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(StepBound, KeepsAllPairsApart) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 20; ++n) {
    Scene scene;
    for (int i = 0; i < 400; ++i) {
      auto pt = testing::random_motion<PointTriangle>(random, 0);
      auto ee = testing::random_motion<EdgeEdge>(random, 0);
      testing::transform(pt, 1, 5.0 * random.point());
      pt.x[0] += 2.0 * random.direction();  // mostly not on a collision course
      if (n % 2 == 0 || i % 20 == 0) add(scene, scene.point_triangle, pt);
      if (n % 4 == 1) add(scene, scene.edge_edge, ee);
    }
    for (const CcdMethod method : kMethods) {
      const CcdSettings settings{method, n < 10 ? Real(0.9) : Real(0.5)};
      const Real smallest = smallest_toi(scene, method, Real(1) - settings.slack);
      const Real bound = bound_of(ctx, scene, settings);
      EXPECT_GT(bound, 0);
      // The last bits may differ between processors. Which boxes are cut turns on them, and so, within the
      // tolerance of these methods, does their bound; a grazing pair takes long over it.
      const bool on_boxes = method == CcdMethod::multivariate || method == CcdMethod::inclusion;
      EXPECT_GE(bound, smallest * Real(on_boxes ? 0.5 : 1 - 1e-4));
      expect_apart<PointTriangle>(scene, scene.point_triangle, static_cast<double>(bound));
      expect_apart<EdgeEdge>(scene, scene.edge_edge, static_cast<double>(bound));
      Context other(3);
      EXPECT_EQ(bound_of(other, scene, settings), bound);
    }
  }
}

BACKEND_TEST(StepBound, KeepsAShareOfTheGapBetweenThickPairs) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 400; ++n) {
    Scene scene;
    if (n % 2 == 0) add(scene, scene.point_triangle, testing::random_motion<PointTriangle>(random, 0));
    else add(scene, scene.edge_edge, testing::random_motion<EdgeEdge>(random, 0));
    if (scene.x.empty()) continue;
    const auto check = [&]<template <class> class Pair>(const std::vector<Vec4i>& pairs) {
      const Pair<double> pair = testing::cast<Pair, double>(gather<Pair<Real>>(scene, pairs[0]));
      const double distance = distance_at(pair, 0.0), gap = distance * (n % 3 == 0 ? 0.01 : 0.4);
      std::vector<Real> radius(4);
      for (int i = 0; i < 4; ++i)
        radius[static_cast<std::size_t>(i)] =
            static_cast<Real>((i < Pair<double>::kCornersOfA ? 0.75 : 0.25) * (distance - gap));
      const Buffer<Real> radii(ctx, radius);
      for (const CcdMethod method : kMethods) {
        const CcdSettings settings{method, Real(0.9), radii.data()};
        const double bound = bound_of(ctx, scene, settings);
        EXPECT_GT(bound, 0);
        EXPECT_GT(testing::first_time_within(pair, distance - 0.9 * gap - 3e-4 * distance, bound), bound);
        // Not much shorter than until the gap is used up.
        if (bound < 1) {
          EXPECT_LT(testing::first_time_within(pair, distance - 0.2 * gap, bound), bound + 1e-9);
        }
      }
    };
    if (n % 2 == 0) check.template operator()<PointTriangle>(scene.point_triangle);
    else check.template operator()<EdgeEdge>(scene.edge_edge);
  }
}

BACKEND_TEST(StepBound, ThickPairsInEachOtherMayPartButNotApproach) {
  Scene scene;
  scene.x = {{0, Real(0.05), 0}, {-1, 0, -1}, {1, 0, -1}, {0, 0, 1}};
  scene.point_triangle = {{0, 1, 2, 3}};
  const Buffer<Real> radii(ctx, std::vector<Real>(4, Real(0.05)));
  for (const CcdMethod method : kMethods) {
    const CcdSettings settings{method, Real(0.9), radii.data()};
    scene.p = {{0, Real(-0.01), 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    EXPECT_EQ(bound_of(ctx, scene, settings), 0);
    scene.p[0] = {0, Real(0.01), 0};
    EXPECT_EQ(bound_of(ctx, scene, settings), 1);
  }
}

BACKEND_TEST(StepBound, IsOneWithoutPairsAndWithoutMotion) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  EXPECT_EQ(bound_of(ctx, {}, {}), Real(1));
  Scene scene;
  while (scene.edge_edge.size() < 100) {
    auto pair = testing::random_motion<EdgeEdge>(random);
    for (auto& p : pair.p) p = Vec<double, 3>::zero();
    add(scene, scene.edge_edge, pair);
  }
  EXPECT_EQ(bound_of(ctx, scene, {}), Real(1));
}
