// How strands stick together at their free ends.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

/// Nodes of rods at which a strand ends and that no script holds at the start.
std::vector<std::int32_t> free_ends(const Model& model, const Object& rods);

/// [m] From each point to the nearest other one; infinite for a single point.
std::vector<double> nearest_distances(std::span<const Vec<double, 3>> points);

}  // namespace stickslip
