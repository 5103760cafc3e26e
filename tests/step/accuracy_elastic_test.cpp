// Elastic solids compared with analysis under refinement of elements and steps. gpu/step/accuracy.md has the
// table.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gpu/engine.h"
#include "gpu/model/element_group.h"
#include "tests/fixtures/backend_fixture.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/refinement.h"
#include "tests/fixtures/rigid_model.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::box_lattice;
using fixtures::refine;
using fixtures::Refinement;
using fixtures::Vec3d;

#define STICKSLIP_MODEL(name, ...) ElasticModel::name,
constexpr ElasticModel kElasticModels[] = {STICKSLIP_ELASTIC_MODELS(STICKSLIP_MODEL)};
#undef STICKSLIP_MODEL

class ElasticAccuracy : public fixtures::BackendTest {
 protected:
  ElasticAccuracy() {
    params.newton_tolerance = 1e-8;
    params.linear_solver = LinearSolverKind::cholesky;
  }
  void prepare() override {
    if (sizeof(Real) < 8) GTEST_SKIP() << "errors of order h^2 drown in the rounding of float";
    engine = make_engine(backend(), 1);
  }
  void load() {
    engine->set_params(params);
    engine->load(model);
  }
  StepReport step() {
    const StepReport report = engine->step();
    EXPECT_TRUE(report.converged) << "frame " << report.frame << ": " << report.stop_reason;
    return report;
  }

  Model model;
  std::unique_ptr<Engine> engine;
  Params params;
};

enum class Element { linear, ten_node };

/// A beam of 1 m x 0.1 m x 0.1 m, n cubes of six tets across, held at x = 0.
void add_beam(Model& model, int across, Element element = Element::linear) {
  if (model.materials.empty()) {
    model.materials.push_back({});
    model.material_names.push_back("default");
  }
  const fixtures::BoxMesh lattice = box_lattice({1, 0.1, 0.1}, {0.5, 0, 0}, {10 * across, across, across});
  const Object& beam = (element == Element::linear ? add_solid : add_ten_node_solid)(
      model, "beam", lattice.nodes, lattice.tets, 0);
  ScriptedNodes held;
  for (int i = beam.node_begin; i < beam.node_end; ++i)
    if (model.positions[static_cast<std::size_t>(i)][0] < 1e-9) held.nodes.push_back(i);
  model.scripted.push_back(held);
  finalize(model);
}

/// Mean deflection of the free end.
double deflection(const Model& model, const State& state) {
  double sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < model.node_count(); ++i)
    if (model.rest_positions[i][0] > 1 - 1e-9) {
      sum += model.rest_positions[i][1] - state.positions[i][1];
      ++count;
    }
  return sum / count;
}

/// A beam under its own weight, w = q L^4 / (8 E I) + q L^2 / (2 kappa G A), kappa = 5/6. The error is the
/// missing share of w on a mesh of `across` elements. Three steps of 10 s reach rest.
class Cantilever : public ElasticAccuracy {
 protected:
  double lacks(ElasticModel kind, double poisson, int across, Element element = Element::linear) {
    model = {};
    model.materials.push_back({});
    model.material_names.push_back("default");
    Material& m = model.materials[0];
    m.model = kind;
    m.young = 2.9e8;  // half a percent of the length
    m.poisson = poisson;
    add_beam(model, across, element);
    params.dt = 10;
    load();
    for (int k = 0; k < 3; ++k) step();
    // ARAP has no volume term: its Poisson's ratio is 0.
    const double nu = kind == ElasticModel::arap ? 0 : poisson, weight = 1000 * 9.81;
    const double bending = 1.5 * weight / (m.young * 0.01),
                 shear = weight * 2 * (1 + nu) / (2 * (5.0 / 6) * m.young);
    return 1 - deflection(model, engine->state()) / (bending + shear);
  }
};

TEST_P(Cantilever, LinearTetsBendTooLittleByKnownShares) {
  for (const ElasticModel kind : kElasticModels)
    for (const double nu : {0.0, 0.4}) {
      const bool straight = nu == 0 || kind == ElasticModel::arap;
      SCOPED_TRACE(testing::Message() << "model " << static_cast<int>(kind) << " nu " << nu);
      EXPECT_NEAR(lacks(kind, nu, 1), straight ? 0.755 : 0.834, 3e-3);
      EXPECT_NEAR(lacks(kind, nu, 2), straight ? 0.450 : 0.593, 3e-3);
    }
}

