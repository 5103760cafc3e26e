#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "app/io/scene/expect.h"
#include "app/io/scene/scene.h"
#include "gpu/model/rigid_body.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Outcome = Verdict::Outcome;

/// Balls on a line, at (i, 1, 0), joined to their neighbours by ball joints halfway.
Model ball_chain(int count) {
  Model model;
  model.material_names = {"stone"};
  model.materials.resize(1);
  const BodyForm ball = assemble({make_part(ShapeKind::sphere, {0.3, 0, 0})});
  for (int i = 0; i < count; ++i) {
    BodyStart start;
    start.pose.x = {double(i), 1, 0};
    add_body(model, "ball." + std::to_string(i), ball, 0, start);
  }
  for (int i = 0; i + 1 < count; ++i)
    add_joint(model, {.name = "pin." + std::to_string(i), .a = i, .b = i + 1},
              {{i + 0.5, 1, 0}, Quat::identity()});
  finalize(model);
  return model;
}

State state_at(const Model& model, int frame) {
  State state{frame, 0.01 * frame, model.positions, model.velocities};
  for (const stickslip::Body& body : model.bodies)
    state.bodies.push_back({body.pose, body.velocity, body.spin});
  return state;
}

/// Judges 100 frames of 0.01 s of three balls; `edit` changes each state.
Verdict judged(const Expectation& expectation,
               const std::function<void(double time, State&, StepReport&)>& edit, int balls = 3) {
  const Model model = ball_chain(balls);
  ExpectationJudge judge(model, {expectation});
  for (int frame = 1; frame <= 100; ++frame) {
    State state = state_at(model, frame);
    StepReport report;
    report.frame = frame;
    report.time = state.time;
    report.contact_solve.emplace();
    edit(state.time, state, report);
    judge.observe(report, judge.needs_state() ? state : State{});
  }
  const Verdict verdict = judge.verdicts().at(0);
  EXPECT_FALSE(verdict.expected.empty());
  EXPECT_FALSE(verdict.seen.empty());
  return verdict;
}

void still(double, State&, StepReport&) {}

TEST(ExpectRigid, CentresOfBodiesAreFollowed) {
  const auto rise = [](double t, State& s, StepReport&) { s.bodies[1].pose.x[1] += t; };
  EXPECT_EQ(judged(ExpectDisplacement{"ball.1", {0, 1, 0}, 0.5, 1, 0.499, 0.501}, rise).outcome,
            Outcome::passed);
  EXPECT_EQ(judged(ExpectDisplacement{"ball", {0, 1, 0}, 0.5, 1, 0.499, 0.501}, rise).outcome,
            Outcome::failed);
  EXPECT_EQ(judged(ExpectHeight{"ball.1", 1, 1.99, 2.01}, rise).outcome, Outcome::passed);
  EXPECT_EQ(judged(ExpectHeight{"ball", 1, 1.33, 1.34, ExpectHeight::Of::mean}, rise).outcome,
            Outcome::passed);
  EXPECT_EQ(judged(ExpectHeight{"ball", 1, 1.99, 2.01, ExpectHeight::Of::highest}, rise).outcome,
            Outcome::passed);
  EXPECT_EQ(judged(ExpectHeight{"ball", 3, 0, 9, ExpectHeight::Of::mean}, rise).outcome, Outcome::skipped);
  const Verdict many = judged(ExpectHeight{"ball", 1, 0.9, 1.1}, rise, 30);
  EXPECT_NE(many.seen.find("30 objects, from"), std::string::npos) << many.seen;
}

TEST(ExpectRigid, RestSeesWhatCameBack) {
  const auto swing = [](double t, State& s, StepReport&) {
    s.bodies[2].pose.x[2] += 0.1 * std::sin(6.2831853 * t);
  };
  EXPECT_EQ(judged(ExpectRest{"ball.2", 0, 1, 0.05}, swing).outcome, Outcome::failed);
  EXPECT_EQ(judged(ExpectRest{"ball.2", 0, 1, 0.11}, swing).outcome, Outcome::passed);
  EXPECT_EQ(judged(ExpectRest{"ball.0", 0, 1, 0}, swing).outcome, Outcome::passed);
}

TEST(ExpectRigid, TurnsSpinsAndSpeeds) {
  const auto turn = [](double t, State& s, StepReport&) {
    s.bodies[0].pose.q = rotation_by(Vec3d{0, 0, std::numbers::pi / 3 * t});
    s.bodies[0].spin = {0, 0, std::numbers::pi / 3};
    s.bodies[0].velocity = {3, 4, 0};
  };
  EXPECT_EQ(judged(ExpectTilt{"ball.0", {0, 1, 0}, 1, 59.9, 60.1}, turn).outcome, Outcome::passed);
  EXPECT_EQ(judged(ExpectTilt{"ball.0", {0, 0, 1}, 1, 0, 1e-6}, turn).outcome, Outcome::passed);
  EXPECT_EQ(judged(ExpectSpin{"ball.0", {0, 0, 1}, 0.5, 1.04, 1.05}, turn).outcome, Outcome::passed);
  EXPECT_EQ(judged(ExpectSpin{"ball.1", {0, 0, 1}, 0.5, 1.04, 1.05}, turn).outcome, Outcome::failed);
  EXPECT_EQ(judged(ExpectSpeed{"ball.0", 0.5, 4.99, 5.01}, turn).outcome, Outcome::passed);
}

