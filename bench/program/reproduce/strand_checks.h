// What a run of hair shows without its contacts: strands that pass through each other or through surfaces,
// and those that a band holds. From meshes and positions alone, by code that no solver of hair uses: exact
// signs, and the interval test that barrier steps have only with `ccd = inclusion`.
#pragma once

#include <cstddef>
#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

using NodePositions = std::vector<Vec<double, 3>>;  // [m] of all nodes of a model

/// Strands of all rods that are open.
std::size_t strand_count(const Model& model);

/// Pairs of segments, of strands and of bands, whose centre lines touch while nodes move on straight lines
/// from `before` to `after`. Segments with a common node are no pair.
std::size_t crossed_segments(const Model& model, const NodePositions& before, const NodePositions& after);

/// Pairs of a segment of rods and a triangle of another object that the segment passes through.
std::size_t pierced_triangles(const Model& model, const NodePositions& positions);

/// The strands that go through a band: the first closed rod of the model.
struct HeldStrands {
  int strands = 0;    // that pass through the surface between the band's centre line and its centre
  double spread = 0;  // [m] root mean square distance of the places where they do so from their mean
  double height = 0;  // [m] of the band's centre
  bool has_band = false;
};
HeldStrands held_strands(const Model& model, const NodePositions& positions);

}  // namespace stickslip
