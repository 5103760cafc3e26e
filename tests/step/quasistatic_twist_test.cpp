// Steps of rods whose twist is quasistatic [Bergou08 §5], under every family of steppers: the angles are in
// equilibrium at the end of a step, and nothing else changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "gpu/energy/rod_element.h"
#include "gpu/model/element_group.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// What makes the steps.
struct TwistStepper {
  const char* name;
  SolverKind solver;
  SolidCoupling coupling = SolidCoupling::rounds;
  NodalIntegrator integrator = NodalIntegrator::newton;
  TimeIntegrator time = TimeIntegrator::backward_euler;
};
const TwistStepper kTwistSteppers[] = {
    {"ipc", SolverKind::ipc},
    {"newmark", SolverKind::ipc, SolidCoupling::rounds, NodalIntegrator::newton, TimeIntegrator::newmark},
    {"barrier_al", SolverKind::barrier_al},
    {"ccd_al", SolverKind::ccd_al},
    {"rounds", SolverKind::velocity},
    {"nodal_admm", SolverKind::velocity, SolidCoupling::nodal_admm},
    {"nodal_admm, admm", SolverKind::velocity, SolidCoupling::nodal_admm, NodalIntegrator::admm}};

Model twist_model(double young, double damping) {
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("default");
  Material& m = model.materials[0];
  m.young = young;
  m.poisson = 0.25;
  m.damping = damping;
  return model;
}

/// A rod through `nodes`. Its own parts do not collide.
Object& add_twist_rod(Model& model, const std::vector<Vec3d>& nodes, double diameter, double aspect,
                      bool quasistatic) {
  std::vector<Vec2i> segments;
  for (std::int32_t i = 0; i + 1 < static_cast<std::int32_t>(nodes.size()); ++i)
    segments.push_back({i, i + 1});
  Object& rod = add_rods(model, "rod", nodes, segments, 0, diameter, aspect);
  rod.quasistatic_twist = quasistatic;
  rod.no_contact_group = 1;
  return rod;
}

/// The nodes of the first or last segment, its ghost included.
std::vector<std::int32_t> end_segment(const Model& model, const Object& rod, bool last) {
  const std::int32_t s = last ? rod.segment_end - 1 : rod.segment_begin;
  const Vec2i& nodes = model.segments[static_cast<std::size_t>(s)];
  return {rod_ghost(rod, s), nodes[0], nodes[1]};
}

/// A straight rod of `count` segments along x from the origin, held by its first one; its last one turns by
/// `turn` about x in the first `time`.
Model turned_rod(int count, double young, bool quasistatic, double turn, double time) {
  Model model = twist_model(young, 0);
  std::vector<Vec3d> nodes;
  for (int i = 0; i <= count; ++i) nodes.push_back({double(i) / count, 0, 0});
  const Object& rod = add_twist_rod(model, nodes, 0.02, 1, quasistatic);
  model.scripted.push_back({end_segment(model, rod, false), {}});
  ScriptedNodes turned{end_segment(model, rod, true), {}};
  turned.motion.angular_velocity = {turn / time, 0, 0};
  turned.motion.end = time;
  model.scripted.push_back(turned);
  finalize(model);
  return model;
}

/// An arc of a helix with a flat section, held by its first segment; the last one moves and turns until 0.2
/// s.
Model bent_rod(bool quasistatic, double damping) {
  Model model = twist_model(1e7, damping);
  std::vector<Vec3d> nodes;
  for (int i = 0; i <= 24; ++i) nodes.push_back({0.2 * std::cos(0.1 * i), 0.2 * std::sin(0.1 * i), 0.01 * i});
  const Object& rod = add_twist_rod(model, nodes, 0.01, 3, quasistatic);
  model.scripted.push_back({end_segment(model, rod, false), {}});
  ScriptedNodes moved{end_segment(model, rod, true), {}};
  moved.motion.center = nodes.back();
  moved.motion.keys = {{0, {0, 0, 0}, {0, 0, 0}}, {0.2, {0.05, 0.02, -0.06}, {40, -30, 20}}};
  model.scripted.push_back(moved);
  finalize(model);
  return model;
}

