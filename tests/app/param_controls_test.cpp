#include "app/viewer/param_controls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gpu/model/scene_traits.h"
#include "tests/app/rigid_scene.h"

namespace stickslip {
namespace {

const ParamInfo& param(std::string_view name) { return *find_param(param_table(), name); }
const ParamInfo& contact(std::string_view name) { return *find_param(lab_param_table(), name); }
std::string inactive_reason(const ParamInfo& info, const Params& params, const Model& model) {
  return stickslip::inactive_reason(info, Settings{params, model.materials, {}}, model);
}
std::string inactive_reason(const ParamInfo& info, const std::vector<Material>& materials, int material,
                            const Model& model) {
  return stickslip::inactive_reason(info, Settings{Params{}, materials, {}}, model, material);
}
bool is_inactive_group(std::string_view group, const Model& model, SolverKind solver = SolverKind::velocity) {
  return !param_group(group).read_in(scene_traits(model), solver);
}
Params velocity_params() {
  Params params;
  params.solver = SolverKind::velocity;
  return params;
}
const ParamInfo& material(std::string_view name) { return *find_param(material_table(), name); }

TEST(ParamControls, EverySliderStaysInItsRowsRangeAndRoundTrips) {
  const auto check = [](const ParamInfo& info) {
    SCOPED_TRACE(std::string(info.name));
    const SliderScale scale = slider_scale(info, info.default_value);
    double last = scale.value(0);
    for (int i = 0; i <= 100; ++i) {
      const double value = scale.value(i / 100.0);
      EXPECT_GE(value, info.low);
      EXPECT_LE(value, info.high);
      EXPECT_GE(value, last) << "a slider must rise";
      EXPECT_NEAR(scale.value(scale.position(value)), value, 1e-2 * std::abs(value) + 1e-12);
      last = value;
    }
    EXPECT_GT(scale.value(1), scale.value(0));
    // The current value lies on the slider.
    EXPECT_NEAR(scale.value(scale.position(info.default_value)), info.default_value,
                1e-2 * std::abs(info.default_value));
  };
  for (const ParamInfo& info : param_table()) check(info);
  for (const ParamInfo& info : material_table()) check(info);
  for (const ParamInfo& info : lab_param_table()) check(info);
}

TEST(ParamControls, WideRangesAreLogarithmicAndZeroStaysReachable) {
  EXPECT_TRUE(slider_scale(material("young"), 1e5).logarithmic);
  EXPECT_TRUE(slider_scale(param("d_hat"), 2e-3).logarithmic);
  EXPECT_TRUE(slider_scale(param("barrier_stiffness"), 0).zero_stop);
  EXPECT_EQ(slider_scale(param("barrier_stiffness"), 0).value(0), 0);
  EXPECT_EQ(slider_scale(param("budget_ms"), 0).value(0.01), 0);
  EXPECT_FALSE(slider_scale(material("mu"), 0.3).logarithmic);
  EXPECT_EQ(slider_scale(material("mu"), 0).high, 1);
  EXPECT_EQ(slider_scale(material("mu"), 0.02).high, 1);
  EXPECT_FALSE(slider_scale(material("poisson"), 0.4).logarithmic);
  EXPECT_TRUE(slider_scale(param("pcg_iterations"), 1e4).whole);
}

TEST(ParamControls, InactiveControlsHaveAReason) {
  const Model model = test::two_tets("a").model;
  Params params;
  EXPECT_NE(inactive_reason(param("friction_lags"), params, model), "");
  params.friction_update = FrictionUpdate::lagged;
  EXPECT_EQ(inactive_reason(param("friction_lags"), params, model), "");
  EXPECT_EQ(inactive_reason(param("barrier_growth"), params, model), "");
  params.barrier_stiffness = 1e6;
  EXPECT_NE(inactive_reason(param("barrier_growth"), params, model), "");
  EXPECT_EQ(inactive_reason(param("barrier_stiffness"), params, model), "");
  EXPECT_NE(inactive_reason(param("sigma_rule"), params, model), "");
  EXPECT_NE(inactive_reason(param("kinematic_stiffness"), params, model), "");
  EXPECT_EQ(inactive_reason(param("newton_start"), params, model), "");
  params.newton_stop = NewtonStop::gradient;
  EXPECT_NE(inactive_reason(param("newton_start"), params, model), "");
  params.newton_stop = NewtonStop::displacement;
  params.solver = SolverKind::ccd_al;
  EXPECT_NE(inactive_reason(param("newton_start"), params, model), "");
}

TEST(ParamControls, WhatTheSolverIgnoresIsInactive) {
  const Model model = test::two_tets("a").model;
  Params params;
  int augmented = 0;
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al}) {
    params.solver = solver;
    for (const ParamInfo& info : param_table()) {
      if (info.group != "augmented") continue;
      ++augmented;
      EXPECT_EQ(inactive_reason(info, params, model).empty(), solver == SolverKind::barrier_al) << info.name;
    }
    EXPECT_EQ(inactive_reason(param("solver"), params, model), "");
    EXPECT_EQ(inactive_reason(param("contact_limit"), params, model), "");
  }
  EXPECT_GT(augmented, 0);
}

