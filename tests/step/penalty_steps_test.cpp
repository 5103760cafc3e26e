// Whole steps with penalty forces compared with mechanics: springs, rebound, friction, solids.
#include <algorithm>
#include <cmath>

#include "gpu/rigid/penalty_springs.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/solid_step_fixture.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_rigid_box;
using fixtures::add_rigid_sphere;
using fixtures::pose_at;
using Vec3d = Vec<double, 3>;

constexpr double kG = 9.81;
constexpr PenaltySpring kSprings[] = {PenaltySpring::linear, PenaltySpring::power, PenaltySpring::exponential,
                                      PenaltySpring::layered};
constexpr ContactSolverKind kPenalties[] = {ContactSolverKind::penalty_explicit,
                                            ContactSolverKind::penalty_implicit};

PenaltySpringLaw law_of(const Params& p) {
  return {p.penalty_spring, p.penalty_stiffness, p.penalty_exponent,
          p.penalty_length, p.penalty_thickness, p.penalty_layers};
}

class PenaltySteps : public fixtures::VelocityStepTest {
 protected:
  PenaltySteps() {
    contact.tolerance = 1e-10;
    contact.max_iterations = 10000;
    params.penalty_stiffness = 1e5;
    params.penalty_damping = 300;
  }

  /// A box of 8 kg on a slope that falls along x.
  Model on_slope(double angle, double mu) {
    Model model;
    const Vec3d up{std::sin(angle), std::cos(angle), 0};
    model.half_spaces.push_back({up, 0, mu, true});
    Pose pose = pose_at(0.1 * up);
    pose.q = rotation_by(Vec3d{0, 0, -angle});
    add_rigid_box(model, {0.1, 0.1, 0.1}, pose);
    return model;
  }
  /// Of the first body, along the slope.
  double speed_down(double angle) {
    return dot(engine->state().bodies[0].velocity, Vec3d{std::cos(angle), -std::sin(angle), 0});
  }
  double way_down(double angle) {
    return dot(engine->state().bodies[0].pose.x, Vec3d{std::cos(angle), -std::sin(angle), 0});
  }
};

/// Where four springs carry the weight, each of them in its own way.
TEST_P(PenaltySteps, EverySpringCarriesABoxWhereItsForceIsTheWeight) {
  for (const ContactSolverKind kind : kPenalties)
    for (const PenaltySpring spring : kSprings) {
      SCOPED_TRACE(std::to_string(static_cast<int>(kind)) + " " + std::to_string(static_cast<int>(spring)));
      params.contact_solver = kind;
      params.dt = kind == ContactSolverKind::penalty_explicit ? 0.0005 : 0.01;
      params.penalty_spring = spring;
      params.penalty_stiffness = spring == PenaltySpring::layered       ? 1e3
                                 : spring == PenaltySpring::exponential ? 5e3  // rests at an overlap
                                                                        : 2e4;
      Model model;
      fixtures::add_floor(model);
      // At a gap of zero layered springs hold the energy of a launch.
      const double start = spring == PenaltySpring::layered ? 0.9 * params.penalty_thickness : 0;
      add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1 + start, 0}));
      load(model);
      StepReport report;
      for (int i = 0; i * params.dt < 2; ++i) report = engine->step();
      const double gap = engine->state().bodies[0].pose.x[1] - 0.1;
      EXPECT_NEAR(penalty_force(law_of(params), gap), 8 * kG / 4, 0.02);
      EXPECT_LT(report.kinetic_energy, 1e-6);
      EXPECT_TRUE(report.converged) << report.stop_reason;
    }
}

/// A fall onto a spring that loses nothing: kinetic, gravity's and the spring's energy stay in small steps.
TEST_P(PenaltySteps, SpringsGiveBackTheirEnergy) {
  params.contact_solver = ContactSolverKind::penalty_explicit;
  params.penalty_damping = 0;
  params.dt = 1e-5;
  params.penalty_thickness = 3e-3;
  for (const PenaltySpring spring : kSprings) {
    SCOPED_TRACE(static_cast<int>(spring));
    params.penalty_spring = spring;
    params.penalty_stiffness = spring == PenaltySpring::layered ? 1e3 : 1e5;
    Model model;
    fixtures::add_floor(model);
    add_rigid_sphere(model, 0.05, {0, 0.055, 0});
    model.bodies[0].velocity = {0, -0.5, 0};
    load(model);
    const PenaltySpringLaw law = law_of(params);
    double first = 0, worst = 0, most = 0;
    for (int i = 0; i < 5000; ++i) {
      const StepReport report = engine->step();
      const double gap = engine->state().bodies[0].pose.x[1] - 0.05, stored = penalty_energy(law, gap);
      const double energy = report.kinetic_energy + report.gravity_energy + stored;
      if (i == 0) first = energy;
      worst = std::max(worst, std::fabs(energy - first));
      most = std::max(most, stored);
    }
    EXPECT_GT(most, 0.05);
    EXPECT_LT(worst, 0.03 * most);
  }
}

