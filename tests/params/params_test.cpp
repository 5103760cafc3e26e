#include "gpu/params/params.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "gpu/params/contact_solvers.h"
#include "gpu/params/lab_params.h"

namespace stickslip {
namespace {

const ParamInfo& param(std::string_view name) {
  const ParamInfo* info = find_param(param_table(), name);
  if (!info) throw std::out_of_range(std::string(name));
  return *info;
}

std::string error_of(Params& params, std::string_view name, std::string_view text) {
  try {
    set_param(&params, param(name), text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Params, RowsAreUniqueAndDefaultsLieInTheirRanges) {
  const Params params;
  const Material material;
  std::set<std::string_view> names;
  const auto check = [&](const ParamInfo& info, const void* object) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_GE(info.default_value, info.low) << info.name;
    EXPECT_LE(info.default_value, info.high) << info.name;
    EXPECT_EQ(get_param(object, info), info.default_value) << info.name;
    EXPECT_FALSE(info.meaning.empty()) << info.name;
    EXPECT_EQ(info.type == ParamType::choice, info.choices.size() > 1) << info.name;
  };
  for (const ParamInfo& info : param_table()) check(info, &params);
  for (const ParamInfo& info : material_table()) check(info, &material);
}

TEST(ContactSolvers, RowsAreTheChoicesInTheOrderOfTheEnumerators) {
  const ParamInfo& choice = param("contact_solver");
  const auto table = contact_solver_table();
  ASSERT_EQ(choice.choices.size(), table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(table[i].kind), i);
    EXPECT_EQ(choice.choices[i], table[i].name);
    EXPECT_EQ(find_contact_solver(table[i].name), &table[i]);
    EXPECT_EQ(&contact_solver_info(table[i].kind), &table[i]);
    EXPECT_FALSE(table[i].meaning.empty());
  }
  EXPECT_EQ(find_contact_solver("no such"), nullptr);
}

TEST(ContactSolvers, LawsAreThoseThatAreDocumented) {
  const std::set<std::string_view> laws{"exact", "associated", "box", "polyhedral", "penalty"};
  for (const ContactSolverInfo& solver : contact_solver_table()) {
    EXPECT_TRUE(laws.contains(solver.law)) << solver.name << ": " << solver.law;
    EXPECT_EQ(solver.law == "penalty", solver.has(SolverTrait::forces)) << solver.name;
  }
}

TEST(ContactSolvers, GroupsHaveParameters) {
  std::set<std::string_view> groups;
  for (const ParamInfo& row : lab_param_table()) groups.insert(row.group);
  for (const ContactSolverInfo& solver : contact_solver_table()) {
    EXPECT_EQ(solver.groups.front(), "stop");
    for (const std::string_view group : solver.groups)
      EXPECT_TRUE(groups.contains(group)) << solver.name << ": " << group;
  }
}

TEST(ContactSolvers, ListsHaveAutoFirstAndNoPenaltyForces) {
  const auto lab = list_contact_solvers(), steps = list_stepping_solvers();
  EXPECT_EQ(lab.front().name, "auto");
  EXPECT_EQ(steps.size(), lab.size() + 1);
  EXPECT_EQ(steps.back().name, "manifold_gs");
  EXPECT_EQ(steps.back().law, "exact");
}

TEST(Params, EveryRowReadsBackWhatWasSet) {
  for (const ParamInfo& info : param_table())
    for (const double value : {info.low, info.high}) {
      Params params;
      set_param(&params, info, value);
      EXPECT_EQ(get_param(&params, info), value) << info.name;
      Params copy;
      set_param(&copy, info, param_text(&params, info));
      EXPECT_EQ(get_param(&copy, info), value) << info.name << " through " << param_text(&params, info);
    }
}

TEST(Params, SettingOneFieldLeavesTheOthersAlone) {
  for (const ParamInfo& changed : param_table()) {
    Params params;
    set_param(&params, changed, changed.high);
    for (const ParamInfo& other : param_table())
      EXPECT_EQ(get_param(&params, other), other.name == changed.name ? other.high : other.default_value)
          << changed.name << " moved " << other.name;
  }
}

TEST(Params, ReachesTheStructFields) {
  Params params;
  set_param(&params, param("dt"), "0.01");
  set_param(&params, param("newton_iterations"), "7");
  set_param(&params, param("check_intersections"), "true");
  set_param(&params, param("ccd"), "cubic");
  EXPECT_EQ(params.dt, 0.01);
  EXPECT_EQ(params.newton_iterations, 7);
  EXPECT_TRUE(params.check_intersections);
  EXPECT_EQ(params.ccd, CcdMethod::cubic);
  EXPECT_EQ(param_text(&params, param("ccd")), "cubic");
}

TEST(Params, RefusesWhatIsOutOfRangeOrNoNumber) {
  Params params;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity, -infinity, 0.0, 30.0, -1.0})
    EXPECT_THROW(set_param(&params, param("dt"), bad), std::invalid_argument) << bad;
  EXPECT_THROW(set_param(&params, param("newton_iterations"), 2.5), std::invalid_argument);
  EXPECT_THROW(set_param(&params, param("ccd"), 4.0), std::invalid_argument);
  for (const char* bad : {"", "nan", "fast", "0.01s", "0.01 ", "1e999"})
    EXPECT_THROW(set_param(&params, param("dt"), bad), std::invalid_argument) << bad;
  EXPECT_THROW(set_param(&params, param("check_intersections"), "yes"), std::invalid_argument);
  EXPECT_THROW(set_param(&params, param("ccd"), "exact"), std::invalid_argument);
  EXPECT_EQ(params.dt, Params().dt) << "a refused value must not be stored";
}

