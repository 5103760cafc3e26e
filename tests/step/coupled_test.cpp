// Elastic solids and rigid bodies in one scene at velocity level, compared with mechanics.
#include <Eigen/Dense>
#include <cmath>
#include <string>
#include <tuple>

#include "gpu/contact_lab.h"
#include "gpu/model/rigid_body.h"
#include "gpu/model/tet_volume.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/coupled_models.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/solid_step_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::add_rigid_box;
using fixtures::add_rigid_sphere;
using fixtures::pose_at;
using fixtures::small_heap;
using Vec3d = Vec<double, 3>;

class CoupledSteps : public fixtures::SolidStepTest {};

double mass_of_nodes(const Model& model) {
  double mass = 0;
  for (const Vec4i& t : model.tets) mass += model.materials[0].density * tet_volume(model.rest_positions, t);
  return mass;
}

TEST_P(CoupledSteps, AFreePairThatCollidesKeepsItsMomentum) {
  params.gravity = 0;
  Model model = fixtures::free_pair();
  load(model);
  const StepReport first = engine->step();
  bool touched = false;
  StepReport last;
  for (int i = 0; i < 30; ++i) {
    last = engine->step();
    touched = touched || last.contacts > 0;
    // Backward Euler rotates a deformed solid only to first order in dt; momentum is exact.
    EXPECT_LT(norm(last.momentum - first.momentum), 1e-8 * norm(first.momentum)) << last.frame;
  }
  EXPECT_TRUE(touched);
  EXPECT_LT(engine->state().bodies[0].velocity[0], 1.0);
  EXPECT_LT(norm(last.angular_momentum - first.angular_momentum), 0.02 * 2 * 8 * 0.35);
}

TEST_P(CoupledSteps, ABlockOnASlabOnTheFloorCarriesItsWeight) {
  Model model;
  const std::int32_t slab = add_rigid_box(model, {0.4, 0.05, 0.4}, pose_at({0, 0.05, 0}));
  fixtures::add_floor(model);
  add_box(model, "block", {0.4, 0.4, 0.4}, {0, 0.3, 0}, 3);
  model.materials[0].damping = 0.05;
  load(model);
  run(150);
  Snapshot snapshot;
  engine->snapshot(snapshot);
  double on_slab = 0, on_floor = 0;
  for (const ContactRecord& c : snapshot.contacts)
    (c.object_b < 0 ? on_floor : on_slab) += c.normal_force * c.normal[1];
  const double block = 9.81 * mass_of_nodes(model), all = block + 9.81 * 1000 * model.bodies[slab].volume;
  EXPECT_NEAR(on_slab, block, 1e-4 * block);
  EXPECT_NEAR(on_floor, all, 1e-4 * all);
  for (const ContactRecord& c : snapshot.contacts) {
    if (c.object_b < 0) continue;
    EXPECT_EQ(c.object_a, 1);
    EXPECT_EQ(c.object_b, 0);
  }
}

TEST_P(CoupledSteps, ABlockOnARigidInclineSticksOrSlidesByMu) {
  for (const double mu : {0.3, 0.8}) {
    fixtures::BlockOnIncline incline(mu);
    load(incline.model);
    run(100);
    const State state = engine->state();
    const int n = static_cast<int>(state.positions.size());
    const Vec3d v = fixtures::mean(state.velocities, 0, n);
    EXPECT_NEAR(dot(v, incline.down), incline.acceleration, 2e-3) << mu;
    const double way = dot(
        fixtures::mean(state.positions, 0, n) - fixtures::mean(incline.model.positions, 0, n), incline.down);
    EXPECT_NEAR(way, 0.5 * incline.acceleration, 5e-3 + 0.01 * incline.acceleration) << mu;
  }
}

/// A rigid box on a solid block beside a rigid stack: manifolds, and contacts with particles and cores.
TEST_P(CoupledSteps, ManifoldGsMovesSolidsLikeNsgs) {
  Model model;
  add_rigid_box(model, {1, 0.1, 1}, pose_at({0, -0.1, 0}), false);
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0.6, 0.1, 0}), true);
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0.63, 0.3, 0}), true);
  add_box(model, "block", {0.3, 0.3, 0.3}, {0, 0.15, 0}, 2);
  add_rigid_box(model, {0.1, 0.05, 0.1}, pose_at({0, 0.35, 0}), true);
  std::vector<State> states;
  for (const ContactSolverKind solver : {ContactSolverKind::nsgs, ContactSolverKind::manifold_gs}) {
    params.contact_solver = solver;
    load(model);
    const StepReport report = run(10);
    EXPECT_GT(report.contacts, 8);
    EXPECT_TRUE(report.converged) << report.stop_reason;
    EXPECT_EQ(report.contact_solve->message, "");
    states.push_back(engine->state());
  }
  for (std::size_t i = 0; i < states[0].positions.size(); ++i)
    EXPECT_LT(norm(states[0].positions[i] - states[1].positions[i]), 1e-6) << i;
  for (std::size_t b = 0; b < states[0].bodies.size(); ++b)
    EXPECT_LT(norm(states[0].bodies[b].pose.x - states[1].bodies[b].pose.x), 1e-6) << b;
}

