// Islands of bodies that have converged are not computed again in barrier steps: the minimum stays the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/step/barrier_al_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::Vec3d;

class IslandSteps : public fixtures::EngineTest {
 protected:
  IslandSteps() {
    params.solver = SolverKind::ipc;
    params.dt = 0.02;
    params.barrier_stiffness = 4e3;  // one for all scenes: the adaptive one is that of all contacts
  }

  /// Where the nodes of `model` are after these steps; counts the iterations in which islands were settled,
  /// and those before which some moved again.
  std::vector<Vec3d> end_of(Model model, int steps) {
    load(model);
    settled_iterations = woken = 0;
    for (int i = 0; i < steps; ++i) {
      const StepReport report = step();
      int before = 0;
      for (const NewtonRecord& record : report.newton) {
        settled_iterations += record.settled_nodes > 0;
        woken += record.settled_nodes < before;
        before = record.settled_nodes;
      }
      last = report;
    }
    return engine->state().positions;
  }

  /// The same with factorisations, after which nothing settles.
  std::vector<Vec3d> end_without(const Model& model, int steps) {
    params.linear_solver = LinearSolverKind::cholesky;
    const std::vector<Vec3d> x = end_of(model, steps);
    EXPECT_EQ(settled_iterations, 0);
    params.linear_solver = LinearSolverKind::pcg;
    return x;
  }

  static double distance(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
    EXPECT_EQ(a.size(), b.size());
    double most = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, norm(a[i] - b[i]));
    return most;
  }

  int settled_iterations = 0, woken = 0;
  StepReport last;
};

INSTANTIATE_ON_BACKENDS(IslandSteps);

/// A heap, far from two boxes that slide and one that flies.
void add_heap(Model& model) {
  for (int i = 0; i < 3; ++i)
    add_box(model, "heap " + std::to_string(i), {0.1, 0.1, 0.1}, {0.02 * i, 0.053 + 0.112 * i, 0.01 * i}, 1,
            3.0 * i, {0.4, i == 0 ? 0.0 : -0.3, 0});
}
void add_others(Model& model) {
  add_box(model, "slides", {0.1, 0.1, 0.1}, {2, 0.053, 0}, 1, 0, {0.5, 0, 0});
  add_box(model, "flies", {0.1, 0.1, 0.1}, {4, 1, 0}, 1, 30, {0.5, 0, 0.2});
}

/// Each island has a minimum of its own: the bodies go where they go without the others.
TEST_P(IslandSteps, GoWhereTheyGoAlone) {
  params.newton_tolerance = params.pcg_tolerance = 1e-8;
  Model heap, others, both;
  add_heap(heap);
  add_others(others);
  add_heap(both);
  add_others(both);
  for (Model* model : {&heap, &others, &both}) model->half_spaces.push_back({});
  constexpr int kSteps = 6;
  const std::vector<Vec3d> got = end_of(both, kSteps);
  if (backend() == Backend::cpu) {
    EXPECT_GT(settled_iterations, kSteps) << "else this test shows nothing";
  }
  EXPECT_LT(distance(got, end_without(both, kSteps)), 1e-7);
  std::vector<Vec3d> want = end_of(heap, kSteps);
  for (const Vec3d& x : end_of(others, kSteps)) want.push_back(x);
  EXPECT_LT(distance(got, want), 1e-7);
}

/// The same at a tolerance of a scene: every body within it.
TEST_P(IslandSteps, KeepTheTolerance) {
  Model model;
  add_heap(model);
  add_others(model);
  model.half_spaces.push_back({});
  params.newton_tolerance = params.pcg_tolerance = 1e-8;
  const std::vector<Vec3d> exact = end_without(model, 1);
  params.newton_tolerance = 1e-3;
  params.pcg_tolerance = 1e-3;
  EXPECT_LT(distance(end_of(model, 1), exact), 1e-3 * 4.2 * params.dt) << "4.2 m: the diagonal of the scene";
}

/// A body at rest, and above it one that a third one pushes down: in some of these steps the first one is
/// settled before the second one comes near.
TEST_P(IslandSteps, AreWokenByWhatComesNear) {
  params.newton_tolerance = params.pcg_tolerance = 1e-7;
  params.newton_start = NewtonStart::state;
  params.gravity = 0;
  int wakings = 0;
  for (int k = 0; k < 40; ++k) {
    SCOPED_TRACE(k);
    Model model;
    model.materials.push_back({});
    model.material_names.push_back("soft");
    model.materials[0].mu = 0;
    model.materials[0].young = 2e4;
    const double gap = 0.0021 + 0.0002 * k;
    add_box(model, "rests", {0.1, 0.1, 0.1}, {0, 0.06, 0}, 1);
    add_box(model, "hangs", {0.1, 0.1, 0.1}, {0.01, 0.16 + gap, 0.02}, 1);
    add_box(model, "comes", {0.1, 0.1, 0.1}, {0.02, 0.2615 + gap, 0.01}, 1, 0, {0, -0.5, 0});
    const std::vector<Vec3d> got = end_of(model, 1);
    wakings += woken;
    EXPECT_LT(distance(got, end_without(model, 1)), 1e-7);
  }
  if (backend() == Backend::cpu) {
    EXPECT_GT(wakings, 0) << "else this test shows nothing";
  }
}

/// What the report says of contacts and energy does not depend on what is settled.
TEST_P(IslandSteps, ReportAllContacts) {
  params.newton_tolerance = params.pcg_tolerance = 1e-6;
  Model model;
  add_heap(model);
  add_others(model);
  model.half_spaces.push_back({});
  end_of(model, 8);
  Snapshot snapshot;
  engine->snapshot(snapshot);
  const int slides = 3;
  EXPECT_TRUE(std::any_of(snapshot.contacts.begin(), snapshot.contacts.end(),
                          [&](const ContactRecord& c) { return c.object_a == slides; }));
  EXPECT_EQ(last.contacts, static_cast<int>(snapshot.contacts.size()));
  EXPECT_EQ(last.newton.back().contacts, last.contacts);
  for (std::size_t k = 1; k < last.newton.size(); ++k)
    EXPECT_NEAR(last.newton[k].energy, last.newton[0].energy, 0.05 * std::abs(last.newton[0].energy));
}

}  // namespace
}  // namespace stickslip
