// Variants of a scene: other settings with their own expectations.
#pragma once

#include <string>
#include <vector>

#include "app/io/scene/scene.h"
#include "app/io/scene/toml_reader.h"

namespace stickslip {

/// Reads the tables [[variant]] of a scene file; the rest of `scene` is complete.
std::vector<Variant> build_variants(std::vector<TableReader> tables, const Scene& scene);

/// Applies the variant's settings and replaces the scene's length and expectations, and what it says of each
/// family of steppers that the variant has an entry for. Throws InputError with
/// the nearest name.
void choose_variant(Scene& scene, const std::string& name);

/// As `load_scene`, with a variant of the scene; an empty name: without. Throws InputError, also for an
/// unknown variant.
Scene load_variant(const std::string& name_or_path, const std::string& variant);

/// "fold", or "fold:stiff" with a variant.
std::string full_name(const Scene& scene);

}  // namespace stickslip