/// The beam is held by all nodes of its end, which cannot contract sideways there as Timoshenko's does: at nu
/// = 0.4 this takes 1.7% of w (the limit of finer meshes), at nu = 0 nothing.
TEST_P(Cantilever, TenNodeTetsBendAsBeamsDo) {
  for (const ElasticModel kind : kElasticModels) {
    SCOPED_TRACE(testing::Message() << "model " << static_cast<int>(kind));
    EXPECT_LT(std::abs(lacks(kind, 0, 1, Element::ten_node)), 0.002);
    EXPECT_LT(std::abs(lacks(kind, 0, 2, Element::ten_node)), 0.0005);
    EXPECT_LT(std::abs(lacks(kind, 0.3, 2, Element::ten_node)), 0.02);
    if (kind == ElasticModel::arap) continue;
    EXPECT_NEAR(lacks(kind, 0.4, 1, Element::ten_node), 0.064, 3e-3);
    EXPECT_NEAR(lacks(kind, 0.4, 2, Element::ten_node), 0.029, 3e-3);
  }
}

class LongCantilever : public Cantilever {};

/// Second order, once the elements resolve bending: 1.77 and 1.41 from four to eight across.
TEST_P(LongCantilever, LinearTetsConverge) {
  const double known[2][4] = {{0.755, 0.450, 0.175, 0.051}, {0.834, 0.593, 0.295, 0.111}};
  for (int row = 0; row < 2; ++row) {
    double last = 1, order = 0;
    for (int k = 0; k < 4; ++k) {
      const double lack = lacks(ElasticModel::stable_neo_hookean, row == 0 ? 0.0 : 0.4, 1 << k);
      EXPECT_NEAR(lack, known[row][k], 3e-3) << (1 << k) << " across";
      EXPECT_GT(std::log2(last / lack), order) << "the order grows towards 2";
      order = std::log2(last / lack);
      last = lack;
    }
    EXPECT_GT(order, row == 0 ? 1.7 : 1.35);
    EXPECT_LT(order, 2.1);
  }
}

/// Differences fall by four from mesh to mesh: the limit is 0.017.
TEST_P(LongCantilever, TenNodeTetsConverge) {
  const auto lack = [&](int across) {
    return lacks(ElasticModel::stable_neo_hookean, 0.4, across, Element::ten_node);
  };
  const double one = lack(1), two = lack(2), four = lack(4);
  EXPECT_NEAR(std::log2((one - two) / (two - four)), 2, 0.2);
  EXPECT_NEAR(four - (two - four) / 3, 0.017, 1e-3);
}

/// A mat of 0.4 m x 0.1 m x 0.4 m and nu = 0.495 between two plates that hold its faces: their distance falls
/// by 0.1%. What resists is that the mat must bulge at its sides.
class Mat : public ElasticAccuracy {
 protected:
  /// Apparent Young's modulus over that of the material, from the work 1/2 E strain^2 volume.
  double stiffness(int across, Element element) {
    model = {};
    model.materials.push_back({});
    model.material_names.push_back("rubber");
    model.materials[0].young = 1e6;
    model.materials[0].poisson = 0.495;
    const fixtures::BoxMesh lattice =
        box_lattice({0.4, 0.1, 0.4}, {0, 0, 0}, {4 * across, across, 4 * across});
    (element == Element::linear ? add_solid : add_ten_node_solid)(model, "mat", lattice.nodes, lattice.tets,
                                                                  0);
    ScriptedNodes plates[2];
    plates[1].motion.velocity = {0, -1e-4, 0};
    for (std::size_t i = 0; i < model.node_count(); ++i)
      for (const int side : {0, 1})
        if (std::abs(model.rest_positions[i][1] - (side - 0.5) * 0.1) < 1e-9)
          plates[side].nodes.push_back(static_cast<std::int32_t>(i));
    model.scripted = {plates[0], plates[1]};
    finalize(model);
    params.gravity = 0;
    params.dt = 1;
    params.newton_tolerance = 1e-9;
    load();
    const StepReport report = step();
    return report.elastic_energy / (0.5 * 1e6 * 1e-6 * 0.4 * 0.1 * 0.4);
  }
};

/// Meshes of both elements tend to 3.15 from above: linear tets reach 4.09 with eight across, ten-node
/// tets 3.20 with five.
TEST_P(Mat, LocksOfLinearTetsAndHardlyOfTenNodeTets) {
  constexpr double kLimit = 3.15;
  const double linear = stiffness(4, Element::linear),
               ten_node = stiffness(2, Element::ten_node);  // equal nodes
  EXPECT_GT(linear, 1.9 * kLimit);
  EXPECT_LT(ten_node, 1.16 * kLimit);
  EXPECT_GT(ten_node, kLimit);
  const double finer = stiffness(3, Element::ten_node);
  EXPECT_LT(finer, 1.06 * kLimit);
  EXPECT_GT(finer, kLimit);
}
INSTANTIATE_ON_BACKENDS(Mat);