/// v, u and the law of a global problem, by dense matrices.
struct Dense {
  Eigen::MatrixXd A, H, W;
  Eigen::VectorXd f, w, q;

  static Eigen::MatrixXd dense(const SparseRows& s) {
    Eigen::MatrixXd m = Eigen::MatrixXd::Zero(s.rows, s.columns);
    for (int i = 0; i < s.rows; ++i)
      for (int k = s.offsets[i]; k < s.offsets[i + 1]; ++k) m(i, s.indices[k]) = s.values[k];
    return m;
  }
  explicit Dense(const ContactProblem& p)
      : A(dense(p.A)),
        H(dense(p.H)),
        f(Eigen::Map<const Eigen::VectorXd>(p.f.data(), static_cast<Eigen::Index>(p.f.size()))),
        w(Eigen::Map<const Eigen::VectorXd>(p.w.data(), static_cast<Eigen::Index>(p.w.size()))) {
    const Eigen::LDLT<Eigen::MatrixXd> factors(A);
    W = H * factors.solve(H.transpose().eval());
    for (std::size_t i = 0; i < p.softness.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      W(row, row) += p.softness[i];
    }
    q = w + H * factors.solve(f);
  }
  ContactProblem local(const ContactProblem& p) const {
    ContactProblem l;
    l.dim = p.dim;
    l.laws = p.laws;
    l.W.rows = l.W.columns = static_cast<std::int32_t>(q.size());
    l.W.offsets.push_back(0);
    for (Eigen::Index i = 0; i < q.size(); ++i) {
      l.q.push_back(q[i]);
      for (Eigen::Index j = 0; j < q.size(); ++j) {
        l.W.indices.push_back(static_cast<std::int32_t>(j));
        l.W.values.push_back(0.5 * (W(i, j) + W(j, i)));
      }
      l.W.offsets.push_back(static_cast<std::int32_t>(l.W.indices.size()));
    }
    return l;
  }
};

TEST_P(CoupledSteps, ImpulsesAreThoseOfTheDenseProblem) {
  for (const auto& [young, jointed, coupling] : {std::tuple{1e4, false, SolidCoupling::rounds},
                                                 {1e6, false, SolidCoupling::rounds},
                                                 {1e4, true, SolidCoupling::rounds},
                                                 {1e6, false, SolidCoupling::factor},
                                                 {1e4, true, SolidCoupling::factor},
                                                 {1e6, false, SolidCoupling::nodal_admm},
                                                 {1e4, true, SolidCoupling::nodal_admm},
                                                 {1e4, true, SolidCoupling::ica}}) {
    SCOPED_TRACE(std::string(jointed ? "with joints" : "without joints") + ", coupling " +
                 std::to_string(static_cast<int>(coupling)));
    Model model = small_heap(jointed);
    model.materials[0].young = young;
    params.coupling = coupling;
    params.admm_tolerance = 1e-13;
    params.admm_iterations = 20000;
    contact.tolerance = 1e-10;
    params.contact_solver =
        coupling == SolidCoupling::factor ? ContactSolverKind::newton_ac : ContactSolverKind::nsgs;
    load(model);
    // Rounds from zero impulses are too few for this tolerance where two joints hold one solid.
    if (jointed) run_unconverged(5);
    run(jointed ? 1 : 3);
    const State state = engine->state();
    const ContactProblem problem = engine->freeze();
    ASSERT_EQ(problem.form, ContactProblem::Form::global);
    const Dense dense(problem);
    // Velocities equal those caused by the impulses.
    const Eigen::Map<const Eigen::VectorXd> r(problem.solution.data(),
                                              static_cast<Eigen::Index>(problem.size()));
    const Eigen::VectorXd v = dense.A.ldlt().solve(dense.f + dense.H.transpose() * r);
    for (int b = 0; b < 2; ++b)
      for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(v[6 * b + i], state.bodies[b].velocity[i], 1e-9);
        EXPECT_NEAR(v[6 * b + 3 + i], state.bodies[b].spin[i], 1e-8);
      }
    for (std::size_t n = 0; n < state.velocities.size(); ++n)
      for (int i = 0; i < 3; ++i)
        EXPECT_NEAR(v[12 + 3 * static_cast<int>(n) + i], state.velocities[n][i], 1e-8);
    // Another solver, on the dense problem, gives the same velocities; its judge reports an equally small
    // residual.
    const auto lab = make_contact_lab(GetParam(), 2);
    lab->load(dense.local(problem));
    LabParams exact;
    exact.tolerance = 1e-11;
    const SolveReport reference = lab->solve("nsgs", exact);
    const Eigen::Map<const Eigen::VectorXd> expected(reference.r.data(), r.size());
    EXPECT_LT((dense.W * (r - expected)).norm(), 1e-7 * dense.q.norm());
    EXPECT_LT(lab->judge(problem.solution).residual, 1e-9);
    EXPECT_GT(expected.norm(), 0);
  }
}