TEST(ParamControls, WhatTheLinearSolverIgnoresIsInactive) {
  const Model model = test::two_tets("a").model;
  Params params;
  const auto idle = [&](const char* name) { return !inactive_reason(param(name), params, model).empty(); };
  EXPECT_TRUE(idle("warm_start_tolerance"));
  EXPECT_TRUE(idle("additive_blocks"));
  EXPECT_FALSE(idle("pcg_tolerance"));
  params.warm_start = true;
  params.preconditioner = PreconditionerKind::additive;
  params.pcg_stop = PcgCriterion::truncated;
  EXPECT_FALSE(idle("warm_start_tolerance"));
  EXPECT_FALSE(idle("additive_blocks"));
  EXPECT_TRUE(idle("pcg_tolerance"));
  params.pcg_stop = PcgCriterion::euclidean;
  EXPECT_FALSE(idle("pcg_tolerance"));
  params.linear_solver = LinearSolverKind::cholesky;
  EXPECT_TRUE(idle("preconditioner"));
  EXPECT_FALSE(idle("linear_solver"));
}

TEST(ParamControls, PenaltiesAreThoseThatTheSolverReads) {
  const Model model = test::rigid_scene("r").model;
  const auto rows_of = [&](ContactSolverKind kind) {
    Settings settings{velocity_params(), model.materials, {}};
    settings.params.contact_solver = kind;
    return penalty_rows(settings, model);
  };
  using Rows = std::vector<std::string_view>;
  EXPECT_EQ(rows_of(ContactSolverKind::newton_ac), (Rows{"rho_n", "rho_t"}));
  EXPECT_EQ(rows_of(ContactSolverKind::prox_gs), (Rows{"r_strategy", "r_scale"}));
  EXPECT_EQ(rows_of(ContactSolverKind::admm), Rows{"admm_rho"});
  EXPECT_EQ(rows_of(ContactSolverKind::newton_al), Rows{"al_rho"});
  EXPECT_EQ(rows_of(ContactSolverKind::lemke), Rows{});
}

TEST(ParamControls, GroupsHaveTitles) {
  EXPECT_EQ(param_group("augmented").title, "Augmented Lagrangian");
  EXPECT_EQ(param_group("solver").title, "Solver");
  EXPECT_EQ(param_group("pcg").title, "Linear solver");
  EXPECT_EQ(param_group("ccd").title, "CCD");
}

TEST(ParamControls, InactiveMaterialRowsHaveAReason) {
  Model model = test::two_tets("a").model;
  EXPECT_EQ(inactive_reason(material("young"), model.materials, 1, model), "");
  model.materials[1].model = ElasticModel::arap;
  EXPECT_NE(inactive_reason(material("poisson"), model.materials, 1, model), "");
  EXPECT_EQ(inactive_reason(material("poisson"), model.materials, 0, model), "");
  EXPECT_EQ(inactive_reason(material("poisson"), model.materials, -1, model), "")
      << "it still acts on the other material";
  model.materials.push_back(Material{});
  EXPECT_NE(inactive_reason(material("young"), model.materials, 2, model), "");
  EXPECT_EQ(inactive_reason(material("mu"), model.materials, 2, model), "");

  for (Object& object : model.objects)
    if (object.material == 0) object.control_begin = 0;
  for (const char* idle : {"model", "poisson", "damping"})
    EXPECT_NE(inactive_reason(material(idle), model.materials, 0, model), "") << idle;
  EXPECT_EQ(inactive_reason(material("young"), model.materials, 0, model), "");
  EXPECT_EQ(inactive_reason(material("density"), model.materials, 0, model), "");
  EXPECT_EQ(inactive_reason(material("damping"), model.materials, 1, model), "") << "of a deformable body";
}

