// Steps of solids of ten-node tets, with contact, friction and joints, under both families of steppers.
#include <cmath>

#include "gpu/model/element_group.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/solid_joint_fixture.h"
#include "tests/fixtures/solid_step_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::BoxBody;
using fixtures::Vec3d;

double solid_mass(const Model& model, const Object& object) {
  return model.materials[static_cast<std::size_t>(object.material)].density * solid_volume(model, object);
}

/// Upward forces of the contacts on objects with the floor, and between two objects on the second one [N].
struct Forces {
  double floor = 0, between = 0;
};
Forces forces_of(Engine& engine) {
  Snapshot snapshot;
  engine.snapshot(snapshot);
  Forces sum;
  for (const ContactRecord& c : snapshot.contacts) {
    const double force = c.normal_force * c.normal[1];
    if (c.object_b < 0) sum.floor += force;
    else sum.between += c.object_a == 1 ? force : -force;
  }
  return sum;
}

constexpr int kCells = 2, kCorners = 27;  // of a box, along each axis; in all

/// By how much a box is lower than at rest [m]: the difference of its top's and its bottom's mean heights,
/// integrals over triangles by their three corners, or by the middles of their edges.
double shortened(const Model& model, const State& state, const Object& object, double half) {
  const Vec3d centre = fixtures::mean(model.rest_positions, object.node_begin, object.node_end);
  double sum[2] = {0, 0}, area[2] = {0, 0};
  const auto add = [&](int a, int b, int c, int weighed) {
    const auto rest = [&](int i) { return model.rest_positions[static_cast<std::size_t>(i)]; };
    for (const int i : {a, b, c})
      if (std::abs(rest(i)[1] - centre[1]) < 0.99 * half) return;
    const auto n = static_cast<std::size_t>(weighed);
    const double of_triangle = norm(cross(rest(b) - rest(a), rest(c) - rest(a)));
    const bool top = rest(a)[1] > centre[1];
    sum[top] += of_triangle * (state.positions[n][1] - model.positions[n][1]);
    area[top] += of_triangle;
  };
  const auto triangles = triangles_of(model, object);
  // Of the four triangles of a face, the one in its middle has the middles of the edges as its corners.
  const int first_middle = object.node_begin + kCorners;
  for (const Vec3i& t : triangles)
    for (int c = 0; c < 3; ++c)
      if (!object.ten_node || (t[0] >= first_middle && t[1] >= first_middle && t[2] >= first_middle))
        add(t[0], t[1], t[2], t[c]);
  return sum[0] / area[0] - sum[1] / area[1];
}

/// A block of 8 kg, and one of ten-node tets or of linear ones on it. Both deform as columns (nu = 0).
class TenNodeStack {
 public:
  static constexpr double side = 0.2, young = 5e5;
  TenNodeStack(BoxBody lower, BoxBody upper, double gap) {
    fixtures::add_floor(model, -gap);
    add_box(model, "lower", {side, side, side}, {0, 0.5 * side, 0}, kCells, 0, {0, 0, 0}, lower);
    add_box(model, "upper", {side, side, side}, {0.002, 1.5 * side + gap, 0.003}, kCells, 0, {0, 0, 0},
            upper);
    Material& m = model.materials[0];
    m.young = young;
    m.poisson = 0;
    m.damping = 0.05;
    m.mu = 0.5;
    finalize(model);
  }
  /// At rest, once the blocks have landed: each block carries its own weight and what is on it.
  void check(Engine& engine) const {
    const double weight = 9.81 * solid_mass(model, model.objects[0]);
    const Forces forces = forces_of(engine);
    EXPECT_NEAR(forces.floor, 2 * weight, 5e-3 * weight);
    EXPECT_NEAR(forces.between, weight, 2e-2 * weight);  // edges of barrier contacts are inclined
    const State state = engine.state();
    const double own = 1000 * 9.81 * side * side / (2 * young);
    EXPECT_NEAR(shortened(model, state, model.objects[0], side / 2), 3 * own, 0.15 * own);
    EXPECT_NEAR(shortened(model, state, model.objects[1], side / 2), own, 0.15 * own);
  }

  Model model;
};

constexpr std::pair<BoxBody, BoxBody> kTenNodePairs[] = {{BoxBody::ten_node, BoxBody::ten_node},
                                                         {BoxBody::ten_node, BoxBody::deformable},
                                                         {BoxBody::deformable, BoxBody::ten_node}};

class TenNodeBarrierSteps : public fixtures::EngineTest {};

TEST_P(TenNodeBarrierSteps, AStackCarriesAndYieldsAsItsWeightSays) {
  params.dt = 0.02;
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al, SolverKind::ccd_al})
    for (const auto& [lower, upper] : kTenNodePairs) {
      params.solver = solver;
      TenNodeStack stack(lower, upper, 5e-4);
      load(stack.model);
      StepReport report;
      for (int i = 0; i < 100; ++i) {
        report = step();
        EXPECT_EQ(report.inverted, 0);
        EXPECT_GT(report.gap_min, 0);
      }
      EXPECT_LT(report.kinetic_energy, 1e-6);
      stack.check(*engine);
    }
}

