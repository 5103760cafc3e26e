// Runs every shipped scene with rigid bodies under every stepping solver, from the first contact impulse on.
// A step may fail to converge. But no step may return impulses outside their cones or velocities without an
// impulse as cause, and its reported residual must bound the deviation from the law that LawChecker measures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/io/scene/scene.h"
#include "gpu/engine.h"
#include "gpu/model/friction_laws.h"
#include "gpu/params/params.h"
#include "tests/app/shipped_text.h"

namespace stickslip {
namespace {

constexpr int kFrames = 3, kLongestFlight = 2000;
constexpr int kMany = 2000;           // contacts: with more, convergence within the budget is not required
constexpr double kTimeBudget = 0.05;  // [s] of a solve: this tests the laws, not speed

double largest_mu(const Model& model) {
  double mu = 0;
  for (const Material& m : model.materials) mu = std::max({mu, m.mu, m.mu_across});
  for (const HalfSpace& h : model.half_spaces) mu = std::max(mu, h.mu);
  for (const PairFriction& p : model.pair_friction) mu = std::max(mu, p.mu);
  return mu;
}

std::unique_ptr<Engine> start(const Scene& scene, const Params& params, double time_budget) {
  LabParams lab = scene.contact_params;
  lab.time_budget = time_budget;
  std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 2);
  engine->set_params(params);
  engine->set_contact_params(lab);
  engine->load(scene.model);
  return engine;
}

/// The state before the first step with a contact impulse.
State before_the_first_push(const Scene& scene) {
  const std::unique_ptr<Engine> engine = start(scene, scene.params, kTimeBudget);
  for (int i = 0; i < kLongestFlight; ++i) {
    State state = engine->state();
    const StepReport report = engine->step();
    if (report.contact_solve->law && report.contact_solve->law->impulse > 0) return state;
  }
  ADD_FAILURE() << "nothing touches anything in " << kLongestFlight << " steps";
  return engine->state();
}

/// [N s] at least this is the sum of m |v| over all nodes. The report's sum leaves out objects that scripts
/// hold, as all strands of a groom.
double least_momenta(const StepReport& report, const State& state) {
  double fastest2 = 0;
  for (const auto& v : state.velocities) fastest2 = std::max(fastest2, norm2(v));
  return fastest2 > 0 ? 2 * report.kinetic_energy / std::sqrt(fastest2) : 0;
}

/// With e = |e_c| <= residual |q| of the natural map, u_N >= -(1 + 2 mu) e. The errors of work and
/// complementarity are e times impulses and momenta. `lags`: cones depend on the solution, up to the
/// tolerance of friction rounds, which is relative to all impulses.
/// `momenta` [N s]: of what contacts push.
void expect_laws(const StepReport& report, double momenta, double mu, bool lags, std::string_view solver) {
  const ContactSolveRecord& solve = *report.contact_solve;
  ASSERT_TRUE(solve.law.has_value());
  const LawCheck& law = *solve.law;
  const double n = 1.0 + report.contacts, rounding = 1e-9 * (law.impulse + 1e-6 * law.momentum_size);
  const double lever = law.impulse > 0 ? 1 + law.torque / law.impulse : 1;
  EXPECT_LE(law.momentum, n * rounding);
  EXPECT_LE(law.angular_momentum, n * lever * rounding);
  // Interrupted iterates may have tensile impulses, or leave their cone within the tolerance: then no step
  // may report convergence.
  EXPECT_TRUE(law.pull <= rounding || !report.converged) << law.pull;
  const double e = solve.residual * solve.scale * (1 + 1e-9) + 1e-9, far = 8 * (1 + mu) * (1 + mu) * e;
  EXPECT_LE(law.approach, (1 + 2 * mu) * e);
  EXPECT_LE(law.friction_work, far * (n * law.impulse + momenta));
  EXPECT_LE(law.complementarity, far * (law.impulse + momenta));
  const bool is_box = solver.starts_with("pgs") || solver.starts_with("pivot");
  const double outside = rounding + (lags ? n * solve.tolerance * law.impulse : 0);
  EXPECT_TRUE(is_box || law.cone <= outside || !report.converged) << law.cone;
  // Friction of implicit penalties acts as a damper below its limit.
  if (!is_box && solver != "penalty_implicit") {
    EXPECT_LE(law.slip, far * (law.impulse + momenta));
  }
}

class SceneLaws : public testing::TestWithParam<std::string> {};

TEST_P(SceneLaws, HoldUnderEverySolver) {
  const Scene scene = load_scene(GetParam());
  const State before = before_the_first_push(scene);
  const std::vector<std::string_view> choices = find_param(param_table(), "contact_solver")->choices;
  const bool lags = has_lagged_friction(scene.model.materials, scene.model.textures);
  int pushed = 0, converged = 0, contacts = 0;
  for (std::size_t kind = 0; kind < choices.size(); ++kind) {
    const std::string_view name = choices[kind];
    SCOPED_TRACE(std::string(name));
    Params params = scene.params;
    params.contact_solver = static_cast<ContactSolverKind>(kind);
    params.cold_start_iterations = std::min(params.cold_start_iterations, 20);
    if (params.contact_solver == ContactSolverKind::penalty_explicit) continue;  // solves no contact problem
    const std::unique_ptr<Engine> engine = start(scene, params, kTimeBudget);
    engine->set_state(before);
    for (int frame = 0; frame < kFrames; ++frame) {
      const StepReport report = engine->step();
      const double counted = report.contact_solve->law->momentum_size;
      const double momenta = counted > 0 ? counted : least_momenta(report, engine->state());
      expect_laws(report, momenta, largest_mu(scene.model), lags, name);
      pushed += report.contact_solve->law->impulse > 0;
      converged += report.converged;
      contacts = report.contacts;
    }
  }
  EXPECT_GE(pushed, static_cast<int>(choices.size()) / 2);
  EXPECT_TRUE(converged > 0 || contacts > kMany);
}

/// Names of the shipped scenes with rigid bodies or a contact solver, found by their text.
std::vector<std::string> rigid_scenes() {
  std::vector<std::string> names;
  for (const auto& file : test::shipped_files("scenes")) {
    const std::string text = test::text_of(file);
    if (text.find("\nbody = \"rigid\"") != std::string::npos || text.find("\nsolver = ") != std::string::npos)
      names.push_back(file.stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(SceneLawNames, AreThoseOfAllScenesAtVelocityLevel) {
  std::vector<std::string> names;
  for (const SceneInfo& info : list_scenes())
    if (load_scene(info.name).params.solver == SolverKind::velocity) names.push_back(info.name);
  EXPECT_EQ(rigid_scenes(), names);
}

INSTANTIATE_TEST_SUITE_P(Scenes, SceneLaws, testing::ValuesIn(rigid_scenes()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
});

}  // namespace
}  // namespace stickslip
