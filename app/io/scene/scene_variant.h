// Variants of a scene: other settings, and what must hold with them.
#pragma once

#include <string>
#include <vector>

#include "app/io/scene/scene.h"
#include "app/io/scene/toml_reader.h"

namespace stickslip {

/// The tables [[variant]] of a scene file; `scene` has everything else.
std::vector<Variant> build_variants(std::vector<TableReader> tables, const Scene& scene);

/// Applies the variant's settings and takes over its length and expectations. Throws InputError with the
/// nearest name.
void choose_variant(Scene& scene, const std::string& name);

}  // namespace stickslip
