// Messages for states from which a barrier step cannot start: bodies that intersect,
// touch or are behind planes.
#pragma once

#include <string>
#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

/// The message about edges that pass through triangles: their number, and one edge with its triangle.
std::string intersection_text(const Model& model, int frame, std::int64_t count, std::int32_t edge,
                              std::int32_t triangle);

/// The message about two objects that touch; `nodes`: their stencil at distance zero (-1: none).
std::string touch_text(const Model& model, const Vec4i& nodes);

/// Throws std::invalid_argument naming the object of a free surface node that is behind a half-space.
void refuse_nodes_behind_half_spaces(const Model& model, const std::vector<Vec3>& positions,
                                     const std::vector<std::uint8_t>& scripted);

/// (object, -1) for each free object with a surface node less than `gap` [m] in front of a half-space.
std::vector<Vec2i> objects_near_half_spaces(const Model& model, const std::vector<Vec3>& positions,
                                            double gap);

}  // namespace stickslip
