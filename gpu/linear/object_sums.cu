#include "gpu/linear/object_sums.cuh"

#include <algorithm>
#include <vector>

namespace stickslip::STICKSLIP_BACKEND {

void ObjectSums::load(Context& ctx, const Buffer<std::int32_t>& node_object) {
  constexpr std::int32_t kNodesOfChunk = 64;
  const std::vector<std::int32_t> object = node_object.download(ctx);
  const std::size_t objects =
      object.empty() ? 0 : static_cast<std::size_t>(*std::ranges::max_element(object)) + 1;
  std::vector<std::vector<std::int32_t>> of(objects);
  for (std::size_t i = 0; i < object.size(); ++i)
    of[static_cast<std::size_t>(object[i])].push_back(static_cast<std::int32_t>(i));
  std::vector<std::int32_t> nodes, chunks, first{0};
  for (const std::vector<std::int32_t>& list : of) {
    for (std::size_t k = 0; k < list.size(); ++k)
      if (k % kNodesOfChunk == 0) chunks.push_back(static_cast<std::int32_t>(nodes.size() + k));
    nodes.insert(nodes.end(), list.begin(), list.end());
    first.push_back(static_cast<std::int32_t>(chunks.size()));
  }
  objects_ = objects;
  chunks_ = chunks.size();
  chunks.push_back(static_cast<std::int32_t>(nodes.size()));
  nodes_.upload(ctx, nodes);
  chunk_start_.upload(ctx, chunks);
  object_start_.upload(ctx, first);
}

}  // namespace stickslip::STICKSLIP_BACKEND