/// Half of a bounce with k, half with a factor on it: the rebound has the square root of the factor.
TEST_P(PenaltySteps, ABallReboundsWithTheRootOfPenaltyRecede) {
  params.gravity = 0;
  params.penalty_damping = 0;
  for (const ContactSolverKind kind : kPenalties)
    for (const double factor : {1.0, 0.64, 0.25, 0.0}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(kind)) + " " + std::to_string(factor));
      params.contact_solver = kind;
      params.dt = 1e-5;
      params.penalty_recede = factor;
      Model model;
      fixtures::add_floor(model);
      add_rigid_sphere(model, 0.05, {0, 0.0501, 0});
      model.bodies[0].velocity = {0, -1, 0};
      load(model);
      for (int i = 0; i < 2500; ++i) engine->step();
      EXPECT_NEAR(engine->state().bodies[0].velocity[1], std::sqrt(factor), 0.01);
    }
}

/// Anchors hold for ever, at a stretch of m g sin / k; regularised friction creeps at slip tan / mu.
TEST_P(PenaltySteps, ABlockOnASlopeRestsWithAnchorsAndCreepsWithout) {
  const double angle = 0.3, mu = 0.9;
  for (const ContactSolverKind kind : kPenalties) {
    SCOPED_TRACE(static_cast<int>(kind));
    params.contact_solver = kind;
    params.dt = kind == ContactSolverKind::penalty_explicit ? 0.0005 : 0.005;
    params.penalty_friction = PenaltyFriction::anchored;
    params.penalty_friction_stiffness = 4e4;
    load(on_slope(angle, mu));
    for (int i = 0; i * params.dt < 1.5; ++i) engine->step();
    const double at = way_down(angle), stretch = 8 * kG * std::sin(angle) / (4 * 4e4);
    double sum = 0;
    const std::vector<ContactAnchor> anchors = engine->state().anchors;
    ASSERT_EQ(anchors.size(), 4u);
    for (const ContactAnchor& x : anchors)
      sum += dot({x.stretch[0], x.stretch[1], x.stretch[2]}, Vec3d{std::cos(angle), -std::sin(angle), 0});
    EXPECT_NEAR(sum / 4, stretch, 1e-3 * stretch);
    // The lower springs are the deeper ones, which tilts the block.
    const double tilt = 8 * kG * std::sin(angle) / (4 * params.penalty_stiffness);
    const double fall = kG * std::sin(angle) * params.dt * params.dt;
    EXPECT_NEAR(at, stretch + tilt, 0.1 * stretch + fall) << "anchors are where the block first touched";
    for (int i = 0; i * params.dt < 1.5; ++i) engine->step();
    EXPECT_NEAR(way_down(angle), at, 1e-9);

    params.penalty_friction = PenaltyFriction::regularised;
    engine->set_params(params);
    for (int i = 0; i * params.dt < 1; ++i) engine->step();
    // The viscosity of a contact is mu r / slip: r is its normal force, with penalty_implicit at least the
    // weight of the mass that it moves, here of 2 kg. The lower two of the four carry more.
    const double share = 2 * kG, lower = share * (std::cos(angle) + std::sin(angle));
    const double r =
        kind == ContactSolverKind::penalty_explicit ? 4 * share * std::cos(angle) : 2 * lower + 2 * share;
    const double creep = params.penalty_slip * 4 * share * std::sin(angle) / (mu * r);
    EXPECT_NEAR(speed_down(angle), creep, 0.01 * creep);
  }
}

TEST_P(PenaltySteps, ABlockSlidesWithTheAccelerationOfCoulombsLaw) {
  const double angle = 0.5, mu = 0.3, expected = kG * (std::sin(angle) - mu * std::cos(angle));
  for (const ContactSolverKind kind : kPenalties)
    for (const PenaltyFriction friction :
         {PenaltyFriction::regularised, PenaltyFriction::anchored, PenaltyFriction::kinetic}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(kind)) + " " + std::to_string(static_cast<int>(friction)));
      params.contact_solver = kind;
      params.dt = kind == ContactSolverKind::penalty_explicit ? 0.0005 : 0.005;
      params.penalty_friction = friction;
      load(on_slope(angle, mu));
      const auto run_to = [&](double seconds) {
        while (engine->state().time < seconds - 1e-9) engine->step();
      };
      run_to(0.5);
      const double before = speed_down(angle);
      run_to(1);
      EXPECT_NEAR((speed_down(angle) - before) / 0.5, expected, 0.01 * expected);
    }
}

