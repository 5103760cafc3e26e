#include "bench/rigid_study.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "bench/rigid_peer.h"

namespace stickslip {
namespace {

/// Lifts the first box by a millimetre per step and lowers the second; step k takes k milliseconds.
class LiftRunner final : public RigidRunner {
 public:
  explicit LiftRunner(int fails_at = -1) : fails_at_(fails_at) {}
  RigidStep step() override {
    if (++steps_ == fails_at_) throw SimulationError("no more");
    RigidStep done;
    done.seconds = 1e-3 * steps_;
    done.contacts = steps_;
    done.stages.contact_solve = 1e-4;
    done.solve.emplace();
    done.solve->residual = 1.0 / steps_;
    done.solve->iterations = 2 * steps_;
    return done;
  }
  void read(std::vector<SceneBox>& boxes) override {
    boxes[0].pose.x = {1e-3 * steps_, 0.5 + 1e-3 * steps_, 0};
    boxes[1].pose.x[1] = 0.5 - 1e-3 * steps_;
  }

 private:
  int steps_ = 0, fails_at_;
};

RigidScene two_boxes() {
  RigidScene scene;
  scene.boxes = {{{0.5, 0.5, 0.5}, {{0, 0.5, 0}, Quat::identity()}, true},
                 {{0.5, 0.5, 0.5}, {{3, 0.5, 0}, Quat::identity()}, true}};
  scene.stands = true;
  return scene;
}

TEST(RigidStudy, AddsUpStepsAndMeasuresThePosesAtTheEnd) {
  LiftRunner runner;
  const RigidMeasure m = measure_rigid(runner, two_boxes(), 100);
  EXPECT_EQ(m.steps, 100);
  EXPECT_EQ(m.error, "");
  EXPECT_DOUBLE_EQ(m.median_seconds, 51e-3);
  EXPECT_NEAR(m.mean_seconds, 50.5e-3, 1e-12);
  EXPECT_DOUBLE_EQ(m.worst_seconds, 0.1);
  EXPECT_NEAR(m.stages.contact_solve, 1e-2, 1e-12);
  EXPECT_NEAR(m.contacts, 75.5, 1e-12);
  EXPECT_NEAR(m.iterations, 101, 1e-12);
  EXPECT_DOUBLE_EQ(m.residual_worst, 1.0 / 51);
  EXPECT_NEAR(m.overlap.deepest, 0.1, 1e-12);
  EXPECT_NEAR(m.drift.largest, 0.1, 1e-12);
  EXPECT_EQ(m.drift.fallen, 0);
}

TEST(RigidStudy, SaysWhatEndedItEarly) {
  LiftRunner runner(4);
  const RigidMeasure m = measure_rigid(runner, two_boxes(), 100);
  EXPECT_EQ(m.steps, 3);
  EXPECT_EQ(m.error, "no more");
  EXPECT_DOUBLE_EQ(m.worst_seconds, 3e-3);
}

TEST(RigidStudy, MethodsHaveNamesOfTheirOwn) {
  std::vector<std::string> names;
  for (const RigidMethod& method : rigid_methods(true)) {
    names.push_back(method.name());
    Params params;
    LabParams lab;
    method.apply(params, lab);
    EXPECT_EQ(params.contact_solver, method.solver);
    EXPECT_EQ(lab.max_iterations, method.iterations);
    EXPECT_EQ(lab.warm_start, method.warm_start);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
  EXPECT_EQ(rigid_methods(false).front().name(), "manifold_gs 6");
}

TEST(RigidStudy, ModelHasTheScenesBoxes) {
  const RigidScene scene = box_pile(20, 1);
  const Model model = rigid_model(scene);
  ASSERT_EQ(model.bodies.size(), scene.boxes.size());
  ASSERT_EQ(model.shapes.size(), scene.boxes.size());
  for (std::size_t i = 0; i < scene.boxes.size(); ++i) {
    const SceneBox& box = scene.boxes[i];
    const Body& body = model.bodies[i];
    const Shape& shape = model.shapes[i];
    EXPECT_EQ(body.moves, box.moves);
    EXPECT_NEAR(body.volume, 8 * box.half[0] * box.half[1] * box.half[2], 1e-12);
    // The same box in world coordinates, for any order of the principal axes.
    SceneBox as_built{shape.size, body.pose * shape.pose, true};
    EXPECT_NEAR(box_separation(as_built, box), -2 * std::min({box.half[0], box.half[1], box.half[2]}), 1e-9);
    EXPECT_NEAR(norm(as_built.pose.x - box.pose.x), 0, 1e-12);
    for (int corner = 0; corner < 8; ++corner) {
      Vec<double, 3> p = box.half;
      for (int k = 0; k < 3; ++k)
        if ((corner >> k & 1) != 0) p[k] = -p[k];
      const Vec<double, 3> inside = as_built.pose.apply_back(box.pose.apply(p));
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(std::fabs(inside[k]), as_built.half[k], 1e-9);
    }
  }
  ASSERT_EQ(model.half_spaces.size(), 1u);
  EXPECT_TRUE(model.half_spaces[0].mu_of_pair);
}

TEST(RigidStudy, OursKeepsASmallPyramid) {
  const RigidScene scene = box_pyramid(3);
  const std::unique_ptr<RigidRunner> runner =
      make_engine_runner(make_engine(Backend::cpu, 1), scene, {ContactSolverKind::nsgs, 50});
  const RigidMeasure m = measure_rigid(*runner, scene, 60);
  EXPECT_EQ(m.error, "");
  EXPECT_EQ(m.drift.fallen, 0);
  EXPECT_LT(m.drift.largest, 1e-3);
  EXPECT_LT(m.overlap.deepest, 1e-3);
  EXPECT_EQ(m.contacts, 4 * (9 + 4 * 5));
  EXPECT_GE(m.iterations, 1);
  EXPECT_LT(m.residual_worst, 1e-2);
  EXPECT_GT(m.stages.contact_solve, 0);
  // 116 contacts with two bodies each, except the 36 on the floor.
  EXPECT_GT(m.sweep_bytes, (2 * 116 - 36) * 2 * 144.0);
  EXPECT_LT(m.sweep_bytes, 116 * 1000.0);
}

TEST(Peers, BulletKeepsASmallPyramid) {
  if (!bullet_present()) {
    EXPECT_EQ(make_bullet_runner(box_pyramid(2), {}), nullptr);
    GTEST_SKIP() << "this build has no Bullet";
  }
  const RigidScene scene = box_pyramid(3);
  const RigidMeasure m = measure_rigid(*make_bullet_runner(scene, {}), scene, 120);
  EXPECT_EQ(m.drift.fallen, 0);
  EXPECT_LT(m.drift.largest, 0.01);
  EXPECT_LT(m.overlap.deepest, 0.01);
  EXPECT_GE(m.contacts, 4 * m.overlap.touching / 2.0);
  EXPECT_GT(m.median_seconds, 0);
}

TEST(Peers, BulletsFrictionIsThatOfTheScene) {
  if (!bullet_present()) GTEST_SKIP() << "this build has no Bullet";
  // On the floor a box slides v^2 / (2 mu g). In the tests below gravity is tilted: a slope of 30 degrees is
  // steeper than mu = 0.5, one of 25 is not.
  for (const double degrees : {25.0, 30.0}) {
    const double angle = degrees * std::atan(1.0) / 45;
    RigidScene scene;
    const Quat lean = rotation_by(Vec<double, 3>{0, 0, angle});
    SceneBox slope{{20, 0.5, 5}, {{0, 20, 0}, lean}, false};
    SceneBox box{{0.5, 0.25, 0.5}, {slope.pose.apply({0, 0.75, 0}), lean}, true};
    scene.boxes = {box, slope};
    const RigidMeasure m = measure_rigid(*make_bullet_runner(scene, {}), scene, 60);
    if (degrees < 26) EXPECT_LT(m.drift.largest, 0.02);
    else EXPECT_GT(m.drift.largest, 0.1);
  }
}

}  // namespace
}  // namespace stickslip
