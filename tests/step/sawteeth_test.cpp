// Whole steps of rigid bodies with one-sided friction: height maps of sawteeth.
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "gpu/model/rigid_body.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip {
namespace {

/// Boxes on sawteeth, which resist sliding towards -x more than towards +x.
class Sawteeth : public fixtures::VelocityStepTest {
 protected:
  static constexpr double kPlain = 0.1, kDepth = 0.01, kTexel = 0.002, kGravity = 9.81, kMass = 16;
  static constexpr int kSteps = 7;
  /// Long slopes face -x, and short ones +x.
  static double easy() {
    return kPlain + 1.0 / (kSteps + 1) * 2 / std::numbers::pi * std::atan(kDepth / kTexel);
  }
  static double hard() {
    return kPlain + kSteps / (kSteps + 1.0) * 2 / std::numbers::pi * std::atan(kDepth / (kSteps * kTexel));
  }
  static void add_sawteeth(Model& model) {
    std::vector<double> heights;
    heights.reserve(kSteps + 1);
    for (int i = 0; i <= kSteps; ++i) heights.push_back(kDepth * i / kSteps);
    SurfaceTexture saw;
    saw.kind = TextureKind::height;
    saw.columns = kSteps + 1;
    saw.rows = 1;
    saw.size = saw.patch = {kTexel * (kSteps + 1), kTexel};
    saw.texels = facet_texels(heights, saw.columns, 1, saw.size);
    model.textures.push_back(saw);
  }
  Sawteeth() {
    params.dt = 0.001;
    contact.max_iterations = 10000;
  }
  static Model box_on_sawteeth(const Vec<double, 3>& velocity) {
    Model model;
    fixtures::add_floor(model, 0, kPlain);
    model.half_spaces[0].mu_of_pair = true;
    fixtures::add_rigid_box(model, {0.2, 0.05, 0.2}, fixtures::pose_at({0, 0.05, 0}));
    model.bodies[0].velocity = velocity;
    add_sawteeth(model);
    return model;
  }
  void start(Model model) {
    finalize(model);
    engine = new_engine(model);
  }
  BodyState body(int index = 0) const { return engine->state().bodies[static_cast<std::size_t>(index)]; }
  /// Steps that converge under the judge, which has the one-sided law by itself.
  void judged_steps(int count) {
    for (int i = 0; i < count; ++i) {
      const StepReport report = engine->step();
      ASSERT_EQ(report.stop_reason, "converged") << "frame " << report.frame;
      ASSERT_TRUE(report.judgement.has_value());
      ASSERT_LE(report.judgement->residual, 5 * contact.tolerance) << "frame " << report.frame;
    }
  }
  /// Solvers that find contact impulses.
  static std::vector<ContactSolverKind> solvers() {
    std::vector<ContactSolverKind> out;
    for (const ContactSolverInfo& row : contact_solver_table())
      if (!row.has(SolverTrait::forces)) out.push_back(row.kind);
    return out;
  }
};

/// Every solver, those of box friction and of facets among them, has the bound of the direction of sliding
/// [Course Eq.337].
TEST_P(Sawteeth, ABoxDeceleratesByTheBoundOfItsDirection) {
  contact.tolerance = 1e-8;
  constexpr int steps = 20;
  for (const ContactSolverKind solver : solvers()) {
    SCOPED_TRACE(std::string(contact_solver_info(solver).name));
    params.contact_solver = solver;
    for (const double sign : {1.0, -1.0}) {
      start(box_on_sawteeth({0.5 * sign, 0, 0}));
      for (int i = 0; i < steps; ++i) {
        const StepReport report = engine->step();
        EXPECT_TRUE(report.converged || solver == ContactSolverKind::pivot_block) << report.stop_reason;
      }
      const double mu = sign > 0 ? easy() : hard();
      EXPECT_NEAR(sign * body().velocity[0], 0.5 - mu * kGravity * steps * params.dt, 1e-5);
    }
  }
}

/// Oblique sliding: each quadrant has a quarter of an ellipse, whose friction is -mu_i^2 v_i / sigma(v).
TEST_P(Sawteeth, ObliqueSlidingFollowsTheEllipseOfItsQuadrant) {
  contact.tolerance = 1e-8;
  constexpr int steps = 60;
  for (const double sign : {1.0, -1.0}) {
    start(box_on_sawteeth({0.6 * sign, 0, 0.5}));
    judged_steps(steps);
    const double across = sign > 0 ? easy() : hard();
    double x = 0.6, z = 0.5;
    constexpr int parts = 100;  // of a step
    for (int i = 0; i < parts * steps; ++i) {
      const double sigma = std::hypot(across * x, kPlain * z), rate = kGravity * params.dt / parts / sigma;
      x -= rate * across * across * x;
      z -= rate * kPlain * kPlain * z;
    }
    EXPECT_NEAR(sign * body().velocity[0], x, 1e-3);
    EXPECT_NEAR(body().velocity[2], z, 1e-3);
  }
}

/// Between both angles of friction a box stays where downhill is against the teeth, and slides where it is
/// not.
TEST_P(Sawteeth, OnASlopeABoxSlidesOneWayOnly) {
  contact.tolerance = 1e-8;
  const double angle = std::atan(0.5 * (easy() + hard()));
  for (const double sign : {1.0, -1.0}) {
    const double tilt = sign * angle;  // downhill is towards sign x of the box
    Model model;
    const Vec<double, 3> up{std::sin(tilt), std::cos(tilt), 0};
    model.half_spaces.push_back({up, 0, kPlain, true});
    fixtures::add_rigid_box(model, {0.2, 0.05, 0.2}, fixtures::pose_at(0.05 * up, {0, 0, -tilt}));
    add_sawteeth(model);
    start(model);
    judged_steps(40);
    if (sign < 0) {
      EXPECT_LT(norm(body().velocity), 1e-6);
      continue;
    }
    const double rate = kGravity * (std::sin(angle) - easy() * std::cos(angle));
    EXPECT_NEAR(norm(body().velocity), rate * 40 * params.dt, 1e-5);
  }
}

/// Contacts of a box that turns slide into all quadrants. With torsion they have a fourth row.
TEST_P(Sawteeth, ATurningBoxObeysTheJudge) {
  contact.tolerance = 1e-8;
  for (const ContactSolverKind solver : {ContactSolverKind::nsgs, ContactSolverKind::manifold_gs})
    for (const double torsion : {0.0, 0.05}) {
      SCOPED_TRACE(std::string(contact_solver_info(solver).name));
      params.contact_solver = solver;
      Model model = box_on_sawteeth({0.1, 0, 0.05});
      model.bodies[0].spin = {0, 3, 0};
      model.materials[0].torsion_radius = torsion;
      start(model);
      double energy = 1e9;
      for (int i = 0; i < 150; ++i) {
        judged_steps(1);
        const double now = 0.5 * kMass * (norm2(body().velocity) + 0.16 / 6 * norm2(body().spin));
        ASSERT_LE(now, energy * (1 + 1e-9)) << i;
        energy = now;
      }
    }
}

/// mu_static scales the coefficients of both directions alike: a box at rest starts with the teeth only.
TEST_P(Sawteeth, StaticFrictionIsOneSidedToo) {
  contact.tolerance = 1e-8;
  // Against a half-space the ratio is a square root.
  const double ratio = 1.5;
  for (const double sign : {1.0, -1.0})
    for (const double share : {0.97, 1.03}) {
      const double tilt = sign * std::atan(share * ratio * (sign > 0 ? easy() : hard()));
      Model model;
      const Vec<double, 3> up{std::sin(tilt), std::cos(tilt), 0};
      model.half_spaces.push_back({up, 0, kPlain, true});
      fixtures::add_rigid_box(model, {0.2, 0.02, 0.2}, fixtures::pose_at(0.02 * up, {0, 0, -tilt}));
      model.materials[0].mu = kPlain;
      model.materials[0].mu_static = ratio * ratio * kPlain;
      model.materials[0].stribeck_speed = 1e-3;
      add_sawteeth(model);
      params.friction_rounds = 200;  // many where sticking just ends
      start(model);
      judged_steps(40);
      if (share < 1) EXPECT_LT(norm(body().velocity), 1e-6) << sign;
      else EXPECT_GT(norm(body().velocity), 0.035) << sign;
    }
}

/// A box with a knob welded to it, which the mouse pulls. Without its joint the box would not slide, so that
/// only the solution says which way its friction acts.
class PulledSawteeth : public Sawteeth {
 protected:
  static constexpr double kKnob = 0.1, kStiffness = 1000;