class QuasistaticTwist : public fixtures::VelocityStepTest {
 protected:
  QuasistaticTwist() {
    params.gravity = 0;
    params.newton_tolerance = 1e-9;
    params.pcg_tolerance = 1e-12;
    params.admm_tolerance = 1e-12;
    params.admm_iterations = 20000;
    contact.tolerance = 1e-9;
    contact.max_iterations = 2000;
  }
  void choose(const TwistStepper& stepper) {
    params.solver = stepper.solver;
    params.coupling = stepper.coupling;
    params.nodal_integrator = stepper.integrator;
    params.time_integrator = stepper.time;
    params.linearisations =
        stepper.solver == SolverKind::velocity && stepper.integrator == NodalIntegrator::newton ? 40 : 1;
  }
  void advance(int steps) {
    for (int i = 0; i < steps; ++i) {
      const StepReport report = engine->step();
      EXPECT_TRUE(report.converged) << "frame " << report.frame << ": " << report.stop_reason;
    }
  }
};

/// [rad] about x, of the ghost of segment s.
double turn_of_ghost(const Model& model, const State& state, int s) {
  const Object& rod = model.objects[0];
  const auto ghost = static_cast<std::size_t>(rod_ghost(rod, rod.segment_begin + s));
  const Vec3d rest = model.positions[ghost], y = state.positions[ghost];
  return std::atan2(y[2], y[1]) - std::atan2(rest[2], rest[1]);
}

// One step after the end was turned, the twist is uniform. A wave of shear would take five steps to cross the
// rod: with inertia the middle has hardly turned.
TEST_P(QuasistaticTwist, IsUniformInOneStep) {
  if (sizeof(Real) != 8) GTEST_SKIP() << "differences this small need double";
  const int n = 20;
  const double turn = 0.4;
  for (const TwistStepper& stepper : kTwistSteppers) {
    SCOPED_TRACE(stepper.name);
    choose(stepper);
    const Model model = turned_rod(n, 1e6, true, turn, params.dt);
    load(model);
    advance(1);
    for (int s = 0; s < n; ++s)
      EXPECT_NEAR(turn_of_ghost(model, engine->state(), s), turn * s / (n - 1), 1e-4 * turn) << s;
    load(turned_rod(n, 1e6, false, turn, params.dt));
    advance(1);
    EXPECT_LT(turn_of_ghost(model, engine->state(), n / 2), 0.3 * turn / 2);
  }
}

/// [N m] The largest of the elastic energy's derivatives by the angles of segments without a script, by
/// differences of the energy that gpu/energy/rod_element.h states, over the largest torque of a vertex.
double torque_imbalance(const Model& model, const State& state) {
  const Object& rod = model.objects[0];
  const Material& m = model.materials[0];
  const RodSection section = rod_section(rod.thickness, rod.aspect);
  const double shear = m.young / (2 * (1 + m.poisson));
  const auto segments = static_cast<int>(rod.segment_end - rod.segment_begin);
  const auto frame = [&](const std::vector<Vec3d>& x, int s) {
    const Vec2i& nodes = model.segments[static_cast<std::size_t>(rod.segment_begin + s)];
    return rod_frame(x[static_cast<std::size_t>(nodes[0])].cast<Real>(),
                     x[static_cast<std::size_t>(nodes[1])].cast<Real>(),
                     x[static_cast<std::size_t>(rod_ghost(rod, rod.segment_begin + s))].cast<Real>());
  };
  double most_torque = 0;
  const auto energy = [&](const std::vector<Vec3d>& x) {
    double sum = 0;
    for (int s = 0; s + 1 < segments; ++s) {
      const RodFrame a = frame(model.rest_positions, s), b = frame(model.rest_positions, s + 1);
      const VertexStrain rest = vertex_strain(a, b), now = vertex_strain(frame(x, s), frame(x, s + 1));
      const double length = (double(a.length) + double(b.length)) / 2;
      const double stiffness[] = {m.young * section.across_d2, m.young * section.across_d1,
                                  shear * section.torsion};
      for (int k = 0; k < 3; ++k) {
        const double change = double(now.s[k]) - double(rest.s[k]);
        sum += stiffness[k] / (2 * length) * change * change;
        most_torque = std::max(most_torque, stiffness[k] / length * std::abs(change));
      }
    }
    return sum;
  };
  double most = 0;
  for (int s = 1; s + 1 < segments; ++s) {
    const RodFrame f = frame(state.positions, s);
    const auto ghost = static_cast<std::size_t>(rod_ghost(rod, rod.segment_begin + s));
    const double h = 1e-5;
    double e[2];
    for (const int side : {0, 1}) {
      std::vector<Vec3d> x = state.positions;
      const double angle = side == 0 ? -h : h;
      x[ghost] += double(f.rho) *
                  ((std::cos(angle) - 1) * f.d1.cast<double>() + std::sin(angle) * f.d2.cast<double>());
      e[side] = energy(x);
    }
    most = std::max(most, std::abs(e[1] - e[0]) / (2 * h));
  }
  return most / most_torque;
}

