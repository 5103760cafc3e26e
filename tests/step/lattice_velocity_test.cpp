// Solids in lattices at velocity level, compared with meshes that conform to their surface.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "gpu/model/element_group.h"
#include "tests/fixtures/embedded_model.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/solid_step_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::add_conforming_box;
using fixtures::add_embedded_box;
using fixtures::Vec3d;

class LatticeSolidSteps : public fixtures::SolidStepTest {};

/// The largest distance of a surface node of one state from the nearest one of another.
double farthest(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
  double most = 0;
  for (const Vec3d& p : a) {
    double nearest = 1;
    for (const Vec3d& q : b) nearest = std::min(nearest, norm(p - q));
    most = std::max(most, nearest);
  }
  return most;
}

std::vector<Vec3d> surface_of(const Model& model, const State& state) {
  std::vector<Vec3d> out;
  for (const std::int32_t node : model.surface_nodes) out.push_back(state.positions[node]);
  return out;
}

TEST_P(LatticeSolidSteps, ALatticeThatConformsMovesAsAPlainMeshDoes) {
  for (const SolidCoupling coupling :
       {SolidCoupling::rounds, SolidCoupling::factor, SolidCoupling::nodal_admm}) {
    params.coupling = coupling;
    params.admm_tolerance = 1e-9;
    std::vector<Vec3d> surface[2];
    for (int k = 0; k < 2; ++k) {
      Model model;
      const Vec3d size{0.2, 0.1, 0.1}, middle{0, 0.055, 0};
      if (k == 0) add_box(model, "box", size, middle, 2);
      else add_conforming_box(model, "box", size, middle, 2);
      model.materials[0].young = 2e4;
      model.materials[0].mu = 0.3;
      model.half_spaces.push_back({});
      for (std::size_t i = 0; i < model.velocities.size(); ++i)
        model.velocities[i] = Vec3d{0.8, -0.5, 0} + cross(Vec3d{0, 1, -2}, model.positions[i] - middle);
      load(model);
      const StepReport report = run(30);
      EXPECT_GT(report.contacts, 0);
      surface[k] = surface_of(model, engine->state());
    }
    ASSERT_EQ(surface[0].size(), surface[1].size());
    EXPECT_LT(farthest(surface[0], surface[1]), 1e-5) << static_cast<int>(coupling);
  }
}

TEST_P(LatticeSolidSteps, FreeFlightKeepsMomentumAndStrainsNothing) {
  Model model;
  const Vec3d size{0.2, 0.1, 0.15}, velocity{0.3, 1, -0.2};
  add_embedded_box(model, "box", size, {0, 1, 0}, 3, 0.06);
  for (Vec3d& v : model.velocities) v = velocity;
  model.half_spaces.push_back({{0, 1, 0}, -100, 0});
  load(model);
  const StepReport report = run(20);
  const double t = 20 * params.dt, mass = 1000 * size[0] * size[1] * size[2];
  EXPECT_NEAR(report.momentum[0], mass * velocity[0], 1e-8);
  EXPECT_NEAR(report.momentum[1], mass * (velocity[1] + params.gravity * t), 1e-8);
  EXPECT_LT(report.elastic_energy, 1e-10);
}

