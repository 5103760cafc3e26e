// ReachNode: a node as touch_reach.h reads it.
#pragma once

namespace stickslip {

/// What the bound reads of a node. Eight numbers: a node is one load, and eight nodes are a transpose.
struct alignas(64) ReachNode {
  double x[3], v[3], radius, unused;
};

}  // namespace stickslip
