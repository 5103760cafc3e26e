// The judge on every shipped scene: in its first steps momentum balances, friction takes energy, and errors
// stay within bounds that follow from what the stepper of the scene solves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/io/scene/scene.h"
#include "gpu/engine.h"
#include "gpu/model/coupled.h"
#include "tests/app/shipped_text.h"

namespace stickslip {
namespace {

constexpr int kJudgedFrames = 3;

double largest_coefficient(const Model& model) {
  double mu = 0;
  for (const Material& m : model.materials) mu = std::max({mu, m.mu, m.mu_across});
  for (const HalfSpace& h : model.half_spaces) mu = std::max(mu, h.mu);
  for (const PairFriction& p : model.pair_friction) mu = std::max(mu, p.mu);
  return mu;
}

/// |e|_2 over the contacts [m/s].
double error_norm(const StepJudgement& judgement) { return judgement.residual * judgement.scale; }

/// Friction may give energy by errors e_c times impulses, [J].
double friction_bound(const StepJudgement& judgement) {
  return 1e-15 + 2 * error_norm(judgement) * std::sqrt(judgement.contacts) * judgement.law.impulse;
}

/// The contact solver's errors are those of contacts and joints, by the same law: its own judge bounds this
/// one. Beside elastic solids the two differ, since there a contact's W is that of particles, and with
/// coefficients of friction that depend on the solution by what the last of them changed.
void expect_lawful_velocity_step(const StepReport& report, bool coupled) {
  const ContactSolveRecord& solve = *report.contact_solve;
  const StepJudgement& judgement = *report.judgement;
  const LawCheck& law = judgement.law;
  EXPECT_LE(error_norm(judgement),
            ((coupled ? 10 : 1.001) * solve.residual + solve.friction_change) * solve.scale + 1e-12);
  EXPECT_LE(law.friction_work, friction_bound(judgement));
  EXPECT_LE(law.momentum, 1e-15 + 1e-9 * (law.momentum_size + law.impulse * (1 + judgement.contacts)));
}

/// What is left of momentum is the gradient that ends Newton's method. A force at the distance d < d_hat is
/// an error of d / dt, and friction that sticks slides at eps_v at most; where friction is frozen its normal
/// forces lag, and the step says so.
void expect_lawful_barrier_step(const StepReport& report, const Params& params, double mu,
                                std::size_t nodes) {
  const StepJudgement& judgement = *report.judgement;
  const LawCheck& law = judgement.law;
  const double gradient = report.newton.empty() ? 0 : report.newton.back().gradient_norm;
  EXPECT_LE(law.momentum, std::sqrt(static_cast<double>(nodes)) * gradient * params.dt +
                              1e-9 * (law.momentum_size + law.impulse * (1 + judgement.contacts)));
  EXPECT_LE(law.friction_work, 1e-12 * law.impulse);
  EXPECT_LE(law.pull, 1e-12 * law.impulse);  // of frozen friction
  EXPECT_EQ(law.approach, 0);
  // q vanishes where bodies fall side by side.
  EXPECT_LE(error_norm(judgement),
            std::max(judgement.scale, std::sqrt(judgement.contacts) * params.d_hat / params.dt));
  EXPECT_LE(law.complementarity, law.impulse * 2 * params.d_hat / params.dt);
  if (report.stop_reason == kFrictionFrozen) {
    EXPECT_LE(law.cone, 1e-3 * law.impulse);
    EXPECT_LE(judgement.error, 2 * (params.d_hat / params.dt + 2 * params.eps_v));
    return;
  }
  EXPECT_LE(judgement.error, (1 + mu) * (params.d_hat / params.dt + 2 * params.eps_v));
  EXPECT_LE(law.cone, 1e-9 * law.impulse);
}

class LongSceneJudgement : public ::testing::TestWithParam<std::string> {};

TEST_P(LongSceneJudgement, FirstStepsObeyTheLaws) {
  const Scene scene = load_scene(GetParam());
  const double mu = largest_coefficient(scene.model);
  const bool coupled = is_coupled(scene.model);
  const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 2);
  engine->set_params(scene.params);
  engine->set_contact_params(scene.contact_params);
  engine->load(scene.model);
  double energy = 0;
  for (int i = 0; i < kJudgedFrames; ++i) {
    SCOPED_TRACE("frame " + std::to_string(i + 1));
    const StepReport report = engine->step();
    ASSERT_TRUE(report.judgement.has_value());
    const StepJudgement& judgement = *report.judgement;
    ASSERT_TRUE(std::isfinite(judgement.residual) && std::isfinite(judgement.energy_change));
    if (report.contact_solve) expect_lawful_velocity_step(report, coupled);
    else expect_lawful_barrier_step(report, scene.params, mu, scene.model.node_count());
    const double now = report.kinetic_energy + report.elastic_energy + report.gravity_energy;
    if (i > 0) {
      EXPECT_NEAR(now - energy, judgement.energy_change, 1e-9 * (std::abs(now) + std::abs(energy)));
    }
    energy = now;
  }
}

std::vector<std::string> judged_scenes() {
  std::vector<std::string> names;
  for (const auto& file : test::shipped_files("scenes")) names.push_back(file.stem().string());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Scenes, LongSceneJudgement, ::testing::ValuesIn(judged_scenes()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace_if(
                               name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; },
                               '_');
                           return name;
                         });

// In the twelfth step of `noodles`, directions are short before momentum balances; refreshed friction then
// leads away from there, and Newton's method cycles unless its steps get shorter.
TEST(SceneJudgement, FrictionConvergesWhereMomentumBalancesLate) {
  const Scene scene = load_scene("noodles");
  const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 2);
  engine->set_params(scene.params);
  engine->load(scene.model);
  StepReport report;
  for (int i = 0; i < 12; ++i) {
    report = engine->step();
    EXPECT_TRUE(report.converged) << "step " << i + 1 << ": " << report.stop_reason;
  }
  expect_lawful_barrier_step(report, scene.params, largest_coefficient(scene.model),
                             scene.model.node_count());
}

/// After steps of `writhe`, in which a rod forms a loop and touches itself.
StepReport step_writhe(bool quasistatic, int steps) {
  Scene scene = load_scene("writhe");
  scene.model.objects[0].quasistatic_twist = quasistatic;
  const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 2);
  engine->set_params(scene.params);
  engine->load(scene.model);
  StepReport report;
  for (int i = 0; i < steps; ++i) report = engine->step();
  return report;
}

// Where contacts block a script, springs pull what it holds. Ghosts with quasistatic twist have next to no
// mass, but the springs must hold them, too: else the clamp lets the twist of the rod go.
TEST(SceneJudgement, BlockedScriptsHoldQuasistaticTwist) {
  const StepReport dynamic = step_writhe(false, 131), quasistatic = step_writhe(true, 131);
  EXPECT_GT(dynamic.contacts, 0);
  EXPECT_GT(quasistatic.contacts, 0);
  EXPECT_NEAR(quasistatic.elastic_energy, dynamic.elastic_energy, 0.01 * dynamic.elastic_energy);
}

}  // namespace
}  // namespace stickslip