TEST_P(QuasistaticTwist, TorquesOfABentFlatRodAreInBalance) {
  if (sizeof(Real) != 8) GTEST_SKIP() << "differences this small need double";
  for (const TwistStepper& stepper : kTwistSteppers) {
    SCOPED_TRACE(stepper.name);
    choose(stepper);
    const Model model = bent_rod(true, 0);
    load(model);
    for (int i = 0; i < 8; ++i) {
      advance(1);
      EXPECT_LT(torque_imbalance(model, engine->state()), 1e-5) << i;
    }
  }
  choose(kTwistSteppers[0]);
  const Model dynamic = bent_rod(false, 0);
  load(dynamic);
  advance(1);
  EXPECT_GT(torque_imbalance(dynamic, engine->state()), 1e-3);
}

// Inertia does not act at rest.
TEST_P(QuasistaticTwist, RestsWhereDynamicTwistDoes) {
  if (sizeof(Real) != 8) GTEST_SKIP() << "differences this small need double";
  params.dt = 0.02;
  for (const TwistStepper& stepper : {kTwistSteppers[0], kTwistSteppers[4]}) {
    SCOPED_TRACE(stepper.name);
    choose(stepper);
    params.linearisations = 3;
    State rested[2];
    for (const bool quasistatic : {false, true}) {
      load(bent_rod(quasistatic, 0.1));
      advance(150);
      rested[quasistatic] = engine->state();
    }
    double apart = 0, way = 0;
    const Model model = bent_rod(true, 0.1);
    for (std::size_t i = 0; i < model.node_count(); ++i) {
      apart = std::max(apart, norm(rested[0].positions[i] - rested[1].positions[i]));
      way = std::max(way, norm(rested[0].positions[i] - model.positions[i]));
      EXPECT_LT(norm(rested[1].velocities[i]), 1e-5) << i;
    }
    EXPECT_GT(way, 0.05);
    EXPECT_LT(apart, 1e-5 * way);
  }
}

/// A ring of radius 1 that was bent from a straight rod and closed with `twist`; its last segment is its
/// first one, and both are held. Michell's mode, which bends it out of its plane, has the size `bump` [m].
Model twisted_ring(int n, double twist, double bump, bool quasistatic) {
  const double pi = std::numbers::pi, h = 2 * std::sin(pi / n);
  Model model = twist_model(1e9, 0);
  std::vector<Vec3d> nodes;
  for (int i = 0; i <= n + 1; ++i) nodes.push_back({h * i, 0, 0});
  const Object& rod = add_twist_rod(model, nodes, 0.04, 1, quasistatic);
  const double arm = ghost_arm(h, 0.04);
  const auto place = [&](int i) {
    const double angle = 2 * pi * i / n;
    // Flat to the third order at the held segment.
    const double bend = i <= 1 || i >= n ? 0
                                         : bump * std::pow(std::sin(pi * (i - 1) / (n - 1)), 2) *
                                               std::sin(2 * pi * (i - 1) / (n - 1));
    return Vec3d{std::cos(angle), std::sin(angle), bend};
  };
  for (int i = 0; i <= n + 1; ++i)
    model.positions[static_cast<std::size_t>(rod.collides_from + i)] = place(i);
  for (int s = 0; s <= n; ++s) {
    const double angle = -twist * s / n;
    const auto ghost = static_cast<std::size_t>(rod_ghost(rod, rod.segment_begin + s));
    model.rest_positions[ghost] = {(s + 0.5) * h, arm * std::cos(angle), arm * std::sin(angle)};
    model.positions[ghost] = 0.5 * (place(s) + place(s + 1)) + Vec3d{0, 0, arm};
  }
  model.scripted.push_back({end_segment(model, rod, false), {}});
  model.scripted.push_back({end_segment(model, rod, true), {}});
  finalize(model);
  return model;
}

