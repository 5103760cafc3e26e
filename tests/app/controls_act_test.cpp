// Every control of a scene of rigid bodies either has an effect or is greyed with a reason. Each is changed.
// The motion must differ if param_controls calls the control active, and must be bitwise equal if not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/viewer/param_controls.h"
#include "gpu/engine.h"
#include "gpu/model/rigid_body.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// A scene in which every control can act: a stack; bricks that slide, tumble and rest; balls that bounce,
/// spin and hit a wall; a chain with small joint errors; overlaps; and a pointer that pulls.
struct Playground {
  Model model;
  Settings settings;
  Drag drag;
};

BodyPart brick_of(const Vec3d& half) {
  BodyPart part = make_part(ShapeKind::box, half);
  part.nodes = {{half[0], half[1], half[2]}, {-half[0], half[1], half[2]}, {half[0], half[1], -half[2]}};
  part.triangles = {{0, 1, 2}};
  return part;
}

struct Moving {
  Vec3d velocity{0, 0, 0}, spin{0, 0, 0};
};

std::int32_t add_to(Model& model, const BodyPart& part, const Vec3d& at, int material,
                    const Moving& moving = {}, bool moves = true) {
  BodyStart start;
  start.pose.x = at;
  start.velocity = moving.velocity;
  start.spin = moving.spin;
  start.moves = moves;
  add_body(model, "body " + std::to_string(model.bodies.size()), assemble({part}), material, start);
  return static_cast<std::int32_t>(model.bodies.size()) - 1;
}

void add_chain(Model& model, const BodyPart& brick) {
  const std::int32_t first = add_to(model, brick, {5, 0.5, 0}, 0, {{0, 0, 0}, {0, 0, 2}});
  const std::int32_t second = add_to(model, brick, {5.25, 0.5, 0}, 0);
  for (const std::int32_t body : {first, second}) {
    Joint joint;
    joint.name = "hinge " + std::to_string(body);
    joint.kind = JointKind::hinge;
    joint.a = body;
    joint.b = body == first ? -1 : first;
    add_joint(model, joint, {{body == first ? 4.88 : 5.125, 0.5, 0}, turn_of_x({0, 0, 1})});
  }
  model.joints[0].frame_b.x[1] += 2e-3;
}

Playground playground() {
  Playground play;
  Model& model = play.model;
  model.material_names = {"wood", "rubber"};
  model.materials = {Material{}, Material{}};
  const BodyPart brick = brick_of({0.1, 0.05, 0.08}), ball = make_part(ShapeKind::sphere, {0.05, 0, 0});
  for (int i = 0; i < 3; ++i) add_to(model, brick, {0.01 * i, 0.049 + 0.099 * i, 0}, 0);
  add_to(model, brick, {1, 0.0497, 0}, 0, {{1, 0, 0.6}, {0, 0, 0}});
  add_to(model, brick, {1.5, 0.05, 0}, 0);
  add_to(model, brick, {1.5, 0.0498, 1}, 1, {{0.8, 0, 0.9}, {0, 0, 0}});
  add_to(model, brick, {2, 0.4, 0}, 1, {{0, -1, 0}, {3, 9, 4}});
  add_to(model, ball, {2.6, 0.0505, 0}, 0, {{0, -2, 0}, {0, 0, 9}});
  add_to(model, ball, {3, 0.0505, 0}, 1, {{0, -2, 0}, {0, 20, 0}});
  add_to(model, ball, {3.5, 0.07, 0}, 1, {{60, 0, 0}, {0, 20, 0}});
  add_to(model, brick_of({0.02, 0.4, 0.4}), {3.9, 0.4, 0}, 1, {}, false);
  add_chain(model, brick);
  model.half_spaces.push_back({{0, 1, 0}, 0, 0.4, false});
  finalize(model);
  Settings& settings = play.settings;
  settings.params.solver = SolverKind::velocity;
  settings.params.dt = 0.01;
  settings.params.sleeping = true;
  settings.params.sleep_time = 0.025;
  settings.params.sleep_speed = 0.3;
  settings.materials = model.materials;
  settings.materials[1].restitution = 0.5;
  settings.materials[1].friction_kind = FrictionKind::elliptic;
  settings.materials[1].mu_across = 0.1;
  settings.materials[1].stribeck_speed = 1;  // no body slides at a millimetre per second
  settings.half_space_mu = {0.4};
  settings.contact_params.tolerance = 1e-7;
  settings.contact_params.max_iterations = 100;
  play.drag = {{0, 1, 2}, {1, 0, 0}, {0.2, 0.3, 0.1}};
  return play;
}