using Names = std::set<std::string_view>;

Names live_params(const Settings& settings, const Model& model) {
  Names names;
  for (const ParamInfo& info : param_table())
    if (inactive_reason(info, settings, model).empty()) names.insert(info.name);
  return names;
}

TEST(ParamControls, RigidScenesReadTheirGroupsAndNoOthers) {
  const Model model = test::rigid_scene("r").model;
  Settings settings{velocity_params(), model.materials, {}};
  Names expected{"dt",
                 "gravity",
                 "solver",
                 "drag_stiffness",
                 "contact_solver",
                 "integrator",
                 "gyroscopic",
                 "contact_margin",
                 "continuous",
                 "manifold_points",
                 "shock_propagation",
                 "cold_start_iterations",
                 "baumgarte",
                 "baumgarte_speed",
                 "contact_slop",
                 "stabilisation",
                 "sleeping"};
  EXPECT_EQ(live_params(settings, model), expected);
  settings.materials[1].restitution = 0.5;
  settings.params.sleeping = true;
  expected.insert({"restitution_speed", "sleep_speed", "sleep_time"});
  EXPECT_EQ(live_params(settings, model), expected);
  for (const ParamInfo& info : param_table())
    if (info.group == "barrier" || info.group == "pcg") {
      EXPECT_EQ(inactive_reason(info, settings, model), "velocity-level steps have no barrier") << info.name;
    }
  EXPECT_TRUE(is_inactive_group("newton", model));
  EXPECT_FALSE(is_inactive_group("penalty", model));
}

TEST(ParamControls, BarrierStepsOfRigidBodiesReadTheBarriersGroups) {
  const Model model = test::rigid_scene("r").model;
  const Settings settings{Params{}, model.materials, {}};  // ipc
  const Names live = live_params(settings, model);
  for (const char* name :
       {"dt", "solver", "d_hat", "contact_skin", "strain_bound", "drop_unsupported", "eps_v"})
    EXPECT_TRUE(live.contains(name)) << name;
  for (const char* name : {"contact_solver", "baumgarte", "sleeping", "penalty_stiffness", "multiplier_pace"})
    EXPECT_FALSE(live.contains(name)) << name;
  for (const ParamInfo& info : lab_param_table())
    EXPECT_EQ(inactive_reason(info, settings, model), "barrier steps have no contact solver") << info.name;
  EXPECT_NE(stickslip::inactive_reason(material("restitution"), settings, model, 0), "");
}

TEST(ParamControls, StabilisationAndPenaltyReadWhatTheySay) {
  const Model model = test::rigid_scene("r").model;
  Settings settings{velocity_params(), model.materials, {}};
  const auto live = [&](std::string_view name) {
    return inactive_reason(param(name), settings, model).empty();
  };
  const std::pair<Stabilisation, Names> kinds[] = {
      {Stabilisation::none, {}},
      {Stabilisation::baumgarte, {"baumgarte", "baumgarte_speed", "contact_slop"}},
      {Stabilisation::spring_damper, {"spring_frequency", "spring_damping"}},
      {Stabilisation::projection, {"projection_iterations", "baumgarte_speed", "contact_slop"}}};
  for (const auto& [kind, read] : kinds) {
    settings.params.stabilisation = kind;
    for (const ParamInfo& info : param_table())
      if (info.group == "stabilisation" && info.name != "stabilisation") {
        EXPECT_EQ(live(info.name), read.contains(info.name)) << info.name << " of " << static_cast<int>(kind);
      }
    EXPECT_TRUE(live("stabilisation"));
    EXPECT_FALSE(live("penalty_stiffness"));
  }
}

