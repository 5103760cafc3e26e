// stickslip bench thin: on real engines, at a small size.
#include "bench/program/bench_thin.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/io/file/input_error.h"

namespace stickslip {
namespace {

using nlohmann::json;

BackendInfo thin_backend() {
  for (const BackendInfo& info : list_backends())
    if (info.backend == Backend::cpu) return info;
  throw std::logic_error("no cpu");
}

BenchOptions one_step_of(const std::vector<std::string>& scenes) {
  BenchOptions options;
  options.scenes = scenes;
  options.threads = 1;
  options.warm = 0;
  options.frames = 1;
  return options;
}

TEST(BenchThin, MeasuresBothMethodsOnEachScene) {
  const json result = bench_thin(thin_backend(), one_step_of({"cloth-live"}), make_engine);
  ASSERT_EQ(result["rows"].size(), 2u);
  EXPECT_EQ(result["rows"][0]["method"], "nsgs");
  EXPECT_EQ(result["rows"][1]["method"], "nodal_admm");
  for (const json& row : result["rows"]) {
    EXPECT_GT(row["dofs"], 1000);
    EXPECT_GT(row["seconds_per_step"], 0);
    EXPECT_NEAR(row["seconds_per_frame"].get<double>(),
                row["seconds_per_step"].get<double>() / 24 / row["dt"].get<double>(), 1e-9);
    EXPECT_LE(row["share_linear_solve"].get<double>() + row["share_contact_solve"].get<double>(), 1);
  }
}

/// nu = 3 contacts / dofs counts the nodes that no script holds.
TEST(BenchThin, RowsHaveTheLargestNu) {
  const Model model = load_scene("cloth-drag").model;
  std::size_t free = 0;
  for (const Object& object : model.objects)
    if (object.is_movable()) free += static_cast<std::size_t>(object.node_end - object.node_begin);
  for (const ScriptedNodes& script : model.scripted)
    for (const std::int32_t node : script.nodes) free -= model.objects[model.node_object[node]].is_movable();
  BenchOptions options = one_step_of({"cloth-drag"});
  options.warm = 2;
  for (const json& row : thin_rows(Backend::cpu, options, make_engine)) {
    const double contacts = row["contacts_most"];
    ASSERT_GT(contacts, 100);
    EXPECT_DOUBLE_EQ(row["nu_most"], 3 * contacts / (3 * static_cast<double>(free)));
    EXPECT_LT(3 * static_cast<double>(free), row["dofs"].get<double>());
  }
}

TEST(BenchThin, MethodsCanBeChosen) {
  BenchOptions options = one_step_of({"cloth-live"});
  options.solvers = {"nodal_admm"};
  const json rows = thin_rows(Backend::cpu, options, make_engine);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["method"], "nodal_admm");
  options.solvers = {"spg"};
  EXPECT_THROW(thin_rows(Backend::cpu, options, make_engine), InputError);
}

TEST(BenchThin, AnUnknownSceneIsRefused) {
  EXPECT_THROW(bench_thin(thin_backend(), one_step_of({"drop"}), make_engine), InputError);
}

TEST(BenchThin, MoreStrandsAreThinnerAndBendAsBefore) {
  const std::string text = "young = 2e7\nstrands = 50\ndiameter = 2e-3\n";
  EXPECT_EQ(with_strands(text, 250), "young = 2e+07\nstrands = 250\ndiameter = 0.002\n");
  EXPECT_EQ(with_strands(text, 1000), "young = 1.6e+08\nstrands = 1000\ndiameter = 0.001\n");
  EXPECT_THROW(with_strands("young = 1\n", 9), InputError);
}

}  // namespace
}  // namespace stickslip