TEST_P(CoupledSteps, SolversOfTheLabAgree) {
  std::vector<Vec3d> found;
  contact.tolerance = 1e-6;
  for (const SolidCoupling coupling : {SolidCoupling::rounds, SolidCoupling::factor})
    for (const ContactSolverKind solver :
         {ContactSolverKind::nsgs, ContactSolverKind::prox_gs, ContactSolverKind::nncg,
          ContactSolverKind::apgd, ContactSolverKind::newton_ac, ContactSolverKind::admm}) {
      SCOPED_TRACE(static_cast<int>(solver));
      Model model = small_heap(false);
      params.contact_solver = solver;
      params.coupling = coupling;
      load(model);
      const StepReport report = run(5);
      EXPECT_EQ(report.contact_solve->message, "");
      EXPECT_EQ(report.contact_solve->rounds == 0, coupling == SolidCoupling::factor);
      found.push_back(engine->state().bodies[1].velocity);
      EXPECT_LT(norm(found.back() - found[0]), 1e-4);
    }
}

/// PCG in place of factors: apgd and spg take products alone, others W by its columns.
TEST_P(CoupledSteps, ConjugateGradientsTakeThePlaceOfFactors) {
  contact.tolerance = 1e-6;
  contact.max_iterations = 20000;  // spg needs more than 500
  params.coupling = SolidCoupling::factor;
  for (const ContactSolverKind solver : {ContactSolverKind::newton_ac, ContactSolverKind::nsgs,
                                         ContactSolverKind::apgd, ContactSolverKind::spg}) {
    SCOPED_TRACE(contact_solver_info(solver).name);
    Model model = small_heap(false);
    params.contact_solver = solver;
    params.dual_pcg_tolerance = 0;
    load(model);
    const StepReport factored = run(5);
    EXPECT_EQ(factored.contact_solve->dual_solves, 0);
    const State expected = engine->state();
    params.dual_pcg_tolerance = 1e-10;
    load(model);
    const StepReport report = run(5);
    EXPECT_TRUE(report.converged) << report.stop_reason;
    EXPECT_EQ(report.contact_solve->message, "");
    EXPECT_EQ(report.contact_solve->rounds, 0);
    EXPECT_GT(report.contact_solve->dual_iterations, report.contact_solve->dual_solves);
    for (std::size_t b = 0; b < 2; ++b)
      EXPECT_LT(norm(engine->state().bodies[b].velocity - expected.bodies[b].velocity), 1e-4);
    for (std::size_t i = 0; i < expected.velocities.size(); ++i)
      EXPECT_LT(norm(engine->state().velocities[i] - expected.velocities[i]), 1e-3) << i;
  }
}

/// The solves for W are those of its rows, and follow the iterations where there is no W.
TEST_P(CoupledSteps, ProductsThroughTheInverseNeedNoW) {
  contact.tolerance = 1e-6;
  params.coupling = SolidCoupling::factor;
  params.dual_pcg_tolerance = 1e-8;
  const auto solves = [&](ContactSolverKind solver, DelassusStorage storage) {
    Model model = small_heap(false);
    params.contact_solver = solver;
    contact.storage = storage;
    load(model);
    return run(1).contact_solve->dual_solves;
  };
  const long columns = solves(ContactSolverKind::nsgs, DelassusStorage::automatic);
  EXPECT_GT(columns, 0);
  EXPECT_EQ(solves(ContactSolverKind::apgd, DelassusStorage::assembled), columns);
  const long products = solves(ContactSolverKind::apgd, DelassusStorage::automatic);
  EXPECT_GT(products, 0);
  EXPECT_NE(products, columns);
  EXPECT_EQ(solves(ContactSolverKind::apgd, DelassusStorage::factored), products);
}