TEST(ParamControls, OverlapsOfElasticObjectsAreTakenBackInVelocitiesOrPositions) {
  Model model = test::two_tets("a").model;
  Settings settings{Params{}, model.materials, {}};
  settings.params.solver = SolverKind::velocity;
  const auto why = [&](std::string_view name) { return inactive_reason(param(name), settings, model); };
  EXPECT_EQ(why("geometric_correction"), "");
  EXPECT_EQ(why("admm_search_every"), "coupling is not nodal_admm");
  settings.params.coupling = SolidCoupling::nodal_admm;
  EXPECT_EQ(why("admm_search_every"), "");
  settings.params.stabilisation = Stabilisation::none;
  EXPECT_EQ(why("geometric_correction"), "stabilisation = none does not read this");
  settings.params.stabilisation = Stabilisation::spring_damper;
  EXPECT_EQ(why("geometric_correction"), "");
  for (const auto kind : {ContactSolverKind::penalty_explicit, ContactSolverKind::penalty_implicit}) {
    settings.params.contact_solver = kind;
    EXPECT_EQ(why("geometric_correction"), "penalty forces remove overlaps by themselves");
    EXPECT_EQ(why("admm_search_every").empty(), kind == ContactSolverKind::penalty_implicit);
  }
  model = test::rigid_scene("r").model;
  settings = {velocity_params(), model.materials, {}};
  EXPECT_EQ(why("geometric_correction"), "nothing in this scene is elastic");
  EXPECT_EQ(why("dual_pcg_tolerance"), "nothing in this scene is elastic");
  EXPECT_EQ(why("admm_search_every"), "nothing in this scene is elastic");
}

TEST(ParamControls, PenaltyForcesLeaveLittleToASolver) {
  Model model = test::rigid_scene("r").model;  // with a joint
  Settings settings{velocity_params(), model.materials, {}};
  const auto live = [&](std::string_view name) {
    return inactive_reason(param(name), settings, model).empty();
  };
  const auto solver_reads = [&](const char* name) {
    return inactive_reason(contact(name), settings, model).empty();
  };
  for (const auto kind : {ContactSolverKind::penalty_explicit, ContactSolverKind::penalty_implicit}) {
    settings.params.contact_solver = kind;
    for (const char* row :
         {"penalty_stiffness", "penalty_damping", "penalty_slip", "contact_solver", "baumgarte"})
      EXPECT_TRUE(live(row)) << row;
    EXPECT_TRUE(solver_reads("omega")) << "of the joints";
    EXPECT_FALSE(solver_reads("spg_gamma"));
  }
  model.joints.clear();
  EXPECT_TRUE(solver_reads("omega")) << "implicit forces are solved for";
  EXPECT_TRUE(live("shock_propagation"));
  EXPECT_FALSE(live("baumgarte"));
  settings.params.contact_solver = ContactSolverKind::penalty_explicit;
  EXPECT_FALSE(live("shock_propagation"));
  for (const ParamInfo& info : lab_param_table())
    EXPECT_NE(inactive_reason(info, settings, model), "") << info.name << " is of a solver";
  settings.params.stabilisation = Stabilisation::projection;
  EXPECT_TRUE(live("projection_iterations"));
}

TEST(ParamControls, PenaltiesReadTheRowsOfTheirKinds) {
  Model model = test::rigid_scene("r").model;
  Settings settings{velocity_params(), model.materials, {}};
  settings.params.contact_solver = ContactSolverKind::penalty_explicit;
  const auto live = [&](std::string_view name) {
    return inactive_reason(param(name), settings, model).empty();
  };
  const std::pair<PenaltySpring, Names> springs[] = {
      {PenaltySpring::linear, {}},
      {PenaltySpring::power, {"penalty_exponent", "penalty_length"}},
      {PenaltySpring::exponential, {"penalty_length", "continuous"}},
      {PenaltySpring::layered, {"penalty_thickness", "penalty_layers", "continuous"}}};
  for (const auto& [kind, read] : springs) {
    settings.params.penalty_spring = kind;
    for (const char* name :
         {"penalty_exponent", "penalty_length", "penalty_thickness", "penalty_layers", "continuous"})
      EXPECT_EQ(live(name), read.contains(name)) << name << " of " << static_cast<int>(kind);
  }
  const std::pair<PenaltyFriction, Names> frictions[] = {
      {PenaltyFriction::regularised, {"penalty_slip"}},
      {PenaltyFriction::anchored, {"penalty_friction_stiffness"}},
      {PenaltyFriction::kinetic, {}}};
  for (const auto& [kind, read] : frictions) {
    settings.params.penalty_friction = kind;
    for (const char* name : {"penalty_slip", "penalty_friction_stiffness"})
      EXPECT_EQ(live(name), read.contains(name)) << name << " of " << static_cast<int>(kind);
  }
}