TEST(Params, MessagesNameParameterValueRangeAndUnit) {
  Params params;
  const std::string range = error_of(params, "dt", "50");
  for (const char* part : {"dt", "50 s", "[1e-06, 10] s"})
    EXPECT_NE(range.find(part), std::string::npos) << part << " in: " << range;
  const std::string choice = error_of(params, "ccd", "exact");
  for (const char* part : {"ccd", "'exact'", "additive, cubic, multivariate, inclusion"})
    EXPECT_NE(choice.find(part), std::string::npos) << part << " in: " << choice;
}

TEST(Params, TheAugmentedLagrangianRefusesBadValuesWithTheirRangeAndMeaning) {
  const struct {
    const char *name, *bad, *range, *meaning;
  } cases[]{{"solver", "al", "must be one of ipc, barrier_al", "method"},
            {"contact_limit", "-1", "must be a whole number in [0, 1e+09]", "active contacts at most"},
            {"contact_limit", "1.5", "must be a whole number in [0, 1e+09]", "0 means no limit"},
            {"sigma_rule", "max", "must be one of capped, jump, ipc2020", "min(growth sigma, cap sigma_0)"},
            {"barrier_floor", "0", "must be a number in [1e-08, 100]", "least sigma that adapts"},
            {"augmentation_gap", "0", "must be a number in [1e-06, 1]", "share of d_hat"},
            {"augmentation_gap", "1.01", "must be a number in [1e-06, 1]", "get a multiplier"},
            {"augmentation_gap", "nan", "must be a number in [1e-06, 1]", "get a multiplier"},
            {"multiplier_update", "slope", "must be one of value, derivative", "what multipliers grow by"},
            {"multiplier_pace", "0", "must be a number in [1e-06, 1e+06]", "since their last change"},
            {"multiplier_pace", "2e+06", "must be a number in [1e-06, 1e+06]", "since their last change"},
            {"augmentation_end", "never", "must be one of together, singly", "when its contact opened"}};
  for (const auto& c : cases) {
    Params params;
    const std::string error = error_of(params, c.name, c.bad);
    for (const char* part : {c.name, c.bad, c.range, c.meaning})
      EXPECT_NE(error.find(part), std::string::npos) << part << " in: " << error;
    EXPECT_EQ(get_param(&params, param(c.name)), param(c.name).default_value) << "nothing is stored";
  }
}

TEST(Params, NearestNameFindsTyposAndPartsAndNothingElse) {
  EXPECT_EQ(nearest_name(param_table(), "gravty"), "gravity");
  EXPECT_EQ(nearest_name(param_table(), "dhat"), "d_hat");
  EXPECT_EQ(nearest_name(param_table(), "newton_tol"), "newton_tolerance");
  EXPECT_EQ(nearest_name(material_table(), "young_modulus"), "young");
  EXPECT_EQ(nearest_name(material_table(), "youngs"), "young");
  EXPECT_EQ(nearest_name(param_table(), "qqqqqqqqqq"), "");
  EXPECT_EQ(nearest_name(param_table(), "gravity" + std::string(300, 'y')), "") << "comparing takes too long";
  EXPECT_EQ(find_param(param_table(), "gravty"), nullptr);
}

}  // namespace
}  // namespace stickslip