  /// With so many boxes at rest beside it.
  void pull(double target, int others = 0) {
    const Vec<double, 3> half{0.2, 0.05, 0.2};
    Model model;
    model.material_names = {"saw"};
    model.materials.resize(1);
    const auto add = [&](const char* name, const Vec<double, 3>& size, double mass) {
      BodyPart part = make_part(ShapeKind::box, size);
      part.nodes = {{0, 0, 0}, {size[0], 0, 0}, {0, 0, size[2]}};
      part.triangles = {{0, 1, 2}};
      BodyStart start;
      start.pose.x = {0, half[1], 0};
      start.mass = mass;
      add_body(model, name, assemble({part}), 0, start);
    };
    add("box", half, kMass - kKnob);
    add("knob", {0.01, 0.01, 0.01}, kKnob);
    for (int i = 0; i < others; ++i)
      fixtures::add_rigid_box(model, half, fixtures::pose_at({0, half[1], 1.0 + 0.5 * i}));
    Joint weld;
    weld.name = "weld";
    weld.kind = JointKind::fixed;
    weld.a = 0;
    weld.b = 1;
    add_joint(model, weld, {{0, half[1], 0}, turn_of_x({1, 0, 0})});
    model.half_spaces.push_back({{0, 1, 0}, 0, kPlain, true});
    add_sawteeth(model);
    const std::int32_t node = model.objects[1].node_begin;
    params.drag_stiffness = kStiffness;
    start(model);
    Drag drag;
    drag.triangle = {node, node + 1, node + 2};
    drag.target = {target, half[1], 0};
    engine->set_drag(drag);
  }
};

/// A pull between the two bounds moves the box with the teeth, and not against them.
TEST_P(PulledSawteeth, ABoxSticksUpToTheBoundOfItsDirection) {
  contact.tolerance = 1e-7;
  // The mouse's spring is implicit for the knob alone, which makes it softer by this factor.
  const double damper = 2 * std::sqrt(kStiffness * kKnob),
               factor = 1 / (1 + params.dt * (params.dt * kStiffness + damper) / kKnob),
               load = kMass * kGravity;
  for (const ContactSolverKind solver :
       {ContactSolverKind::nsgs, ContactSolverKind::manifold_gs, ContactSolverKind::newton_ac,
        ContactSolverKind::pivot_incremental}) {
    SCOPED_TRACE(std::string(contact_solver_info(solver).name));
    params.contact_solver = solver;
    for (const double sign : {1.0, -1.0})
      for (const double share : {0.9, 1.1}) {
        const double bound = (sign > 0 ? easy() : hard()) * load;
        pull(sign * share * bound / (factor * kStiffness));
        for (int i = 0; i < 10; ++i) {
          const StepReport report = engine->step();
          EXPECT_TRUE(report.converged) << report.stop_reason;
        }
        const double speed = sign * body().velocity[0], slides = (share - 1) * bound / kMass * 10 * params.dt;
        if (share < 1) EXPECT_LT(std::fabs(speed), 1e-6) << sign;
        else EXPECT_NEAR(speed, slides, 0.1 * slides) << sign;
      }
  }
}

/// The tolerance bounds the change of friction among all impulses, and that of each contact beside the
/// largest impulse: the judge would find this box outside its cones.
TEST_P(PulledSawteeth, ManyContactsDoNotHideOne) {
  contact.tolerance = 0.1;
  const double between = 0.5 * (easy() + hard()) * kMass * kGravity / kStiffness;
  pull(1.3 * between, 40);
  int rounds = 0;
  for (int i = 0; i < 5; ++i) {
    const StepReport report = engine->step();
    EXPECT_EQ(report.stop_reason, "converged");
    rounds += report.contact_solve->friction_rounds;
  }
  EXPECT_GE(rounds, 1);
  EXPECT_GT(body().velocity[0], 0);
}

/// Implicit penalties solve one problem a step, with the coefficients of the slip without impulses. Here the
/// first guess is wrong, and the slip of later steps corrects it.
TEST_P(PulledSawteeth, ImplicitPenaltiesSlideOneWayOnly) {
  contact.tolerance = 1e-7;
  params.contact_solver = ContactSolverKind::penalty_implicit;
  params.penalty_friction = PenaltyFriction::kinetic;
  const double between = 0.5 * (easy() + hard()) * kMass * kGravity / kStiffness;
  for (const double sign : {1.0, -1.0}) {
    pull(sign * between);
    EXPECT_TRUE(run_unconverged(300).converged);
    const double way = sign * body().pose.x[0];
    if (sign > 0) EXPECT_GT(way, 5e-3);
    else EXPECT_LT(std::fabs(way), 1e-4);
  }
}

/// A pile on sawteeth: contacts in all directions, between bodies with teeth on both sides.
TEST_P(Sawteeth, APileObeysTheJudge) {
  contact.tolerance = 1e-6;
  Model model;
  fixtures::add_floor(model, 0, kPlain);
  model.half_spaces[0].mu_of_pair = true;
  for (int i = 0; i < 6; ++i)
    fixtures::add_rigid_box(
        model, {0.1, 0.05, 0.08},
        fixtures::pose_at({0.05 * (i % 2), 0.05 + 0.1 * i, 0.03 * (i % 3)}, {0, 0.3 * i, 0}));
  for (auto& b : model.bodies) b.velocity = {0.3, 0, -0.2};
  model.bodies[5].velocity = {-1, 0, 0.5};
  model.materials[0].mu = kPlain;
  add_sawteeth(model);
  start(model);
  int rounds = 0, converged = 0;
  for (int i = 0; i < 60; ++i) {
    const StepReport report = engine->step();
    rounds += report.contact_solve->friction_rounds;
    if (!report.converged) continue;
    ++converged;
    EXPECT_LE(report.judgement->residual, 5 * contact.tolerance);
  }
  EXPECT_GT(rounds, 0) << "the guess is not always right";
  EXPECT_GE(converged, 57);
}

TEST_P(Sawteeth, TensorsAndHeightMapsAreRefusedTogether) {
  Model model = box_on_sawteeth({0, 0, 0});
  Material tensor = model.materials[0];
  tensor.friction_kind = FrictionKind::tensor;
  model.materials.push_back(tensor);
  model.material_names.push_back("plank");
  try {
    Model copy = model;
    finalize(copy);
    FAIL() << "it was accepted";
  } catch (const std::invalid_argument& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("tensors do not combine with height maps"), std::string::npos) << what;
    EXPECT_NE(what.find("'plank'"), std::string::npos) << what;
    EXPECT_NE(what.find("'default'"), std::string::npos) << what;
  }
  // A direction map does combine with one.
  Model mapped = model;
  mapped.textures[0].kind = TextureKind::direction;
  EXPECT_NO_THROW(finalize(mapped));
  // Edited while the scene runs.
  model.materials[1].friction_kind = FrictionKind::elliptic;
  start(model);
  EXPECT_NO_THROW(engine->step());
  engine->set_materials({model.materials[0], tensor});
  EXPECT_THROW(engine->step(), SimulationError);
}