TEST(ParamControls, ExplicitPenaltiesAmongSolidsReadNothingOfTheirContactProblem) {
  Model model = test::two_tets("a").model;
  Settings settings{Params{}, model.materials, {}};
  settings.params.solver = SolverKind::velocity;
  const auto live = [&](std::string_view name) {
    return inactive_reason(param(name), settings, model).empty();
  };
  EXPECT_TRUE(live("coupling"));
  EXPECT_TRUE(live("penetration_guard"));
  settings.params.contact_solver = ContactSolverKind::penalty_explicit;
  settings.params.coupling = SolidCoupling::nodal_admm;
  for (const char* name :
       {"coupling", "admm_tolerance", "projection_sweeps", "nodal_projection", "penetration_guard"})
    EXPECT_FALSE(live(name)) << name;
  EXPECT_TRUE(live("linearisations"));
}

TEST(ParamControls, RodsSplitByAdmmReadItsIterationsBesideExplicitPenalties) {
  Model model;
  model.materials.push_back({});
  add_rods(model, "rod", {{0, 0, 0}, {0.1, 0, 0}, {0.2, 0, 0}}, {{0, 1}, {1, 2}}, 0, 0.01);
  Settings settings{Params{}, model.materials, {}};
  settings.params.solver = SolverKind::velocity;
  settings.params.contact_solver = ContactSolverKind::penalty_explicit;
  const auto live = [&](std::string_view name) {
    return inactive_reason(param(name), settings, model).empty();
  };
  EXPECT_TRUE(live("coupling")) << "for nodal_integrator";
  settings.params.coupling = SolidCoupling::nodal_admm;
  EXPECT_TRUE(live("nodal_integrator"));
  const Names iterations{"admm_tolerance", "admm_iterations", "admm_accelerated"};
  for (const NodalIntegrator integrator : {NodalIntegrator::newton, NodalIntegrator::admm}) {
    settings.params.nodal_integrator = integrator;
    for (const std::string_view name : iterations)
      EXPECT_EQ(live(name), integrator == NodalIntegrator::admm) << name;
    for (const char* name : {"admm_beta", "admm_sigma", "admm_sleep", "admm_isotropic", "projection_sweeps"})
      EXPECT_FALSE(live(name)) << name;
  }
}

TEST(ParamControls, CouplingsReadTheirOwnProjection) {
  Model model = test::two_tets("a").model;
  Settings settings{Params{}, model.materials, {}};
  settings.params.solver = SolverKind::velocity;
  const auto why = [&](std::string_view name) { return inactive_reason(param(name), settings, model); };
  EXPECT_EQ(why("nodal_projection"), "coupling is not nodal_admm");
  EXPECT_EQ(why("ica_cone"), "coupling is not ica");
  EXPECT_EQ(why("dual_pcg_tolerance"), "coupling is not factor");
  settings.params.coupling = SolidCoupling::factor;
  EXPECT_EQ(why("dual_pcg_tolerance"), "");
  settings.params.contact_solver = ContactSolverKind::penalty_explicit;
  EXPECT_NE(why("dual_pcg_tolerance"), "") << "nothing to solve";
  settings.params.contact_solver = ContactSolverKind::nsgs;
  settings.params.coupling = SolidCoupling::nodal_admm;
  EXPECT_EQ(why("nodal_projection"), "");
  EXPECT_EQ(why("ica_facets"), "coupling is not ica");
  settings.params.coupling = SolidCoupling::ica;
  EXPECT_EQ(why("nodal_projection"), "coupling is not nodal_admm");
  EXPECT_EQ(why("ica_cone"), "");
  EXPECT_EQ(why("ica_facets"), "ica_cone is round");
  settings.params.ica_cone = IcaCone::facets;
  EXPECT_EQ(why("ica_facets"), "");
}

