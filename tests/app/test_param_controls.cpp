#include "app/viewer/param_controls.h"

#include <gtest/gtest.h>

#include "tests/app/fake_engine.h"

namespace stickslip {
namespace {

const ParamInfo& param(std::string_view name) { return *find_param(param_table(), name); }
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
    // The value at hand is on the slider.
    EXPECT_NEAR(scale.value(scale.position(info.default_value)), info.default_value,
                1e-2 * std::abs(info.default_value));
  };
  for (const ParamInfo& info : param_table()) check(info);
  for (const ParamInfo& info : material_table()) check(info);
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

TEST(ParamControls, IdleControlsSayWhy) {
  const Model model = test::two_tets("a").model;
  Params params;
  EXPECT_NE(why_idle(param("friction_lags"), params, model), "");
  params.friction_update = FrictionUpdate::lagged;
  EXPECT_EQ(why_idle(param("friction_lags"), params, model), "");
  EXPECT_EQ(why_idle(param("barrier_growth"), params, model), "");
  params.barrier_stiffness = 1e6;
  EXPECT_NE(why_idle(param("barrier_growth"), params, model), "");
  EXPECT_EQ(why_idle(param("barrier_stiffness"), params, model), "");
  EXPECT_NE(why_idle(param("sigma_rule"), params, model), "");
  EXPECT_NE(why_idle(param("kinematic_stiffness"), params, model), "");
}

TEST(ParamControls, WhatTheSolverIgnoresIsIdle) {
  const Model model = test::two_tets("a").model;
  Params params;
  int augmented = 0;
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al}) {
    params.solver = solver;
    for (const ParamInfo& info : param_table()) {
      if (info.group != "augmented") continue;
      ++augmented;
      EXPECT_EQ(why_idle(info, params, model).empty(), solver == SolverKind::barrier_al) << info.name;
    }
    EXPECT_EQ(why_idle(param("solver"), params, model), "");
    EXPECT_EQ(why_idle(param("contact_limit"), params, model), "");
  }
  EXPECT_GT(augmented, 0);
}

TEST(ParamControls, WhatTheLinearSolverIgnoresIsIdle) {
  const Model model = test::two_tets("a").model;
  Params params;
  const auto idle = [&](const char* name) { return !why_idle(param(name), params, model).empty(); };
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

TEST(ParamControls, GroupsHaveTitles) {
  EXPECT_EQ(group_title("augmented"), "Augmented Lagrangian");
  EXPECT_EQ(group_title("solver"), "Solver");
  EXPECT_EQ(group_title("pcg"), "Linear solver");
  EXPECT_EQ(group_title("ccd"), "CCD");
}

TEST(ParamControls, IdleMaterialRowsSayWhy) {
  Model model = test::two_tets("a").model;
  EXPECT_EQ(why_idle(material("young"), model.materials, 1, model), "");
  model.materials[1].model = ElasticModel::arap;
  EXPECT_NE(why_idle(material("poisson"), model.materials, 1, model), "");
  EXPECT_EQ(why_idle(material("poisson"), model.materials, 0, model), "");
  EXPECT_EQ(why_idle(material("poisson"), model.materials, -1, model), "")
      << "it still acts on the other material";
  model.materials.push_back(Material{});
  EXPECT_NE(why_idle(material("young"), model.materials, 2, model), "");
  EXPECT_EQ(why_idle(material("mu"), model.materials, 2, model), "");

  for (Object& object : model.objects)
    if (object.material == 0) object.control_begin = 0;
  for (const char* idle : {"model", "poisson", "damping"})
    EXPECT_NE(why_idle(material(idle), model.materials, 0, model), "") << idle;
  EXPECT_EQ(why_idle(material("young"), model.materials, 0, model), "");
  EXPECT_EQ(why_idle(material("density"), model.materials, 0, model), "");
  EXPECT_EQ(why_idle(material("damping"), model.materials, 1, model), "") << "of a deformable body";
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
