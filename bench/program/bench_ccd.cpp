#include "bench/program/bench_ccd.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/io/file/input_error.h"
#include "bench/program/ccd_queries.h"
#include "gpu/engine.h"

namespace stickslip {
namespace {

/// For each path the shortest tail that distinguishes it from the others.
std::vector<std::string> labels_of(const std::vector<std::string>& files) {
  std::vector<std::filesystem::path> rest(files.begin(), files.end());
  std::vector<std::string> labels;
  for (std::filesystem::path& path : rest) {
    labels.push_back(path.filename().string());
    path = path.parent_path();
  }
  for (bool longer = true; longer;) {
    longer = false;
    const std::vector<std::string> before = labels;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (std::count(before.begin(), before.end(), before[i]) < 2 || !rest[i].has_filename()) continue;
      labels[i] = (rest[i].filename() / before[i]).string();
      rest[i] = rest[i].parent_path();
      longer = true;
    }
  }
  return labels;
}

nlohmann::json print_row(const std::string& file, const char* kind, const CcdScore& score) {
  std::printf("  %-44s %-3s %-12s %-7s %8zu %6zu %6zu %9.0f %9.0f %9.0f\n", file.c_str(), kind,
              score.method.c_str(), score.scalar.c_str(), score.queries, score.false_negatives,
              score.false_positives, score.mean_ns(), score.median_ns(), score.max_ns());
  return {{"file", file},
          {"kind", kind},
          {"method", score.method},
          {"scalar", score.scalar},
          {"queries", score.queries},
          {"false_negatives", score.false_negatives},
          {"false_positives", score.false_positives},
          {"ns_per_query", score.mean_ns()},
          {"ns_median", score.median_ns()},
          {"ns_max", score.max_ns()}};
}

}  // namespace

nlohmann::json bench_ccd(const std::vector<std::string>& files) {
  if (files.empty())
    throw InputError("bench ccd needs files of queries: stickslip bench ccd FILE... [--json F]");
  std::vector<CcdQueryFile> inputs;
  inputs.reserve(files.size());
  for (const std::string& file : files) inputs.push_back(load_ccd_queries(file));

  std::string device;
  for (const BackendInfo& info : list_backends())
    if (info.backend == Backend::cpu) device = info.device;
  std::printf("ccd on cpu (%s), one thread\n  %-44s %-3s %-12s %-7s %8s %6s %6s %9s %9s %9s\n",
              device.c_str(), "file", "", "method", "scalar", "queries", "missed", "false+", "mean ns",
              "median", "max");
  nlohmann::json rows = nlohmann::json::array(), figures = nlohmann::json::array();
  std::vector<CcdScore> total;
  const std::vector<std::string> labels = labels_of(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::vector<CcdScore> scores = judge_ccd(inputs[i].kind, inputs[i].queries);
    const char* kind = inputs[i].kind == PairKind::edge_edge ? "ee" : "vf";
    for (std::size_t m = 0; m < scores.size(); ++m) {
      rows.push_back(print_row(labels[i], kind, scores[m]));
      if (i == 0) total.push_back(scores[m]);
      else total[m].add(scores[m]);
    }
  }
  for (const CcdScore& score : total) {
    rows.push_back(print_row("total", "all", score));
    figures.push_back({{"name", score.method + " " + score.scalar},
                       {"value", score.mean_ns()},
                       {"unit", "ns/query"},
                       {"floor", nullptr},
                       {"floor_name", ""}});
  }
  std::fflush(stdout);
  return {{"bench", "ccd"},
          {"backend", "cpu"},
          {"device", device},
          {"threads", 1},
          {"figures", std::move(figures)},
          {"rows", std::move(rows)}};
}

}  // namespace stickslip
