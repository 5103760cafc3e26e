#include "app/io/scene/scene_variant.h"

#include <algorithm>

#include "app/io/scene/scene_build.h"
#include "app/io/scene/settings.h"

namespace stickslip {
namespace {

/// Throws for settings that the scene does not accept.
void check_settings(const TableReader& table, const Variant& variant, const Scene& scene) {
  Scene probe;
  probe.params = scene.params;
  probe.model.materials = scene.model.materials;
  probe.model.material_names = scene.model.material_names;
  try {
    for (const std::string& setting : variant.settings) apply_setting(probe, setting);
    check_solver(probe.params, scene.model);
  } catch (const InputError& error) {
    table.fail("set", error.what());
  }
}

}  // namespace

std::vector<Variant> build_variants(std::vector<TableReader> tables, const Scene& scene) {
  std::vector<Variant> variants;
  for (TableReader& table : tables) {
    Variant variant;
    variant.name = table.text("name");
    if (variant.name.empty() || variant.name.find_first_of(" =") != std::string::npos)
      table.fail("name", "'" + variant.name + "' must not be empty or contain spaces or '='");
    for (const Variant& other : variants)
      if (other.name == variant.name)
        table.fail("name", "'" + variant.name + "' is the name of another variant");
    variant.description = table.text("description", "");
    variant.settings = table.texts("set");
    check_settings(table, variant, scene);
    variant.frames = table.whole("frames", 1, 1000000, 0);
    if (auto expect = table.table("expect")) variant.expect = build_expectations(*expect, scene.model);
    variant.families = read_families(table.table("steppers"));
    table.finish();
    variants.push_back(std::move(variant));
  }
  return variants;
}

void choose_variant(Scene& scene, const std::string& name) {
  const auto found = std::find_if(scene.variants.begin(), scene.variants.end(),
                                  [&](const Variant& variant) { return variant.name == name; });
  if (found == scene.variants.end()) {
    std::string message = "scene '" + scene.name + "' has no variant '" + name + "'";
    for (const Variant& variant : scene.variants)
      message += (&variant == scene.variants.data() ? "; it has: " : ", ") + variant.name;
    throw InputError(message);
  }
  for (const std::string& setting : found->settings) apply_setting(scene, setting);
  scene.variant = name;
  if (found->frames > 0) scene.frames = found->frames;
  scene.expect = found->expect;
  for (const FamilyNote& note : found->families) {
    std::erase_if(scene.families, [&](const FamilyNote& other) { return other.family == note.family; });
    scene.families.push_back(note);
  }
}

Scene load_variant(const std::string& name_or_path, const std::string& variant) {
  Scene scene = load_scene(name_or_path);
  if (!variant.empty()) choose_variant(scene, variant);
  return scene;
}

std::string full_name(const Scene& scene) {
  return scene.variant.empty() ? scene.name : scene.name + ":" + scene.variant;
}

}  // namespace stickslip