/// The exported problem's velocities are those of the state, and its matrix has the lattice nodes.
TEST_P(LatticeSolidSteps, TheFrozenProblemHasTheLatticeNodes) {
  params.linearisations = 1;
  Model model;
  const Object box = add_embedded_box(model, "box", {0.2, 0.1, 0.15}, {0, 0.051, 0}, 2, 0.08);
  for (Vec3d& v : model.velocities) v = {0.3, -0.5, 0.1};
  model.materials[0].young = 1e5;
  model.materials[0].mu = 0.4;
  model.half_spaces.push_back({});
  load(model);
  run(3);
  const State state = engine->state();
  const ContactProblem p = engine->freeze();
  ASSERT_EQ(p.form, ContactProblem::Form::global);
  ASSERT_GT(p.blocks(), 2u);
  const auto dense = [](const SparseRows& rows) {
    Eigen::MatrixXd m = Eigen::MatrixXd::Zero(rows.rows, rows.columns);
    for (std::int32_t r = 0; r < rows.rows; ++r)
      for (std::int32_t k = rows.offsets[r]; k < rows.offsets[r + 1]; ++k)
        m(r, rows.indices[k]) = rows.values[k];
    return m;
  };
  const auto vector_of = [](const std::vector<double>& v) {
    return Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
  };
  const Eigen::MatrixXd A = dense(p.A), H = dense(p.H);
  const Eigen::VectorXd v = A.ldlt().solve(vector_of(p.f) + H.transpose() * vector_of(p.solution));
  ASSERT_EQ(v.size(), 3 * (box.collides_from - box.node_begin));
  for (std::int32_t n = box.node_begin; n < box.collides_from; ++n)
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(v[3 * (n - box.node_begin) + k], state.velocities[n][k], 1e-6) << n;
}

TEST_P(LatticeSolidSteps, ASoftBoxOnTheFloorSinksAsAFineMeshThatConforms) {
  contact.tolerance = 1e-4;
  double sunk[2];
  for (int k = 0; k < 2; ++k) {
    Model model;
    const Vec3d size{0.2, 0.2, 0.2}, middle{0, 0.1, 0};
    if (k == 0) add_box(model, "box", size, middle, 6);
    else add_embedded_box(model, "box", size, middle, 4, 0.05);
    model.materials[0].young = 1e4;
    model.materials[0].poisson = 0.3;
    model.materials[0].damping = 0.05;
    model.materials[0].mu = 0;
    model.half_spaces.push_back({});
    load(model);
    run(120);
    const State state = engine->state();
    double sum = 0;
    int count = 0;
    for (const std::int32_t node : model.surface_nodes)
      if (model.positions[node][1] > 0.1999) {
        sum += model.positions[node][1] - state.positions[node][1];
        ++count;
      }
    sunk[k] = sum / count;
  }
  EXPECT_NEAR(sunk[0], 0.0196, 0.004);  // rho g h^2 / (2 E) in linear elasticity
  EXPECT_NEAR(sunk[1], sunk[0], 0.1 * sunk[0]);
}

TEST_P(LatticeSolidSteps, AGuardedHeapHasNoIntersections) {
  params.penetration_guard = true;
  params.check_intersections = true;
  params.pcg_tolerance = 1e-6;
  contact.tolerance = 1e-3;
  Model model = fixtures::lattice_heap(4, 0.05);
  load(model);
  int converged = 0;
  StepReport report;
  for (int i = 0; i < 60; ++i) {
    report = engine->step();
    converged += report.converged;
    ASSERT_TRUE(report.contact_solve && report.contact_solve->guard);
    EXPECT_EQ(report.contact_solve->guard->intersections, 0) << report.frame;
    EXPECT_EQ(report.inverted, 0) << report.frame;
  }
  EXPECT_GE(converged, 57);
  EXPECT_GT(report.contacts, 0);
}

/// A rigid box lands on a soft one in a lattice, which starts at rest on the floor: in both families it comes
/// to rest where one on a mesh that conforms does.
TEST_P(LatticeSolidSteps, ARigidBoxRestsOnASoftOne) {
  contact.tolerance = 1e-4;
  for (const SolverKind solver : {SolverKind::velocity, SolverKind::ipc}) {
    params.solver = solver;
    params.d_hat = 1e-3;
    double height[2];
    for (int k = 0; k < 2; ++k) {
      Model model;
      const Vec3d size{0.2, 0.1, 0.2}, middle{0, 0.051, 0};
      if (k == 0) add_box(model, "soft", size, middle, 4);
      else add_embedded_box(model, "soft", size, middle, 4, 0.05);
      fixtures::add_rigid_box(model, {0.05, 0.03, 0.05}, fixtures::pose_at({0, 0.135, 0}));
      model.materials[0].young = 5e4;
      model.materials[0].damping = 0.05;
      model.half_spaces.push_back({});
      load(model);
      StepReport report;
      for (int i = 0; i < 100; ++i) report = engine->step();
      EXPECT_TRUE(report.converged) << report.stop_reason;
      EXPECT_LT(norm(engine->state().bodies[0].velocity), 0.02);
      height[k] = engine->state().bodies[0].pose.x[1];
    }
    EXPECT_NEAR(height[0], 0.13, 0.008);
    EXPECT_NEAR(height[1], height[0], 1.5e-3) << static_cast<int>(solver);
  }
}

