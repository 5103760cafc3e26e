// The scene `hair-band` with a bundle of another size.
#pragma once

#include "app/io/scene/scene.h"

namespace stickslip {

/// The scene `hair-band`, given as `text`, with `side` x `side` strands of so many segments, and a band that
/// fits them.
std::string with_bundle(const std::string& text, int side, int segments);
/// The same scene, loaded without expectations and variants.
Scene load_with_bundle(int side, int segments);

}  // namespace stickslip