/// A box at rest on a solid that moves: explicit friction is that of the slip, and the impulse of friction is
/// that of the load times mu.
TEST_P(Sawteeth, ExplicitPenaltiesTakeTheSlipOnASolid) {
  params.contact_solver = ContactSolverKind::penalty_explicit;
  params.dt = 2e-4;
  params.penalty_stiffness = 2e5;
  params.penalty_damping = 100;
  for (const PenaltyFriction friction :
       {PenaltyFriction::regularised, PenaltyFriction::kinetic, PenaltyFriction::anchored})
    for (const double sign : {1.0, -1.0}) {
      params.penalty_friction = friction;
      // The box is wider than the solid's cells, and slides towards -sign x relative to it.
      Model model;
      fixtures::add_box(model, "solid", {0.6, 0.1, 0.6}, {0, 0.05, 0}, 2, 0, {1.0 * sign, 0, 0});
      model.half_spaces.push_back({{0, 1, 0}, 0, 0, true});
      fixtures::add_rigid_box(model, {0.2, 0.02, 0.2}, fixtures::pose_at({0, 0.12, 0}));
      model.materials[0].young = 1e6;
      model.materials[0].mu = kPlain;
      add_sawteeth(model);
      start(model);
      const int steps = 250;
      run_unconverged(steps);
      const double pushed = kGravity * steps * params.dt + body().velocity[1];
      const double mu = sign * body().velocity[0] / pushed, want = sign > 0 ? hard() : easy();
      EXPECT_NEAR(mu, want, friction == PenaltyFriction::anchored ? 0.2 * want : 0.03 * want)
          << sign << ' ' << static_cast<int>(friction);
    }
}

