#include <gtest/gtest.h>

#include <limits>

#include "app/io/file/input_error.h"
#include "app/io/mesh/mesh_gen.h"
#include "app/io/scene/expect.h"
#include "scripted_engine.h"

namespace stickslip {
namespace {

using Outcome = Verdict::Outcome;

Model two_balls() {
  Model model;
  model.material_names = {"soft"};
  model.materials.resize(1);
  const TetMesh ball = make_sphere(0.1, 0.05);
  for (const char* name : {"ball.0", "ball.1"}) {
    add_solid(model, name, ball.nodes, ball.tets, 0);
    for (int i = model.objects.back().node_begin; i < model.objects.back().node_end; ++i)
      model.positions[i][1] += static_cast<double>(model.objects.size());
  }
  finalize(model);
  return model;
}

/// Runs a scripted engine with 0.01 s steps; `edit` may change each report before it is judged.
template <class Edit>
Verdict run(const Expectation& expectation, int frames, const ScriptedEngine::Script& script, Edit&& edit) {
  const Model model = two_balls();
  ScriptedEngine engine(script);
  Params params;
  params.dt = 0.01;
  engine.set_params(params);
  engine.load(model);
  ExpectationJudge judge(model, {expectation});
  for (int i = 0; i < frames; ++i) {
    StepReport report = engine.step();
    edit(report);
    judge.observe(report, judge.needs_state() ? engine.state() : State{});
  }
  EXPECT_EQ(judge.verdicts().size(), 1u);
  return judge.verdicts()[0];
}

Outcome outcome(const Expectation& expectation, int frames = 100,
                const ScriptedEngine::Script& script = {{2, 0, 0}}) {
  const Verdict verdict = run(expectation, frames, script, [](StepReport&) {});
  EXPECT_FALSE(verdict.expected.empty());
  EXPECT_FALSE(verdict.seen.empty());
  return verdict.outcome;
}

template <class Edit>
Outcome edited(const Expectation& expectation, Edit&& edit) {
  return run(expectation, 100, {}, edit).outcome;
}

TEST(Expect, Acceleration) {
  EXPECT_EQ(outcome(ExpectAcceleration{"ball", {1, 0, 0}, 0.2, 0.8, 2.0, 1}), Outcome::passed);
  EXPECT_EQ(outcome(ExpectAcceleration{"ball.1", {1, 0, 0}, 0.2, 0.8, 2.03, 1}), Outcome::failed);
  EXPECT_EQ(outcome(ExpectAcceleration{"ball", {-1, 0, 0}, 0.2, 0.8, 2.0, 1}), Outcome::failed);
  EXPECT_EQ(outcome(ExpectAcceleration{"ball", {1, 0, 0}, 0.2, 1.2, 2.0, 1}), Outcome::skipped);
}

TEST(Expect, DisplacementOverTheWholeTimeToTheLastStep) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(outcome(ExpectDisplacement{"ball", {1, 0, 0}, 0, 1, 1.0, 1.02}), Outcome::passed);
  EXPECT_EQ(outcome(ExpectDisplacement{"ball", {1, 0, 0}, 0, 1, -most, 0.9}), Outcome::failed);
  EXPECT_EQ(outcome(ExpectDisplacement{"ball", {0, 1, 0}, 0, 1, -1e-9, 1e-9}), Outcome::passed);
  EXPECT_EQ(outcome(ExpectDisplacement{"ball", {1, 0, 0}, 0.5, 1, 0.7, 0.8}), Outcome::passed);
  EXPECT_EQ(outcome(ExpectDisplacement{"ball", {1, 0, 0}, 0, 1.1, 0, most}), Outcome::skipped);
}

TEST(Expect, DisplacementOfNodes) {
  EXPECT_EQ(outcome(ExpectDisplacement{"ball", {1, 0, 0}, 0, 1, 1.0, 1.02, {0, 3}}), Outcome::passed);
  EXPECT_EQ(outcome(ExpectDisplacement{"ball.1", {1, 0, 0}, 0, 1, 1.1, 1.2, {2}}), Outcome::failed);
  EXPECT_THROW(outcome(ExpectDisplacement{"ball", {1, 0, 0}, 0, 1, 0, 1, {100000}}), InputError);
}

TEST(Expect, HeightOfOneObjectAndOfAllOfAnArray) {
  EXPECT_EQ(outcome(ExpectHeight{"ball.0", 0.5, 0.99, 1.01}), Outcome::passed);
  EXPECT_EQ(outcome(ExpectHeight{"ball", 0.5, 0.99, 1.01}), Outcome::failed) << "ball.1 is at 2 m";
  EXPECT_EQ(outcome(ExpectHeight{"ball", 0.5, 0.99, 2.01}), Outcome::passed);
  EXPECT_EQ(outcome(ExpectHeight{"ball", 1.5, 0, 9}), Outcome::skipped);
}

TEST(Expect, Intersections) {
  EXPECT_EQ(outcome(ExpectIntersections{}), Outcome::skipped) << "they were not checked";
  EXPECT_EQ(edited(ExpectIntersections{}, [](StepReport& r) { r.intersections = 0; }), Outcome::passed);
  EXPECT_EQ(edited(ExpectIntersections{}, [](StepReport& r) { r.intersections = r.frame == 7 ? 1 : 0; }),
            Outcome::failed);
}

TEST(Expect, PositiveGap) {
  EXPECT_EQ(outcome(ExpectPositiveGap{}), Outcome::passed);
  EXPECT_EQ(edited(ExpectPositiveGap{}, [](StepReport& r) { r.gap_min = r.frame == 7 ? 0 : 1; }),
            Outcome::failed);
  EXPECT_EQ(edited(ExpectPositiveGap{}, [](StepReport& r) { r.gap_min = std::nan(""); }), Outcome::failed);
  EXPECT_EQ(edited(ExpectPositiveGap{}, [](StepReport& r) { r.contacts = 0, r.gap_min = -1; }),
            Outcome::passed);
}

TEST(Expect, VolumeOfEveryElementAtEveryStep) {
  const auto dent = [](StepReport& r) { r.volume_ratio_min = r.frame == 7 ? 0.4 : 0.9; };
  EXPECT_EQ(edited(ExpectVolume{0.4}, dent), Outcome::passed);
  EXPECT_EQ(edited(ExpectVolume{0.41}, dent), Outcome::failed);
  EXPECT_EQ(edited(ExpectVolume{0}, [](StepReport& r) { r.volume_ratio_min = std::nan(""); }),
            Outcome::failed);
}

TEST(Expect, ConvergedShare) {
  const auto half = [](StepReport& r) { r.converged = r.frame % 2 == 0; };
  EXPECT_EQ(edited(ExpectConverged{0.5}, half), Outcome::passed);
  EXPECT_EQ(edited(ExpectConverged{0.51}, half), Outcome::failed);
}

TEST(Expect, EnergyMayFallAndNotRise) {
  const auto bump = [](StepReport& r) { r.kinetic_energy = 100 - r.frame + (r.frame == 50 ? 5 : 0); };
  EXPECT_EQ(edited(ExpectEnergy{0, 0.05}, bump), Outcome::passed);
  EXPECT_EQ(edited(ExpectEnergy{0, 0.03}, bump), Outcome::failed);
  EXPECT_EQ(edited(ExpectEnergy{0.6, 0.03}, bump), Outcome::passed) << "the bump is earlier";
  EXPECT_EQ(edited(ExpectEnergy{2, 0.03}, bump), Outcome::skipped);
}

TEST(Expect, Momentum) {
  const auto drift = [](StepReport& r) { r.momentum = {3 + 1e-3 * r.frame, 0, 0}; };
  EXPECT_EQ(edited(ExpectMomentum{0.1}, drift), Outcome::passed);
  EXPECT_EQ(edited(ExpectMomentum{0.05}, drift), Outcome::failed);
}

TEST(Expect, UnknownObjectsAreRefused) {
  EXPECT_THROW(ExpectationJudge(two_balls(), {ExpectHeight{"bal", 0, 0, 1}}), InputError);
}

}  // namespace
}  // namespace stickslip
