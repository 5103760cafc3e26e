#include "bench/program/bench_rigid.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/io/file/input_error.h"
#include "bench/bench.h"
#include "bench/rigid_peer.h"
#include "bench/rigid_study.h"

namespace stickslip {
namespace {

using nlohmann::json;

constexpr int kRigidSteps = 600;
constexpr double kMillimetres = 1e3, kMilliseconds = 1e3;

/// A scene with one method. The peer of our rows is Bullet with its defaults, if available.
struct RigidRow {
  const RigidScene* scene;
  std::string method;
  bool ours;
  RigidMeasure measure;
  double peer_seconds = 0;
  std::string peer_name = {};
  double floor_seconds = 0;  // of a step: the sweeps' bytes at the triad's bandwidth; 0: not computed
};

bool sweeps_contacts(ContactSolverKind solver) {
  return solver == ContactSolverKind::nsgs || solver == ContactSolverKind::prox_gs;
}

/// All scenes, the large ones only on request: a wrong name is reported before long benches run.
std::deque<RigidScene> rigid_scenes(const BenchOptions& options) {
  const std::vector<std::string> known = rigid_scene_names();
  std::vector<std::string> names = options.scenes;
  if (names.empty()) {
    names = known;
    if (!options.full)
      std::erase_if(names, [](const std::string& n) { return n == "pile-16k" || n == "wall-4k"; });
  }
  std::deque<RigidScene> scenes;
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string nearest =
          nearest_name(std::vector<std::string_view>(known.begin(), known.end()), name);
      std::string message = "bench rigid has no scene '" + name + "'";
      if (!nearest.empty()) message += "; did you mean '" + nearest + "'?";
      message += " Known:";
      for (const std::string& k : known) message += " " + k;
      throw InputError(message);
    }
    scenes.push_back(make_rigid_scene(name));
  }
  return scenes;
}

/// The requested solvers, each with each requested number of iterations; or the bench's own choice.
std::vector<RigidMethod> chosen_methods(const BenchOptions& options) {
  std::vector<RigidMethod> methods = rigid_methods(options.full);
  if (!options.solvers.empty()) {
    const ParamInfo& row = *find_param(param_table(), "contact_solver");
    methods.clear();
    for (const std::string& name : options.solvers) {
      Params params;
      try {
        set_param(&params, row, name);
      } catch (const std::invalid_argument& error) {
        throw InputError(error.what());
      }
      methods.push_back({params.contact_solver});
    }
  }
  if (options.iterations.empty()) return methods;
  std::vector<RigidMethod> product;
  for (const RigidMethod& method : methods)
    for (const int iterations : options.iterations) {
      product.push_back(method);
      product.back().iterations = iterations;
    }
  return product;
}

std::vector<BulletSettings> peer_settings(const RigidScene& scene) {
  std::vector<BulletSettings> settings{{}};
  if (scene.name.starts_with("wall")) settings.push_back({100});
  return settings;
}

std::vector<RigidRow> measure_scene(const RigidScene& scene, Backend backend, const BenchOptions& options,
                                    const EngineFactory& factory, double triad) {
  const int steps = options.frames.value_or(kRigidSteps);
  std::vector<RigidRow> rows;
  const auto add = [&](RigidRunner& runner, const std::string& method, bool ours) {
    rows.push_back({&scene, method, ours, measure_rigid(runner, scene, steps)});
    const RigidMeasure& m = rows.back().measure;
    std::fprintf(stderr, "%s, %s: %.2f ms a step%s\n", scene.name.c_str(), method.c_str(),
                 kMilliseconds * m.median_seconds, m.error.empty() ? "" : (", " + m.error).c_str());
  };
  if (bullet_present())
    for (const BulletSettings& settings : peer_settings(scene))
      add(*make_bullet_runner(scene, settings), settings.name(), false);
  const std::size_t peers = rows.size();
  for (const RigidMethod& method : chosen_methods(options)) {
    add(*make_engine_runner(factory(backend, options.threads), scene, method), method.name(), true);
    RigidRow& row = rows.back();
    if (sweeps_contacts(method.solver))
      row.floor_seconds = row.measure.iterations * row.measure.sweep_bytes / triad;
  }
  for (std::size_t i = peers; peers > 0 && i < rows.size(); ++i) {
    rows[i].peer_seconds = rows.front().measure.mean_seconds;
    rows[i].peer_name = rows.front().method;
  }
  return rows;
}

json row_json(const RigidRow& row) {
  const RigidMeasure& m = row.measure;
  json r{{"scene", row.scene->name},
         {"bodies", row.scene->moving()},
         {"method", row.method},
         {"ours", row.ours},
         {"steps", m.steps},
         {"ms_median", kMilliseconds * m.median_seconds},
         {"ms_mean", kMilliseconds * m.mean_seconds},
         {"ms_worst", kMilliseconds * m.worst_seconds},
         {"contacts", m.contacts},
         {"touching", m.overlap.touching},
         {"penetration_max", m.overlap.deepest},
         {"penetration_mean", m.overlap.mean},
         {"penetration_seen", m.deepest},
         {"drift_max", row.scene->stands ? json(m.drift.largest) : json()},
         {"drift_mean", row.scene->stands ? json(m.drift.mean) : json()},
         {"fallen", row.scene->stands ? json(m.drift.fallen) : json()},
         {"error", m.error.empty() ? json() : json(m.error)}};
  if (!row.ours) return r;
  const double per_step = kMilliseconds / std::max(m.steps, 1);
  r["ms_broad_phase"] = per_step * m.stages.broad_phase;
  r["ms_contacts"] = per_step * m.stages.contacts;
  r["ms_assembly"] = per_step * m.stages.assembly;
  r["ms_contact_solve"] = per_step * m.stages.contact_solve;
  r["ms_other"] = per_step * m.stages.other;
  r["iterations"] = m.iterations;
  r["sweep_bytes"] = m.sweep_bytes;
  r["residual_mean"] = m.residual_mean;
  r["residual_worst"] = m.residual_worst;
  return r;
}