/// A factorisation that is not possible gives way to rounds, and manifold_gs, which needs no W, to nsgs.
TEST_P(CoupledSteps, FactorsThatCannotBeSaySo) {
  params.coupling = SolidCoupling::factor;
  params.contact_solver = ContactSolverKind::manifold_gs;
  Model model = small_heap(false);
  load(model);
  EXPECT_EQ(run(1).contact_solve->message,
            "manifold_gs refuses (coupling = factor needs W): nsgs took its place");
}

/// Problems that are too large for it, too. On the CPU alone: it is only about a message.
TEST(CoupledStepsOnTheCpu, AFactorOfTooManyRowsSaysSo) {
  constexpr int kBoxes = 510;
  Model model;
  fixtures::add_floor(model);
  for (int i = 0; i < kBoxes; ++i)
    add_box(model, "box" + std::to_string(i), {0.1, 0.1, 0.1}, {0.2 * i, 0.049, 0}, 1);
  finalize(model);
  const auto engine = make_engine(Backend::cpu, 2);
  Params params;
  params.solver = SolverKind::velocity;
  params.coupling = SolidCoupling::factor;
  engine->set_params(params);
  engine->load(model);
  const StepReport report = engine->step();
  EXPECT_EQ(report.contacts, 4 * kBoxes);
  const std::string refused =
      "coupling = factor takes 6000 rows, not " + std::to_string(12 * kBoxes) + ": rounds took its place";
  EXPECT_EQ(report.contact_solve->message, refused);
  params.dual_pcg_tolerance = 1e-6;
  engine->set_params(params);
  engine->reset();
  EXPECT_EQ(engine->step().contact_solve->message, refused) << "nsgs needs W";
  params.contact_solver = ContactSolverKind::spg;
  engine->set_params(params);
  engine->reset();
  const StepReport products = engine->step();
  EXPECT_EQ(products.contact_solve->message, "");
  EXPECT_GT(products.contact_solve->dual_solves, kBoxes);
}

TEST_P(CoupledSteps, AStiffCubeBehavesLikeARigidOne) {
  const double speed = 2, mu = 0.4;
  contact.tolerance = 1e-4;
  Vec3d way[2];
  for (const bool rigid : {false, true}) {
    Model model;
    add_rigid_box(model, {3, 0.05, 1}, pose_at({0, -0.05, 0}), false);
    if (rigid) {
      add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1, 0}));
      model.bodies[1].velocity = {speed, 0, 0};
    } else {
      add_box(model, "cube", {0.2, 0.2, 0.2}, {0, 0.1, 0}, 2, 0, {speed, 0, 0});
    }
    model.materials[0].young = 1e9;
    model.materials[0].mu = mu;
    load(model);
    run(80);
    const State state = engine->state();
    way[rigid] = rigid ? state.bodies[1].pose.x
                       : fixtures::mean(state.positions, 0, static_cast<int>(state.positions.size()));
  }
  EXPECT_NEAR(way[1][0], speed * speed / (2 * mu * 9.81), 0.02);
  EXPECT_NEAR(way[0][0], way[1][0], 0.01);
  EXPECT_NEAR(way[0][1], way[1][1], 1e-3);
}

TEST_P(CoupledSteps, SolidsAloneSwingAsBackwardEulerDoes) {
  const double strain = 1e-3;
  const auto swing = [&](SolverKind solver) {
    Model model;
    if (solver == SolverKind::velocity) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 5, 0}), false);
    add_box(model, "block", {0.2, 0.3, 0.2}, {0, 0.5, 0}, 2);
    model.materials[0].damping = 0.003;
    for (std::size_t i = 0; i < model.velocities.size(); ++i)
      model.velocities[i] = strain * Vec3d{3 * model.positions[i][1], -10 * model.positions[i][1], 0};
    params.solver = solver;
    params.dt = 0.002;
    params.newton_tolerance = 1e-8;
    load(model);
    run_unconverged(25);
    return engine->state();
  };
  const State reference = swing(SolverKind::ipc);
  engine = make_engine(GetParam(), 2);
  const State state = swing(SolverKind::velocity);
  // The nonlinear step differs by second order in the strain.
  double apart = 0, fastest = 0;
  for (std::size_t i = 0; i < state.positions.size(); ++i) {
    apart = std::max(apart, norm(state.velocities[i] - reference.velocities[i]));
    fastest = std::max(fastest, norm(reference.velocities[i] - reference.velocities[0]));
  }
  EXPECT_GT(fastest, 1e-3);
  EXPECT_LT(apart, 0.01 * fastest);
}

