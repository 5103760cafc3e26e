#include "bench/program/bench_thin.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "app/io/file/input_error.h"
#include "app/io/scene/settings.h"
#include "gpu/core/timer.h"

namespace stickslip {
namespace {

using nlohmann::json;

constexpr double kThinFrame = 1.0 / 24;  // [s] a frame of [Daviet20 Table 2]
constexpr int kThinSteps = 4;

struct ThinScene {
  const char* name;
  const char* scene;
  int strands = 0;    // 0: the scene's
  int warm = 0;       // steps before the measured ones, in which contacts come about
  bool full = false;  // only with --full
};

const ThinScene kThinScenes[] = {
    {"hairy-ball-250", "hairy-ball", 250, 40},
    {"hairy-ball-1k", "hairy-ball", 1000, 26},
    {"hairy-ball-4k", "hairy-ball", 4000, 26, true},
    {"hairy-ball-16k", "hairy-ball", 16000, 26, true},
    {"groom", "groom-relaxation", 0, 240},
    {"cloth-live", "cloth-live", 0, 40},
    {"cloth-drag", "cloth-drag", 0, 60},
    {"cloth-sphere", "cloth-sphere", 0, 60},
    {"tablecloth", "tablecloth", 0, 60},
    {"palm", "palm-frames", 0, 120},
};

struct ThinMethod {
  const char* name;
  SolidCoupling coupling;
};

// Contacts in rounds of a sweep over them and of PCG on the objects; ADMM on the velocities of nodes.
const ThinMethod kThinMethods[] = {{"nsgs", SolidCoupling::rounds},
                                   {"nodal_admm", SolidCoupling::nodal_admm}};

struct ThinRow {
  const ThinScene* scene;
  const char* method;
  double dt = 0;
  std::size_t strands = 0, nodes = 0;  // nodes that move, ghosts of rods included
  std::size_t ghosts = 0;
  int steps = 0, converged = 0, contacts_most = 0;
  double wall = 0, contacts = 0, pcg = 0, iterations = 0, residual = 0, penetration = 0,
         nu = 0;  // sums; maxima of the last three
  StageTimes stages = {};

