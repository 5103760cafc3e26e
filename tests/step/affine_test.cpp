// Affine bodies through the Engine interface, compared with rigid body mechanics.
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/math/mat.h"
#include "gpu/model/affine.h"
#include "gpu/model/rotation.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/engine_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::BoxBody;
using fixtures::mean;
using fixtures::Vec3d;
using Mat3d = Mat<double, 3>;

/// F of an affine body in a state.
Mat3d deformation(const Model& model, const Object& body, const State& state) {
  const auto edges = [&](const std::vector<Vec3d>& x) {
    const Vec3d* c = x.data() + body.control_begin;
    return Mat3d::from_columns({c[1] - c[0], c[2] - c[0], c[3] - c[0]});
  };
  return edges(state.positions) * inverse(edges(model.rest_positions));
}

/// |F'F - I|, entry by entry.
double strain(const Mat3d& f) {
  const Mat3d e = f.transposed() * f - Mat3d::identity();
  return std::sqrt(dot(e, e));
}

void spin(Model& model, const Object& body, const Vec3d& center, const Vec3d& velocity, const Vec3d& rate) {
  for (int i = body.node_begin; i < body.node_end; ++i)
    model.velocities[i] = velocity + cross(rate, model.positions[i] - center);
}

class Affine : public fixtures::EngineTestOf<fixtures::BackendSolver> {
 protected:
  Affine() { params.solver = GetParam().solver; }
};

/// A box of 24 tets, between its centre and the centres of its faces: its lumped inertia has the symmetries
/// of the box.
Object& add_symmetric_box(Model& model, const Vec3d& size, const Vec3d& center) {
  std::vector<Vec3d> nodes{center};
  std::vector<Vec4i> tets;
  for (int c = 0; c < 8; ++c)
    nodes.push_back(center + Vec3d{((c & 1) - 0.5) * size[0], ((c >> 1 & 1) - 0.5) * size[1],
                                   ((c >> 2) - 0.5) * size[2]});
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side) {
      const int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3, first = 1 + (side << axis);
      const int ring[4] = {first, first + u, first + u + v, first + v};
      const auto face = static_cast<std::int32_t>(nodes.size());
      nodes.push_back(0.5 * (nodes[ring[0]] + nodes[ring[2]]));
      for (int k = 0; k < 4; ++k) tets.push_back({0, face, ring[k], ring[(k + 1) % 4]});
    }
  model.materials.push_back({});
  model.material_names.push_back("default");
  return add_affine(model, "box", nodes, tets, 0);
}

TEST_P(Affine, FreeFlightKeepsMomentumAndTurnsAsImplicitEulerTurnsARigidBody) {
  params.dt = 1e-3;
  params.newton_tolerance = 1e-7;
  Model model;
  const Vec3d center{0, 1, 0}, velocity{0.3, 1, -0.2}, rate{0, 0, 2};
  const Object box = add_symmetric_box(model, {0.2, 0.1, 0.06}, center);
  model.materials[0].young = 1e8;
  spin(model, box, center, velocity, rate);
  load(model);
  const int steps = 200;
  StepReport report;
  for (int i = 0; i < steps; ++i) report = step();

  const double t = steps * params.dt, mass = 1000 * 0.2 * 0.1 * 0.06;
  const State state = engine->state();
  const Vec3d moved = mean(state.positions, box.control_begin, box.control_begin + 4) - center;
  EXPECT_NEAR(moved[0], velocity[0] * t, 1e-8);
  EXPECT_NEAR(moved[1], velocity[1] * t + params.gravity * params.dt * params.dt * steps * (steps + 1) / 2,
              1e-8);
  EXPECT_NEAR(report.momentum[0], mass * velocity[0], 1e-7);

  // The step minimises |R - Y|_M over rotations, Y = 2 R_n - R_{n-1}. About a principal axis, the rotation
  // nearest to Y has the angle atan2(sin d, 2 - cos d) after a rotation by d, and atan(rate dt) in the first
  // step.
  double turn = std::atan(rate[2] * params.dt), angle = turn;
  for (int i = 1; i < steps; ++i) {
    turn = std::atan2(std::sin(turn), 2 - std::cos(turn));
    angle += turn;
  }
  const Mat3d f = deformation(model, box, state);
  EXPECT_NEAR(std::atan2(f(1, 0), f(0, 0)), angle, 1e-6 * angle);
  EXPECT_LT(strain(f), 1e-6);
  const Vec3d spin_left = report.angular_momentum - cross(center + moved, report.momentum);
  // Half of the lumped mass is at the corners, and 1/12 at each pair of faces. So 7/12 of it is at +-1/2 in
  // any direction.
  const double inertia = mass * 7 / 12 * (0.2 * 0.2 + 0.1 * 0.1) / 4;
  EXPECT_NEAR(spin_left[2], inertia * std::sin(turn) / params.dt, 1e-5 * inertia * rate[2]);
  EXPECT_NEAR(spin_left[0], 0, 1e-10);
  EXPECT_NEAR(spin_left[1], 0, 1e-10);
}

