#include "bench/program/bench_barrier.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/io/file/input_error.h"
#include "app/io/scene/settings.h"
#include "bench/barrier_study.h"

namespace stickslip {
namespace {

using nlohmann::json;

constexpr int kFrames = 2;

/// A scene at one size, at a frame with many contacts.
struct Problem {
  std::string name;  // "roller x1.5"
  Scene scene;
  State start;
  int start_frame = 0;
};

struct Row {
  const Problem* problem;
  BarrierMeasure measure;
  BarrierMeasure reference;  // of the same problem by the first method
};

/// The default measurements: scenes at frames with many moving contacts, at two sizes.
struct Default {
  const char* scene;
  int frame;
  double scales[2];
};
constexpr Default kDefaults[] = {
    {"rods-twist", 110, {1, 1.5}}, {"staircase", 26, {4, 8}}, {"roller", 28, {1, 1.5}},
    {"bowl", 16, {1, 1.5}},        {"noodles", 20, {1, 2}},
};

const Default* find_default(const std::string& scene) {
  for (const Default& known : kDefaults)
    if (scene == known.scene) return &known;
  return nullptr;
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

/// All scenes at all scales: a wrong name is reported before long benches run.
std::deque<Problem> load_problems(const BenchOptions& options) {
  std::vector<std::string> scenes = options.scenes;
  if (scenes.empty())
    for (const Default& known : kDefaults) scenes.emplace_back(known.scene);
  std::deque<Problem> problems;
  for (const std::string& name : scenes) {
    const Default* known = find_default(name);
    std::vector<double> scales = options.scales;
    if (scales.empty() && options.scale) scales = {*options.scale};
    if (scales.empty() && known) scales.assign(std::begin(known->scales), std::end(known->scales));
    if (scales.empty()) scales = {1, 1.5};
    for (const double scale : scales) {
      problems.push_back({name + " x" + short_number(scale), load_scene(name, scale), {}});
      problems.back().scene.params.barrier = BarrierKind::logarithmic;  // what the methods differ in
      Problem& problem = problems.back();
      problem.start_frame = options.at.value_or(known ? known->frame : problem.scene.frames);
    }
  }
  return problems;
}

/// Simulates a scene with its own settings, except the method, to the frame from which all methods start.
void simulate_to_start(Problem& problem, Backend backend, const BenchOptions& options,
                       const EngineFactory& factory) {
  barrier_methods().front().apply(problem.scene.params);
  const std::unique_ptr<Engine> engine = factory(backend, options.threads);
  load_into(*engine, problem.scene);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < problem.start_frame; ++i) engine->step();
  problem.start = engine->state();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  std::fprintf(stderr, "%s: frame %d after %.1f s\n", problem.name.c_str(), problem.start_frame,
               taken.count());
}

json row_json(const Row& row) {
  const BarrierMeasure& m = row.measure;
  const Model& model = row.problem->scene.model;
  Params params;
  m.method.apply(params);
  const auto choice = [&](const char* name) { return param_text(&params, *find_param(param_table(), name)); };
  return {{"problem", row.problem->name},
          {"scene", row.problem->scene.name},
          {"scale", row.problem->scene.scale},
          {"start_frame", row.problem->start_frame},
          {"nodes", model.node_count()},
          {"tets", model.tets.size()},
          {"method", m.method.name()},
          {"solver", choice("solver")},
          {"preconditioner", choice("preconditioner")},
          {"warm_start", m.method.warm_start},
          {"frames", m.frames},
          {"converged", m.converged},
          {"newton_iterations", m.newton_iterations},
          {"pcg_iterations", m.pcg_iterations},
          {"seconds", m.seconds},
          {"contacts", m.contacts},
          {"augmented", m.augmented},
          {"intersections", m.intersections},
          {"gap_min", m.gap_min >= 0 ? json(m.gap_min) : json()},
          {"memory_bytes", m.memory_bytes},
          {"error", m.error.empty() ? json() : json(m.error)}};
}

/// True if every step of a measurement reached the tolerance: others cannot be compared.
bool arrived(const BarrierMeasure& m) { return m.frames > 0 && m.converged == m.frames && m.error.empty(); }

json figure_json(const Row& row) {
  const auto seconds_per_step = [](const BarrierMeasure& m) {
    return m.frames > 0 ? m.seconds / m.frames : 0;
  };
  json figure{{"name", row.problem->name + ", " + row.measure.method.name()},
              {"value", seconds_per_step(row.measure)},
              {"unit", "s/step"},
              {"floor", nullptr},
              {"floor_name", ""}};
  if (row.measure.method.name() != row.reference.method.name() && arrived(row.measure) &&
      arrived(row.reference)) {
    figure["peer"] = seconds_per_step(row.reference);
    figure["peer_name"] = row.reference.method.name();
  }
  return figure;
}

/// "-" if one of them is not measured.
std::string ratio(double reference, double value) {
  char text[32] = "-";
  if (reference > 0 && value > 0) std::snprintf(text, sizeof text, "%.2f", reference / value);
  return text;
}

std::string gap_text(double gap) {
  char text[32] = "-";
  if (gap >= 0) std::snprintf(text, sizeof text, "%.1e", gap);
  return text;
}

void print_table(const std::vector<Row>& rows) {
  std::printf("\nper step; '/ first' is how many times as much the first method of the problem needs\n\n");
  std::printf("%-16s %7s  %-30s %8s %7s %8s %7s %8s %7s  %7s %8s %5s %6s %8s %7s\n", "problem", "tets",
              "method", "Newton", "/ first", "PCG", "/ first", "seconds", "/ first", "arrived", "contacts",
              "augm.", "inters.", "gap [m]", "B/tet");
  const Problem* shown = nullptr;
  for (const Row& row : rows) {
    const BarrierMeasure &m = row.measure, &first = row.reference;
    const std::size_t tets = row.problem->scene.model.tets.size();
    const double frames = std::max(m.frames, 1), newton = static_cast<double>(m.newton_iterations),
                 pcg = static_cast<double>(m.pcg_iterations);
    const double share = arrived(first) && arrived(m) ? frames / first.frames : 0;
    const bool fresh = std::exchange(shown, row.problem) != row.problem;
    if (fresh) std::printf("\n");
    std::printf("%-16s %7s  %-30s %8.1f %7s %8.0f %7s %8.3f %7s  %3d/%-3d %8d %5d %6d %8s %7.0f%s\n",
                fresh ? row.problem->name.c_str() : "", fresh ? std::to_string(tets).c_str() : "",
                m.method.name().c_str(), newton / frames,
                ratio(share * static_cast<double>(first.newton_iterations), newton).c_str(), pcg / frames,
                ratio(share * static_cast<double>(first.pcg_iterations), pcg).c_str(), m.seconds / frames,
                ratio(share * first.seconds, m.seconds).c_str(), m.converged, m.frames, m.contacts,
                m.augmented, m.intersections, gap_text(m.gap_min).c_str(),
                static_cast<double>(m.memory_bytes) / static_cast<double>(std::max<std::size_t>(tets, 1)),
                m.error.empty() ? "" : ("  " + m.error).c_str());
  }
}

constexpr double kLargeTets = 9e6, kLargeContacts = 300e3, kLargeMemory = 8e9;

json print_memory(const BackendInfo& backend, int threads, const EngineFactory& factory) {
  // The method affects memory only through its multipliers.
  std::vector<BarrierMethod> methods = barrier_methods();
  std::erase_if(methods, [](const BarrierMethod& m) { return m.solver == SolverKind::ipc || !m.warm_start; });
  std::printf(
      "\nbackend memory, by a line through three piles of cubes (0.24 nodes, 0.25 surface triangles a tet)\n"
      "  %-30s %10s %12s %24s\n",
      "method", "B/tet", "B/contact", "9M tets, 300k contacts");
  json rows = json::array();
  for (const MemoryModel& memory :
       measure_memory([&] { return factory(backend.backend, threads); }, methods)) {
    const double projected = memory.projected(kLargeTets, kLargeContacts);
    std::printf("  %-30s %10.0f %12.0f %15.2f GB, %s 8\n", memory.method.name().c_str(), memory.bytes_per_tet,
                memory.bytes_per_contact, 1e-9 * projected, projected < kLargeMemory ? "below" : "ABOVE");
    rows.push_back({{"method", memory.method.name()},
                    {"bytes_per_tet", memory.bytes_per_tet},
                    {"bytes_per_contact", memory.bytes_per_contact},
                    {"bytes_fixed", memory.bytes_fixed},
                    {"tets_measured", memory.tets},
                    {"contacts_measured", memory.contacts},
                    {"projected_tets", kLargeTets},
                    {"projected_contacts", kLargeContacts},
                    {"projected_bytes", projected}});
  }
  return rows;
}

/// The value of the parameter `solver`.
std::string solver_of(const BarrierMethod& method) {
  Params params;
  method.apply(params);
  return param_text(&params, *find_param(param_table(), "solver"));
}

/// `params` with the settings of `sets` for all methods, then those for the method's solver. Throws
/// InputError.
Params params_of(const Scene& scene, const Params& params, const BarrierMethod& method,
                 const std::vector<std::string>& sets) {
  Scene with{scene};
  with.params = params;
  const std::string own = solver_of(method) + ":";
  for (const bool for_all : {true, false})
    for (const std::string& set : sets) {
      const bool is_for_all = set.find(':') == std::string::npos;
      if (is_for_all != for_all) continue;
      if (is_for_all) apply_setting(with, set);
      else if (set.starts_with(own)) apply_setting(with, set.substr(own.size()));
    }
  return with.params;
}

/// A wrong setting is reported before long benches run.
void check_set(const Scene& scene, const std::string& set) {
  const std::size_t colon = set.find(':');
  const std::string solver = colon == std::string::npos ? "ipc" : set.substr(0, colon);
  if (std::ranges::none_of(barrier_methods(), [&](const BarrierMethod& m) { return solver_of(m) == solver; }))
    throw InputError("--set " + set + ": no method of this bench has the solver '" + solver + "'");
  Scene with{scene};
  apply_setting(with, colon == std::string::npos ? set : set.substr(colon + 1));
}

std::vector<Row> measure_problem(const Problem& problem, Backend backend, const BenchOptions& options,
                                 const EngineFactory& factory) {
  Params params = problem.scene.params;
  params.newton_stop = NewtonStop::gradient;
  params.newton_tolerance = options.tolerance;
  // Defaults: a scene's own values could hide differences between methods. `--set` acts on top of them.
  params.pcg_tolerance = Params{}.pcg_tolerance;
  params.pcg_stop = Params{}.pcg_stop;
  params.linear_solver = Params{}.linear_solver;
  params.budget_ms = 0;
  params.contact_limit = 0;
  std::vector<Row> rows;
  for (const BarrierMethod& method : barrier_methods()) {
    const std::unique_ptr<Engine> engine = factory(backend, options.threads);
    load_into(*engine, problem.scene);
    rows.push_back(
        {&problem,
         measure_method(*engine, problem.start, params_of(problem.scene, params, method, options.sets),
                        method, options.frames.value_or(kFrames)),
         {}});
    rows.back().reference = rows.front().measure;
    const BarrierMeasure& m = rows.back().measure;
    std::fprintf(stderr, "%s, %s: %.2f s, %ld Newton, %ld PCG\n", problem.name.c_str(), method.name().c_str(),
                 m.seconds, m.newton_iterations, m.pcg_iterations);
  }
  return rows;
}

}  // namespace

json bench_barrier(const BackendInfo& backend, const BenchOptions& options, const EngineFactory& factory) {
  std::deque<Problem> problems = load_problems(options);
  for (const Problem& problem : problems)
    for (const std::string& set : options.sets) check_set(problem.scene, set);
  std::vector<Row> rows;
  json left_out = json::array();
  for (Problem& problem : problems) {
    try {
      simulate_to_start(problem, backend.backend, options, factory);
    } catch (const SimulationError& error) {
      std::fprintf(stderr, "%s is left out: %s\n", problem.name.c_str(), error.what());
      left_out.push_back({{"problem", problem.name}, {"error", error.what()}});
      continue;
    }
    const std::vector<Row> more = measure_problem(problem, backend.backend, options, factory);
    rows.insert(rows.end(), more.begin(), more.end());
  }

  std::printf("barrier on %s (%s): %d steps each from the same state, to a gradient of %g of the first\n",
              backend.name.c_str(), backend.device.c_str(), options.frames.value_or(kFrames),
              options.tolerance);
  print_table(rows);
  std::fflush(stdout);
  json memory = print_memory(backend, options.threads, factory);
  std::fflush(stdout);
  json result{
      {"bench", "barrier"},         {"backend", backend.name},        {"device", backend.device},
      {"threads", options.threads}, {"tolerance", options.tolerance}, {"sets", options.sets},
      {"figures", json::array()},   {"rows", json::array()},          {"left_out", std::move(left_out)},
      {"memory", std::move(memory)}};
  for (const Row& row : rows) {
    result["figures"].push_back(figure_json(row));
    result["rows"].push_back(row_json(row));
  }
  return result;
}

}  // namespace stickslip
