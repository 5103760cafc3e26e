// Copies of trees on the host, for pictures.
#pragma once

#include <vector>

#include "gpu/broadphase/lbvh.cuh"
#include "gpu/model/tree_box.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Appends all boxes of a tree, each before those of its children; empty boxes are left out. One host read.
void append_tree(Context& ctx, const LbvhView& tree, std::vector<TreeBox>& out);

}  // namespace stickslip::STICKSLIP_BACKEND