TEST(ParamControls, PenaltyForcesNeitherBounceNorActBeforeContact) {
  Model model = test::rigid_scene("r").model;  // with a joint
  Settings settings{velocity_params(), model.materials, {}};
  settings.materials[0].restitution = 0.5;
  const auto live = [&](std::string_view name) {
    return inactive_reason(param(name), settings, model).empty();
  };
  const auto bounces = [&] {
    return stickslip::inactive_reason(material("restitution"), settings, model, 0).empty();
  };
  EXPECT_TRUE(bounces());
  for (const auto kind : {ContactSolverKind::penalty_explicit, ContactSolverKind::penalty_implicit}) {
    settings.params.contact_solver = kind;
    const bool implicit = kind == ContactSolverKind::penalty_implicit;
    EXPECT_FALSE(bounces());
    EXPECT_FALSE(live("restitution_speed"));
    for (const char* row : {"shock_propagation", "cold_start_iterations", "continuous"})
      EXPECT_EQ(live(row), implicit) << row;
    EXPECT_FALSE(live("contact_slop"));
    model.joints[0].low = -1;
    EXPECT_TRUE(live("contact_slop")) << "of the joint's limits";
    model.joints[0].low = 1;
    model.joints[0].high = -1;
  }
}

TEST(ParamControls, ElasticSolidsAmongRigidBodiesReadPcgAndBarUnsupportedChoices) {
  Model model = test::rigid_scene("r").model;
  Object solid;
  solid.tet_end = 1;
  solid.material = 1;
  model.objects.push_back(solid);
  const Settings settings{velocity_params(), model.materials, {}};
  const auto live = [&](std::string_view name) {
    return inactive_reason(param(name), settings, model).empty();
  };
  EXPECT_TRUE(live("pcg_tolerance"));
  EXPECT_TRUE(live("baumgarte"));
  EXPECT_FALSE(live("warm_start_tolerance"));
  EXPECT_FALSE(live("d_hat"));
  EXPECT_FALSE(live("sleeping"));
  EXPECT_FALSE(live("shock_propagation"));
  EXPECT_FALSE(is_inactive_group("pcg", model));
  const auto barred = [&](const char* name, auto choice) {
    return !barred_choice_reason(param(name), static_cast<std::size_t>(choice), model).empty();
  };
  EXPECT_TRUE(barred("stabilisation", Stabilisation::projection));
  EXPECT_FALSE(barred("stabilisation", Stabilisation::spring_damper));
  EXPECT_FALSE(barred("contact_solver", ContactSolverKind::penalty_explicit));
  EXPECT_FALSE(barred("contact_solver", ContactSolverKind::apgd));
}

TEST(ParamControls, ElasticScenesReadNothingOfRigidBodies) {
  const Model model = test::two_tets("a").model;
  for (const ParamInfo& info : param_table())
    if (info.group == "velocity" || info.group == "stabilisation" || info.group == "sleep" ||
        info.group == "penalty") {
      EXPECT_EQ(inactive_reason(info, Params{}, model), "only velocity-level stepping reads this")
          << info.name;
      EXPECT_TRUE(is_inactive_group(info.group, model, SolverKind::ipc));
    }
  EXPECT_EQ(barred_choice_reason(param("solver"), static_cast<std::size_t>(SolverKind::velocity), model), "");
  EXPECT_EQ(barred_choice_reason(param("solver"), static_cast<std::size_t>(SolverKind::ipc), model), "");
  // Air drags at cloth and rods alone.
  for (const ParamInfo& info : material_table()) {
    const bool is_read = info.group == "material" && info.name != "drag" && info.name != "skin_drag";
    EXPECT_EQ(inactive_reason(info, model.materials, 0, model).empty(), is_read) << info.name;
  }
}

