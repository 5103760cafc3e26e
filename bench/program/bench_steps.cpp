#include "bench/program/bench_steps.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <regex>
#include <sstream>

namespace stickslip {
namespace {

constexpr int kWarmSteps = 8, kTimedSteps = 4;

/// A shipped scene at two sizes: `bodies` times as many, meshes finer by `scale` (bodies = 0: scaled by the
/// scene's own rule). The large one has the published size and time step.
struct SizedScene {
  struct Size {
    int bodies = 0;
    double scale = 1;
  };
  const char* name;
  Size small, full;
  double dt = 0;  // [s]; 0: the scene's
  PublishedStep published = {};
  const char* scene = nullptr;  // nullptr: that of the row's name
};

constexpr double kThirtieth = 1.0 / 30;

const SizedScene kSizedScenes[] = {
    {"drop", {0, 1}, {0, 1}},
    {"stack", {0, 1}, {0, 1}},
    // [Guo24 Table 1], armadillos and 300 noodles, on an NVIDIA RTX 4090 [§6].
    {"bowl",
     {1, 1},
     {1, 4.96},
     kThirtieth,
     {3.4e3, 826e3, 2.2e3, 8.2, "published, bowl [Guo24 Table 1], RTX 4090"}},
    {"noodles",
     {1, 1},
     {12, 4.5},
     kThirtieth,
     {109.6e3, 1.4e6, 132.1e3, 60.9, "published, noodles-300 [Guo24 Table 1], RTX 4090"}},
    {"noodles-200",
     {1, 1},
     {8, 4.5},
     kThirtieth,
     {49.5e3, 934e3, 48.9e3, 39.7, "published, noodles-200 [Guo24 Table 1], RTX 4090"},
     "noodles"},
    {"rubble", {0, 1}, {0, 25}},
    // Our scenes of the other rows of the table, at its sizes.
    {"puffer-net",
     {1, 1},
     {1, 6.75},
     kThirtieth,
     {427e3, 1.76e6, 228e3, 156.8, "published, puffer balls on nets [Guo24 Table 1], RTX 4090"}},
    {"pachinko",
     {1, 1},
     {1, 9.14},
     kThirtieth,
     {29.1e3, 1.49e6, 4.9e3, 41.4, "published, dragons and pachinko [Guo24 Table 1], RTX 4090"}},
    {"staircase",
     {1, 1},
     {1, 5.76},
     kThirtieth,
     {26.7e3, 300e3, 3.2e3, 38, "published, staircase with armadillos [Guo24 Table 1], RTX 4090"}},
    {"staircase-dragons",
     {1, 1},
     {1, 6.24},
     kThirtieth,
     {28.5e3, 376e3, 3e3, 41.9, "published, staircase with dragons [Guo24 Table 1], RTX 4090"},
     "staircase"},
    {"soft-bodies",
     {1, 1},
     {1, 10.1},
     kThirtieth,
     {183.4e3, 9e6, 100.5e3, 25.6, "published, T-rexes x60 [Guo24 Table 1], RTX 4090"}},
    {"roller",
     {1, 1},
     {1, 3.39},
     kThirtieth,
     {12.5e3, 100e3, 1.6e3, 35.4, "published, roller test [Guo24 Table 1], RTX 4090"}},
    {"light-net",
     {1, 1},
     {1, 8.94},
     kThirtieth,
     {48.8e3, 2.2e6, 32e3, 34.5, "published, crabs on nets [Guo24 Table 1], RTX 4090"}},
    {"rods-twist",
     {1, 1},
     {1, 5.29},
     kThirtieth,
     {15.54e3, 355e3, 617e3, 24.1, "published, twisting rods [Guo24 Table 1], RTX 4090"}},
    {"tube-twist",
     {1, 1},
     {1, 4},
     kThirtieth,
     {5.7e3, 64e3, 60e3, 18.8, "published, twisting cylindrical mat [Guo24 Table 1], RTX 4090"}},
};

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw InputError("cannot read " + file.string());
  return text.str();
}

Scene sized_scene(const SizedScene& sized, const SizedScene::Size& size) {
  const Scene own = load_scene(sized.scene != nullptr ? sized.scene : sized.name);
  Scene scene = size.bodies == 0
                    ? load_scene(own.name, size.scale)
                    : parse_scene(with_more_bodies(text_of(own.file), size.bodies), own.file, size.scale);
  if (sized.dt > 0) scene.params.dt = sized.dt;
  return scene;
}

const SizedScene& find_sized(const std::string& name) {
  std::string known;
  for (const SizedScene& sized : kSizedScenes) {
    if (sized.name == name) return sized;
    known += std::string(" ") + sized.name;
  }
  throw InputError("bench steps has no scene '" + name + "'. Known:" + known);
}

std::vector<SizedScene> chosen_scenes(const StepBenchOptions& options) {
  std::vector<SizedScene> chosen;
  if (options.scenes.empty()) chosen.assign(std::begin(kSizedScenes), std::end(kSizedScenes));
  for (const std::string& name : options.scenes) chosen.push_back(find_sized(name));
  return chosen;
}

std::string counted_text(double n, const char* what) {
  char text[64];
  if (n >= 1e6) std::snprintf(text, sizeof text, "%.2fM %s", 1e-6 * n, what);
  else if (n >= 1e3) std::snprintf(text, sizeof text, "%.0fk %s", 1e-3 * n, what);
  else std::snprintf(text, sizeof text, "%.0f %s", n, what);
  return text;
}

/// The figures of one scene, each a mean over its steps.
class StepFigures {
 public:
  StepFigures(const SizedScene& sized, const Scene& scene, const StepProfile& profile, BenchResult& result)
      : sized_(sized), model_(scene.model), profile_(profile), result_(result) {
    for (const Body& body : model_.bodies) moving_ += body.moves ? 1 : 0;
    name_ = std::string(sized.name) + ", " +
            (moving_ > 0 ? counted_text(static_cast<double>(moving_), "bodies")
                         : counted_text(static_cast<double>(model_.tets.size()), "tets"));
  }