/// Springs of anchored friction reach the bound of the direction in which they pull.
TEST_P(Sawteeth, AnchorsHoldUpToTheBoundOfTheirDirection) {
  params.penalty_friction = PenaltyFriction::anchored;
  params.penalty_friction_stiffness = 1e5;
  params.penalty_stiffness = 1e5;
  params.penalty_damping = 500;
  const double angle = std::atan(0.5 * (easy() + hard()));
  for (const ContactSolverKind solver :
       {ContactSolverKind::penalty_explicit, ContactSolverKind::penalty_implicit})
    for (const double sign : {1.0, -1.0}) {
      params.contact_solver = solver;
      const double tilt = sign * angle;
      Model model;
      const Vec<double, 3> up{std::sin(tilt), std::cos(tilt), 0};
      model.half_spaces.push_back({up, 0, kPlain, true});
      fixtures::add_rigid_box(model, {0.2, 0.05, 0.2}, fixtures::pose_at(0.05 * up, {0, 0, -tilt}));
      add_sawteeth(model);
      start(model);
      run_unconverged(400);
      const double rate = kGravity * (std::sin(angle) - easy() * std::cos(angle)),
                   speed = norm(body().velocity);
      if (sign < 0) EXPECT_LT(speed, 0.02) << static_cast<int>(solver);
      else
        EXPECT_NEAR(speed, rate * 400 * params.dt, 0.05 * rate * 400 * params.dt) << static_cast<int>(solver);
    }
}

INSTANTIATE_ON_BACKENDS(Sawteeth);
INSTANTIATE_ON_BACKENDS(PulledSawteeth);

}  // namespace
}  // namespace stickslip