/// Nothing holds a block at rest: in each step gravity moves it first.
TEST_P(PenaltySteps, KineticFrictionStopsABlockOnAFloor) {
  params.contact_solver = ContactSolverKind::penalty_explicit;
  params.penalty_friction = PenaltyFriction::kinetic;
  params.dt = 0.0005;
  Model model;
  fixtures::add_floor(model);
  model.half_spaces[0].mu = 0.4;
  model.half_spaces[0].mu_of_pair = true;
  add_rigid_box(model, {0.2, 0.05, 0.2}, pose_at({0, 0.05 - 1.9e-4, 0}));
  model.bodies[0].velocity = {1, 0, 0};
  load(model);
  for (int i = 0; i < 1200; ++i) engine->step();
  EXPECT_NEAR(engine->state().bodies[0].pose.x[0], 1 / (2 * 0.4 * kG), 3e-3);
  EXPECT_LT(std::fabs(engine->state().bodies[0].velocity[0]), 1e-9);
}

/// A ball that rolls stretches no anchors, though its surface leaves them.
TEST_P(PenaltySteps, AnchorsLetABallRoll) {
  for (const ContactSolverKind kind : kPenalties) {
    params.contact_solver = kind;
    params.dt = kind == ContactSolverKind::penalty_explicit ? 0.0005 : 0.005;
    params.penalty_friction = PenaltyFriction::anchored;
    params.penalty_damping = 50;
    Model model;
    fixtures::add_floor(model);
    add_rigid_sphere(model, 0.1, {0, 0.0998, 0});
    model.bodies[0].velocity = {1, 0, 0};
    model.bodies[0].spin = {0, 0, -1 / 0.0998};
    load(model);
    for (int i = 0; i * params.dt < 1; ++i) engine->step();
    EXPECT_NEAR(engine->state().bodies[0].velocity[0], 1, 0.01) << static_cast<int>(kind);
  }
}

/// A state has the anchors: a run from it is the same run.
TEST_P(PenaltySteps, AStateKeepsItsAnchors) {
  for (const ContactSolverKind kind : kPenalties) {
    params.contact_solver = kind;
    params.dt = kind == ContactSolverKind::penalty_explicit ? 0.0005 : 0.005;
    params.penalty_friction = PenaltyFriction::anchored;
    load(on_slope(0.3, 0.5));
    for (int i = 0; i < 400; ++i) engine->step();
    const State kept = engine->state();
    ASSERT_EQ(kept.anchors.size(), 4u);
    for (int i = 0; i < 50; ++i) engine->step();
    const Vec3d straight = engine->state().bodies[0].pose.x;
    engine->set_state(kept);
    EXPECT_EQ(engine->state().anchors.size(), 4u);
    for (int i = 0; i < 50; ++i) engine->step();
    EXPECT_LT(norm(engine->state().bodies[0].pose.x - straight), 1e-9) << static_cast<int>(kind);
    State bare = kept;
    bare.anchors.clear();
    engine->set_state(bare);
    for (int i = 0; i < 50; ++i) engine->step();
    EXPECT_GT(norm(engine->state().bodies[0].pose.x - straight), 1e-5) << "without them it slips";
    engine->reset();
    EXPECT_TRUE(engine->state().anchors.empty());
  }
}

TEST_P(PenaltySteps, StepsTooCoarseForTheSpringsHaveNotConverged) {
  params.contact_solver = ContactSolverKind::penalty_explicit;
  for (const double dt : {0.0005, 0.02}) {
    params.dt = dt;
    Model model;
    fixtures::add_floor(model);
    add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.0998, 0}));
    load(model);
    const StepReport report = engine->step();
    EXPECT_EQ(report.converged, dt < 0.01) << report.stop_reason;
    EXPECT_EQ(report.stop_reason.find("dt is too long") != std::string::npos, dt > 0.01)
        << report.stop_reason;
    EXPECT_FALSE(report.judgement.has_value());
  }
}

INSTANTIATE_ON_BACKENDS(PenaltySteps);

class PenaltySolids : public fixtures::SolidStepTest {
 protected:
  PenaltySolids() {
    params.contact_solver = ContactSolverKind::penalty_explicit;
    params.pcg_tolerance = 1e-8;
    params.dt = 2e-4;
    params.penalty_stiffness = 2e4;
    params.penalty_damping = 20;
  }
  Vec3d mean_velocity(const Object& object) {
    return fixtures::mean(engine->state().velocities, object.node_begin, object.node_end);
  }
};