  void add_all() {
    add_step();
    add_stages();
    const Counters& c = profile_.counters;
    if (profile_.newton > 0) add("newton", profile_.newton, "iterations/step");
    if (profile_.pcg > 0) add("pcg", profile_.pcg, "iterations/step");
    if (profile_.contact_iterations > 0)
      add("contact solver", profile_.contact_iterations, "iterations/step");
    put("tets", static_cast<double>(model_.tets.size()), "tets");
    put("converged", 100.0 * profile_.converged / profile_.steps, "%");
    put("contacts at most", profile_.contacts_most, "contacts");
    add("launches", static_cast<double>(c.launches), "launches/step");
    add("loops of the device", static_cast<double>(c.graph_launches), "loops/step");
    add("waits of the host", static_cast<double>(c.synchronisations), "waits/step");
    add("copies to the host", static_cast<double>(c.copies_to_host), "copies/step");
    add("bytes to the host", 1e-3 * static_cast<double>(c.bytes_to_host), "kB/step");
    add("copies to the device", static_cast<double>(c.copies_to_device), "copies/step");
    add("allocations", static_cast<double>(c.allocations), "allocations/step");
    add_memory();
  }

 private:
  void put(const std::string& what, double value, const char* unit) {
    result_.figures.push_back({name_ + ", " + what, value, unit});
  }
  void add(const std::string& what, double sum, const char* unit) { put(what, sum / profile_.steps, unit); }

