// Messages of what keeps a barrier step from beginning: bodies that intersect, touch or stand behind planes.
#pragma once

#include <string>
#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

/// Edges that pass through triangles: how many, and one of each.
std::string intersection_text(const Model& model, std::int64_t count, std::int32_t edge,
                              std::int32_t triangle);

/// Of the two objects at a stencil of nodes (-1: none), at distance zero.
std::string touch_text(const Model& model, const Vec4i& nodes);

/// Throws std::invalid_argument naming the object where a surface node that no script holds is behind a
/// half-space.
void refuse_nodes_behind_half_spaces(const Model& model, const std::vector<Vec3>& positions,
                                     const std::vector<std::uint8_t>& scripted);

}  // namespace stickslip
