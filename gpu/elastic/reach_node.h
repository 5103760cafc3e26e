// ReachNode: a node as touch_reach.h reads it.
#pragma once

namespace stickslip {

/// What the bound reads of a node. Eight numbers: a node is one load, and eight nodes are a transpose.
struct alignas(64) ReachNode {
  double x[3], v[3], radius, faces;  // faces: 1 if the node is one of triangles, 0: of wires alone
};

}  // namespace stickslip
