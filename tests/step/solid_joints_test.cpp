// Joints that elastic and affine solids hold, in both families of steppers, compared with mechanics.
#include <cmath>
#include <numbers>

#include "gpu/model/element_group.h"
#include "tests/fixtures/solid_joint_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::add_rigid_box;
using fixtures::gap_of;
using fixtures::join;
using fixtures::joint_of;
using fixtures::kFamilies;
using fixtures::pose_at;
using Vec3d = Vec<double, 3>;

class SolidJoints : public fixtures::SolidJointTest {};

struct Sums {
  double mass = 0;
  Vec3d centre{0, 0, 0}, momentum{0, 0, 0}, angular{0, 0, 0};  // the last one about the origin
  double inertia = 0;                                          // about an axis along z through `pivot`
};

/// Of all deformable solids, with lumped masses.
Sums sums_of(const Model& model, const State& state, const Vec3d& pivot = {0, 0, 0}) {
  Sums sums;
  for (const Object& object : model.objects) {
    if (!object.is_deformable()) continue;
    const std::vector<double> volumes = node_volumes(model, object);
    for (std::size_t i = 0; i < volumes.size(); ++i) {
      const std::size_t n = static_cast<std::size_t>(object.node_begin) + i;
      const double m = model.materials[static_cast<std::size_t>(object.material)].density * volumes[i];
      const Vec3d &x = state.positions[n], &v = state.velocities[n], r = x - pivot;
      sums.mass += m;
      sums.centre += m * x;
      sums.momentum += m * v;
      sums.angular += m * cross(x, v);
      sums.inertia += m * (r[0] * r[0] + r[1] * r[1]);
    }
  }
  sums.centre = (1 / sums.mass) * sums.centre;
  return sums;
}

State start_of(const Model& model) {
  State state;
  state.positions = model.positions;
  state.velocities = model.velocities;
  return state;
}

/// A stiff block that hangs from `pivot`, turned by 0.1 rad about z.
void add_pendulum(Model& model, const Vec3d& pivot, fixtures::BoxBody body = fixtures::BoxBody::deformable) {
  const double angle = 0.1;
  add_box(model, "block", {0.1, 0.5, 0.1}, pivot + Vec3d{0.2 * std::sin(angle), -0.2 * std::cos(angle), 0}, 3,
          angle * 180 / M_PI, {0, 0, 0}, body);
  model.materials[0].young = 2e7;
}

/// [s] until the block hangs straight down, from the sign of its centre's displacement.
template <class Step>
double quarter_swing(const Model& model, double dt, const Vec3d& pivot, Step step) {
  double before = sums_of(model, start_of(model), pivot).centre[0] - pivot[0];
  for (int i = 0; i < 400; ++i) {
    const double now = sums_of(model, step(), pivot).centre[0] - pivot[0];
    if (now <= 0) return dt * (i + before / (before - now));
    before = now;
  }
  return 0;
}

TEST_P(SolidJoints, AStiffBlockSwingsFromTheWorldLikeARigidPendulum) {
  for (const SolverKind solver : kFamilies) {
    SCOPED_TRACE(solver == SolverKind::velocity ? "velocity" : "ipc");
    Model model;
    const Vec3d pivot{0.1, 1, 0};
    add_pendulum(model, pivot);
    join(model, joint_of(JointKind::ball), 0, -1, pivot);
    params.dt = 1.0 / 400;
    start(model, solver);
    const Sums rest = sums_of(model, start_of(model), pivot);
    const double expected =
        0.5 * std::numbers::pi * std::sqrt(rest.inertia / (rest.mass * 9.81 * norm(rest.centre - pivot)));
    double gap = 0;
    const double found = quarter_swing(model, params.dt, pivot, [&] {
      const State state = run(1);
      gap = std::max(gap, gap_of(model, state));
      return state;
    });
    // Backward Euler damps by about omega dt / 2 of critical damping, and the block bends a little.
    EXPECT_NEAR(found, expected, 0.02 * expected);
    EXPECT_LT(gap, 1e-6);
  }
}

TEST_P(SolidJoints, AStiffBlockSwingsFromAFixedBodyAndASolid) {
  for (const SolverKind solver : kFamilies) {
    SCOPED_TRACE(solver == SolverKind::velocity ? "velocity" : "ipc");
    Model model;
    const Vec3d pivot{0.1, 1, 0};
    add_pendulum(model, pivot);
    add_rigid_box(model, {0.05, 0.05, 0.05}, pose_at(pivot + Vec3d{0, 0.1, 0}), false);
    join(model, joint_of(JointKind::ball), 0, 1, pivot);
    params.dt = 1.0 / 400;
    start(model, solver);
    const Sums rest = sums_of(model, start_of(model), pivot);
    const double expected =
        0.5 * std::numbers::pi * std::sqrt(rest.inertia / (rest.mass * 9.81 * norm(rest.centre - pivot)));
    const double found = quarter_swing(model, params.dt, pivot, [&] { return run(1); });
    EXPECT_NEAR(found, expected, 0.02 * expected);
  }
}