  void add_step() {
    add("step", 1e3 * profile_.wall, "ms/step");
    const PublishedStep& published = sized_.published;
    if (published.ms <= 0) return;
    BenchFigure& step = result_.figures.back();
    if (published.is_like(static_cast<double>(model_.tets.size()), profile_.contacts_most)) {
      step.peer = published.ms;
      step.peer_name = published.name;
    } else {
      result_.notes.push_back(
          name_ + ", " + counted_text(profile_.contacts_most, "contacts") + ": not compared with " +
          published.name + ", " + counted_text(published.tets, "tets") + ", " +
          counted_text(published.contacts, "contacts") + "; --full and --warm lead there");
    }
    put("published step", published.ms, "ms/step");
    put("published tets", published.tets, "tets");
    put("published contacts", published.contacts, "contacts");
    put("published newton", published.newton, "iterations/step");
  }
  void add_stages() {
    const StageTimes& s = profile_.stages;
    const auto stage = [&](const char* what, double seconds) {
      if (seconds > 0) add(what, 1e3 * seconds, "ms/step");
    };
    stage("broad phase", s.broad_phase);
    stage("contacts", s.contacts);
    stage("assembly", s.assembly);
    stage("linear solve", s.linear_solve);
    stage("ccd", s.ccd);
    stage("line search", s.line_search);
    stage("contact solve", s.contact_solve);
    stage("check", s.check);
    stage("other", s.other);
  }
  void add_memory() {
    const auto bytes = static_cast<double>(profile_.memory_bytes);
    put("memory", 1e-6 * bytes, "MB");
    const auto each = [&](const char* what, std::size_t count) {
      if (count > 0) put(std::string("memory over ") + what, bytes / static_cast<double>(count), "B");
    };
    each("tets", model_.tets.size());
    each(moving_ > 0 ? "bodies" : "nodes", moving_ > 0 ? moving_ : model_.node_count());
    if (moving_ > 0) each("contacts", static_cast<std::size_t>(profile_.contacts_most));
  }

  const SizedScene& sized_;
  const Model& model_;
  const StepProfile& profile_;
  BenchResult& result_;
  std::size_t moving_ = 0;  // rigid bodies
  std::string name_;
};

}  // namespace

std::pair<double, double> full_and_published_tets(const std::string& name) {
  const SizedScene& sized = find_sized(name);
  return {static_cast<double>(sized_scene(sized, sized.full).model.tets.size()), sized.published.tets};
}

bool PublishedStep::is_like(double other_tets, double other_contacts) const {
  return std::abs(other_tets - tets) <= 0.1 * tets && other_contacts >= 0.5 * contacts;
}

std::string with_more_bodies(const std::string& text, int times) {
  static const std::regex count(R"(\bcount = \[(\d+), *(\d+), *(\d+)\])"), grow("\\bgrow = \"count\"");
  std::string more;
  auto rest = text.cbegin();
  for (std::smatch match; std::regex_search(rest, text.cend(), match, count); rest = match[0].second) {
    more.append(rest, match[0].first);
    more += "count = [" + match[1].str() + ", " + std::to_string(times * std::stoi(match[2].str())) + ", " +
            match[3].str() + "]";
  }
  more.append(rest, text.cend());
  return std::regex_replace(more, grow, "grow = \"edge\"");
}

BenchResult bench_sized_steps(const BackendInfo& backend, const StepBenchOptions& options,
                              const std::function<std::unique_ptr<Engine>(Backend, int threads)>& factory) {
  BenchResult result{"steps", backend.name, backend.device, options.threads, {}};
  for (const SizedScene& sized : chosen_scenes(options)) {
    const Scene scene = sized_scene(sized, options.full ? sized.full : sized.small);
    const std::unique_ptr<Engine> engine = factory(backend.backend, options.threads);
    engine->set_params(scene.params);
    engine->set_contact_params(scene.contact_params);
    engine->load(scene.model);
    const int warm = options.warm.value_or(kWarmSteps), steps = options.steps.value_or(kTimedSteps);
    for (int i = 0; i < warm; ++i) {
      engine->step();
      std::fprintf(stderr, "steps: %s, warm-up %d of %d\n", sized.name, i + 1, warm);
    }
    const StepProfile profile = profile_steps(*engine, steps);
    StepFigures(sized, scene, profile, result).add_all();
  }
  return result;
}

}  // namespace stickslip