INSTANTIATE_ON_BACKENDS(Cantilever);
INSTANTIATE_ON_BACKENDS(LongCantilever);

/// Effect of backward Euler on a freely rotating body: x moves along chords, so that 1 / w^2 = 1 / w_0^2 + 2
/// dt t. First order, for any elements.
TEST_P(ElasticAccuracy, ASpinningCubeSlowsAsBackwardEulerSays) {
  params.gravity = 0;
  params.newton_tolerance = 1e-6;
  constexpr double kSpin = 3, kSeconds = 0.5;
  for (const bool beside_bodies : {false, true}) {
    model = {};
    add_box(model, "cube", {0.1, 0.1, 0.1}, {0, 0, 0}, 1);
    // At velocity level the stiffness must not matter: elastic forces are linearised at a rigid motion.
    model.materials[0].young = beside_bodies ? 1e9 : 1e6;
    for (std::size_t i = 0; i < model.node_count(); ++i)
      model.velocities[i] = cross(Vec3d{0, 0, kSpin}, model.positions[i]);
    if (beside_bodies) {
      fixtures::add_rigid_box(model, {0.1, 0.1, 0.1}, fixtures::pose_at({5, 0, 0}));
      params.solver = SolverKind::velocity;
      engine = make_engine(GetParam(), 1);
    }
    finalize(model);
    const Refinement r = refine(1.0 / 60, 3, [&](double dt) {
      params.dt = dt;
      load();
      double start = 0, now = 0;
      const int steps = static_cast<int>(std::lround(kSeconds / dt));
      for (int k = 0; k < steps; ++k) {
        now = step().angular_momentum[2];
        if (k == 0) start = now;
      }
      EXPECT_NEAR(now / start, 1 / std::sqrt(1 + 2 * kSpin * kSpin * dt * kSeconds), 7e-3) << dt;
      return 1 - now / start;
    });
    EXPECT_NEAR(r.order(), 1, 0.15) << r.text();
  }
}

// A direction is also short if PCG stops early: that alone must not end Newton's method.
TEST_P(ElasticAccuracy, ALooseLinearSolveLosesNoMomentum) {
  for (const PcgCriterion criterion : {PcgCriterion::truncated, PcgCriterion::relative}) {
    model = {};
    model.materials.push_back({});
    model.materials[0].young = 1e10;
    model.material_names.push_back("stiff");
    add_box(model, "block", {2, 1, 1}, {0, 0, 0}, 2, 0, {1, 0, 0});
    finalize(model);
    params.gravity = 0;
    params.dt = 1.0 / 60;
    params.newton_tolerance = 1e-2;
    params.linear_solver = LinearSolverKind::pcg;
    params.pcg_stop = criterion;
    params.pcg_tolerance = 0.5;
    load();
    const double before = step().momentum[0];
    EXPECT_NEAR(before, 2000, 20);
    for (int i = 0; i < 5; ++i) EXPECT_NEAR(step().momentum[0], before, 1e-2 * before);
  }
}

/// Share of the energy that a vibration keeps: (1 + w^2 dt^2)^-1 per step of backward Euler.
TEST_P(ElasticAccuracy, AVibrationDecaysAsBackwardEulerSays) {
  model.materials.push_back({});
  model.material_names.push_back("default");
  model.materials[0].young = 1e7;
  add_beam(model, 1);
  params.gravity = -0.05;
  params.dt = 10;
  load();
  for (int k = 0; k < 3; ++k) step();
  State bent = engine->state();
  for (Vec3d& v : bent.velocities) v = {0, 0, 0};
  const double start = step().elastic_energy;
  params.gravity = 0;
  // First mode of a beam; the mesh error is included (see Cantilever).
  const double omega2 = 3.516 * 3.516 * 1e7 * 0.01 / (12 * 1000) / (1 - 0.834);
  const Refinement r = refine(1.0 / 240, 3, [&](double dt) {
    params.dt = dt;
    engine->set_params(params);
    engine->set_state(bent);
    StepReport report;
    const int steps = static_cast<int>(std::lround(0.5 / dt));
    for (int k = 0; k < steps; ++k) report = step();
    const double rate = -std::log((report.kinetic_energy + report.elastic_energy) / start);
    EXPECT_NEAR(rate, steps * std::log1p(omega2 * dt * dt), 0.1 * rate) << dt;
    return rate;
  });
  EXPECT_NEAR(r.order(), 1, 0.1) << r.text();
}