// What decides is the stepper, not the kind of scene: an elastic scene has both families.
TEST(ParamControls, ElasticScenesReadTheRowsOfTheirStepper) {
  const Model model = test::two_tets("a").model;
  Settings settings{Params{}, model.materials, {}};
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al}) {
    settings.params.solver = solver;
    EXPECT_EQ(inactive_reason(param("contact_limit"), settings, model), "");
    for (const ParamInfo& info : lab_param_table())
      EXPECT_EQ(inactive_reason(info, settings, model), "barrier steps have no contact solver") << info.name;
  }
  settings.params.solver = SolverKind::velocity;
  EXPECT_EQ(inactive_reason(param("contact_limit"), settings, model), "solver = velocity has no barrier");
  EXPECT_EQ(inactive_reason(contact("tolerance"), settings, model), "");
  EXPECT_EQ(inactive_reason(contact("omega"), settings, model), "");
  EXPECT_EQ(inactive_reason(contact("spg_gamma"), settings, model), "nsgs does not read this");
  const auto bounces = [&] {
    return stickslip::inactive_reason(material("restitution"), settings, model, 0).empty();
  };
  EXPECT_TRUE(bounces());
  settings.params.contact_solver = ContactSolverKind::penalty_implicit;
  EXPECT_FALSE(bounces()) << "penalty forces have no restitution";
}

TEST(ParamControls, EveryContactSolverHasExactlyItsGroupsLive) {
  Model model = test::rigid_scene("r").model;
  Settings settings{velocity_params(), model.materials, {}};
  settings.contact_params.nncg_sweep = NncgSweep::prox;
  settings.contact_params.contraction_test = ContractionTest::change;
  const ParamInfo& row = param("contact_solver");
  for (std::size_t i = 0; i < row.choices.size(); ++i) {
    SCOPED_TRACE(std::string(row.choices[i]));
    set_param(&settings.params, row, static_cast<double>(i));
    const bool penalty = row.choices[i].starts_with("penalty");
    EXPECT_NE(contact_solver_text(i), "");
    if (penalty) continue;
    const ContactSolverInfo& solver = contact_solver_info(settings.params.contact_solver);
    EXPECT_EQ(solver.name, row.choices[i]);
    for (const ParamInfo& info : lab_param_table()) {
      // Of a group that all read, but not in every iterate, or not where there is no W.
      if (info.name == "check_interval" || info.name == "storage") continue;
      // A direct method.
      if (solver.name == "lemke" && (info.name == "max_iterations" || info.name == "warm_start")) continue;
      const bool read = std::ranges::count(solver.groups, info.group) > 0;
      const std::string why = inactive_reason(info, settings, model);
      EXPECT_EQ(why.empty(), read) << info.name << ": " << why;
      if (!read) {
        EXPECT_EQ(why, std::string(solver.name) + " does not read this");
      }
    }
  }
}

TEST(ParamControls, ManifoldsAreOfferedBesideElasticSolids) {
  const Model model = load_scene("mattress").model;
  Settings settings{velocity_params(), model.materials, {}};
  settings.params.contact_solver = ContactSolverKind::manifold_gs;
  EXPECT_EQ(barred_choice_reason(param("contact_solver"),
                                 static_cast<std::size_t>(ContactSolverKind::manifold_gs), model),
            "");
  EXPECT_EQ(inactive_reason(contact("conjugate"), settings, model), "");
}

