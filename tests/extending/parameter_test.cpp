// The parameters and the material row of docs/extending.md expand as those of params.h do.
#include <gtest/gtest.h>

#include "gpu/params/param_rows.h"

namespace stickslip {
namespace {

// clang-format off
#define EXAMPLE_PARAMS(REAL, INT, BOOL, CHOICE) \
  /* [parameter] */ \
  REAL(rolling_speed, 0.01, 0.0, 10.0, "m/s", velocity, "rolling below this speed stops", \
       INACTIVE(s.penalty(), "penalty forces do not stop rolling")) \
  /* [/parameter] */

#define EXAMPLE_MATERIALS(REAL, INT, BOOL, CHOICE) \
  /* [material] */ \
  REAL(spin_damping, 0.0, 0.0, 10.0, "N m s", rigid, "moment against spinning about the normal, per rad/s; 0: none") \
  /* [/material] */
// clang-format on

#define EXAMPLE_FIELD(name, value, ...) double name = value;
#define EXAMPLE_NONE(...)
struct ExampleParams {
  EXAMPLE_PARAMS(EXAMPLE_FIELD, EXAMPLE_NONE, EXAMPLE_NONE, EXAMPLE_NONE)
};
struct ExampleMaterial {
  EXAMPLE_MATERIALS(EXAMPLE_FIELD, EXAMPLE_NONE, EXAMPLE_NONE, EXAMPLE_NONE)
};

template <class Owner>
std::vector<ParamInfo> rows();
template <>
std::vector<ParamInfo> rows<ExampleParams>() {
  using namespace param_rules;
  using Owner = ExampleParams;
  constexpr auto group_of = param_group;
  return {EXAMPLE_PARAMS(STICKSLIP_ROW_REAL, STICKSLIP_ROW_INT, STICKSLIP_ROW_BOOL, STICKSLIP_ROW_CHOICE)};
}
template <>
std::vector<ParamInfo> rows<ExampleMaterial>() {
  using Owner = ExampleMaterial;
  constexpr auto group_of = param_group;
  return {EXAMPLE_MATERIALS(STICKSLIP_ROW_REAL, STICKSLIP_ROW_INT, STICKSLIP_ROW_BOOL, STICKSLIP_ROW_CHOICE)};
}

TEST(Extending, TheExampleParameterIsAFieldARowAndARule) {
  const ParamInfo row = rows<ExampleParams>().front();
  EXPECT_EQ(find_param(param_table(), row.name), nullptr) << "the page's example is taken: choose another";
  ExampleParams example;
  EXPECT_EQ(get_param(&example, row), 0.01);
  set_param(&example, row, "2");
  EXPECT_EQ(example.rolling_speed, 2);
  EXPECT_THROW(set_param(&example, row, 11.0), std::invalid_argument);

  Params params;
  const LabParams lab;
  const SceneTraits scene;
  EXPECT_EQ(inactive_reason(row, {params, lab, scene}), "only velocity-level stepping reads this");
  params.solver = SolverKind::velocity;
  EXPECT_EQ(inactive_reason(row, {params, lab, scene}), "");
  params.contact_solver = ContactSolverKind::penalty_implicit;
  EXPECT_EQ(inactive_reason(row, {params, lab, scene}), "penalty forces do not stop rolling");
}

TEST(Extending, TheExampleOfAMaterialIsAFieldARowAndARule) {
  const ParamInfo row = rows<ExampleMaterial>().front();
  EXPECT_EQ(find_param(material_table(), row.name), nullptr) << "the page's example is taken: choose another";
  ExampleMaterial example;
  set_param(&example, row, 0.5);
  EXPECT_EQ(example.spin_damping, 0.5);
  const Params params;
  const LabParams lab;
  EXPECT_NE(inactive_reason(row, {params, lab, {}}), "");
  EXPECT_EQ(inactive_reason(row, {params, lab, {}, {.rigid = true}}), "");
}

}  // namespace
}  // namespace stickslip