/// Orientation of a free rigid body with moments of inertia J about its axes, by small steps of Euler's
/// equations.
Mat3d tumble(const Vec3d& inertia, Vec3d rate_in_body, double seconds) {
  const int steps = 200000;
  const double dt = seconds / steps;
  Mat3d r = Mat3d::identity();
  const auto slope = [&](const Vec3d& w) {
    return Vec3d{(inertia[1] - inertia[2]) * w[1] * w[2] / inertia[0],
                 (inertia[2] - inertia[0]) * w[2] * w[0] / inertia[1],
                 (inertia[0] - inertia[1]) * w[0] * w[1] / inertia[2]};
  };
  for (int i = 0; i < steps; ++i) {
    const Vec3d middle = rate_in_body + (dt / 2) * slope(rate_in_body);
    r = r * rotation_matrix(dt * middle);
    rate_in_body += dt * slope(middle);
  }
  return r;
}

TEST_P(Affine, TumblesAsARigidBodyDoes) {
  params.dt = 2e-4;
  params.gravity = 0;
  params.newton_tolerance = 1e-6;
  Model model;
  const Vec3d size{0.2, 0.1, 0.06}, rate{5, 8, 3};
  const Object box = add_symmetric_box(model, size, {0, 0, 0});
  model.materials[0].young = 1e8;
  spin(model, box, {0, 0, 0}, {0, 0, 0}, rate);
  load(model);
  const int steps = 500;
  StepReport report, first;
  for (int i = 0; i < steps; ++i) {
    report = step();
    if (i == 0) first = report;
  }
  const Vec3d inertia{size[1] * size[1] + size[2] * size[2], size[2] * size[2] + size[0] * size[0],
                      size[0] * size[0] + size[1] * size[1]};
  const Mat3d rigid = tumble(inertia, rate, steps * params.dt);
  const Mat3d f = deformation(model, box, engine->state());
  // Implicit Euler loses a share of (rate dt)^2 of the rate per step: 2e-3 in total, and half of that in the
  // angle.
  const Mat3d difference = f - rigid;
  EXPECT_LT(std::sqrt(dot(difference, difference)), 3e-3);
  EXPECT_LT(norm(report.angular_momentum - first.angular_momentum), 3e-3 * norm(first.angular_momentum));
}