// A script turns the end of a bar; its other end strikes a block and pushes it along.
TEST_P(TenNodeBarrierSteps, LargeMotionsWithFrictionStayFreeOfIntersections) {
  Model model;
  add_box(model, "bar", {0.4, 0.05, 0.05}, {0.2, 0.04, 0}, kCells, 0, {0, 0, 0}, BoxBody::ten_node);
  add_box(model, "block", {0.1, 0.1, 0.1}, {0.4, 0.052, 0.2}, 1, 0, {0, 0, 0}, BoxBody::ten_node);
  fixtures::add_floor(model);
  model.materials[0].young = 2e6;
  model.materials[0].mu = 0.4;
  ScriptedNodes script;
  for (int i = model.objects[0].node_begin; i < model.objects[0].node_end; ++i)
    if (model.positions[static_cast<std::size_t>(i)][0] < 1e-9) script.nodes.push_back(i);
  EXPECT_EQ(script.nodes.size(), 25U);  // the middles of edges too
  script.motion.angular_velocity = {0, -3, 0};
  model.scripted.push_back(script);
  load(model);
  const Object& block = model.objects[1];
  for (int i = 0; i < 60; ++i) EXPECT_EQ(step().inverted, 0);
  const Vec3d moved = fixtures::mean(engine->state().positions, block.node_begin, block.node_end) -
                      fixtures::mean(model.positions, block.node_begin, block.node_end);
  EXPECT_GT(moved[2], 0.05);
}

TEST_P(TenNodeBarrierSteps, ACollisionKeepsMomentum) {
  Model model;
  params.gravity = 0;
  params.linear_solver = LinearSolverKind::cholesky;
  add_box(model, "left", {0.1, 0.1, 0.1}, {-0.06, 0.03, 0.007}, 1, 10, {1, 0, 0}, BoxBody::ten_node);
  add_box(model, "right", {0.1, 0.1, 0.1}, {0.06, -0.01, 0}, 1, -7, {-0.5, 0, 0}, BoxBody::ten_node);
  load(model);
  const StepReport first = step();
  EXPECT_NEAR(first.momentum[0], 0.5, 1e-6);
  bool touched = false;
  for (int i = 0; i < 20; ++i) {
    const StepReport report = step();
    EXPECT_LT(norm(report.momentum - first.momentum), 1e-12);
    touched = touched || report.contacts > 0;
  }
  EXPECT_TRUE(touched);
}

INSTANTIATE_ON_BACKENDS(TenNodeBarrierSteps);

class TenNodeVelocitySteps : public fixtures::SolidStepTest {};

TEST_P(TenNodeVelocitySteps, AStackCarriesAndYieldsAsItsWeightSays) {
  params.dt = 0.02;
  contact.tolerance = 1e-4;
  for (const ContactSolverKind solver :
       {ContactSolverKind::nsgs, ContactSolverKind::admm, ContactSolverKind::newton_ac})
    for (const auto& [lower, upper] : kTenNodePairs) {
      SCOPED_TRACE(static_cast<int>(solver));
      params.contact_solver = solver;
      TenNodeStack stack(lower, upper, 0);
      load(stack.model);
      run(120);
      stack.check(*engine);
    }
}

TEST_P(TenNodeVelocitySteps, ABlockCarriesARigidBox) {
  Model model;
  fixtures::add_floor(model);
  add_box(model, "block", {0.2, 0.2, 0.2}, {0, 0.1, 0}, 2, 0, {0, 0, 0}, BoxBody::ten_node);
  model.materials[0].young = 1e5;
  model.materials[0].poisson = 0;
  model.materials[0].damping = 0.05;
  fixtures::add_rigid_box(model, {0.09, 0.02, 0.09}, fixtures::pose_at({0, 0.221, 0}));
  contact.tolerance = 1e-4;
  load(model);
  run(120);
  const double weight = 9.81 * solid_mass(model, model.objects[0]);
  double floor = 0;
  Snapshot snapshot;
  engine->snapshot(snapshot);
  for (const ContactRecord& c : snapshot.contacts)
    if (c.object_b < 0) floor += c.normal_force * c.normal[1];
  EXPECT_NEAR(floor, weight + 9.81 * 1000 * 0.18 * 0.04 * 0.18, 5e-3 * weight);
}

INSTANTIATE_ON_BACKENDS(TenNodeVelocitySteps);

class TenNodeJoints : public fixtures::SolidJointTest {};

// A joint holds one of the parts of an element.
TEST_P(TenNodeJoints, ABlockHangsFromTheWorld) {
  for (const SolverKind solver : fixtures::kFamilies) {
    SCOPED_TRACE(solver == SolverKind::velocity ? "velocity" : "ipc");
    Model model;
    add_box(model, "block", {0.1, 0.3, 0.1}, {0, 0, 0}, 2, 0, {0, 0, 0}, BoxBody::ten_node);
    model.materials[0].young = 1e6;
    model.materials[0].damping = 0.02;
    fixtures::join(model, fixtures::joint_of(JointKind::ball), 0, -1, {0.01, 0.14, 0.005});
    start(model, solver);
    const State state = run(100);
    EXPECT_LT(fixtures::gap_of(model, state), 1e-5);
    const std::vector<double> volumes = node_volumes(model, model.objects[0]);
    double speed = 0;
    for (std::size_t i = 0; i < volumes.size(); ++i) speed += volumes[i] * state.velocities[i][1];
    EXPECT_LT(std::abs(speed) / 0.003, 0.05) << "it would fall at 4.9 m/s";
  }
}

INSTANTIATE_ON_BACKENDS(TenNodeJoints);

}  // namespace
}  // namespace stickslip
