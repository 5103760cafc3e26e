#include "app/viewer/preset_edits.h"

#include <spdlog/spdlog.h>

namespace stickslip {
namespace {

const Model& loaded_model(const Simulation& simulation) {
  const auto& scene = simulation.frame().scene;
  if (!simulation.status().loaded || !scene) throw InputError("no scene is loaded");
  return scene->model;
}

}  // namespace

void save_preset(const Simulation& simulation, Presets& presets, const std::string& name) {
  loaded_model(simulation);
  presets.save(name, simulation.settings());
  spdlog::info("wrote {}", presets.file_of(name).string());
}

void apply_preset(Simulation& simulation, const Presets& presets, const std::string& name) {
  const std::vector<Command> edits = presets.edits(name, simulation.settings(), loaded_model(simulation));
  simulation.post_all(edits);
  if (edits.empty()) spdlog::info("preset {}: nothing differs from it", name);
  else spdlog::info("preset {}: settings changed: {}", name, edits.size());
}

void delete_preset(Presets& presets, const std::string& name) {
  presets.remove(name);
  spdlog::info("preset {} deleted", name);
}

void list_presets(Presets& presets) {
  presets.refresh();
  std::string names;
  for (const std::string& name : presets.names()) names += (names.empty() ? "" : ", ") + name;
  spdlog::info("presets: {}", names.empty() ? "none" : names);
}

}  // namespace stickslip
