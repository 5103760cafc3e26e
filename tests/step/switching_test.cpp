// Changes of the solver or of settings during a run: the motion continues. A step after a switch is compared
// with the same step without it, from the same state and the same stored impulses.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "gpu/contact_lab.h"
#include "gpu/model/rigid_body.h"
#include "tests/fixtures/device_checks.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_rigid_box;
using fixtures::pose_at;
using Vec3d = Vec<double, 3>;

Model tower_of(int boxes) {
  Model model;
  fixtures::add_floor(model);
  for (int i = 0; i < boxes; ++i) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1 + 0.2 * i, 0}));
  return model;
}

Model five_boxes() { return tower_of(5); }

Model small_pyramid() {
  Model model;
  fixtures::add_floor(model);
  fixtures::add_pyramid(model, 3, 0.1);
  return model;
}

/// Six bars on hinges attached to the world that swing down and drag over the floor.
Model swinging_bars() {
  Model model;
  fixtures::add_floor(model, 0, 0.4);
  for (std::int32_t i = 0; i < 6; ++i) {
    add_rigid_box(model, {0.09, 0.02, 0.03}, pose_at({0.2 * i + 0.1, 0.6, 0}));
    Joint joint;
    joint.name = "hinge " + std::to_string(i);
    joint.kind = JointKind::hinge;
    joint.a = i;
    joint.b = i - 1;
    add_joint(model, joint, {{0.2 * i, 0.6, 0}, turn_of_x({0, 0, 1})});
  }
  return model;
}

/// Boxes and balls that fall into a pit.
Model falling_grains() {
  Model model;
  fixtures::add_floor(model, 0, 0.4);
  for (const double side : {-1.0, 1.0}) {
    add_rigid_box(model, {0.1, 0.5, 0.5}, pose_at({0.35 * side, 0.5, 0}), false);
    add_rigid_box(model, {0.5, 0.5, 0.1}, pose_at({0, 0.5, 0.35 * side}), false);
  }
  std::mt19937 rng(3);
  std::uniform_real_distribution<double> turn(-1, 1);
  for (int layer = 0; layer < 4; ++layer)
    for (int i = 0; i < 9; ++i) {
      const Vec3d at{0.14 * (i % 3 - 1) + 0.01 * layer, 0.07 + 0.13 * layer, 0.14 * (i / 3 - 1)};
      const double x = turn(rng), y = turn(rng), z = turn(rng);
      if ((i + layer) % 2 == 0) fixtures::add_rigid_sphere(model, 0.05, at);
      else add_rigid_box(model, {0.05, 0.03, 0.04}, pose_at(at, {x, y, z}));
    }
  return model;
}

struct SwitchScene {
  const char* name;
  Model (*make)();
  int steps;    // before the switch, until impacts are over
  int layers;   // of bodies above each other, or of joints in a row
  bool wedged;  // Coulomb's law then has several solutions with different velocities
};
constexpr SwitchScene kSwitchScenes[] = {{"stack", five_boxes, 30, 5, false},
                                         {"pyramid", small_pyramid, 30, 3, false},
                                         {"bars", swinging_bars, 45, 6, false},
                                         {"grains", falling_grains, 100, 4, true}};

/// Velocities are off by the judge's error at the contacts, and by more for bodies that press on each other:
/// measured up to 36 times as much, at the bars' joints.
constexpr double kLean = 100;
/// Solutions of one wedged heap differ by up to 0.07 of the velocity that gravity adds in a step.
constexpr double kWedged = 0.2;

struct Jump {
  double speed = 0;   // [m/s] of any body's centre, or of a point 0.1 m from it through its spin
  double length = 0;  // [m] of any body's centre
};

Jump jump_between(const State& a, const State& b) {
  Jump jump;
  for (std::size_t i = 0; i < a.bodies.size(); ++i) {
    const BodyState &p = a.bodies[i], &q = b.bodies[i];
    jump.speed = std::max({jump.speed, norm(p.velocity - q.velocity), 0.1 * norm(p.spin - q.spin)});
    jump.length = std::max(jump.length, norm(p.pose.x - q.pose.x));
  }
  return jump;
}

class Switching : public fixtures::VelocityStepTest {
 protected:
  void prepare() override {
    VelocityStepTest::prepare();
    lab = make_contact_lab(backend(), 2);
  }

