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
  const json result = bench_thin(thin_backend(), one_step_of({"curtain"}), make_engine);
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