TEST_P(CoupledSteps, MidpointKeepsABlockAtRestAndInFreeFall) {
  params.integrator = RigidIntegrator::midpoint;
  contact.tolerance = 1e-5;
  for (const bool floor : {false, true}) {
    Model model;
    add_rigid_box(model, {0.4, 0.05, 0.4}, pose_at({0, 0.05, 0}));
    if (floor) fixtures::add_floor(model);
    add_box(model, "block", {0.4, 0.4, 0.4}, {0, 0.3, 0}, 2);
    model.materials[0].damping = 0.05;
    load(model);
    const StepReport last = run(60);
    EXPECT_LT(last.contact_solve->penetration, 1e-3);
    const State state = engine->state();
    if (floor) {
      EXPECT_LT(norm(state.bodies[0].velocity), 1e-3);
      continue;
    }
    EXPECT_NEAR(state.bodies[0].velocity[1], -9.81 * 0.6, 1e-9);
    EXPECT_NEAR(state.bodies[0].pose.x[1], 0.05 - 9.81 * 0.6 * 0.6 / 2, 1e-9);
    const int n = static_cast<int>(state.positions.size());
    EXPECT_NEAR(fixtures::mean(state.positions, 0, n)[1], 0.3 - 9.81 * 0.6 * 0.6 / 2, 1e-9);
  }
}

TEST_P(CoupledSteps, NodesFollowTheirScriptsAndTheMouseSpringPulls) {
  params.gravity = 0;
  Model model;
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 5, 0}));
  Object& block = add_box(model, "block", {0.2, 0.2, 0.2}, {0, 0, 0}, 2);
  ScriptedNodes held, moved;
  for (int i = block.node_begin; i < block.node_end; ++i)
    if (model.positions[i][0] < -0.09) held.nodes.push_back(i);
    else if (model.positions[i][0] > 0.09) moved.nodes.push_back(i);
  moved.motion.velocity = {0.5, 0, 0};
  moved.motion.end = 0.05;
  model.scripted = {held, moved};
  load(model);
  run(20);
  const State state = engine->state();
  for (const std::int32_t i : held.nodes) EXPECT_LT(norm(state.positions[i] - model.positions[i]), 1e-12);
  for (const std::int32_t i : moved.nodes)
    EXPECT_LT(norm(state.positions[i] - model.positions[i] - Vec3d{0.025, 0, 0}), 1e-9);

  Model free;
  add_rigid_box(free, {0.1, 0.1, 0.1}, pose_at({0, 5, 0}));
  add_box(free, "block", {0.2, 0.2, 0.2}, {0, 0, 0}, 2);
  load(free);
  Drag drag;
  drag.triangle = free.triangles[0];
  drag.weights = {0.2, 0.3, 0.5};
  Vec3d point{0, 0, 0};
  for (int c = 0; c < 3; ++c) point += drag.weights[c] * free.positions[drag.triangle[c]];
  drag.target = point + Vec3d{0, 0.1, 0};
  engine->set_drag(drag);
  const StepReport pulled = engine->step();
  // One implicit step of the spring: below its initial force, because the spring yields.
  const double most = params.dt * params.drag_stiffness * 0.1;
  EXPECT_LT(pulled.momentum[1], most);
  EXPECT_GT(pulled.momentum[1], 0.3 * most);
  EXPECT_NEAR(pulled.momentum[0], 0, 1e-3 * most);
}

TEST_P(CoupledSteps, AnAffineBodyCarriesARigidOne) {
  Model model;
  const std::int32_t rigid = add_rigid_box(model, {0.3, 0.05, 0.3}, pose_at({0, 0.45, 0}));
  fixtures::add_floor(model);
  add_box(model, "block", {0.4, 0.4, 0.4}, {0, 0.2, 0}, 3, 0, {0, 0, 0}, fixtures::BoxBody::affine);
  model.materials[0].young = 1e8;  // an affine body has no damping of its own
  load(model);
  run(100);
  Snapshot snapshot;
  engine->snapshot(snapshot);
  double on_block = 0, on_floor = 0;
  for (const ContactRecord& c : snapshot.contacts)
    (c.object_b == -1 ? on_floor : on_block) += c.normal_force * std::abs(c.normal[1]);
  const double weight = 9.81 * 1000 * model.bodies[rigid].volume, block = 9.81 * mass_of_nodes(model);
  EXPECT_NEAR(on_block, weight, 1e-3 * weight);
  EXPECT_NEAR(on_floor, weight + block, 1e-3 * (weight + block));
}

INSTANTIATE_ON_BACKENDS(CoupledSteps);

}  // namespace
}  // namespace stickslip