TEST_P(SolidJoints, TwoSolidsInFreeFlightKeepTheirMomentum) {
  for (const SolverKind solver : kFamilies) {
    SCOPED_TRACE(solver == SolverKind::velocity ? "velocity" : "ipc");
    double change[2];
    for (int k = 0; k < 2; ++k) {
      Model model;
      add_box(model, "a", {0.3, 0.2, 0.2}, {-0.2, 0, 0}, 2, 0, {0, 1, 0.3});
      add_box(model, "b", {0.3, 0.2, 0.2}, {0.2, 0, 0}, 2, 10, {0.2, -1, 0});
      join(model, joint_of(JointKind::ball), 0, 1, {0, 0, 0});
      params.gravity = 0;
      params.dt = 1.0 / (200 << k);
      start(model, solver);
      const Sums before = sums_of(model, start_of(model));
      const State state = run(60 << k);
      const Sums after = sums_of(model, state);
      EXPECT_LT(norm(after.momentum - before.momentum), 1e-6 * norm(before.momentum));
      EXPECT_LT(gap_of(model, state), 1e-5);
      EXPECT_GT(norm(state.positions[0] - model.positions[0]), 0.05) << "the solids turn about each other";
      change[k] = norm(after.angular - before.angular) / norm(before.angular);
    }
    // Backward Euler turns the elastic forces of a solid with it to first order in dt only, without joints
    // too.
    EXPECT_LT(change[0], 0.04);
    EXPECT_LT(change[1], std::max(0.65 * change[0], 1e-3));
  }
}

TEST_P(SolidJoints, AHingeMotorTurnsASolidAtItsSpeed) {
  for (const SolverKind solver : kFamilies) {
    SCOPED_TRACE(solver == SolverKind::velocity ? "velocity" : "ipc");
    Model model;
    add_box(model, "wheel", {0.4, 0.4, 0.1}, {0, 1, 0}, 4);
    model.materials[0].young = 1e6;
    model.materials[0].damping = 0.01;
    Joint joint = joint_of(JointKind::hinge);
    joint.motor_speed = 2;
    joint.motor_limit = 50;
    params.newton_tolerance = 1e-4;
    params.joint_tolerance = 1e-5;
    join(model, joint, 0, -1, {0, 1, 0}, {0, 0, 1});
    start(model, solver);
    const auto direction = [](const State& state) {
      return state.positions.back() - state.positions.front();
    };
    const Vec3d before = direction(run(60)), after = direction(run(60));
    const double turned = std::atan2(cross(before, after)[2], before[0] * after[0] + before[1] * after[1]);
    EXPECT_NEAR(turned, 0.3 * 2, 0.01) << "[rad] in 0.3 s";
    EXPECT_LT(norm(sums_of(model, engine->state()).centre - Vec3d{0, 1, 0}), 2e-3);
  }
}

TEST_P(SolidJoints, FamiliesAgreeWhereAJoinedPairHangs) {
  Vec3d centre[2][2];
  for (int f = 0; f < 2; ++f) {
    Model model;
    add_box(model, "upper", {0.1, 0.3, 0.1}, {0, 1, 0}, 2);
    add_box(model, "lower", {0.1, 0.3, 0.1}, {0.1, 0.65, 0}, 2);
    model.materials[0].young = 2e5;
    model.materials[0].damping = 0.05;
    join(model, joint_of(JointKind::ball, "top"), 0, -1, {0, 1.1, 0});
    join(model, joint_of(JointKind::ball, "middle"), 0, 1, {0.05, 0.83, 0});
    params.dt = 1.0 / 30;
    start(model, kFamilies[f]);
    const State state = run(150);
    EXPECT_LT(gap_of(model, state, 0), 1e-5);
    EXPECT_LT(gap_of(model, state, 1), 1e-5);
    for (int o = 0; o < 2; ++o)
      centre[f][o] = fixtures::mean(state.positions, model.objects[o].node_begin, model.objects[o].node_end);
  }
  for (int o = 0; o < 2; ++o) EXPECT_LT(norm(centre[0][o] - centre[1][o]), 2e-3);
}

}  // namespace

INSTANTIATE_ON_BACKENDS(SolidJoints);

}  // namespace stickslip
