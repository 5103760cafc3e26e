// ManifoldSolver with joints, compared with the contact problem of the lab's solvers.
#include "gpu/dfcp/judge/judge.cuh"
#include "gpu/rigid/manifold/manifold_solver.cuh"
#include "tests/backend_test.h"
#include "tests/rigid/jumble.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// With stiff rows, joints and contacts of this heap contradict each other.
constexpr double kSoft = 0.05;

/// 30 bodies and joints of all kinds; little friction, so that velocities are unique.
Jumble jointed_jumble(Context& ctx, double softness = 0, int count = 30) {
  return Jumble(ctx, count, softness, true, 0.05, true);
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

/// Joints first, then contacts, as ContactSystem has them.
BACKEND_TEST(ManifoldJoints, HaveTheProblemOfTheLab) {
  for (const double softness : {0.0, 0.3}) {
    const Jumble jumble = jointed_jumble(ctx, softness);
    ASSERT_GT(jumble.list.joint_blocks, 30u);
    ASSERT_GT(jumble.list.contact_count, 20u);
    ContactSystem<3> by_blocks, by_manifolds;
    by_blocks.build(ctx, jumble.bodies, jumble.list);
    ContactSolveRecord record;
    by_manifolds.build_manifolds(ctx, jumble.bodies, jumble.list);
    by_manifolds.solve_manifolds(ctx, exact_params(1, 1e-3), record);
    by_manifolds.make_blocks(ctx, jumble.bodies);
    const ContactProblem a = by_blocks.problem(ctx, jumble.bodies),
                         b = by_manifolds.problem(ctx, jumble.bodies);
    ASSERT_EQ(a.blocks(), b.blocks());
    ASSERT_EQ(a.jacobian.size(), b.jacobian.size());
    for (std::size_t e = 0; e < a.jacobian.size(); ++e) {
      EXPECT_EQ(a.jacobian[e].body, b.jacobian[e].body);
      for (std::size_t k = 0; k < 18; ++k) EXPECT_NEAR(a.jacobian[e].rows[k], b.jacobian[e].rows[k], 1e-12);
    }
    for (std::size_t i = 0; i < a.w.size(); ++i) EXPECT_NEAR(a.w[i], b.w[i], 1e-10) << i;
    for (std::size_t c = 0; c < a.blocks(); ++c) {
      EXPECT_EQ(a.laws[c].set, b.laws[c].set);
      EXPECT_EQ(a.laws[c].mu[0], b.laws[c].mu[0]);
    }
  }
}

BACKEND_TEST(ManifoldJoints, AreJudgedAsTheJudgeDoes) {
  Buffer<Vec<double, 4>> sums(ctx, 1);
  for (const int iterations : {1, 4, 40}) {
    const Jumble jumble = jointed_jumble(ctx, 0.1);
    ContactSystem<3> system;
    ContactSolveRecord record;
    system.build_manifolds(ctx, jumble.bodies, jumble.list);
    system.solve_manifolds(ctx, exact_params(iterations, 1e-14), record);
    system.make_blocks(ctx, jumble.bodies);
    Buffer<V3d> u(ctx, system.blocks());
    system.W().apply(ctx, system.impulses(), u.data(), true);
    const double judged =
        judge_quickly(ctx, system.W(), system.law(), static_cast<const V3d*>(system.impulses()),
                      static_cast<const V3d*>(u.data()), sums.data())
            .residual;
    EXPECT_NEAR(record.residual, judged, 1e-9 * judged + 1e-13) << iterations;
  }
}

/// Both to the end, with and without conjugate directions.
BACKEND_TEST(ManifoldJoints, AgreeWithTheLab) {
  Jumble jumble = jointed_jumble(ctx, kSoft);
  ContactSystem<3> lab, system;
  ContactSolveRecord record;
  lab.build(ctx, jumble.bodies, jumble.list);
  lab.solve(ctx, jumble.bodies, "auto", exact_params(50000, 1e-11), record);
  ASSERT_LT(record.residual, 1e-10);
  lab.velocities(ctx, jumble.bodies);
  const std::vector<V3d> expected = jumble.bodies.velocity.download(ctx),
                         spin = jumble.bodies.spin.download(ctx);
  Jumble again = jointed_jumble(ctx, kSoft);
  for (const bool conjugate : {true, false}) {
    LabParams params = exact_params(50000, 1e-10);
    params.conjugate = conjugate;
    system.forget();
    system.build_manifolds(ctx, again.bodies, again.list);
    system.solve_manifolds(ctx, params, record);
    EXPECT_LT(record.residual, 1e-10) << conjugate;
    system.velocities(ctx, again.bodies);
    EXPECT_LT(largest_difference(again.bodies.velocity.download(ctx), expected), 1e-6) << conjugate;
    EXPECT_LT(largest_difference(again.bodies.spin.download(ctx), spin), 1e-5) << conjugate;
  }
}

/// A chain that hangs from the world: sweeps alone carry its weight slowly, conjugate directions fast.
BACKEND_TEST(ManifoldJoints, ConjugateDirectionsSolveAHangingChain) {
  Model model;
  constexpr int kLinks = 60;
  for (int i = 0; i < kLinks; ++i)
    fixtures::add_rigid_box(model, {0.02, 0.1, 0.02}, fixtures::pose_at({0, -0.1 - 0.2 * i, 0}));
  for (int i = 0; i < kLinks; ++i) {
    Joint joint;
    joint.a = i;
    joint.b = i - 1;
    add_joint(model, joint, Pose{{0, -0.2 * i, 0}, Quat::identity()});
  }
  DeviceBodies bodies;
  DeviceJoints joints;
  bodies.load(ctx, model);
  joints.load(ctx, model);
  bodies.predict(ctx, kStep, -9.81, true, {}, nullptr);
  StepConstraints list;
  list.joints = joints.joints();
  list.block_joint = joints.block_joint();
  list.block_part = joints.block_part();
  list.joint_blocks = joints.blocks();
  list.joint_groups = joints.groups();
  list.options.feedback = {kStep, 0.2};
  ContactSystem<3> carried, plain;
  ContactSolveRecord record;
  carried.build_manifolds(ctx, bodies, list);
  carried.solve_manifolds(ctx, exact_params(300, 1e-8), record);
  EXPECT_LE(record.residual, 1e-8);
  carried.make_blocks(ctx, bodies);
  const ContactProblem p = carried.problem(ctx, bodies);
  const double weight = kLinks * 1000 * 0.04 * 0.2 * 0.04 * 9.81 * kStep;
  EXPECT_NEAR(std::abs(p.solution[1]), weight, 1e-5 * weight);
  LabParams params = exact_params(300, 1e-8);
  params.conjugate = false;
  plain.build_manifolds(ctx, bodies, list);
  plain.solve_manifolds(ctx, params, record);
  EXPECT_GT(record.residual, 1e-3);
}