/// A block of 0.2 m on a plane of 20 degrees: its displacement down the slope in a second from rest.
TEST_P(Affine, SticksBelowTheFrictionAngleAndSlidesAboveIt) {
  const double angle = 20 * M_PI / 180;
  const Vec3d normal{std::sin(angle), std::cos(angle), 0}, down{std::cos(angle), -std::sin(angle), 0};
  params.newton_tolerance = 1e-4;
  for (const double mu : {0.2, 0.4}) {
    Model model;
    const Object block =
        add_box(model, "block", {0.2, 0.1, 0.2}, 0.0512 * normal, 2, -20, {0, 0, 0}, BoxBody::affine);
    model.materials[0].young = 1e9;
    model.materials[0].mu = mu;
    model.half_spaces.push_back({normal, 0, mu});
    load(model);
    const int steps = 60;
    for (int i = 0; i < steps; ++i) step();
    const Vec3d moved = mean(engine->state().positions, block.node_begin, block.node_end) -
                        mean(model.positions, block.node_begin, block.node_end);
    const double acceleration = 9.81 * (std::sin(angle) - mu * std::cos(angle));
    const double expected = acceleration * params.dt * params.dt * steps * (steps + 1) / 2;
    if (acceleration > 0) EXPECT_NEAR(dot(moved, down), expected, 1e-3 * expected) << mu;
    // eps_v allows creep of a sticking block.
    else EXPECT_LT(std::abs(dot(moved, down)), params.eps_v) << mu;
  }
}

TEST_P(Affine, AStackStandsAndKeepsItsShape) {
  params.newton_tolerance = 1e-2;
  Model model;
  for (int i = 0; i < 4; ++i)
    add_box(model, "box" + std::to_string(i), {0.1, 0.1, 0.1}, {0, 0.0512 + 0.1012 * i, 0}, 2, 0, {0, 0, 0},
            BoxBody::affine);
  model.materials[0].young = 1e9;
  model.half_spaces.push_back({});
  load(model);
  double most = 0;
  StepReport report;
  for (int i = 0; i < 60; ++i) {
    report = step();
    const State state = engine->state();
    for (const Object& body : model.objects) most = std::max(most, strain(deformation(model, body, state)));
    EXPECT_NEAR(report.volume_ratio_min, 1, 1e-5);
  }
  // 4 kg g on 0.01 m^2 strain the lowest box by 4e-6, twice that in F'F; landing adds a little.
  EXPECT_LT(most, 5e-5);
  EXPECT_LT(report.kinetic_energy, params.solver == SolverKind::ccd_al ? 1e-8 : 1e-9);
  EXPECT_EQ(report.counters.allocations, 0u);
  const State state = engine->state();
  for (const Object& body : model.objects) {
    const Vec3d moved = mean(state.positions, body.node_begin, body.node_end) -
                        mean(model.positions, body.node_begin, body.node_end);
    EXPECT_NEAR(moved[0], 0, 1e-4);
    EXPECT_NEAR(moved[2], 0, 1e-4);
  }
}

TEST_P(Affine, RestsWhereAVeryStiffBoxRests) {
  params.newton_tolerance = 1e-3;
  params.barrier_stiffness = 200;  // the adaptive value depends on the stiffness of deformable bodies
  std::vector<Vec3d> rest;
  for (const BoxBody body : {BoxBody::affine, BoxBody::deformable}) {
    Model model;
    const Object box = add_box(model, "box", {0.1, 0.1, 0.1}, {0, 0.0575, 0}, 1, 8, {0, 0, 0}, body);
    model.materials[0].young = 1e9;
    model.half_spaces.push_back({});
    load(model);
    for (int i = 0; i < 60; ++i) step();
    const State state = engine->state();
    for (int i = box.node_begin; i < box.node_end; ++i) rest.push_back(state.positions[i]);
  }
  const std::size_t n = rest.size() / 2;
  for (std::size_t i = 0; i < n; ++i) EXPECT_LT(norm(rest[i] - rest[n + i]), 1e-5) << i;
}