/// Other values in the row's range; at least one should have an effect.
std::vector<double> other_values(const ParamInfo& info, double value) {
  std::vector<double> values;
  if (info.type == ParamType::choice)
    for (std::size_t i = 0; i < info.choices.size(); ++i) values.push_back(static_cast<double>(i));
  else if (info.type == ParamType::boolean) values = {0, 1};
  else if (info.type == ParamType::integer) values = {info.low, info.low + 1, 3 * value + 5};
  else
    values = {info.low, value == 0 ? 0.01 * std::min(info.high, 1.0) : 0.7 * value,
              value == 0 ? 0.5 : 4 * value, info.high};
  // A limit that is never reached has no effect either.
  if (info.name == "max_iterations") values = {7};
  if (info.name == "check_interval") values.push_back(500);
  std::erase_if(values, [&](double v) { return v == value || v < info.low || v > info.high; });
  return values;
}

class ControlsAct : public ::testing::Test {
 protected:
  void SetUp() override {
    engine_->set_params(play_.settings.params);
    engine_->load(play_.model);
  }

  /// Observable result of a run as numbers: poses, velocities, and the solver's statistics.
  std::vector<double> run(const Settings& settings) {
    engine_->set_params(settings.params);
    engine_->set_contact_params(settings.contact_params);
    engine_->set_materials(settings.materials);
    engine_->set_half_space_mu(0, settings.half_space_mu[0]);
    engine_->reset();
    engine_->set_drag(play_.drag);
    std::vector<double> seen;
    try {
      for (int i = 0; i < 4; ++i) {
        const StepReport report = engine_->step();
        const ContactSolveRecord& solve = *report.contact_solve;
        seen.insert(seen.end(), {static_cast<double>(solve.iterations), solve.residual,
                                 static_cast<double>(solve.asleep)});
      }
    } catch (const SimulationError&) {
      seen.push_back(-1);  // the run failed, for example with too stiff penalties
    }
    for (const BodyState& body : engine_->state().bodies)
      for (int i = 0; i < 3; ++i)
        seen.insert(seen.end(), {body.pose.x[i], body.pose.q.v[i], body.velocity[i], body.spin[i]});
    return seen;
  }

  /// Whether any other value of the row has an effect. `row_of` finds the edited object in settings.
  template <class Object>
  bool shows(const Settings& base, const std::vector<double>& plain, const ParamInfo& info,
             Object&& object_of) {
    for (const double value : other_values(info, get_param(&object_of(base), info))) {
      Settings other = base;
      set_param(&object_of(other), info, value);
      if (run(other) != plain) return true;
    }
    return false;
  }

  Playground play_ = playground();
  std::unique_ptr<Engine> engine_ = make_engine(Backend::cpu, 1);
};

/// Rows that affect only the time, or only other machines.
bool shows_nowhere(std::string_view name) {
  return name == "time_budget" || name == "auto_direct_rows" || name == "contact_limit";
}

/// The same settings, changed so that rows inactive in `base` become active.
std::vector<Settings> variants_of(const Settings& base) {
  std::vector<Settings> variants(7, base);
  variants[1].contact_params.r_scale = 8;
  variants[1].contact_params.nncg_sweep = NncgSweep::prox;
  variants[1].contact_params.admm_rho = 1e5;
  variants[2].contact_params.newton_linear = NewtonLinear::krylov;
  variants[2].contact_params.auto_sweeps = 1;
  variants[3].contact_params.max_iterations = 5;
  variants[4].contact_params.tolerance = 1e-5;
  variants[4].contact_params.max_iterations = 400;
  variants[4].contact_params.auto_sweeps = 1;
  variants[5].params.cold_start_iterations = 0;
  variants[5].contact_params.tolerance = 1e-13;
  variants[5].contact_params.max_iterations = 400;
  variants[5].contact_params.newton_linear = NewtonLinear::krylov;
  variants[5].contact_params.auto_sweeps = 1;
  variants[5].contact_params.de_saxce_inner = 1e-5;
  // Solvers that never reach the tolerances of the others stop at a check here.
  variants[6].contact_params.tolerance = 1e-2;
  variants[6].contact_params.max_iterations = 400;
  return variants;
}

/// `auto` uses Newton's method only where thousands of sweeps fail. The origin of the Fischer-Burmeister
/// function is a contact without impulse and velocity, which no step of the scene has.
bool needs_a_harder_scene(std::string_view solver, std::string_view row) {
  if (row == "fb_origin") return true;
  if (solver == "lemke" && row == "tolerance") return true;        // a direct method where W is regular
  if (solver == "newton_fb" && row == "newton_cuts") return true;  // full steps do here
  return solver == "auto" && (row.starts_with("krylov_") || row.starts_with("newton_") ||
                              row.starts_with("rho_") || row == "section_radius");
}