  void accurate() {
    contact.tolerance = 1e-9;
    contact.max_iterations = 5000;
  }

  void load(const SwitchScene& scene) {
    model = scene.make();
    apply(params, contact, model.materials);
    engine->load(model);
    run_unconverged(scene.steps);
    start = engine->state();
  }

  void apply(const Params& p, const LabParams& c, const std::vector<Material>& materials) {
    engine->set_params(p);
    engine->set_contact_params(c);
    if (!engine->materials().empty()) engine->set_materials(materials);
  }

  /// Runs up to the compared step, always in the same way.
  void lead_up(const Params& p) {
    apply(p, contact, model.materials);
    engine->set_state(start);
    run_unconverged(3);
  }

  /// Velocity error of the last step at its contacts [m/s].
  double error() {
    lab->load(engine->freeze());
    const Judgement judged = lab->judge(engine->freeze().solution);
    return judged.residual * judged.norm_q;
  }

  double fall() const { return params.dt * std::abs(params.gravity); }  // [m/s] that a step adds
  bool on_cpu() const { return GetParam() == Backend::cpu; }

  std::unique_ptr<ContactLab> lab;
  Model model;
  State start;
};

bool is_penalty_kind(const Params& params) {
  return params.contact_solver == ContactSolverKind::penalty_explicit ||
         params.contact_solver == ContactSolverKind::penalty_implicit;
}

TEST_P(Switching, ToAnySolverJumpsByNoMoreThanTheSolversErrors) {
  const ParamInfo& row = *find_param(param_table(), "contact_solver");
  // Two scenes, one with joints, cover the kernels of all solvers.
  const bool brief = fixtures::device_is_checked();
  for (const bool tight : {false, true})
    for (const SwitchScene& scene : kSwitchScenes) {
      if (brief && (tight || scene.make == small_pyramid || scene.make == falling_grains)) continue;
      if (tight) accurate();
      else contact = stepping_lab_params();
      load(scene);
      lead_up(params);
      const State before = engine->state();
      engine->step();
      const State straight = engine->state();
      const double straight_error = error();
      for (std::size_t k = 0; k < row.choices.size(); ++k) {
        SCOPED_TRACE(std::string(scene.name) + (tight ? ", tight, " : ", ") + std::string(row.choices[k]));
        lead_up(params);
        Params other = params;
        set_param(&other, row, static_cast<double>(k));
        engine->set_params(other);
        const Jump edit = jump_between(engine->state(), before);
        EXPECT_LE(edit.length, on_cpu() ? 0 : 1e-12) << "the edit itself moves nothing";
        EXPECT_LE(edit.speed, on_cpu() ? 0 : 1e-12);
        engine->step();
        const Jump jump = jump_between(engine->state(), straight);
        // Springs carry nothing before they are compressed: for a step bodies may fall, upper ones together
        // with those below.
        const double allowed = is_penalty_kind(other)
                                   ? scene.layers * 2 * fall()
                                   : kLean * (error() + straight_error) + scene.wedged * kWedged * fall();
        EXPECT_LE(jump.speed, allowed);
        EXPECT_LE(jump.length, 1.001 * params.dt * jump.speed + 1e-12);
        EXPECT_LE(jump.speed, scene.layers * 2 * fall()) << "whatever the solver is worth";
      }
    }
}

/// Other rules correct other shares of errors, and springs yield at first. The effect of a switch is bounded
/// by the work of gravity in a step and by the overlaps of all bodies that press on each other.
TEST_P(Switching, OfStabilisationIntegratorAndFrictionIsBounded) {
  for (const SwitchScene& scene : kSwitchScenes) {
    load(scene);
    for (int from = 0; from < 4; ++from) {
      Params base = params;
      base.stabilisation = static_cast<Stabilisation>(from);
      lead_up(base);
      const double before = engine->step().contact_solve->penetration;
      const State straight = engine->state();
      const auto check = [&](const std::string& what) {
        SCOPED_TRACE(std::string(scene.name) + " from " + std::to_string(from) + ": " + what);
        const double overlap = std::max(before, engine->step().contact_solve->penetration);
        const Jump jump = jump_between(engine->state(), straight);
        EXPECT_LE(jump.speed, scene.layers * (1.5 * fall() + overlap / params.dt));
        EXPECT_LE(jump.length, scene.layers * (1.5 * fall() * params.dt + overlap));
      };
      for (int to = 0; to < 4; ++to) {
        lead_up(base);
        Params p = base;
        p.stabilisation = static_cast<Stabilisation>(to);
        engine->set_params(p);
        check("stabilisation " + std::to_string(to));
      }
      for (const double mu : {0.0, 0.25, 0.35, 1.0}) {
        lead_up(base);
        std::vector<Material> materials = model.materials;
        materials[0].mu = mu;
        engine->set_materials(materials);
        check("mu " + std::to_string(mu));
      }
      lead_up(base);
      Params midpoint = base;
      midpoint.integrator = RigidIntegrator::midpoint;
      engine->set_params(midpoint);
      check("midpoint");
    }
  }
}

