#include "gpu/broadphase/tree_boxes.cuh"

namespace stickslip::STICKSLIP_BACKEND {

void append_tree(Context& ctx, const LbvhView& tree, std::vector<TreeBox>& out) {
  if (tree.count == 0) return;
  std::vector<LbvhNode> nodes(static_cast<std::size_t>(tree.count));
  copy_to_host(ctx, nodes.data(), tree.nodes, nodes.size());
  struct Entry {
    std::int32_t child;
    FloatBox box;
    std::int32_t depth;
  };
  std::vector<Entry> stack{{nodes.back().child[0], nodes.back().box[0], 0}};
  while (!stack.empty()) {
    const Entry entry = stack.back();
    stack.pop_back();
    if (entry.box.is_empty()) continue;  // so are those of its children
    out.push_back({entry.box.lo, entry.box.hi, entry.depth, entry.child < 0});
    if (entry.child < 0) continue;
    const LbvhNode& node = nodes[static_cast<std::size_t>(entry.child)];
    for (const int side : {1, 0}) stack.push_back({node.child[side], node.box[side], entry.depth + 1});
  }
}

}  // namespace stickslip::STICKSLIP_BACKEND