  double seconds_per_frame() const { return wall / steps * kThinFrame / dt; }
  double share(double seconds) const { return seconds / wall; }
};

std::string read_thin_scene(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw InputError("cannot read " + file.string());
  return text.str();
}

std::vector<ThinScene> chosen_thin_scenes(const BenchOptions& options) {
  std::vector<ThinScene> chosen;
  for (const ThinScene& scene : kThinScenes)
    if (options.scenes.empty() && (options.full || !scene.full)) chosen.push_back(scene);
  for (const std::string& name : options.scenes) {
    const auto* found = std::ranges::find(kThinScenes, name, &ThinScene::name);
    if (found == std::end(kThinScenes)) {
      std::string message = "bench thin has no scene '" + name + "'. Known:";
      for (const ThinScene& scene : kThinScenes) message += std::string(" ") + scene.name;
      throw InputError(message);
    }
    chosen.push_back(*found);
  }
  return chosen;
}

std::vector<ThinMethod> chosen_thin_methods(const BenchOptions& options) {
  if (options.solvers.empty()) return {std::begin(kThinMethods), std::end(kThinMethods)};
  std::vector<ThinMethod> chosen;
  for (const std::string& name : options.solvers) {
    const auto* found =
        std::ranges::find_if(kThinMethods, [&](const ThinMethod& method) { return method.name == name; });
    if (found == std::end(kThinMethods))
      throw InputError("bench thin has no method '" + name + "'. Known: nsgs nodal_admm");
    chosen.push_back(*found);
  }
  return chosen;
}

Scene load_thin(const ThinScene& thin) {
  return thin.strands == 0 ? load_scene(thin.scene) : load_with_strands(thin.strands);
}

bool has_frames(const ThinScene& thin) {
  return std::ranges::any_of(load_thin(thin).model.objects, &Object::has_frames);
}

ThinRow measure_thin(Engine& engine, const ThinScene& thin, const ThinMethod& method,
                     const BenchOptions& options) {
  Scene scene = load_thin(thin);
  scene.params.solver = SolverKind::velocity;
  scene.params.contact_solver = ContactSolverKind::nsgs;
  scene.params.coupling = method.coupling;
  for (const std::string& setting : options.sets) apply_setting(scene, setting);
  load_into(engine, scene);
  ThinRow row{&thin, method.name, scene.params.dt};
  row.strands = static_cast<std::size_t>(thin.strands);
  for (const Object& object : scene.model.objects) {
    if (object.is_movable()) row.nodes += static_cast<std::size_t>(object.node_end - object.node_begin);
    if (object.is_rods()) row.ghosts += static_cast<std::size_t>(object.collides_from - object.node_begin);
  }
  const int warm = options.warm.value_or(thin.warm), steps = options.frames.value_or(kThinSteps);
  for (int i = 0; i < warm; ++i) engine.step();
  for (int i = 0; i < steps; ++i) {
    const Timer timer;
    const StepReport report = engine.step();
    row.wall += timer.seconds();
    ++row.steps;
    row.converged += report.converged;
    row.contacts += report.contacts;
    row.contacts_most = std::max(row.contacts_most, report.contacts);
    row.stages += report.seconds;
    row.pcg += report.pcg_iterations;
    if (report.contacts > 0) row.penetration = std::max(row.penetration, -report.gap_min);
    if (!report.contact_solve) continue;
    row.iterations += static_cast<double>(report.contact_solve->iterations);
    row.residual = std::max(row.residual, report.contact_solve->residual);
    row.nu = std::max(row.nu, report.contact_solve->nu);
  }
  return row;
}

json thin_row_json(const ThinRow& r) {
  const StageTimes& s = r.stages;
  return {{"scene", r.scene->name},
          {"method", r.method},
          {"strands", r.strands},
          {"dofs", 3 * r.nodes},
          {"vertices", r.nodes - r.ghosts},
          {"dt", r.dt},
          {"steps", r.steps},
          {"converged", r.converged},
          {"contacts_mean", r.contacts / r.steps},
          {"contacts_most", r.contacts_most},
          {"nu_most", r.nu},
          {"seconds_per_step", r.wall / r.steps},
          {"seconds_per_frame", r.seconds_per_frame()},
          {"share_linear_solve", r.share(s.linear_solve)},
          {"share_contact_solve", r.share(s.contact_solve)},
          {"share_detection", r.share(s.broad_phase + s.contacts + s.ccd)},
          {"share_assembly", r.share(s.assembly)},
          {"pcg_per_step", r.pcg / r.steps},
          {"iterations_per_step", r.iterations / r.steps},
          {"residual_worst", r.residual},
          {"penetration_max", r.penetration}};
}

void print_thin_row(const ThinRow& r) {
  const StageTimes& s = r.stages;
  std::printf("%-15s %-11s %8zu %9.0f %6.3g %9.3f %9.2f %7.0f %7.0f %7.0f %6.0f %7.0f %5d/%d %8.1e %7.3f\n",
              r.scene->name, r.method, 3 * r.nodes, r.contacts / r.steps, r.nu, r.wall / r.steps,
              r.seconds_per_frame(), 100 * r.share(s.linear_solve), 100 * r.share(s.contact_solve),
              100 * r.share(s.broad_phase + s.contacts + s.ccd), r.pcg / r.steps, r.iterations / r.steps,
              r.converged, r.steps, r.residual, 1e3 * r.penetration);
  std::fflush(stdout);
}

/// Calls `use` with each row once it is measured; the row does not outlive the call.
template <class F>
void each_thin_row(Backend backend, const BenchOptions& options, const EngineFactory& factory, F&& use) {
  const std::vector<ThinScene> scenes = chosen_thin_scenes(options);
  const std::vector<ThinMethod> methods = chosen_thin_methods(options);
  for (const ThinScene& scene : scenes)
    for (const ThinMethod& method : methods) {
      // Rounds take the place of ADMM there.
      if (method.coupling == SolidCoupling::nodal_admm && has_frames(scene)) continue;
      const std::unique_ptr<Engine> engine = factory(backend, options.threads);
      use(measure_thin(*engine, scene, method, options));
    }
}

}  // namespace

json thin_rows(Backend backend, const BenchOptions& options, const EngineFactory& factory) {
  json rows = json::array();
  each_thin_row(backend, options, factory, [&](const ThinRow& row) { rows.push_back(thin_row_json(row)); });
  return rows;
}

Scene load_with_strands(int strands) {
  const std::filesystem::path file = load_scene("hairy-ball").file;
  return parse_scene(with_strands(read_thin_scene(file), strands), file);
}

std::string with_strands(const std::string& text, int strands) {
  constexpr int thick = 250;  // up to so many strands keep their diameter
  const double thinner = std::sqrt(std::max(1.0, static_cast<double>(strands) / thick));
  const auto replaced = [](const std::string& from, const char* key, double factor, double value) {
    const std::regex row(std::string("(^|\n)") + key + " = ([-+.0-9e]+)");
    std::smatch match;
    if (!std::regex_search(from, match, row)) throw InputError(std::string("the scene has no ") + key);
    std::ostringstream text;
    text << match[1] << key << " = " << (value > 0 ? value : std::stod(match[2]) * factor);
    return std::string(match.prefix()) + text.str() + std::string(match.suffix());
  };
  std::string more = replaced(text, "strands", 1, strands);
  more = replaced(more, "diameter", 1 / thinner, 0);
  return replaced(more, "young", std::pow(thinner, 3), 0);
}

json bench_thin(const BackendInfo& backend, const BenchOptions& options, const EngineFactory& factory) {
  json rows = json::array(), figures = json::array();
  std::printf(
      "thin on %s (%s): seconds a frame of 1/24 s\n%-15s %-11s %8s %9s %6s %9s %9s %7s %7s %7s %6s %7s %7s "
      "%8s "
      "%7s\n",
      backend.name.c_str(), backend.device.c_str(), "scene", "method", "dofs", "contacts", "nu", "s/step",
      "s/frame", "linear%", "solve%", "search%", "PCG", "iter.", "conv.", "residual", "mm deep");
  each_thin_row(backend.backend, options, factory, [&](const ThinRow& row) {
    print_thin_row(row);
    rows.push_back(thin_row_json(row));
    figures.push_back({{"name", std::string(row.scene->name) + ", " + row.method},
                       {"value", row.seconds_per_frame()},
                       {"unit", "s/frame"},
                       {"floor", nullptr},
                       {"floor_name", ""}});
  });
  return {{"bench", "thin"},
          {"backend", backend.name},
          {"device", backend.device},
          {"threads", options.threads},
          {"figures", std::move(figures)},
          {"rows", std::move(rows)}};
}

}  // namespace stickslip
