// `stickslip bench device-model`: what the steps of a scene would cost on a device, by the model of
// cost_model.h.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/io/scene/scene.h"
#include "app/io/scene/settings.h"
#include "gpu/engine.h"
#include "tests/device/faults.h"
#include "tests/device/kernel_names.h"
#include "tests/device/runtime.h"

namespace stickslip {
namespace {

using emulation::Bound;
using emulation::CostModel;
using emulation::CostRow;
using nlohmann::json;

struct Options {
  std::string scene, device = "h100", json_file, resources;
  std::optional<double> scale;
  int warm = 2, steps = 1, most = 8;
  std::vector<std::string> settings;
};

/// The newest table of what kernels take, by its name, which begins with a date; empty without one.
std::string newest_resources() {
  std::string newest;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(STICKSLIP_KERNEL_RESOURCES, error))
    if (entry.path().extension() == ".json") newest = std::max(newest, entry.path().string());
  return newest;
}

/// Gives the model the figures of the file, which tools/kernel_resources.py --json has written.
void load_resources(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<emulation::NamedResources> table;
  try {
    const json content = json::parse(file);
    for (const json& entry : content.at("kernels")) {
      emulation::NamedResources& row = table.emplace_back();
      row.name = entry.at("name");
      row.resources = {entry.at("registers"), entry.at("stack"), entry.at("spill_stores"),
                       entry.at("spill_loads"), entry.at("shared")};
    }
  } catch (const json::exception& error) {
    throw std::runtime_error(path + " is no table of tools/kernel_resources.py: " + error.what());
  }
  if (table.empty()) throw std::runtime_error(path + " has no kernels");
  emulation::use_resources(emulation::match_resources(emulation::kernels_of_program(), table));
}

std::size_t matched(const CostModel& model) {
  const auto& kernels = model.kernels();
  return static_cast<std::size_t>(
      std::count_if(kernels.begin(), kernels.end(), [](const auto& kernel) { return kernel.second; }));
}

/// The names of kernels without figures.
std::vector<std::string> unmatched(const CostModel& model) {
  std::vector<std::string> names;
  for (const auto& [function, known] : model.kernels())
    if (!known) names.push_back(emulation::kernel_name(function));
  std::sort(names.begin(), names.end());
  return names;
}

/// One of the largest costs: a kernel, or the waits and copies of a stage.
struct Place {
  std::string stage, what;
  CostRow row;
};

std::vector<Place> places_by_cost(const CostModel& model, std::size_t most) {
  std::vector<std::pair<CostModel::Place, CostRow>> rows(model.places().begin(), model.places().end());
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  rows.resize(std::min(rows.size(), most));  // finding a name takes a while
  std::vector<Place> out;
  for (const auto& [place, row] : rows)
    out.push_back({place.stage,
                   place.function == nullptr ? "waits and copies" : emulation::kernel_name(place.function),
                   row});
  return out;
}

std::vector<std::pair<std::string, CostRow>> stages_by_cost(const CostModel& model) {
  std::vector<std::pair<std::string, CostRow>> rows(model.stages().begin(), model.stages().end());
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  return rows;
}

void add(CostRow& sum, const CostRow& row) {
  sum.launches += row.launches, sum.nodes += row.nodes, sum.waits += row.waits, sum.copies += row.copies;
  sum.bytes += row.bytes;
  sum.seconds += row.seconds, sum.floor += row.floor;
  for (const auto& [bound, seconds] : row.by) sum.by[bound] += seconds;
}

CostRow sum_of(const CostModel& model) {
  CostRow sum;
  for (const auto& [stage, row] : model.stages()) add(sum, row);
  return sum;
}

void print_row(const std::string& title, const CostRow& row, double steps) {
  const auto per_step = [&](double x) { return x / steps; };
  std::printf("%-26s %9.1f %9.1f %6.1f %7.1f %9.3f %10.1f %11.1f  %s\n", title.c_str(),
              per_step(static_cast<double>(row.launches)), per_step(static_cast<double>(row.nodes)),
              per_step(static_cast<double>(row.waits)), per_step(static_cast<double>(row.copies)),
              per_step(1e-6 * static_cast<double>(row.bytes)), per_step(1e6 * row.floor),
              per_step(1e6 * row.seconds), emulation::name(row.bound()));
}

void print(const Options& options, const std::string& device, const CostModel& model,
           const std::string& size) {
  const double steps = options.steps;
  std::printf("%s on %s, predicted, per step (mean of %d after %d): %s\n", options.scene.c_str(),
              device.c_str(), options.steps, options.warm, size.c_str());
  std::printf("%-26s %9s %9s %6s %7s %9s %10s %11s  %s\n", "stage", "launches", "nodes", "waits", "copies",
              "MB", "floor [us]", "time [us]", "bound by");
  for (const auto& [stage, row] : stages_by_cost(model)) print_row(stage.empty() ? "-" : stage, row, steps);
  print_row("sum", sum_of(model), steps);
  std::printf("registers and stacks: of %zu of %zu kernels%s\n", matched(model), model.kernels().size(),
              options.resources.empty() ? "" : (", from " + options.resources).c_str());
  std::printf("\nlargest costs [us]\n");
  for (const Place& place : places_by_cost(model, static_cast<std::size_t>(options.most))) {
    std::printf("%10.1f  %-13s  %s: %s\n", 1e6 * place.row.seconds / steps,
                emulation::name(place.row.bound()), place.stage.c_str(), place.what.c_str());
  }
}

json to_json(const CostRow& row, double steps) {
  json by = json::object();
  for (const auto& [bound, seconds] : row.by) by[emulation::name(bound)] = 1e6 * seconds / steps;
  return {{"launches", static_cast<double>(row.launches) / steps},
          {"nodes", static_cast<double>(row.nodes) / steps},
          {"waits", static_cast<double>(row.waits) / steps},
          {"copies", static_cast<double>(row.copies) / steps},
          {"megabytes", 1e-6 * static_cast<double>(row.bytes) / steps},
          {"floor_us", 1e6 * row.floor / steps},
          {"predicted_us", 1e6 * row.seconds / steps},
          {"by", std::move(by)}};
}

/// The scene's size, and what its measured steps took, each a mean over them.
struct Work {
  std::string size;
  std::size_t tets = 0;
  double contacts = 0, newton = 0, pcg = 0;
};

void write(const Options& options, const std::string& device, const CostModel& model, const Work& work) {
  const double steps = options.steps;
  json stages = json::array(), costs = json::array();
  for (const auto& [stage, row] : stages_by_cost(model)) {
    stages.push_back(to_json(row, steps));
    stages.back()["stage"] = stage;
  }
  for (const Place& place : places_by_cost(model, static_cast<std::size_t>(options.most))) {
    costs.push_back({{"stage", place.stage},
                     {"place", place.what},
                     {"predicted_us", 1e6 * place.row.seconds / steps},
                     {"bound", emulation::name(place.row.bound())}});
  }
  std::ofstream file(options.json_file);
  file << json{{"scene", options.scene},
               {"settings", options.settings},
               {"scale", options.scale.value_or(1)},
               {"device", device},
               {"size", work.size},
               {"tets", work.tets},
               {"contacts", work.contacts},
               {"newton", work.newton},
               {"pcg", work.pcg},
               {"warm", options.warm},
               {"steps", options.steps},
               {"resources",
                {{"file", std::filesystem::path(options.resources).filename()},
                 {"kernels", model.kernels().size()},
                 {"matched", matched(model)},
                 {"unmatched", unmatched(model)}}},
               {"sum", to_json(sum_of(model), steps)},
               {"stages", stages},
               {"largest", costs}}
              .dump(1)
       << "\n";
  file.close();
  if (!file) throw std::runtime_error("cannot write " + options.json_file);
}

int run(const Options& options) {
  if (!options.resources.empty()) load_resources(options.resources);
  Scene scene = load_scene(options.scene, options.scale);
  for (const std::string& setting : options.settings) apply_setting(scene, setting);
  std::string device;
  for (const BackendInfo& info : list_backends())
    if (info.backend == Backend::cuda) device = info.device;
  const auto make = [&](Backend backend) {
    std::unique_ptr<Engine> engine = make_engine(backend, 0);
    engine->set_params(scene.params);
    engine->set_contact_params(scene.contact_params);
    engine->load(scene.model);
    return engine;
  };
  const std::unique_ptr<Engine> engine = make(Backend::cuda);
  // The steps before run on the CPU, which is faster. One more lets the device find its memory and what it
  // keeps between steps.
  if (options.warm > 1) {
    const std::unique_ptr<Engine> fast = make(Backend::cpu);
    for (int i = 1; i < options.warm; ++i) fast->step();
    engine->set_state(fast->state());
  }
  if (options.warm > 0) engine->step();
  emulation::set_checks({.costs = true});
  emulation::forget_costs();
  StepReport report;
  Work work;
  work.tets = scene.model.tets.size();
  for (int i = 0; i < options.steps; ++i) {
    report = engine->step();
    work.contacts += 1.0 * report.contacts / options.steps;
    work.newton += 1.0 * report.newton_iterations / options.steps;
    work.pcg += 1.0 * report.pcg_iterations / options.steps;
  }
  char size[160];
  std::snprintf(size, sizeof size, "%zu tets, %zu bodies, %zu contacts, %.1f MB", scene.model.tets.size(),
                scene.model.bodies.size(), static_cast<std::size_t>(report.contacts),
                1e-6 * static_cast<double>(report.memory_bytes));
  work.size = size;
  print(options, device, emulation::costs(), work.size);
  if (!options.json_file.empty()) write(options, device, emulation::costs(), work);
  return 0;
}

int main_of(int count, char** words) {
  Options options;
  CLI::App app(
      "predicts what the steps of a scene cost on a CUDA device: stage, launches, bytes, floor, time",
      "device-model");
  app.add_option("SCENE", options.scene, "name of a scene, or its file")->required();
  app.add_option("--device", options.device, "whose figures the model takes")
      ->check(CLI::IsMember({"h100", "rtx4090", "small"}))
      ->capture_default_str();
  app.add_option("--scale", options.scale, "refinement factor of the scene");
  app.add_option("--set", options.settings, "key=value, as in stickslip run");
  app.add_option("--warm", options.warm, "steps before the measured ones")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--steps", options.steps, "measured steps")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--most", options.most, "number of largest costs to list")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--json", options.json_file, "file for the tables");
  app.add_option(
      "--resources", options.resources,
      "what kernels take, as tools/kernel_resources.py --json writes it; none: half of the lanes are "
      "resident (default: the newest in tools/bench/results/device_model/resources)");
  CLI11_PARSE(app, count, words);
  if (options.resources.empty()) options.resources = newest_resources();
  if (options.resources == "none") options.resources.clear();
  // Before the device is used for the first time.
  setenv("STICKSLIP_DEVICE", options.device.c_str(), 1);
  return run(options);
}

}  // namespace
}  // namespace stickslip

int main(int count, char** words) {
  try {
    return stickslip::main_of(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stickslip bench device-model: %s\n", error.what());
    return 2;
  }
}