// Michell's instability [Goriely06]: the ring leaves its plane from the twist 2 pi sqrt(3) E I / (G J) on,
// which no inertia appears in. Both kinds of twist fall back below it, and leave the plane above it.
TEST_P(QuasistaticTwist, ARingLeavesItsPlaneAtMichellsAngle) {
  if (sizeof(Real) != 8) GTEST_SKIP() << "small modes need double";
  const int n = 40;
  const double critical = 2 * std::numbers::pi * std::sqrt(3.0) * 1.25, bump = 1e-4;
  choose(kTwistSteppers[0]);
  params.newton_tolerance = 1e-7;
  params.dt = 0.03;
  const auto height_after = [&](double share, bool quasistatic) {
    const Model model = twisted_ring(n, share * critical, bump, quasistatic);
    load(model);
    advance(100);
    double most = 0;
    for (auto i = static_cast<std::size_t>(model.objects[0].collides_from); i < model.node_count(); ++i)
      most = std::max(most, std::abs(engine->state().positions[i][2]));
    return most;
  };
  for (const bool quasistatic : {false, true}) {
    SCOPED_TRACE(quasistatic);
    EXPECT_LT(height_after(0.95, quasistatic), 2 * bump);
    EXPECT_GT(height_after(1.05, quasistatic), 10 * bump);
  }
}

// Nothing but the rest of its inertia holds the angles of a free straight round rod.
TEST_P(QuasistaticTwist, AFreeRoundRodStaysRegular) {
  for (const TwistStepper& stepper : kTwistSteppers) {
    SCOPED_TRACE(stepper.name);
    choose(stepper);
    params.gravity = -9.81;
    params.newton_tolerance = 1e-4;
    params.admm_tolerance = 1e-8;
    contact.tolerance = stepping_lab_params().tolerance;
    params.linearisations = 1;
    params.d_hat = 1e-3;
    Model model = twist_model(1e6, 0.01);
    std::vector<Vec3d> nodes;
    for (int i = 0; i <= 12; ++i) nodes.push_back({0.05 * i, 0.03, 0});
    add_twist_rod(model, nodes, 0.02, 1, true);
    model.half_spaces.push_back({{0, 1, 0}, 0, 0.5, false});
    finalize(model);
    load(model);
    const StepReport first = engine->step();
    EXPECT_TRUE(first.converged);
    const double mass = 1000 * solid_volume(model, model.objects[0]);
    EXPECT_NEAR(first.momentum[1], -9.81 * params.dt * mass, 1e-3 * 9.81 * params.dt * mass);
    advance(40);
    const State state = engine->state();
    for (std::size_t i = 0; i < model.node_count(); ++i) {
      EXPECT_GT(state.positions[i][1], 0.005) << i;
      if (stepper.time == TimeIntegrator::newmark) continue;  // it still bounces
      EXPECT_LT(std::abs(state.positions[i][0] - model.positions[i][0]), 1e-3) << i;
      EXPECT_LT(norm(state.velocities[i]), 0.05) << i;
    }
  }
}

INSTANTIATE_ON_BACKENDS(QuasistaticTwist);

}  // namespace
}  // namespace stickslip
