#include "bench/program/reproduce/measure.h"

#include <algorithm>

#include "app/io/scene/scene_variant.h"
#include "app/io/scene/settings.h"
#include "gpu/model/step_interrupted.h"

namespace stickslip {
namespace {

struct MeasureRow {
  const char* name;
  Measure measure;
};

constexpr MeasureRow kMeasures[] = {
    {"steps", measure_steps},
    {"scenes", measure_scenes},
    {"beta", measure_beta},
    {"projection", measure_projection},
    {"nu", measure_nu},
    {"fibre_nu", measure_fibre_nu},
    {"fibre_models", measure_fibre_models},
    {"linear", measure_linear},
    {"orderings", measure_orderings},
    {"solvers", measure_solvers},
    {"two_contacts", measure_two_contacts},
    {"thin", measure_thin_rates},
    {"nu_times", measure_nu_times},
    {"ends", measure_ends},
    {"ordering", measure_ordering},
    {"memory", measure_memory_of_tets},
    {"ccd_sides", measure_ccd_sides},
    {"multigrid", measure_multigrid},
    {"contact_times", measure_contact_times},
    {"judged", measure_judged},
    {"barrier_limit", measure_barrier_limit},
    {"friction_limit", measure_friction_limit},
};

}  // namespace

std::vector<std::string> measure_names() {
  std::vector<std::string> names;
  for (const MeasureRow& row : kMeasures) names.emplace_back(row.name);
  return names;
}

Measure find_measure(const std::string& name) {
  for (const MeasureRow& row : kMeasures)
    if (row.name == name) return row.measure;
  const std::vector<std::string> names = measure_names();
  const std::string nearest = nearest_name(std::vector<std::string_view>(names.begin(), names.end()), name);
  // The claims come with the program, and the measures with stickslip-bench.
  throw InputError("there is no measure '" + name + "'" +
                   (nearest.empty()
                        ? ": stickslip-bench is older than the claims; build or install both programs anew"
                        : "; did you mean '" + nearest + "'?"));
}

void MeasureContext::check() const {
  if (cancel && *cancel) throw StepInterrupted();
}

std::unique_ptr<Engine> MeasureContext::engine() const {
  std::unique_ptr<Engine> made = (*engines)(backend, threads);
  made->set_cancel(cancel);
  return made;
}

Scene claim_scene(const std::string& name, const ClaimRun& run, const ClaimMethod& method) {
  const std::size_t colon = name.find(':');
  Scene scene = load_scene(name.substr(0, colon), method.scale ? method.scale : run.scale);
  if (colon != std::string::npos) choose_variant(scene, name.substr(colon + 1));
  apply_claim(run, method, scene);
  return scene;
}

void apply_claim(const ClaimRun& run, const ClaimMethod& method, Scene& scene) {
  for (const std::string& setting : run.settings) apply_setting(scene, setting);
  for (const std::string& setting : method.settings) apply_setting(scene, setting);
  if (!method.solver.empty()) set_solver(scene.params, method.solver);
}

std::vector<ClaimMethod> methods_of(const Claim& claim) {
  return claim.methods.empty() ? std::vector<ClaimMethod>{{"run", "", {}, {}}} : claim.methods;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace stickslip
