// A triangle of cloth and the triangles across its edges: what resists bending, and the stencils that hold
// its matrix blocks. Host only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

/// A hinge {a, b, c, o} consists of the triangle a b c, oriented as the cloth is, and of the triangle o c b
/// on the other side of the edge bc.
struct BendPatch {
  Vec4i hinges[3];
  int count = 0;  // the first ones: edges with a second triangle
};

/// Of each triangle with a neighbour, in the order of the triangles.
std::vector<BendPatch> bend_patches(std::span<const Vec3i> triangles);

/// Stencils of a patch: its hinges, and behind them the nodes o of all of them, if there are several. They
/// hold every pair of its nodes at least once.
std::vector<Vec4i> bend_stencils(const BendPatch& patch);

/// The patches that a list of stencils is made of, and per stencil which one.
struct BendStencils {
  std::vector<BendPatch> patches;
  std::vector<std::int32_t> patch;  // per stencil
  /// Per stencil: the places (see `corner_block`) that hold a block of the patch, as bits; the others hold
  /// zero. A block stands in the first stencil of its patch with both of its nodes.
  std::vector<std::uint16_t> owned;
};
BendStencils parse_bend_stencils(std::span<const Vec4i> stencils);

}  // namespace stickslip
