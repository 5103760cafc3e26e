// NodeGather: sums values given per stencil corner into nodes, without write races and in a fixed order.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/core/launch.h"
#include "gpu/math/mat.h"

namespace stickslip {

enum class Accumulate { overwrite, add };

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// The corners of a list of 4-corner stencils, sorted by node: a corner is 4 * stencil + position in the
/// stencil, and an unused one has the node -1. A node's corners are in ascending order, so that a sum has the
/// same value on any number of threads.
class NodeGather {
 public:
  /// `stencils`: n in backend memory, nodes in [-1, node_count). Sorts 4 n keys; the host waits for
  /// nothing.
  void build(Context& ctx, const Vec4i* stencils, std::size_t n, std::size_t node_count);

  /// The touched nodes in ascending order with the corners of each, for kernels elsewhere.
  struct Runs {
    const std::uint32_t* node;
    const std::int32_t* begin;  // into `corner`, *count + 1
    const std::int32_t* corner;
    const std::int32_t* count;

    /// The first run of a node >= `least`.
    SS_HD std::int32_t first_from(std::uint32_t least) const {
      std::int32_t low = 0, high = *count;
      while (low < high) {
        const std::int32_t middle = low + (high - low) / 2;
        if (node[middle] < least) low = middle + 1;
        else high = middle;
      }
      return low;
    }
  };
  Runs runs() const { return {run_node_.data(), run_begin_.data(), corners_.data(), counter_.data()}; }

  /// out[node] (+)= sum of value_of_corner(corner), over the touched nodes only; T has `+=`.
  template <class T, class F>
  void sum(Context& ctx, F value_of_corner, T* out, Accumulate accumulate = Accumulate::add) const {
    const std::int32_t* begin = run_begin_.data();
    const std::uint32_t* node = run_node_.data();
    const std::int32_t* corner = corners_.data();
    const std::uint32_t node_count = node_count_;
    const bool add = accumulate == Accumulate::add;
    launch_counted(
        ctx, most_runs_, counter_.data(),
        [=] SS_LAMBDA(std::size_t run) {
          const std::uint32_t target = node[run];
          if (target == node_count) return;
          T total = value_of_corner(corner[begin[run]]);
          for (std::int32_t k = begin[run] + 1; k < begin[run + 1]; ++k) total += value_of_corner(corner[k]);
          if (add) total += out[target];
          out[target] = total;
        },
        kMedium);
  }

  /// out[node] = the same sum, over the touched nodes of which some corner has `changed(corner)`.
  template <class T, class Changed, class F>
  void sum_where(Context& ctx, Changed changed, F value_of_corner, T* out) const {
    const std::int32_t* begin = run_begin_.data();
    const std::uint32_t* node = run_node_.data();
    const std::int32_t* corner = corners_.data();
    const std::uint32_t node_count = node_count_;
    launch_counted(
        ctx, most_runs_, counter_.data(),
        [=] SS_LAMBDA(std::size_t run) {
          const std::uint32_t target = node[run];
          if (target == node_count) return;
          bool any = false;
          for (std::int32_t k = begin[run]; !any && k < begin[run + 1]; ++k) any = changed(corner[k]);
          if (!any) return;
          T total = value_of_corner(corner[begin[run]]);
          for (std::int32_t k = begin[run] + 1; k < begin[run + 1]; ++k) total += value_of_corner(corner[k]);
          out[target] = total;
        },
        kMedium);
  }

 private:
  std::uint32_t node_count_ = 0;
  std::size_t most_runs_ = 0;       // of as many corners and nodes
  Buffer<std::int32_t> corners_;    // by node
  Buffer<std::uint32_t> run_node_;  // node_count_ of the run of unused corners
  Buffer<std::int32_t> run_begin_;  // one more than runs
  Buffer<std::int32_t> counter_;    // runs: touched nodes, and one of unused corners when there are any
};

}  // namespace stickslip::STICKSLIP_BACKEND
