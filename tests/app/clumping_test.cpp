// The expectation on how many free ends of strands stick together.
#include "app/io/scene/clumping.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "app/io/file/input_error.h"
#include "app/io/scene/expect.h"
#include "app/io/scene/scene.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Outcome = Verdict::Outcome;

/// Four strands 40 mm apart and 2 mm thick, held at the root; another one is free at both ends.
const std::string kStrands =
    "[[material]]\nname = 'm'\n[params]\ndt = 0.01\n"
    "[[object]]\nname = 'hair'\nbody = 'rods'\nshape = 'strand'\nlength = 0.1\nsegments = 4\n"
    "diameter = 2e-3\nhold = 'root'\nmaterial = 'm'\ncount = [1, 1, 4]\nspacing = [0, 0, 0.04]\n"
    "[[object]]\nname = 'twig'\nbody = 'rods'\nshape = 'strand'\nlength = 0.1\nsegments = 4\n"
    "diameter = 2e-3\nmaterial = 'm'\nposition = [0, 1, 0]\n";

Scene strands_with(const std::string& expect) { return parse_scene(kStrands + expect, "folder/test.toml"); }

TEST(Clumping, DistancesAreThoseOfAComparisonOfAllPairs) {
  std::mt19937 random(7);
  const auto share = [&] { return static_cast<double>(random() % 10000) / 1e4; };
  std::vector<Vec3d> points;
  for (int i = 0; i < 200; ++i) points.push_back({share(), share(), 0.1 * share()});
  points.push_back(points[3]);
  const std::vector<double> nearest = nearest_distances(points);
  ASSERT_EQ(nearest.size(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < points.size(); ++j)
      if (i != j) least = std::min(least, norm(points[i] - points[j]));
    EXPECT_DOUBLE_EQ(nearest[i], least) << i;
  }
  EXPECT_EQ(nearest[3], 0);
  EXPECT_TRUE(std::isinf(nearest_distances(std::vector<Vec3d>{{1, 2, 3}})[0]));
}

TEST(Clumping, HeldEndsAreNotFree) {
  const Scene scene = strands_with("");
  for (const Object& object : scene.model.objects) {
    const std::vector<std::int32_t> ends = free_ends(scene.model, object);
    ASSERT_EQ(ends.size(), object.name == "twig" ? 2u : 1u) << object.name;
    EXPECT_EQ(ends.back(), object.node_end - 1) << object.name;
  }
}

/// The verdict after a second in which the free ends of hair.0 and hair.1 came together up to `gap` [m].
Verdict judged_strands(const Expectation& expectation, double gap, int frames = 100) {
  const Scene scene = strands_with("");
  ExpectationJudge judge(scene.model, {expectation});
  EXPECT_TRUE(judge.needs_state());
  State state{0, 0, scene.model.positions, scene.model.velocities};
  const std::int32_t moved = free_ends(scene.model, scene.model.objects[0])[0],
                     other = free_ends(scene.model, scene.model.objects[1])[0];
  state.positions[moved] = state.positions[other] - Vec3d{0, 0, 2e-3 + gap};
  for (int frame = 1; frame <= frames; ++frame) {
    state.frame = frame;
    state.time = 0.01 * frame;
    StepReport report;
    report.time = state.time;
    judge.observe(report, state);
  }
  return judge.verdicts().at(0);
}

TEST(Clumping, TheShareOfEndsWhoseGapHasHalved) {
  EXPECT_EQ(judged_strands(ExpectClumping{"hair", 1, 0.5, 0.5}, 1e-3).outcome, Outcome::passed);
  EXPECT_EQ(judged_strands(ExpectClumping{"hair", 1, 0.51, 1}, 1e-3).outcome, Outcome::failed);
  EXPECT_EQ(judged_strands(ExpectClumping{"hair", 1, 0, 0.49}, 1e-3).outcome, Outcome::failed);
  // Half the gap between surfaces of 38 mm.
  EXPECT_EQ(judged_strands(ExpectClumping{"hair", 1, 0.5, 0.5}, 18.9e-3).outcome, Outcome::passed);
  EXPECT_EQ(judged_strands(ExpectClumping{"hair", 1, 0, 0}, 19.1e-3).outcome, Outcome::passed);
  EXPECT_EQ(judged_strands(ExpectClumping{"hair", 1, 0, 1}, 1e-3, 99).outcome, Outcome::skipped);
  const Verdict verdict = judged_strands(ExpectClumping{"hair", 1, 0.6, 1}, 1e-3);
  EXPECT_EQ(verdict.seen, "of 4 0.5");
}

TEST(Clumping, IsReadFromAScene) {
  const std::string table = "[expect]\n[[expect.clumping]]\nobject = 'hair'\nat = 1.5\n";
  const Scene scene = strands_with(table + "low = 0.3\n");
  ASSERT_EQ(scene.expect.size(), 1u);
  const auto& expectation = std::get<ExpectClumping>(scene.expect[0]);
  EXPECT_EQ(expectation.object, "hair");
  EXPECT_EQ(expectation.at, 1.5);
  EXPECT_EQ(expectation.low, 0.3);
  EXPECT_THROW(strands_with(table), InputError) << "neither low nor high";
  EXPECT_THROW(strands_with("[[object]]\nname = 'box'\nshape = 'box'\nsize = [1, 1, 1]\nedge = 1\n"
                            "position = [9, 9, 9]\nmaterial = 'm'\n"
                            "[expect]\n[[expect.clumping]]\nobject = 'box'\nat = 1\nlow = 0\n"),
               InputError)
      << "no rods";
}

// A single strand with a held root has one free end, which has no other one.
TEST(Clumping, NeedsTwoEnds) {
  const Scene scene = strands_with("");
  EXPECT_THROW(ExpectationJudge(scene.model, {ExpectClumping{"hair.2", 1, 0, 1}}), InputError);
}

}  // namespace
}  // namespace stickslip