TEST(ParamControls, RowsOfAContactSolverDependOnEachOther) {
  const Model model = test::rigid_scene("r").model;
  Settings settings;
  settings.params = velocity_params();
  LabParams& lab = settings.contact_params;
  const auto live = [&](ContactSolverKind solver, const char* name) {
    settings.params.contact_solver = solver;
    return inactive_reason(contact(name), settings, model).empty();
  };
  using Kind = ContactSolverKind;
  EXPECT_FALSE(live(Kind::nncg, "r_scale")) << "nncg_sweep = nsgs";
  lab.nncg_sweep = NncgSweep::prox;
  EXPECT_TRUE(live(Kind::nncg, "r_scale"));
  EXPECT_TRUE(live(Kind::nncg, "prox_local_steps"));
  EXPECT_TRUE(live(Kind::spg, "de_saxce_inner"));
  lab.de_saxce = false;
  EXPECT_FALSE(live(Kind::spg, "de_saxce_inner"));
  lab.r_adaptive = false;
  EXPECT_FALSE(live(Kind::prox_gs, "r_shrink"));
  lab.newton_damped = false;
  EXPECT_FALSE(live(Kind::newton_ac, "newton_cuts"));
  EXPECT_TRUE(live(Kind::automatic, "newton_cuts"));
  EXPECT_TRUE(live(Kind::nsgs, "check_interval"));
  EXPECT_FALSE(live(Kind::newton_fb, "check_interval")) << "it knows the velocities of each iterate";
  EXPECT_FALSE(live(Kind::pivot_block, "check_interval"));
  EXPECT_TRUE(live(Kind::newton_ac, "krylov_tolerance"));
  EXPECT_TRUE(live(Kind::automatic, "auto_direct_rows"));
  lab.newton_linear = NewtonLinear::direct;
  EXPECT_FALSE(live(Kind::newton_ac, "krylov_tolerance"));
  EXPECT_FALSE(live(Kind::automatic, "auto_direct_rows"));
}

TEST(ParamControls, ContactGroupsHaveTitlesOfTheirOwn) {
  std::set<std::string_view> titles;
  for (const ParamInfo& info : param_table()) titles.insert(info.group_row->title);
  std::set<std::string_view> groups;
  for (const ParamInfo& info : lab_param_table())
    if (groups.insert(info.group).second) {
      EXPECT_TRUE(titles.insert(info.group_row->title).second) << info.group;
      EXPECT_NE(info.group_row->title, info.group);
    }
}

TEST(ParamControls, RigidMaterialsShowTheirRows) {
  Model model = test::rigid_scene("r").model;
  const auto live = [&](const char* name, int of) {
    const Settings settings{velocity_params(), model.materials, {}};
    return stickslip::inactive_reason(material(name), settings, model, of).empty();
  };
  for (const char* elastic : {"model", "young", "poisson", "damping"})
    EXPECT_FALSE(live(elastic, 0)) << elastic;
  for (const char* rigid :
       {"mu", "density", "restitution", "torsion_radius", "rolling_resistance", "friction_kind"})
    EXPECT_TRUE(live(rigid, 0)) << rigid;
  EXPECT_FALSE(live("density", 1)) << "the wall stands still";
  EXPECT_TRUE(live("restitution", 1)) << "what hits the wall bounces";
  EXPECT_FALSE(live("mu_across", 0));
  model.materials[0].friction_kind = FrictionKind::elliptic;
  EXPECT_TRUE(live("mu_across", 0));
  EXPECT_FALSE(live("mu_across", 1));
  for (const char* law : {"mu_static", "viscous_friction", "tresca", "tangential_restitution"})
    EXPECT_TRUE(live(law, 0)) << law;
  for (const char* law : {"mu_crossed", "mu_skew", "stribeck_speed"}) EXPECT_FALSE(live(law, 0)) << law;
  model.materials[0].friction_kind = FrictionKind::matchstick;
  EXPECT_TRUE(live("mu_crossed", 0));
  model.materials[0].friction_kind = FrictionKind::tensor;
  EXPECT_TRUE(live("mu_skew", 0));
  model.materials[0].mu_static = 0.5;
  EXPECT_TRUE(live("stribeck_speed", 0));
  for (Body& body : model.bodies) body.mass = 3;
  EXPECT_FALSE(live("density", 0)) << "the bodies have masses of their own";
}

TEST(ParamControls, ValuesCarryTheirUnits) {
  EXPECT_EQ(value_text(param("d_hat"), 2e-3), "0.002 m");
  EXPECT_EQ(value_text(material("mu"), 0.3), "0.3");
  EXPECT_EQ(value_text(param("ccd"), 1), "cubic");
  EXPECT_EQ(value_text(param("newton_iterations"), 200), "200");
  EXPECT_EQ(value_text(param("check_intersections"), 1), "on");
}

}  // namespace
}  // namespace stickslip
