// Springs between points that follow nodes: their nodes, and the stencils that hold the matrix blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

inline constexpr int kSpringNodes = 8;

/// A spring as its element: d = offset + sum_k share_k x_k points from b to a.
struct SpringElement {
  std::int32_t nodes[kSpringNodes];
  double share[kSpringNodes];
  int count = 0;  // of nodes; each is there once
  Vec<double, 3> offset{0, 0, 0};
  double length = 0, stiffness = 0, damping = 0;  // see Spring
};
SpringElement spring_element(const Spring& spring);
std::vector<SpringElement> spring_elements(std::span<const Spring> springs);

/// Four of a spring's nodes. A spring of up to four nodes has one stencil; one of more has one for every two
/// pairs of successive nodes, so that each pair of its nodes stands in some stencil.
struct SpringStencil {
  std::int32_t element = 0;
  Vec4i corner{-1, -1, -1, -1};  // into SpringElement::nodes; -1 behind the others
  std::uint32_t owned = 0;       // bit corner_block(row, column): the block stands in this stencil
};
/// Of all springs. Stencils of one spring are contiguous, in the order of the springs.
std::vector<SpringStencil> spring_stencils(std::span<const SpringElement> elements);

/// Per object: the smallest index among the objects that springs join to it, directly or through others.
/// Springs give such a group no momentum.
std::vector<std::int32_t> spring_groups(const Model& model);
/// Per object 1 if a spring ties it to the world, else 0.
std::vector<std::uint8_t> tied_to_world(const Model& model);

}  // namespace stickslip