TEST(ExpectRigid, SolveAndConservation) {
  const auto bad_late = [](double t, State&, StepReport& r) {
    r.contact_solve->penetration = t < 0.2 ? 1e-2 : 1e-4;
    r.contact_solve->residual = t > 0.895 ? 1e-2 : 1e-5;
    r.kinetic_energy = 10 + t;
    r.angular_momentum = {0, t, 0};
  };
  EXPECT_EQ(judged(ExpectPenetration{1e-3, 0}, bad_late).outcome, Outcome::failed);
  EXPECT_EQ(judged(ExpectPenetration{1e-3, 0.2}, bad_late).outcome, Outcome::passed);
  EXPECT_EQ(judged(ExpectResidual{1e-3, 0.8}, bad_late).outcome, Outcome::passed);
  EXPECT_EQ(judged(ExpectResidual{1e-3, 0.95}, bad_late).outcome, Outcome::failed);
  EXPECT_EQ(judged(ExpectEnergyKept{0.5, 0.06}, bad_late).outcome, Outcome::passed);
  EXPECT_EQ(judged(ExpectEnergyKept{0.5, 0.04}, bad_late).outcome, Outcome::failed);
  EXPECT_EQ(judged(ExpectAngularMomentum{1}, bad_late).outcome, Outcome::passed);
  EXPECT_EQ(judged(ExpectAngularMomentum{0.9}, bad_late).outcome, Outcome::failed);
  const auto no_solve = [](double, State&, StepReport& r) { r.contact_solve.reset(); };
  EXPECT_EQ(judged(ExpectPenetration{1e-3, 0}, no_solve).outcome, Outcome::skipped);
}

TEST(ExpectRigid, JointsThatComeApartAreNamed) {
  EXPECT_EQ(judged(ExpectJoints{1e-12}, still).outcome, Outcome::passed);
  const Verdict torn =
      judged(ExpectJoints{0.1}, [](double t, State& s, StepReport&) { s.bodies[2].pose.x[0] += t; });
  EXPECT_EQ(torn.outcome, Outcome::failed);
  EXPECT_NE(torn.seen.find("'pin.1' at 1 s"), std::string::npos) << torn.seen;
}

TEST(ExpectRigid, ReposeOfAConeIsItsSlope) {
  // Balls moved onto a cone of slope 30 degrees, with radii and heights that fill its volume evenly.
  const auto cone = [](double, State& s, StepReport&) {
    const double h = std::tan(std::numbers::pi / 6);
    std::size_t k = 0;
    for (int i = 0; i < 20; ++i)
      for (int j = 0; j < 20; ++j, ++k) {
        const double y = 1 - std::cbrt((i + 0.5) / 20), r = (1 - y) * std::sqrt((j + 0.5) / 20),
                     a = 2.4 * double(k);
        s.bodies[k].pose.x = {r * std::cos(a), h * y, r * std::sin(a)};
      }
  };
  const Verdict slope = judged(ExpectRepose{"ball", 0, 1, 29, 31}, cone, 400);
  EXPECT_EQ(slope.outcome, Outcome::passed) << slope.seen;
}

TEST(ExpectRigid, AreReadFromSceneFiles) {
  const std::string scene =
      "[[material]]\nname = 'stone'\n[[object]]\nname = 'ball'\nbody = 'rigid'\nshape = 'sphere'\nradius = "
      "0.1\n"
      "[[object]]\nname = 'soft'\nshape = 'box'\nsize = [1, 1, 1]\nedge = 1\nposition = [0, 9, 0]\n"
      "[[joint]]\nname = 'rod'\nkind = 'distance'\nbetween = ['ball', 'world']\nanchor_b = [1, 0, "
      "0]\n[expect]\n";
  const auto read = [&](const std::string& expect) { return parse_scene(scene + expect, "e.toml").expect; };
  EXPECT_EQ(read("penetration = { at_most = 1e-3, after = 1 }\nresidual = { at_most = 1e-3, share = 0.9 "
                 "}\njoints = 1e-4\n"
                 "energy_kept = { after = 1, tolerance = 0.1 }\nangular_momentum = { tolerance = 1e-3 }\n"
                 "height = [{ object = 'ball', at = 1, low = 0, of = 'mean' }]\n"
                 "speed = [{ object = 'ball', at = 1, high = 0.1 }]\n"
                 "spin = [{ object = 'ball', at = 1, direction = [0, 2, 0], low = 1 }]\n"
                 "tilt = [{ object = 'ball', at = 1, axis = [0, 1, 0], high = 5 }]\n"
                 "repose = [{ object = 'ball', at = 1, low = 5 }]\n"
                 "rest = [{ object = 'soft', to = 1, at_most = 0.1 }]\n")
                .size(),
            11u);
  const auto refused = [&](const std::string& expect, const char* part) {
    try {
      read(expect);
      ADD_FAILURE() << expect;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused("tilt = [{ object = 'soft', at = 1, axis = [0, 1, 0], high = 5 }]\n", "no rigid body");
  refused("height = [{ object = 'ball', at = 1, low = 0, of = 'median' }]\n", "no choice 'median'");
  refused("penetration = { most = 1e-3 }\n", "at_most");
  refused("spin = [{ object = 'ball', at = 1, low = 1 }]\n", "direction");
}

}  // namespace
}  // namespace stickslip