TEST_P(Switching, OfSleepAndOfUnreadSettingsChangesNothing) {
  for (const SwitchScene& scene : kSwitchScenes) {
    load(scene);
    lead_up(params);
    engine->step();
    const State straight = engine->state();
    const std::pair<const char*, std::function<void(Params&)>> edits[] = {
        {"sleeping", [](Params& p) { p.sleeping = true; }},
        {"cold start", [](Params& p) { p.cold_start_iterations = 0; }},
        {"restitution speed", [](Params& p) { p.restitution_speed = 3; }},
        {"another rule's springs", [](Params& p) { p.spring_frequency = 3; }},
        {"another solver's penalties", [](Params& p) { p.penalty_stiffness = 3e7; }}};
    for (const auto& [what, edit] : edits) {
      lead_up(params);
      Params p = params;
      edit(p);
      engine->set_params(p);
      engine->step();
      const Jump jump = jump_between(engine->state(), straight);
      EXPECT_LE(jump.speed, on_cpu() ? 0 : 1e-9) << scene.name << ": " << what;
      EXPECT_LE(jump.length, on_cpu() ? 0 : 1e-11) << scene.name << ": " << what;
    }
  }
}

TEST_P(Switching, WarmStartOffCostsIterationsNotContinuity) {
  accurate();
  for (const SwitchScene& scene : kSwitchScenes) {
    load(scene);
    lead_up(params);
    const long warm = engine->step().contact_solve->iterations;
    const State straight = engine->state();
    const double straight_error = error();
    lead_up(params);
    LabParams cold = contact;
    cold.warm_start = false;
    engine->set_contact_params(cold);
    EXPECT_GE(engine->step().contact_solve->iterations, warm) << scene.name;
    const Jump jump = jump_between(engine->state(), straight);
    EXPECT_LE(jump.speed, kLean * (error() + straight_error) + scene.wedged * kWedged * fall()) << scene.name;
  }
}

/// Fifty sweeps cannot find the impulses of a tower of ten from zero: they must be kept during sleep.
TEST_P(Switching, ATowerWakesWithTheImpulsesThatItFellAsleepWith) {
  params.sleeping = true;
  model = tower_of(10);
  apply(params, contact, model.materials);
  engine->load(model);
  StepReport report = run_unconverged(120);
  ASSERT_EQ(report.contact_solve->asleep, 10);
  Snapshot snapshot;
  engine->snapshot(snapshot);
  double weight = 0;
  for (const ContactRecord& record : snapshot.contacts)
    if (record.point[1] < 0.05f) weight += record.normal_force;
  EXPECT_NEAR(weight, 10 * 8 * 9.81, 1) << "the floor carries them all the same";
  const State asleep = engine->state();
  params.sleeping = false;
  engine->set_params(params);
  report = engine->step();
  EXPECT_EQ(report.contact_solve->asleep, 0);
  EXPECT_LT(report.contact_solve->residual, contact.tolerance);
  EXPECT_LT(jump_between(engine->state(), asleep).speed, 1e-4);
}

/// Springs store no impulses for a warm start.
TEST_P(Switching, FromSpringsTheNextStepConverges) {
  model = tower_of(20);
  apply(params, contact, model.materials);
  engine->load(model);
  run_unconverged(5);
  params.contact_solver = ContactSolverKind::penalty_explicit;
  engine->set_params(params);
  engine->step();
  params.contact_solver = ContactSolverKind::nsgs;
  engine->set_params(params);
  EXPECT_LT(engine->step().contact_solve->residual, contact.tolerance);
}

INSTANTIATE_ON_BACKENDS(Switching);

}  // namespace
}  // namespace stickslip
