// Curves of what a scene expects.
#include "app/viewer/expect_curves.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "app/viewer/panels/plot_columns.h"
#include "tests/app/rigid_scene.h"

namespace stickslip {
namespace {

TEST(ExpectCurves, OfStepsHaveTheNumbersThatAreJudged) {
  const Model model = test::rigid_scene("r").model;
  const std::vector<Expectation> expectations{ExpectPenetration{2e-3, 0.5}, ExpectResidual{1e-4, 0.9},
                                              ExpectVolume{0.25}, ExpectIntersections{3},
                                              ExpectPositiveGap{}};
  const std::vector<ExpectCurve> curves = expect_curves(model, expectations);
  ASSERT_EQ(curves.size(), 5u);
  StepReport step;
  step.time = 1;
  step.intersections = 2;
  step.overlap = 7e-3;
  step.volume_ratio_min = 0.75;
  step.contacts = 4;
  step.gap_min = 1e-5;
  EXPECT_TRUE(std::isnan(curves[0].of_step(step))) << "a barrier step has no penetration";
  EXPECT_EQ(curves[4].of_step(step), 1e-5);
  step.contact_solve.emplace();
  step.contact_solve->penetration = 1e-3;
  step.contact_solve->residual = 5e-5;
  EXPECT_EQ(curves[0].of_step(step), 7e-3) << "the deeper one";
  EXPECT_EQ(curves[0].high, 2e-3);
  EXPECT_EQ(curves[0].title, "Overlap after 0.5 s, m");
  EXPECT_EQ(curves[1].of_step(step), 5e-5);
  EXPECT_EQ(curves[1].high, 1e-4);
  EXPECT_EQ(curves[2].of_step(step), 0.75);
  EXPECT_EQ(curves[2].low, 0.25);
  EXPECT_TRUE(std::isinf(curves[2].high));
  EXPECT_EQ(curves[3].of_step(step), 2);
  EXPECT_TRUE(std::isnan(curves[4].of_step(step))) << "velocity-level steps may overlap";
  step.time = 0.4;
  EXPECT_TRUE(std::isnan(curves[0].of_step(step))) << "before it is judged";
  step.intersections = -1;
  EXPECT_TRUE(std::isnan(curves[3].of_step(step))) << "not checked";
}

TEST(ExpectCurves, OfObjectsAreThoseThatAreNamed) {
  Model model = test::rigid_scene("r").model;
  const std::vector<Expectation> expectations{
      ExpectHeight{"high", 2, 0.5, 0.6}, ExpectSpeed{"wall", 1, 0, 0.1}, ExpectHeight{"nothing", 2, 0, 1},
      ExpectHeight{"low", 2, 0, 1, ExpectHeight::Of::mean}, ExpectMomentum{1e-6}};
  std::vector<ExpectCurve> curves = expect_curves(model, expectations);
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].objects, std::vector<int>{1});
  EXPECT_EQ(TrackedProbes::kQuantities[curves[0].quantity].title, "Centre y, m");
  EXPECT_EQ(curves[0].low, 0.5);
  EXPECT_EQ(curves[0].high, 0.6);
  EXPECT_EQ(curves[1].objects, std::vector<int>{2});
  EXPECT_EQ(TrackedProbes::kQuantities[curves[1].quantity].title, "Speed, m/s");
  model.objects[0].name = "row.0";
  model.objects[2].name = "row.1";
  model.objects[1].name = "rows.2";
  curves = expect_curves(model, std::vector<Expectation>{ExpectHeight{"row", 2, 0.5, 0.6}});
  EXPECT_EQ(curves.at(0).objects, (std::vector<int>{0, 2})) << "the instances of an array";
}

TEST(ExpectCurves, AreColumnsOfTheFileOfPlots) {
  auto scene = std::make_shared<Scene>(test::rigid_scene("r"));
  scene->expect = {ExpectResidual{1e-4, 0.9}, ExpectHeight{"high", 2, 0.5, 0.6},
                   ExpectHeight{"low", 2, 0, 1}};
  TrackedProbes expected;
  expected.track(ObjectProbe(scene, 1));
  Snapshot snapshot;
  snapshot.frame = 1;
  snapshot.poses.assign(3, Pose::identity());
  snapshot.poses[1].x = {1, 2, 3};
  const std::vector<Vec3f> positions(scene->model.node_count(), Vec3f{0, 0, 0});
  expected.observe(snapshot, positions, scene->model.materials, false);
  const std::vector<HistoryColumn> columns = plot_columns(Forks({}, {}), *scene, expected);
  ASSERT_EQ(columns.size(), 2u) << "of what was not observed there is none";
  StepReport step;
  step.frame = 1;
  step.time = 1;
  step.contact_solve.emplace();
  step.contact_solve->residual = 5e-5;
  EXPECT_EQ(columns[0].of(step), 5e-5);
  EXPECT_TRUE(columns[1].title.starts_with("Expected: ")) << columns[1].title;
  EXPECT_TRUE(columns[1].title.ends_with(": high")) << columns[1].title;
  EXPECT_NEAR(columns[1].of(step), 2, 1e-6);
  step.frame = 2;
  EXPECT_TRUE(std::isnan(columns[1].of(step)));
}

}  // namespace
}  // namespace stickslip