TEST_F(ControlsAct, EveryRowOfEveryContactSolverOrItIsGreyed) {
  const ParamInfo& solvers = *find_param(param_table(), "contact_solver");
  const auto object_of = [](auto& settings) -> auto& { return settings.contact_params; };
  for (std::size_t k = 0; k < solvers.choices.size(); ++k) {
    std::set<std::string> live, acting;
    std::set<std::pair<std::string, std::string>> greyed;
    for (Settings base : variants_of(play_.settings)) {
      set_param(&base.params, solvers, static_cast<double>(k));
      const std::vector<double> plain = run(base);
      for (const ParamInfo& info : lab_param_table()) {
        if (shows_nowhere(info.name)) continue;
        const std::string why = inactive_reason(info, base, play_.model), name(info.name);
        if (why.empty() ? acting.contains(name) : !greyed.emplace(name, why).second) continue;
        const bool acts = shows(base, plain, info, object_of);
        if (!why.empty()) {
          EXPECT_FALSE(acts) << solvers.choices[k] << ": contact." << name << " acts; it is greyed, as "
                             << why;
        }
        if (why.empty()) live.insert(name);
        if (acts) acting.insert(name);
      }
    }
    for (const std::string& name : live)
      EXPECT_TRUE(acting.contains(name) || needs_a_harder_scene(solvers.choices[k], name))
          << solvers.choices[k] << ": contact." << name << " has no effect";
  }
}

TEST_F(ControlsAct, EveryParameterAndEveryMaterialRowOrItIsGreyed) {
  const ParamInfo& solvers = *find_param(param_table(), "contact_solver");
  std::set<std::string_view> of_the_lab;
  for (const ContactSolverInfo& solver : list_contact_solvers()) of_the_lab.insert(solver.name);
  for (std::size_t k = 0; k < solvers.choices.size(); ++k) {
    // The parameters passed to the lab do not depend on the lab's solver.
    if (solvers.choices[k] != "nsgs" && of_the_lab.contains(solvers.choices[k])) continue;
    for (int kind = 0; kind < 4; ++kind) {
      Settings base = play_.settings;
      set_param(&base.params, solvers, static_cast<double>(k));
      base.params.stabilisation = static_cast<Stabilisation>(kind);
      const std::vector<double> plain = run(base);
      SCOPED_TRACE(std::string(solvers.choices[k]) + ", stabilisation " + std::to_string(kind));
      for (const ParamInfo& info : param_table()) {
        if (info.name == "solver" || shows_nowhere(info.name)) continue;
        const std::string why = inactive_reason(info, base, play_.model);
        const bool acts = shows(
            base, plain, info, [](auto& settings) -> auto& { return settings.params; });
        EXPECT_EQ(acts, why.empty()) << info.name << ": " << why;
      }
      for (const std::size_t m : {0, 1})
        for (const ParamInfo& info : material_table()) {
          if (info.name == "cohesion") continue;  // acts only where the other side coheres, too
          const std::string why = inactive_reason(info, base, play_.model, static_cast<int>(m));
          const bool acts = shows(
              base, plain, info, [m](auto& settings) -> auto& { return settings.materials[m]; });
          EXPECT_EQ(acts, why.empty()) << "material " << m << ' ' << info.name << ": " << why;
        }
      EXPECT_TRUE([&] {
        Settings other = base;
        other.half_space_mu[0] = 0.1;
        return run(other) != plain;
      }()) << "the ground's mu";
    }
  }
}

TEST_F(ControlsAct, EveryRowOfEveryKindOfPenaltyOrItIsGreyed) {
  for (const auto kind : {ContactSolverKind::penalty_explicit, ContactSolverKind::penalty_implicit})
    for (int spring = 0; spring < 4; ++spring)
      for (int friction = 0; friction < 3; ++friction) {
        Settings base = play_.settings;
        base.params.contact_solver = kind;
        base.params.penalty_spring = static_cast<PenaltySpring>(spring);
        base.params.penalty_friction = static_cast<PenaltyFriction>(friction);
        base.params.dt = 0.002;  // explicit springs act as they are
        base.params.penalty_stiffness = 1e4;
        SCOPED_TRACE(std::to_string(static_cast<int>(kind)) + ", spring " + std::to_string(spring) +
                     ", friction " + std::to_string(friction));
        const std::vector<double> plain = run(base);
        for (const ParamInfo& info : param_table()) {
          if (info.group != "penalty") continue;
          const std::string why = inactive_reason(info, base, play_.model);
          const bool acts = shows(
              base, plain, info, [](auto& settings) -> auto& { return settings.params; });
          EXPECT_EQ(acts, why.empty()) << info.name << ": " << why;
        }
      }
}

}  // namespace
}  // namespace stickslip
