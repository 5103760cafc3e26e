// Least traffic of building a tree: the floor of its benches.
#pragma once

#include "gpu/broadphase/lbvh.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// From boxes to nodes, input and output of every stage once: boxes to bounds to codes, the sort, boxes to
/// leaf order, and boxes with codes to nodes.
inline double tree_bytes(double primitives) {
  const double codes = 2 * sizeof(FloatBox) + 8, sort = 16;
  const double gather = 4 + 2 * sizeof(FloatBox), tree = sizeof(FloatBox) + 8 + sizeof(LbvhNode);
  return primitives * (codes + sort + gather + tree);
}

/// Corners and indices of primitives to boxes. Each node counts once.
template <class Primitive>
double box_bytes(double nodes, double primitives) {
  return nodes * sizeof(Vec3) + primitives * (sizeof(Primitive) + sizeof(FloatBox));
}

}  // namespace stickslip::STICKSLIP_BACKEND
