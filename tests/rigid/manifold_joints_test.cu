// ManifoldSolver with joints and rough surfaces, compared with the contact problem of the lab's solvers.
#include "gpu/dfcp/judge/judge.cuh"
#include "gpu/rigid/manifold/manifold_solver.cuh"
#include "tests/backend_test.h"
#include "tests/rigid/jumble.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// With stiff rows, joints and contacts of the heap contradict each other; little friction makes velocities
// unique.
constexpr double kSoft = 0.05, kMu = 0.05;

/// Joints first, then contacts, as ContactSystem has them. Rough surfaces with torsion have four rows.
template <int D>
void expect_the_same_problem(Context& ctx, const Jumble& jumble) {
  ContactSystem<D> by_blocks, by_manifolds;
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
    for (std::size_t k = 0; k < 6 * D; ++k) EXPECT_NEAR(a.jacobian[e].rows[k], b.jacobian[e].rows[k], 1e-12);
  }
  for (std::size_t i = 0; i < a.w.size(); ++i) EXPECT_NEAR(a.w[i], b.w[i], 1e-10) << i;
  for (std::size_t c = 0; c < a.blocks(); ++c) {
    EXPECT_EQ(a.laws[c].set, b.laws[c].set);
    for (std::size_t i = 0; i + 1 < D; ++i) EXPECT_EQ(a.laws[c].mu[i], b.laws[c].mu[i]);
  }
}

template <int D>
void expect_the_judges_residual(Context& ctx, int iterations, bool rough) {
  const Jumble jumble(ctx, 30, 0.1, true, kMu, true, rough);
  ContactSystem<D> system;
  ContactSolveRecord record;
  system.build_manifolds(ctx, jumble.bodies, jumble.list);
  system.solve_manifolds(ctx, exact_params(iterations, 1e-14), record);
  system.make_blocks(ctx, jumble.bodies);
  Buffer<Vec<double, 4>> sums(ctx, 1);
  Buffer<Vec<double, D>> u(ctx, system.blocks());
  system.W().apply(ctx, system.impulses(), u.data(), true);
  const Vec<double, D>*r = system.impulses(), *at = u.data();
  const double judged = judge_quickly(ctx, system.W(), system.law(), r, at, sums.data()).residual;
  EXPECT_NEAR(record.residual, judged, 1e-9 * judged + 1e-13) << iterations;
}

/// Both to the end, with and without conjugate directions.
template <int D>
void expect_the_labs_velocities(Context& ctx, bool rough) {
  Jumble jumble(ctx, 30, kSoft, true, kMu, true, rough);
  ContactSystem<D> lab, system;
  ContactSolveRecord record;
  lab.build(ctx, jumble.bodies, jumble.list);
  lab.solve(ctx, jumble.bodies, "nsgs", exact_params(50000, 1e-11), record);
  ASSERT_LT(record.residual, 1e-10);
  lab.velocities(ctx, jumble.bodies);
  const std::vector<V3d> expected = jumble.bodies.velocity.download(ctx),
                         spin = jumble.bodies.spin.download(ctx);
  Jumble again(ctx, 30, kSoft, true, kMu, true, rough);
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

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(ManifoldJoints, HaveTheProblemOfTheLab) {
  for (const double softness : {0.0, 0.3}) {
    const Jumble jumble(ctx, 30, softness, true, kMu, true);
    ASSERT_GT(jumble.list.joint_blocks, 30u);
    ASSERT_GT(jumble.list.contact_count, 20u);
    expect_the_same_problem<3>(ctx, jumble);
  }
}
BACKEND_TEST(ManifoldJoints, RoughSurfacesHaveTheProblemOfTheLab) {
  for (const bool jointed : {false, true})
    expect_the_same_problem<4>(ctx, Jumble(ctx, 30, kSoft, true, kMu, jointed, true));
}

BACKEND_TEST(ManifoldJoints, AreJudgedAsTheJudgeDoes) {
  for (const int iterations : {1, 4, 40}) {
    expect_the_judges_residual<3>(ctx, iterations, false);
    expect_the_judges_residual<4>(ctx, iterations, true);
  }
}

BACKEND_TEST(ManifoldJoints, AgreeWithTheLab) {
  expect_the_labs_velocities<3>(ctx, false);
  expect_the_labs_velocities<4>(ctx, true);
}

/// A second solve that starts from the impulses of the first one, as the next step would, needs one
/// iteration.
BACKEND_TEST(ManifoldJoints, StartFromTheLastStep) {
  Jumble jumble(ctx, 30, kSoft, true, kMu, true, true);
  ContactSystem<4> system;
  ContactSolveRecord record;
  system.build_manifolds(ctx, jumble.bodies, jumble.list);
  system.solve_manifolds(ctx, exact_params(50000, 1e-9), record);
  EXPECT_GT(record.iterations, 20);
  std::vector<RigidContact> contacts(jumble.list.contact_count);
  copy_to_host(ctx, contacts.data(), jumble.list.contacts, contacts.size());
  for (std::size_t c = 0; c < contacts.size(); ++c) contacts[c].previous = static_cast<std::int32_t>(c);
  Buffer<RigidContact> same;
  same.upload(ctx, contacts);
  jumble.list.contacts = same.data();
  system.build_manifolds(ctx, jumble.bodies, jumble.list);
  system.solve_manifolds(ctx, exact_params(1, 1e-14), record);
  EXPECT_LT(record.residual, 1e-8);
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
  list.joint_feedback = list.options.feedback;
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
