#include "bench/box_overlap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gpu/dfcp/problem/generator_tools.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip {
namespace {

using Point = Vec<double, 3>;

SceneBox box_at(const Point& half, const Point& x, const Point& turn = {0, 0, 0}) {
  return {half, {x, rotation_by(turn)}, true};
}

/// The gap between the projections of all corners onto one direction, for any axes of the boxes.
double gap_along(const SceneBox& a, const SceneBox& b, const Point& axis) {
  double low[2], high[2];
  const SceneBox* boxes[] = {&a, &b};
  for (int k = 0; k < 2; ++k) {
    low[k] = std::numeric_limits<double>::infinity();
    high[k] = -low[k];
    for (int corner = 0; corner < 8; ++corner) {
      Point p = boxes[k]->half;
      for (int i = 0; i < 3; ++i)
        if ((corner >> i & 1) != 0) p[i] = -p[i];
      const double at = dot(axis, boxes[k]->pose.apply(p));
      low[k] = std::min(low[k], at);
      high[k] = std::max(high[k], at);
    }
  }
  return std::max(low[0] - high[1], low[1] - high[0]);
}

TEST(BoxOverlap, OfBoxesSideBySide) {
  const SceneBox a = box_at({1, 2, 3}, {0, 0, 0});
  EXPECT_NEAR(box_separation(a, box_at({1, 1, 1}, {2.5, 0, 0})), 0.5, 1e-14);
  EXPECT_NEAR(box_separation(a, box_at({1, 1, 1}, {1.9, 0, 0})), -0.1, 1e-14);
  EXPECT_NEAR(box_separation(a, box_at({1, 1, 1}, {0, 2.75, 0})), -0.25, 1e-14);
  // One inside the other: the shortest exit is through the nearest face.
  EXPECT_NEAR(box_separation(a, box_at({0.1, 0.1, 0.1}, {0.5, 0, 0})), -0.6, 1e-14);
  EXPECT_NEAR(box_separation(a, a), -2, 1e-14);
}

TEST(BoxOverlap, OfEdgesAcrossEachOther) {
  const double r = std::sqrt(0.5), quarter = std::atan(1.0);
  // Two long bars on their edges; the upper one crosses the lower one.
  const SceneBox lower = box_at({5, 0.5, 0.5}, {0, 0, 0}, {quarter, 0, 0});
  const SceneBox upper = box_at({0.5, 0.5, 5}, {0, 2 * r - 0.03, 0}, {0, 0, quarter});
  EXPECT_NEAR(box_separation(lower, upper), -0.03, 1e-14);
  EXPECT_NEAR(box_separation(upper, lower), -0.03, 1e-14);
}

TEST(BoxOverlap, IsTheLeastOverlapOfAllDirections) {
  FRESH_SEED(seed);
  SeededNumbers random(seed);
  for (int pair = 0; pair < 20; ++pair) {
    const Point ha{random.between(0.2, 1), random.between(0.2, 1), random.between(0.2, 1)},
        hb{random.between(0.2, 1), random.between(0.2, 1), random.between(0.2, 1)};
    const SceneBox a = box_at(ha, random.in_cube(0.4), random.in_cube(3));
    const SceneBox b = box_at(hb, random.in_cube(0.4), random.in_cube(3));
    const double separation = box_separation(a, b);
    double sampled = -std::numeric_limits<double>::infinity();
    for (int k = 0; k < 4000; ++k) {
      const Point d = random.in_cube(1);
      if (norm(d) > 0.1) sampled = std::max(sampled, gap_along(a, b, d / norm(d)));
    }
    EXPECT_LE(sampled, separation + 1e-12);
    EXPECT_GE(sampled, separation - 0.1);
    // The result does not depend on the frame.
    const Pose moved{random.in_cube(9), rotation_by(random.in_cube(3))};
    SceneBox c = a, d = b;
    c.pose = moved * c.pose;
    d.pose = moved * d.pose;
    EXPECT_NEAR(box_separation(c, d), separation, 1e-12);
  }
}

TEST(BoxOverlap, SweepFindsWhatAllPairsFind) {
  FRESH_SEED(seed);
  SeededNumbers random(seed);
  std::vector<SceneBox> boxes;
  for (int i = 0; i < 150; ++i) {
    const Point half{random.between(0.1, 0.4), random.between(0.1, 0.4), random.between(0.1, 0.4)};
    boxes.push_back(box_at(half, random.in_cube(1.5) + Point{0, 1.5, 0}, random.in_cube(3)));
    boxes.back().moves = i % 5 != 0;
  }
  OverlapReport expected;
  double sum = 0;
  const auto add = [&](double separation) {
    if (separation >= kTouching) return;
    ++expected.touching;
    expected.deepest = std::max(expected.deepest, -separation);
    sum += std::max(0.0, -separation);
  };
  const SceneBox ground = box_at({100, 100, 100}, {0, -100, 0});
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (boxes[i].moves) add(gap_along(boxes[i], ground, {0, 1, 0}));
    for (std::size_t j = 0; j < i; ++j)
      if (boxes[i].moves || boxes[j].moves) add(box_separation(boxes[i], boxes[j]));
  }
  const OverlapReport report = measure_overlaps(boxes);
  ASSERT_GT(expected.touching, 50u);
  EXPECT_EQ(report.touching, expected.touching);
  EXPECT_NEAR(report.deepest, expected.deepest, 1e-12);
  EXPECT_NEAR(report.mean, sum / static_cast<double>(expected.touching), 1e-12);
}

TEST(BoxOverlap, OfWhatIsNoPoseIsEndless) {
  std::vector<SceneBox> boxes{box_at({1, 1, 1}, {0, 1, 0}), box_at({1, 1, 1}, {0, 3, 0})};
  EXPECT_EQ(measure_overlaps(boxes).touching, 2u);
  EXPECT_EQ(measure_overlaps(boxes).deepest, 0);
  std::vector<SceneBox> bad = boxes;
  bad[1].pose.x[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isinf(measure_overlaps(bad).deepest));
  EXPECT_EQ(measure_drift(boxes, bad).fallen, 1);
  EXPECT_TRUE(std::isinf(measure_drift(boxes, bad).largest));
}

TEST(BoxDrift, IsHorizontalAndCountsWhatFell) {
  std::vector<SceneBox> start{box_at({1, 0.5, 1}, {0, 5, 0}), box_at({1, 0.5, 1}, {4, 5, 0}),
                              box_at({1, 0.5, 1}, {8, 5, 0})};
  start[2].moves = false;
  std::vector<SceneBox> end = start;
  end[0].pose.x += Point{0.03, -0.4, 0.04};
  end[1].pose.x += Point{0, -0.6, 0};
  end[2].pose.x += Point{9, -9, 9};
  const DriftReport report = measure_drift(start, end);
  EXPECT_NEAR(report.largest, 0.05, 1e-14);
  EXPECT_NEAR(report.mean, 0.025, 1e-14);
  EXPECT_EQ(report.fallen, 1);
}

}  // namespace
}  // namespace stickslip
