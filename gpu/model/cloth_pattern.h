// Sewn cloth: its triangles at rest are those of flat panels in the plane of (u, v), which need not fit
// together in space. Two triangles that share an edge in space belong to one panel there if they share it in
// the plane, too; else a seam joins them. Host only.
//
// Membranes take their triangle at rest from the pattern, and bending its areas and lengths. The angle at
// rest across an edge is zero inside a panel. Across a seam it is zero or that of the rest positions, and the
// triangle across it is laid beside the own one, its edge scaled to the length of the own edge: its third
// corner keeps its area, and where along the edge it stands. So both sides of a seam may differ in length.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/model/bend_patch.h"
#include "gpu/model/model.h"

namespace stickslip {

/// A stencil of sewn cloth at rest, in the plane z = 0 with its warp along x: the corners of a triangle
/// counter-clockwise, or those of a hinge {a, b, c, o} (hinge.h) with `a` to the left of bc.
struct FlatStencil {
  bool is_given = false;     // false: of another object, whose rest positions count
  bool keeps_angle = false;  // of a hinge: its angle at rest is that of the rest positions, else zero
  Vec<double, 3> corners[4]{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};  // [m]
};

/// [m^2], positive.
double pattern_area(const PatternTriangle& triangle);

/// What is wrong with a pattern: the faulty triangle, and its neighbour at fault or -1.
struct PatternFault {
  std::string what;
  std::int32_t triangle, neighbour;
};
/// The first triangle without area or with a coordinate that is not finite; else the first two triangles that
/// share an edge in space and in the plane and lie on the same side of it there: within a panel one of them
/// is flipped. Panels as a whole may be mirrored. `triangles` index nodes in space, and have at most two at
/// an edge.
std::optional<PatternFault> pattern_fault(std::span<const Vec3i> triangles,
                                          std::span<const PatternTriangle> pattern);

inline const ClothPattern& pattern_of(const Model& model, const Object& object) {
  return model.cloth_patterns[static_cast<std::size_t>(object.cloth_pattern)];
}

/// Throws std::invalid_argument naming the object whose pattern does not fit it. A stage of `finalize`.
void check_pattern(const Model& model, const Object& object);

/// Per triangle of sewn cloth its panel: triangles that edges within a panel connect. Numbered from 0 in the
/// order of their first triangles.
std::vector<std::int32_t> panels_of(const Model& model, const Object& object);

/// The triangles of sewn cloth at rest, in their order.
std::vector<FlatStencil> flat_triangles(const Model& model, const Object& object);
/// Of each stencil of the patches of such cloth (bend_stencils) in their order: hinges at rest. Stencils of
/// tips have none.
std::vector<FlatStencil> flat_hinges(const Model& model, const Object& object,
                                     std::span<const BendPatch> patches);

}  // namespace stickslip