json figure_json(const RigidRow& row) {
  return {{"name", row.scene->name + ", " + row.method},
          {"value", kMilliseconds * row.measure.mean_seconds},
          {"unit", "ms/step"},
          {"floor", row.floor_seconds > 0 ? json(kMilliseconds * row.floor_seconds) : json()},
          {"floor_name", row.floor_seconds > 0 ? "its sweeps at triad bandwidth" : ""},
          {"peer", row.peer_seconds > 0 ? json(kMilliseconds * row.peer_seconds) : json()},
          {"peer_name", row.peer_name}};
}

/// "-" if not measured.
std::string cell(bool measured, const char* format, double value) {
  char text[32] = "-";
  if (measured) std::snprintf(text, sizeof text, format, value);
  return text;
}

void print_row(const RigidRow& row, bool fresh) {
  const RigidMeasure& m = row.measure;
  const bool stands = row.scene->stands;
  const double per_step = kMilliseconds / std::max(m.steps, 1);
  std::printf(
      "%-10s %6s  %-26s %7.2f %7.2f %7.1f  %6s %6s %6s %6s  %8.0f %6s %8s %8s  %8.3f %8.4f %8.2f  %9s %9s "
      "%6s%s\n",
      fresh ? row.scene->name.c_str() : "", fresh ? std::to_string(row.scene->moving()).c_str() : "",
      row.method.c_str(), kMilliseconds * m.median_seconds, kMilliseconds * m.mean_seconds,
      kMilliseconds * m.worst_seconds,
      cell(row.ours, "%.2f", per_step * (m.stages.broad_phase + m.stages.contacts)).c_str(),
      cell(row.ours, "%.2f", per_step * m.stages.assembly).c_str(),
      cell(row.ours, "%.2f", per_step * m.stages.contact_solve).c_str(),
      cell(row.ours, "%.2f", per_step * m.stages.other).c_str(), m.contacts,
      cell(row.ours, "%.0f", m.iterations).c_str(), cell(row.ours, "%.1e", m.residual_mean).c_str(),
      cell(row.ours, "%.1e", m.residual_worst).c_str(), kMillimetres * m.overlap.deepest,
      kMillimetres * m.overlap.mean, kMillimetres * m.deepest,
      cell(stands, "%.3f", kMillimetres * m.drift.largest).c_str(),
      cell(stands, "%.3f", kMillimetres * m.drift.mean).c_str(), cell(stands, "%.0f", m.drift.fallen).c_str(),
      m.error.empty() ? "" : ("  " + m.error).c_str());
}

void print_head() {
  std::printf("%-18s %-26s %23s  %27s  %8s %6s %17s  %26s  %26s\n", "", "", "ms a step", "ms a step of", "",
              "", "residual", "penetration [mm]", "drift [mm]");
  std::printf("%-10s %6s  %-26s %7s %7s %7s  %6s %6s %6s %6s  %8s %6s %8s %8s  %8s %8s %8s  %9s %9s %6s\n",
              "scene", "boxes", "method", "median", "mean", "worst", "search", "build", "solve", "other",
              "contacts", "iter.", "mean", "worst", "max", "mean", "seen", "max", "mean", "fell");
}

}  // namespace

json bench_rigid(const BackendInfo& backend, const BenchOptions& options, const EngineFactory& factory) {
  const std::deque<RigidScene> scenes = rigid_scenes(options);
  chosen_methods(options);  // a wrong name is reported before long benches run
  const double triad = measure_triad(backend.backend, options.threads);
  json result{{"bench", "rigid"},
              {"backend", backend.name},
              {"device", backend.device},
              {"threads", options.threads},
              {"triad_bytes_per_second", triad},
              {"steps", options.frames.value_or(kRigidSteps)},
              {"figures", json::array()},
              {"rows", json::array()},
              {"notes", json::array()}};
  if (!bullet_present()) result["notes"].push_back("rigid: no Bullet in this build, so no peer");
  std::printf("rigid on %s (%s): %d steps of 1/60 s\n", backend.name.c_str(), backend.device.c_str(),
              options.frames.value_or(kRigidSteps));
  print_head();
  for (const RigidScene& scene : scenes) {
    const std::vector<RigidRow> rows = measure_scene(scene, backend.backend, options, factory, triad);
    for (const RigidRow& row : rows) {
      print_row(row, &row == &rows.front());
      result["figures"].push_back(figure_json(row));
      result["rows"].push_back(row_json(row));
    }
    std::fflush(stdout);
  }
  for (const json& note : result["notes"]) std::printf("  %s\n", note.get<std::string>().c_str());
  return result;
}

}  // namespace stickslip