/// The mouse pulls a corner of the surface: momentum grows by the spring's impulse in both families alike.
TEST_P(LatticeSolidSteps, TheMousePullsTheSurface) {
  params.gravity = 0;
  params.drag_stiffness = 50;
  for (const SolverKind solver : {SolverKind::velocity, SolverKind::ipc}) {
    params.solver = solver;
    Model model;
    add_embedded_box(model, "box", {0.2, 0.1, 0.15}, {0, 0, 0}, 2, 0.08);
    model.materials[0].young = 1e6;
    model.half_spaces.push_back({{0, 1, 0}, -100, 0});
    load(model);
    Drag drag;
    drag.triangle = model.triangles[0];
    drag.weights = {0.2, 0.3, 0.5};
    Vec3d at{0, 0, 0};
    for (int c = 0; c < 3; ++c) at += drag.weights[c] * model.positions[drag.triangle[c]];
    drag.target = at + Vec3d{0.3, 0, 0};
    engine->set_drag(drag);
    const StepReport report = engine->step();
    EXPECT_TRUE(report.converged);
    const State state = engine->state();
    Vec3d pull{0, 0, 0};
    for (int c = 0; c < 3; ++c) pull += drag.weights[c] * state.positions[drag.triangle[c]];
    EXPECT_NEAR(report.momentum[0], params.dt * params.drag_stiffness * (drag.target - pull)[0],
                1e-3 * report.momentum[0]);
    EXPECT_GT(report.momentum[0], 0.05);
  }
}

/// Contacts between lattices have up to 24 nodes; those of a rigid box also have a full S_cc. Isotropic
/// blocks are solved in closed form or as full ones.
TEST_P(LatticeSolidSteps, NodalMethodsHaveTheVelocitiesOfTheFactorisedProblem) {
  Model model = fixtures::lattice_heap(3, 0.045);
  fixtures::add_rigid_box(model, {0.03, 0.02, 0.03}, fixtures::pose_at({0.03, 0.3, 0.01}));
  for (Vec3d& v : model.velocities) v = {0.4, -0.6, 0.1};
  model.bodies[0].velocity = {0, -1.5, 0};
  params.coupling = SolidCoupling::factor;
  params.contact_solver = ContactSolverKind::newton_ac;
  params.admm_tolerance = 1e-11;
  params.admm_iterations = 20000;
  contact.tolerance = 1e-10;
  load(model);
  run(6);
  const State expected = engine->state();
  contact.tolerance = 1e-7;
  struct Case {
    SolidCoupling coupling;
    bool isotropic;
  };
  for (const Case& with : {Case{SolidCoupling::nodal_admm, true}, Case{SolidCoupling::nodal_admm, false},
                           Case{SolidCoupling::ica, true}}) {
    SCOPED_TRACE(std::to_string(static_cast<int>(with.coupling)) + (with.isotropic ? " closed" : " full"));
    params.coupling = with.coupling;
    params.admm_isotropic = with.isotropic;
    load(model);
    const StepReport report = run(6);
    EXPECT_GT(report.contacts, 8);
    EXPECT_EQ(report.contact_solve->message, "");
    EXPECT_LT(report.contact_solve->rounds, params.admm_iterations);
    const State state = engine->state();
    double most = norm(state.bodies[0].velocity - expected.bodies[0].velocity);
    for (std::size_t i = 0; i < state.velocities.size(); ++i)
      most = std::max(most, norm(state.velocities[i] - expected.velocities[i]));
    EXPECT_LT(most, 1e-6);
  }
}

INSTANTIATE_ON_BACKENDS(LatticeSolidSteps);

}  // namespace
}  // namespace stickslip