/// Lumped, as the engine's: a quarter of each tet.
std::vector<double> node_masses(const Model& model) {
  std::vector<double> mass(model.node_count(), 0.0);
  for (const Object& object : model.objects)
    for (const Vec4i& n : tets_of(model, object)) {
      const auto at = [&](int c) { return model.rest_positions[static_cast<std::size_t>(n[c])]; };
      const double volume = dot(at(1) - at(0), cross(at(2) - at(0), at(3) - at(0))) / 6;
      const double density = model.materials[static_cast<std::size_t>(object.material)].density;
      for (int c = 0; c < 4; ++c) mass[static_cast<std::size_t>(n[c])] += density * volume / 4;
    }
  return mass;
}

/// A collision in free space of two cubes offset by half a side.
struct CollisionMomenta {
  double linear = 0;   // largest change in a step, over the momentum of one cube
  double torque = 0;   // sum over the steps of |sum m x_{n+1} x (v_{n+1} - v_n)|, over |L|
  double angular = 0;  // |change of L| over |L|
  double couple = 0;   // bound on the torque of friction across gaps of d_hat, over |L|
};

class Collision : public ElasticAccuracy {
 protected:
  CollisionMomenta collide(double mu, double damping, double dt) {
    model = {};
    params.gravity = 0;
    params.dt = dt;
    add_box(model, "left", {0.1, 0.1, 0.1}, {-0.06, 0.03, 0.007}, 2, 10, {1, 0, 0});
    add_box(model, "right", {0.1, 0.1, 0.1}, {0.06, -0.01, 0}, 2, -7, {-0.5, 0, 0});
    model.materials[0].mu = mu;
    model.materials[0].damping = damping;
    finalize(model);
    load();
    const std::vector<double> mass = node_masses(model);
    const auto angular = [&](const State& s) {
      Vec3d sum{0, 0, 0};
      for (std::size_t i = 0; i < mass.size(); ++i) sum += mass[i] * cross(s.positions[i], s.velocities[i]);
      return sum;
    };
    State last = engine->state();
    const Vec3d start = angular(last);
    CollisionMomenta result;
    const int steps = static_cast<int>(std::lround(0.3 / dt));
    Snapshot contacts;
    for (int k = 0; k < steps; ++k) {
      step();
      const State now = engine->state();
      Vec3d push{0, 0, 0}, turn{0, 0, 0};
      for (std::size_t i = 0; i < mass.size(); ++i) {
        const Vec3d change = mass[i] * (now.velocities[i] - last.velocities[i]);
        push += change;
        turn += cross(now.positions[i], change);
      }
      engine->snapshot(contacts);
      for (const ContactRecord& c : contacts.contacts)
        result.couple += dt * mu * c.normal_force * params.d_hat / norm(start);
      result.linear = std::max(result.linear, norm(push));
      result.torque += norm(turn) / norm(start);
      last = now;
    }
    result.angular = norm(angular(last) - start) / norm(start);
    return result;
  }
};

/// Elastic forces and the barrier are invariant under rotation. So the torque of a step about its end
/// positions is zero, to the solver's tolerance: the loss of a collision is that of backward Euler.
TEST_P(Collision, WithoutFrictionNoStepHasATorque) {
  const CollisionMomenta m = collide(0, 0, 1.0 / 60);
  EXPECT_LT(m.linear, 1e-13);
  EXPECT_LT(m.torque, 1e-7);
  EXPECT_GT(m.angular, 1e-3);
  params.newton_tolerance = 1e-2;
  EXPECT_LT(collide(0, 0, 1.0 / 60).torque, 1e-3);
}

/// Friction acts on both sides of a gap: its couple is at most friction times d_hat.
TEST_P(Collision, TheTorqueOfFrictionIsThatOfTheGap) {
  const CollisionMomenta wide = collide(0.3, 0, 1.0 / 60);
  EXPECT_LT(wide.linear, 1e-13);
  EXPECT_LT(wide.torque, wide.couple);
  EXPECT_GT(wide.torque, 1e-4);
  params.d_hat = 2e-4;
  const CollisionMomenta narrow = collide(0.3, 0, 1.0 / 60);
  EXPECT_LT(narrow.torque, 0.2 * wide.torque);
}

/// Damping resists strain, not spin: the remaining error is of first order, since the force is linear in a
/// step.
TEST_P(Collision, TheTorqueOfDampingFallsWithTheStep) {
  params.newton_tolerance = 1e-6;
  const Refinement r = refine(1.0 / 60, 4, [&](double dt) { return collide(0, 1e-2, dt).torque; });
  EXPECT_GT(r.order(), 0.9) << r.text();
  EXPECT_LT(r.errors.back(), 0.1) << r.text();
}

INSTANTIATE_ON_BACKENDS(Collision);
INSTANTIATE_ON_BACKENDS(ElasticAccuracy);

}  // namespace
}  // namespace stickslip
