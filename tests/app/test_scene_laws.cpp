// Every shipped scene with rigid bodies under every stepping solver: a step may not converge, but one that
// says so obeys the laws as LawChecker sees them, and no step hands out impulses outside their cones or
// velocities that no impulse caused. The bounds follow from the residual alone, so that a solver and its
// residual cannot both be wrong unseen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/io/scene.h"
#include "gpu/contact_lab.h"
#include "gpu/engine.h"
#include "gpu/params/params.h"

namespace stickslip {
namespace {

constexpr int kFrames = 3;
constexpr double kTimeBudget = 0.02;  // [s] of a solve: a test of laws, not of speed

bool has_rigid_bodies(const Scene& scene) { return scene.params.solver == SolverKind::velocity; }

double largest_mu(const Model& model) {
  double mu = 0;
  for (const Material& m : model.materials) mu = std::max({mu, m.mu, m.mu_across});
  for (const HalfSpace& h : model.half_spaces) mu = std::max(mu, h.mu);
  for (const PairFriction& p : model.pair_friction) mu = std::max(mu, p.mu);
  return mu;
}

/// |e_c| <= residual |q| bounds each term: with e = e_c of the natural map, u_N >= -(1 + 2 mu) |e|, and
/// friction works against sliding but for |e| times impulses and momenta.
void expect_laws(const StepReport& report, double mu, bool is_box) {
  const ContactSolveRecord& solve = *report.contact_solve;
  ASSERT_TRUE(solve.law.has_value());
  const LawCheck& law = *solve.law;
  const double n = 1.0 + report.contacts, rounding = 1e-9 * (law.impulse + 1e-6 * law.momentum_size);
  EXPECT_LE(law.momentum, n * rounding);
  EXPECT_LE(law.pull, rounding);
  EXPECT_LE(is_box ? 0 : law.cone, rounding);
  const double e = solve.residual * solve.scale;
  EXPECT_LE(law.approach, (1 + 2 * mu) * e * (1 + 1e-9) + 1e-9);
  EXPECT_LE(law.friction_work, 4 * (1 + mu) * (e + 1e-9) * (n * law.impulse + law.momentum_size));
  EXPECT_TRUE(std::isfinite(report.kinetic_energy));
}

class SceneLaws : public testing::TestWithParam<std::string> {};

TEST_P(SceneLaws, HoldUnderEverySolver) {
  const Scene scene = load_scene(GetParam());
  const std::vector<std::string_view> choices = find_param(param_table(), "contact_solver")->choices;
  for (std::size_t kind = 0; kind < choices.size(); ++kind) {
    SCOPED_TRACE(std::string(choices[kind]));
    Params params = scene.params;
    params.contact_solver = static_cast<ContactSolverKind>(kind);
    params.cold_start_iterations = std::min(params.cold_start_iterations, 20);
    LabParams lab = scene.contact_params;
    lab.time_budget = kTimeBudget;
    const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 2);
    engine->set_params(params);
    engine->set_contact_params(lab);
    engine->load(scene.model);
    const std::string_view name = choices[kind];
    const bool is_box = name.starts_with("pgs") || name.starts_with("pivot");
    for (int frame = 0; frame < kFrames; ++frame) {
      const StepReport report = engine->step();
      if (params.contact_solver == ContactSolverKind::penalty_explicit) {
        EXPECT_FALSE(report.contact_solve->law.has_value());
        continue;
      }
      expect_laws(report, largest_mu(scene.model), is_box);
    }
  }
}

std::vector<std::string> rigid_scenes() {
  std::vector<std::string> names;
  for (const SceneInfo& info : list_scenes())
    if (has_rigid_bodies(load_scene(info.name))) names.push_back(info.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Scenes, SceneLaws, testing::ValuesIn(rigid_scenes()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
});

}  // namespace
}  // namespace stickslip
