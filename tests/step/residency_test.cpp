// Transfers between host and backend during a step, on any backend: bounds that a device needs to be fast.
#include <algorithm>
#include <cmath>

#include "gpu/contact_lab.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/engine_fixture.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip {
namespace {

class Residency : public fixtures::EngineTest {
 protected:
  Residency() { params.check_intersections = false; }

  static constexpr int kSteps = 12;  // they touch from the third one on
  /// Two boxes that slide down and come to rest.
  void load_boxes() {
    Model model;
    fixtures::add_box(model, "lower", {0.1, 0.1, 0.1}, {0, 0.052, 0}, 3);
    fixtures::add_box(model, "upper", {0.1, 0.1, 0.1}, {0.01, 0.155, 0.01}, 3, 3, {0.4, 0, 0});
    model.half_spaces.push_back({});
    load(model);
  }
};

/// Line-search halvings of a step: each reads the energy once more.
int halvings(const StepReport& report) {
  int count = 0;
  for (const NewtonRecord& record : report.newton) {
    const double length = record.step_length > 0 ? record.step_length : 1e-10;
    count += static_cast<int>(std::lround(std::log2(record.ccd_bound / length)));
  }
  return count;
}

/// Iterations with a small Newton step: the balance of all objects may be read after them.
std::size_t small_steps(const StepReport& report, const Params& params) {
  std::size_t count = 0;
  for (const NewtonRecord& record : report.newton) count += record.step_norm <= params.newton_tolerance;
  return count;
}

/// Iterations that may follow friction, by FrictionResponse: a linear solve and a read more.
std::size_t follows(const StepReport& report) {
  std::size_t count = 0;
  for (std::size_t k = 1; k < report.newton.size(); ++k)
    count += report.newton[k - 1].step_length >= 0.9 &&
             report.newton[k].step_norm >= 0.1 * report.newton[k - 1].step_norm;
  return count;
}

// A Newton iteration reads four times: the number of candidates, the direction with its norms, the line
// search, the new contacts. A step reads seven more times: candidates and contacts at its start, the
// stiffness, its end.
TEST_P(Residency, ABarrierStepReadsAFewNumbersPerNewtonIteration) {
  constexpr std::size_t kPerStep = 7, kPerIteration = 5, kBytesPerRead = 256;
  // The groups of `two_level`, which solves on the CPU alone: once, when it is first used.
  const std::size_t most_uploads = GetParam() == Backend::cpu ? 4 : 0;
  load_boxes();
  std::size_t pcg = 0, uploads = 0;
  for (int i = 0; i < kSteps; ++i) {
    const StepReport report = engine->step();
    const auto iterations = static_cast<std::size_t>(report.newton_iterations);
    const Counters& c = report.counters;
    EXPECT_LE(c.copies_to_host, kPerStep + kPerIteration * iterations + small_steps(report, params) +
                                    follows(report) + static_cast<std::size_t>(halvings(report)))
        << "frame " << report.frame;
    EXPECT_LE(c.bytes_to_host, kBytesPerRead * c.copies_to_host);
    uploads += c.copies_to_device;
    // A device solves a system of this size in a resident kernel, the CPU by chunks.
    EXPECT_EQ(c.graph_launches, 0u);
    // The number of launches does not grow with the PCG iterations.
    EXPECT_LE(c.launches, 200 + 130 * iterations);
    pcg += static_cast<std::size_t>(report.pcg_iterations);
  }
  EXPECT_LE(uploads, most_uploads);
  EXPECT_GT(pcg, 100u);
}

TEST_P(Residency, MultipliersCostTwoReadsMoreAndAHeldPointOne) {
  constexpr std::size_t kPerStep = 7, kPerIteration = 6;
  params.solver = SolverKind::barrier_al;
  load_boxes();
  engine->set_drag(Drag{{0, 1, 2}, {0.2, 0.3, 0.5}, {0, 0.05, 0}});
  for (int i = 0; i < kSteps; ++i) {
    const StepReport report = engine->step();
    EXPECT_LE(report.counters.copies_to_host,
              kPerStep + 1 + kPerIteration * static_cast<std::size_t>(report.newton_iterations) +
                  small_steps(report, params) + follows(report) + static_cast<std::size_t>(halvings(report)))
        << "frame " << report.frame;
  }
}

class RigidResidency : public fixtures::VelocityStepTest {
 protected:
  RigidResidency() { contact.tolerance = 1e-4; }
  /// Four columns of five boxes on a half-space.
  void load_columns() {
    Model model;
    for (int c = 0; c < 20; ++c)
      fixtures::add_rigid_box(model, {0.05, 0.05, 0.05},
                              fixtures::pose_at({0.3 * (c % 4), 0.05 + 0.1 * (c / 4), 0}));
    model.half_spaces.push_back({});
    finalize(model);
    load(model);
  }
  /// 1015 boxes: contacts of one box have many colours, some of them with few contacts.
  void load_pyramid() {
    Model model;
    fixtures::add_pyramid(model, 14);
    model.half_spaces.push_back({});
    finalize(model);
    load(model);
  }
  /// Maximum of each counter over the steps after a start.
  Counters most_after_start(int start, int steps) {
    run_unconverged(start);
    Counters most;
    for (int i = 0; i < steps; ++i) {
      const Counters c = engine->step().counters;
      most.copies_to_host = std::max(most.copies_to_host, c.copies_to_host);
      most.bytes_to_host = std::max(most.bytes_to_host, c.bytes_to_host);
      most.copies_to_device = std::max(most.copies_to_device, c.copies_to_device);
      most.allocations = std::max(most.allocations, c.allocations);
    }
    return most;
  }
};

TEST_P(RigidResidency, AStepReadsAFewNumbersBesideTheChecksOfItsSolver) {
  for (const ContactSolverKind solver : {ContactSolverKind::manifold_gs, ContactSolverKind::nsgs,
                                         ContactSolverKind::prox_gs, ContactSolverKind::spg}) {
    SCOPED_TRACE(static_cast<int>(solver));
    params.contact_solver = solver;
    contact.max_iterations = 10;
    load_columns();
    const Counters most = most_after_start(20, 20);
    EXPECT_LE(most.copies_to_host, 6u + 2u * static_cast<unsigned>(contact.max_iterations));
    EXPECT_LE(most.bytes_to_host, 128 * most.copies_to_host);
    EXPECT_LE(most.copies_to_device, 1u);
    EXPECT_EQ(most.allocations, 0u);
  }
}

TEST_P(RigidResidency, BalancingColoursOfManyContactsReadsNothing) {
  params.contact_solver = ContactSolverKind::nsgs;
  contact.max_iterations = 2;
  load_pyramid();
  const Counters most = most_after_start(1, 2);
  EXPECT_LE(most.copies_to_host, 6u + 2u * static_cast<unsigned>(contact.max_iterations));
  EXPECT_GT(engine->step().contacts, 10000);
}

TEST_P(RigidResidency, ScriptedBodiesCopyNothingAndAHeldBodyIsReadOnce) {
  params.contact_solver = ContactSolverKind::manifold_gs;
  Model model;
  fixtures::add_rigid_box(model, {0.05, 0.05, 0.05}, fixtures::pose_at({0, 0.05, 0}));
  // Three nodes, by which the mouse can hold it.
  model.objects[0].node_end = 3;
  model.positions = model.rest_positions = {{0.05, 0, 0}, {0.05, 0.02, 0}, {0.05, 0, 0.02}};
  model.velocities.assign(3, {0, 0, 0});
  model.node_object.assign(3, 0);
  for (int i = 0; i < 3; ++i) {
    const std::int32_t body =
        fixtures::add_rigid_box(model, {0.05, 0.05, 0.05}, fixtures::pose_at({1 + 0.3 * i, 0.1, 0}), false);
    model.bodies[static_cast<std::size_t>(body)].motion = i;
    model.body_motions.emplace_back();
    model.body_motions.back().angular_velocity = {0, 1.0 + i, 0};
  }
  model.half_spaces.push_back({});
  load(model);
  const Counters without = most_after_start(5, 5);
  EXPECT_LE(without.copies_to_device, 1u);
  engine->set_drag(Drag{{0, 1, 2}, {1, 0, 0}, {0.1, 0.3, 0}});
  const Counters with = most_after_start(5, 5);
  EXPECT_EQ(with.copies_to_device, without.copies_to_device);
  EXPECT_EQ(with.copies_to_host, without.copies_to_host + 1);
}

/// Contacts with torsion are no manifolds: the host colours them, but only when they change.
TEST_P(RigidResidency, ContactsThatStayKeepTheirColours) {
  params.contact_solver = ContactSolverKind::manifold_gs;
  Model model;
  for (int c = 0; c < 20; ++c)
    fixtures::add_rigid_box(model, {0.05, 0.05, 0.05},
                            fixtures::pose_at({0.3 * (c % 4), 0.05 + 0.101 * (c / 4), 0}));
  model.half_spaces.push_back({});
  model.materials[0].torsion_radius = 0.01;
  finalize(model);
  load(model);
  contact.max_iterations = 2000;
  engine->set_contact_params(contact);
  run(20);  // boxes land one after the other; without new colours their contacts would not be solved
  const Counters most = most_after_start(0, 20);
  EXPECT_EQ(engine->step().contacts, 80);
  EXPECT_LE(most.copies_to_host, GetParam() == Backend::cuda ? 10u : 7u);
  EXPECT_LE(most.copies_to_device, 1u);
  EXPECT_EQ(most.allocations, 0u);
}

TEST_P(RigidResidency, ManifoldGsReadsTheSameForAnyNumberOfIterations) {
  params.contact_solver = ContactSolverKind::manifold_gs;
  contact.tolerance = 1e-15;
  contact.warm_start = false;
  const bool colours = GetParam() == Backend::cuda;  // in another loop, with three more reads
  for (const int iterations : {10, 80}) {
    contact.max_iterations = iterations;
    load_columns();
    EXPECT_LE(most_after_start(20, 5).copies_to_host, colours ? 9u : 6u) << iterations << " iterations";
    const StepReport report = engine->step();
    EXPECT_LE(report.contact_solve->iterations, iterations);
    EXPECT_GE(report.contact_solve->iterations, std::min(iterations, 20));
    EXPECT_EQ(report.counters.graph_launches, colours ? 2u : 1u);
    EXPECT_LT(report.counters.launches, 200u);
  }
}

INSTANTIATE_ON_BACKENDS(Residency);
INSTANTIATE_ON_BACKENDS(RigidResidency);

}  // namespace
}  // namespace stickslip
