// ManifoldSolver compared with the contact problem of the lab's solvers.
#include "gpu/rigid/manifold/manifold_solver.cuh"

#include "gpu/dfcp/judge/judge.cuh"
#include "tests/backend_test.h"
#include "tests/rigid/jumble.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using V3d = Vec<double, 3>;

constexpr double kUnique = 0.05;

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

/// The blocks equal those of ContactBlocks.
BACKEND_TEST(ManifoldSolver, HasTheProblemOfTheLab) {
  for (const double softness : {0.0, 0.3}) {
    Jumble jumble(ctx, 60, softness);
    ASSERT_GT(jumble.list.contact_count, 100u);
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
    for (std::size_t i = 0; i < a.w.size(); ++i) EXPECT_NEAR(a.w[i], b.w[i], 1e-11) << i;
    ASSERT_EQ(a.softness.size(), b.softness.size());
    for (std::size_t i = 0; i < a.softness.size(); ++i) EXPECT_NEAR(a.softness[i], b.softness[i], 1e-13);
    for (std::size_t c = 0; c < a.blocks(); ++c) EXPECT_EQ(a.laws[c].mu[0], b.laws[c].mu[0]);
  }
}

BACKEND_TEST(ManifoldSolver, JudgesAsTheJudgeDoes) {
  Buffer<Vec<double, 4>> sums(ctx, 1);
  for (const auto& [iterations, friction] : {std::pair{1, 0.6}, {4, 0.6}, {40, 0.6}, {4, 0.0}}) {
    Jumble jumble(ctx, 100, 0.1, true, friction);
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
    EXPECT_EQ(record.iterations, iterations);
    system.forget();
  }
}

/// The sweeps update the velocities of bodies: after 200 sweeps and extrapolations they equal the velocities
/// caused by the impulses.
BACKEND_TEST(ManifoldSolver, VelocitiesAreThoseOfTheImpulses) {
  Jumble jumble(ctx, 100);
  ContactSystem<3> system;
  ContactSolveRecord record;
  system.build_manifolds(ctx, jumble.bodies, jumble.list);
  system.solve_manifolds(ctx, exact_params(200, 1e-14), record);
  system.make_blocks(ctx, jumble.bodies);
  Buffer<double> caused(ctx, 6 * jumble.bodies.size());
  system.W().body_velocities(ctx, system.impulses(), caused.data());
  const std::vector<double> free = jumble.bodies.free.download(ctx), change = caused.download(ctx);
  system.velocities(ctx, jumble.bodies);
  const std::vector<V3d> v = jumble.bodies.velocity.download(ctx), w = jumble.bodies.spin.download(ctx);
  for (std::size_t b = 0; b < v.size(); ++b)
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(v[b][static_cast<int>(i)], free[6 * b + i] + change[6 * b + i], 1e-10);
      EXPECT_NEAR(w[b][static_cast<int>(i)], free[6 * b + 3 + i] + change[6 * b + 3 + i], 1e-9);
    }
}

/// For any number of iterations, and for any starting impulses.
BACKEND_TEST(ManifoldSolver, NeverEndsWorseThanItBegan) {
  Jumble jumble(ctx, 60);
  double before = 1.0;  // without impulses
  ContactSystem<3> system;
  system.build_manifolds(ctx, jumble.bodies, jumble.list);
  for (int solve = 0; solve < 30; ++solve) {
    ContactSolveRecord record;
    system.solve_manifolds(ctx, exact_params(1 + solve % 3, 1e-14), record);
    EXPECT_LE(record.residual, before * (1 + 1e-9)) << solve;
    before = record.residual;
  }
  EXPECT_LT(before, 0.1);
}

/// Sweeps that alternate normal and friction do not converge there: another solver is needed.
BACKEND_TEST(ManifoldSolver, LeavesContactsThatFrictionJams) {
  Jumble jumble(ctx, 27, 0, true, 20.0);
  ContactSystem<3> system;
  ContactSolveRecord record;
  system.build_manifolds(ctx, jumble.bodies, jumble.list);
  system.solve_manifolds(ctx, exact_params(50, 1e-6), record);
  EXPECT_NE(record.message.find("jams"), std::string::npos) << record.message;
}