/// The springs of a block's lower nodes carry its weight.
TEST_P(PenaltySolids, ABlockRestsOnSpringsThatCarryItsWeight) {
  for (const fixtures::BoxBody kind : {fixtures::BoxBody::deformable, fixtures::BoxBody::affine}) {
    Model model;
    fixtures::add_floor(model);
    const Object block =
        fixtures::add_box(model, "block", {0.1, 0.1, 0.1}, {0, 0.05, 0}, 2, 0, {0, 0, 0}, kind);
    model.materials[0].young = 1e6;
    model.materials[0].damping = 0.01;
    load(model);
    StepReport report;
    for (int i = 0; i < 4000; ++i) report = engine->step();
    EXPECT_TRUE(report.converged) << report.stop_reason;
    EXPECT_LT(report.kinetic_energy, 1e-7);
    Snapshot snapshot;
    engine->snapshot(snapshot);
    double carried = 0;
    for (const ContactRecord& c : snapshot.contacts) carried += c.normal_force;
    const double weight = model.materials[0].density * 1e-3 * kG;
    EXPECT_NEAR(carried, weight, 1e-3 * weight);
    const State state = engine->state();
    double springs = 0;
    for (int n = block.node_begin; n < block.node_end; ++n)
      springs += params.penalty_stiffness * std::max(0.0, -state.positions[static_cast<std::size_t>(n)][1]);
    EXPECT_NEAR(springs, weight, 5e-3 * weight) << "each node has the spring of its depth";
  }
}

/// Impulses on nodes and bodies are opposite: momentum of both stays.
TEST_P(PenaltySolids, CollisionsKeepMomentum) {
  params.gravity = 0;
  Model model;
  fixtures::add_box(model, "soft", {0.1, 0.1, 0.1}, {0, 0, 0}, 2, 12, {1, 0, 0});
  fixtures::add_box(model, "other", {0.1, 0.1, 0.1}, {0.13, 0.012, 0.008}, 2, 0, {0, 0, 0});
  add_rigid_box(model, {0.05, 0.05, 0.05}, pose_at({0.25, 0.02, 0.01}));
  model.materials[0].young = 1e5;
  load(model);
  const StepReport first = engine->step();
  int touched = 0;
  StepReport last;
  for (int i = 0; i < 1500; ++i) {
    last = engine->step();
    touched += last.gap_min < 0 ? 1 : 0;
    ASSERT_LT(norm(last.momentum - first.momentum), 1e-6 * norm(first.momentum)) << last.frame;
  }
  EXPECT_GT(touched, 20);
  EXPECT_GT(engine->state().bodies[0].velocity[0], 0.02) << "the push reaches the rigid body";
  EXPECT_LT(last.kinetic_energy + last.elastic_energy, first.kinetic_energy);
  EXPECT_LT(norm(last.angular_momentum - first.angular_momentum), 0.02);
}

/// Anchors of touched points, too.
TEST_P(PenaltySolids, ABlockOnASlopeRestsWithAnchorsOrSlides) {
  const double angle = 0.4;
  const Vec3d up{std::sin(angle), std::cos(angle), 0}, down{std::cos(angle), -std::sin(angle), 0};
  for (const double mu : {0.2, 0.8}) {
    Model model;
    const Object block =
        fixtures::add_box(model, "block", {0.1, 0.1, 0.1}, 0.0499 * up, 2, -angle * 180 / M_PI, {0, 0, 0});
    model.half_spaces.push_back({up, 0, mu});
    model.materials[0].mu = mu;
    model.materials[0].young = 1e6;
    model.materials[0].damping = 0.01;
    params.penalty_friction = PenaltyFriction::anchored;
    params.penalty_friction_stiffness = 2e4;
    load(model);
    for (int i = 0; i < 2500; ++i) engine->step();
    const double before = dot(mean_velocity(block), down);
    for (int i = 0; i < 1000; ++i) engine->step();
    const double expected = mu > std::tan(angle) ? 0 : kG * (std::sin(angle) - mu * std::cos(angle));
    EXPECT_NEAR((dot(mean_velocity(block), down) - before) / 0.2, expected, 2e-3 + 0.02 * expected) << mu;
    if (expected == 0) {
      EXPECT_LT(std::fabs(before), 1e-5);
    }
  }
}

TEST_P(PenaltySolids, StepsTooCoarseForTheNodesHaveNotConverged) {
  for (const double dt : {2e-4, 2e-2}) {
    params.dt = dt;
    Model model;
    fixtures::add_floor(model);
    fixtures::add_box(model, "block", {0.1, 0.1, 0.1}, {0, 0.0498, 0}, 2, 0, {0, 0, 0});
    model.materials[0].young = 1e4;
    params.penalty_stiffness = 1e5;
    load(model);
    const StepReport report = engine->step();
    EXPECT_EQ(report.stop_reason.find("dt is too long") != std::string::npos, dt > 0.01)
        << report.stop_reason;
    EXPECT_EQ(report.converged, dt < 0.01) << report.stop_reason;
  }
}

INSTANTIATE_ON_BACKENDS(PenaltySolids);

}  // namespace
}  // namespace stickslip