TEST_P(Affine, BodiesOfAllKindsShareAScene) {
  params.newton_tolerance = 1e-2;
  Model model;
  double y = 0.052;
  for (const ElasticModel elastic :
       {ElasticModel::stable_neo_hookean, ElasticModel::arap, ElasticModel::neo_hookean,
        ElasticModel::fixed_corotated, ElasticModel::orthogonality}) {
    const auto material = static_cast<std::int32_t>(model.materials.size());
    const bool affine = elastic == ElasticModel::orthogonality;
    Material& made = model.materials.emplace_back();
    made.young = affine ? 1e9 : 1e5;
    if (!affine) made.model = elastic;
    model.material_names.push_back("m" + std::to_string(material));
    for (int k = 0; k < 1 + affine; ++k, y += 0.103)
      add_box(model, "box" + std::to_string(model.objects.size()), {0.1, 0.1, 0.1},
              {0.01 * (material % 2), y, 0}, 2, 0, {0, 0, 0}, affine ? BoxBody::affine : BoxBody::deformable)
          .material = material;
  }
  model.half_spaces.push_back({});
  load(model);
  // Where boxes land, ccd_al may end at its cap of iterations.
  const bool may_miss = params.solver == SolverKind::ccd_al;
  StepReport report;
  int converged = 0;
  for (int i = 0; i < 20; ++i) {
    report = may_miss ? step_unconverged() : step();
    converged += report.converged;
  }
  EXPECT_GE(converged, may_miss ? 15 : 20);
  EXPECT_GT(report.contacts, 0);
  EXPECT_GT(report.volume_ratio_min, 0.5);
}

TEST_P(Affine, MeshNodesFollowTheirControlNodesInAnySetState) {
  Model model;
  const Object box = add_box(model, "box", {0.1, 0.1, 0.1}, {0, 0.2, 0}, 2, 20, {0, 0, 0}, BoxBody::affine);
  spin(model, box, {0, 0.2, 0}, {0.1, 0, 0}, {1, 5, 2});
  model.half_spaces.push_back({});
  load(model);
  const auto weights = control_weights(model, box);
  const auto farthest = [&](const std::vector<Vec3d>& values) {
    double most = 0;
    for (int i = box.node_begin; i < box.node_end; ++i) {
      Vec3d x{0, 0, 0};
      for (int k = 0; k < 4; ++k) x += weights[i - box.node_begin][k] * values[box.control_begin + k];
      most = std::max(most, norm(x - values[i]));
    }
    return most;
  };
  for (int i = 0; i < 60; ++i) step();
  State state = engine->state();
  EXPECT_LT(farthest(state.positions), 1e-12) << "rounding adds up";
  state.positions[box.node_begin + 3] = {7, 7, 7};
  state.velocities[box.node_begin + 4] = {7, 7, 7};
  engine->set_state(state);
  EXPECT_LT(farthest(engine->state().positions), 1e-15);
  EXPECT_LT(farthest(engine->state().velocities), 1e-14);
  step();
}

TEST(AffineDeterminism, TheCpuGivesTheSameBitsForAnyNumberOfThreads) {
  std::vector<State> states;
  for (const int threads : {1, 2, 3}) {
    Model model;
    for (int i = 0; i < 3; ++i)
      add_box(model, "box" + std::to_string(i), {0.1, 0.1, 0.1}, {0.02 * i, 0.06 + 0.12 * i, 0}, 4, 5,
              {0, 0, 0}, i == 1 ? BoxBody::deformable : BoxBody::affine);
    model.half_spaces.push_back({});
    finalize(model);
    const auto engine = make_engine(Backend::cpu, threads);
    engine->load(model);
    for (int i = 0; i < 15; ++i) engine->step();
    states.push_back(engine->state());
  }
  for (const State& state : states)
    for (std::size_t i = 0; i < state.positions.size(); ++i)
      ASSERT_EQ(state.positions[i], states[0].positions[i]) << "node " << i;
}

INSTANTIATE_TEST_SUITE_P(Backends, Affine,
                         ::testing::Values(fixtures::BackendSolver{Backend::cpu, SolverKind::ipc},
                                           fixtures::BackendSolver{Backend::cpu, SolverKind::barrier_al},
                                           fixtures::BackendSolver{Backend::cpu, SolverKind::ccd_al},
                                           fixtures::BackendSolver{Backend::cuda, SolverKind::ipc}),
                         fixtures::ParamName{});

}  // namespace
}  // namespace stickslip