/// Compared with `auto` on the same contacts, both to the end. With more friction there would be several
/// solutions.
BACKEND_TEST(ManifoldSolver, AgreesWithTheLab) {
  Jumble jumble(ctx, 27, 0, false, kUnique);
  ContactSystem<3> lab, system;
  ContactSolveRecord record;
  lab.build(ctx, jumble.bodies, jumble.list);
  lab.solve(ctx, jumble.bodies, "auto", exact_params(20000, 1e-11), record);
  ASSERT_LT(record.residual, 1e-11);
  lab.velocities(ctx, jumble.bodies);
  const std::vector<V3d> expected = jumble.bodies.velocity.download(ctx),
                         spin = jumble.bodies.spin.download(ctx);
  Jumble again(ctx, 27, 0, false, kUnique);
  for (const bool conjugate : {true, false}) {
    LabParams params = exact_params(20000, 1e-11);
    params.conjugate = conjugate;
    system.forget();
    system.build_manifolds(ctx, again.bodies, again.list);
    system.solve_manifolds(ctx, params, record);
    EXPECT_LT(record.residual, 1e-11) << conjugate;
    system.velocities(ctx, again.bodies);
    EXPECT_LT(largest_difference(again.bodies.velocity.download(ctx), expected), 1e-7) << conjugate;
    EXPECT_LT(largest_difference(again.bodies.spin.download(ctx), spin), 1e-6) << conjugate;
  }
}

/// A column of boxes is a chain, along which sweeps carry impulses slowly; conjugate directions are fast.
BACKEND_TEST(ManifoldSolver, ConjugateDirectionsSolveATowerInFewSweeps) {
  Model model;
  for (int i = 0; i < 40; ++i)
    fixtures::add_rigid_box(model, {0.5, 0.25, 0.5}, fixtures::pose_at({0, 0.25 + 0.5 * i, 0}));
  fixtures::add_floor(model);
  DeviceBodies bodies;
  RigidContacts contacts;
  bodies.load(ctx, model);
  contacts.load(ctx, model);
  contacts.find(
      ctx, {bodies.pose.data(), bodies.velocity.data(), bodies.spin.data(), bodies.moves.data(), nullptr},
      {});
  bodies.predict(ctx, kStep, -9.81, true, {}, nullptr);
  const ContactSurface one[] = {contact_surface(model.materials[0]), half_space_surface(0.5)};
  const double pairs[] = {0.5, 0.5};
  Buffer<ContactSurface> surfaces;
  Buffer<double> mu;
  surfaces.upload(ctx, one);
  mu.upload(ctx, pairs);
  StepConstraints list;
  list.contacts = contacts.contacts();
  list.contact_count = contacts.count();
  list.pair_start = contacts.pair_start();
  list.pairs = contacts.pairs();
  list.surfaces = {surfaces.data(), mu.data(), 1, 2};
  list.options.feedback = {kStep, 0.2};
  ContactSystem<3> plain, carried;
  ContactSolveRecord record;
  LabParams params = exact_params(300, 1e-7);
  carried.build_manifolds(ctx, bodies, list);
  carried.solve_manifolds(ctx, params, record);
  EXPECT_LE(record.residual, 1e-7);
  carried.make_blocks(ctx, bodies);
  const ContactProblem p = carried.problem(ctx, bodies);
  const double weight = 40 * 1000 * 0.5 * 9.81 * kStep;
  double on_floor = 0;
  for (std::size_t c = 0; c < p.blocks(); ++c)
    if (p.block_start[c + 1] - p.block_start[c] == 1) on_floor += p.solution[3 * c];
  EXPECT_NEAR(on_floor, weight, 1e-4 * weight);

  params.conjugate = false;
  params.max_iterations = 3000;
  plain.build_manifolds(ctx, bodies, list);
  plain.solve_manifolds(ctx, params, record);
  EXPECT_GT(record.residual, 1e-4);
}

#if !STICKSLIP_ON_CUDA
/// Slabs and reductions depend only on the problem.
BACKEND_TEST(ManifoldSolver, GivesTheSameBitsOnAnyNumberOfThreads) {
  std::vector<V3d> velocity[2];
  for (const int threads : {1, 3}) {
    Context some(threads);
    Jumble jumble(some, 700);
    ContactSystem<3> system;
    ContactSolveRecord record;
    ASSERT_GT(jumble.list.pairs, 2000u);
    system.build_manifolds(some, jumble.bodies, jumble.list);
    system.solve_manifolds(some, exact_params(20, 1e-14), record);
    system.velocities(some, jumble.bodies);
    velocity[threads == 1 ? 0 : 1] = jumble.bodies.velocity.download(some);
  }
  EXPECT_EQ(largest_difference(velocity[0], velocity[1]), 0);
}
#endif
