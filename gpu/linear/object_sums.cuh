// ObjectSums: sums over the nodes of each object.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/core/segmented.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Nodes are added in their order, in two stages that do not depend on the number of threads.
class ObjectSums {
 public:
  /// `node_object`: the object of each node.
  void load(Context& ctx, const Buffer<std::int32_t>& node_object);
  std::size_t objects() const { return objects_; }

  /// out[o] = sum of f(node) over the nodes of object o. `partial`: of the caller, for the first stage.
  template <class T, class F>
  void sum(Context& ctx, F f, Buffer<T>& partial, T* out) const {
    partial.resize(ctx, chunks_);
    const std::int32_t* nodes = nodes_.data();
    segmented_sum(
        ctx, chunks_, chunk_start_.data(), [=] SS_LAMBDA(std::int32_t k) { return f(nodes[k]); },
        partial.data(), kMedium);
    const T* sums = partial.data();
    segmented_sum(
        ctx, objects_, object_start_.data(), [=] SS_LAMBDA(std::int32_t k) { return sums[k]; }, out);
  }

 private:
  std::size_t objects_ = 0, chunks_ = 0;
  // Nodes by object; chunks of them, none of which has nodes of two objects; the chunks of each object.
  Buffer<std::int32_t> nodes_, chunk_start_, object_start_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
