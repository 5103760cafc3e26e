// Colouring of blocks that share a body, so that Gauss-Seidel can update the blocks of a colour at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/core/device_loop.h"
#include "gpu/dfcp/operator/vertex_colouring.h"
#include "gpu/dfcp/problem/solve_report.h"

namespace stickslip::STICKSLIP_BACKEND {

/// The conflict graph of the blocks: the neighbours of c are column[start[c] .. start[c+1]) (c
/// itself may be included).
struct ConflictGraph {
  std::size_t blocks;
  const std::int32_t* start;  // backend memory
  const std::int32_t* column;
};

/// Turns the numbers of neighbours of n vertices into ConflictGraph::start, in place, with the total behind
/// them; returns the total. `numbers` has n + 1 entries. One host read. Throws SimulationError with `advice`
/// if there are more than int32 can count: the neighbours of blocks on one body grow with the square of their
/// number.
std::size_t start_neighbours(Context& ctx, std::size_t n, std::int32_t* numbers, const char* advice);

/// Scratch memory of the colouring, kept from one problem to the next.
struct ColouringSpace {
  Buffer<std::int32_t> wanted, waiting, next, ready, words, sizes, balance;
  Buffer<std::uint32_t> keys;
  LoopGraph loop, balance_loop;
};

class Colouring {
 public:
  /// Colours the graph so that neighbours differ. The same graph gets the same colours for any number of
  /// threads and on either backend. `keep`: initial colours (one per block; -1: none), so that persistent
  /// contacts keep theirs; empty: no initial colours. `balanced`: colours of similar sizes, worthwhile for
  /// many sweeps. Two host reads.
  void build(Context& ctx, const ConflictGraph& graph, std::span<const std::int32_t> keep = {},
             bool balanced = true);

#if !STICKSLIP_ON_CUDA
  /// The same colours, balanced, without a list of neighbours (colour_by_vertices).
  void build(Context& ctx, const TouchedVertices& of, const std::int32_t* touches);
#endif

  /// Colours runs of `length` successive blocks instead of single blocks. `runs`: the conflict graph of the
  /// runs. Blocks within a run may conflict; they are updated in the stored order. So blocks that are
  /// adjacent in memory are swept together.
  void build_runs(Context& ctx, const ConflictGraph& runs, std::size_t length, std::size_t blocks);

  bool built() const { return !offsets_.empty(); }
  void clear() { offsets_.clear(); }
  std::size_t run_length() const { return run_length_; }  // 1: no runs
  /// The runs of colour k are runs()[run_offset(k) .. run_offset(k + 1)); backend memory. Only with runs.
  const std::int32_t* runs() const { return runs_.data(); }
  std::size_t run_offset(int colour) const { return run_offsets_[static_cast<std::size_t>(colour)]; }
  int colours() const { return static_cast<int>(offsets_.size()) - 1; }
  /// Blocks in ascending order of colour, ascending within a colour (with runs: within a run): those of
  /// colour k are order()[offset(k) .. offset(k + 1)). Backend memory.
  const std::int32_t* order() const { return order_.data(); }
  std::size_t offset(int colour) const { return offsets_[static_cast<std::size_t>(colour)]; }
  /// offset(0), ..., offset(colours()) in backend memory; only without runs.
  const std::int32_t* offsets() const { return device_offsets_.data(); }
  const std::int32_t* colour() const { return colour_.data(); }  // per block, backend memory
  ColouringReport report() const { return report_; }

 private:
  void order_blocks(Context& ctx, const std::vector<std::size_t>& sizes);
  void sum_up();

  ColouringSpace space_;
  Buffer<std::int32_t> colour_, order_, runs_, device_offsets_;
  std::vector<std::size_t> offsets_, run_offsets_;
  std::size_t run_length_ = 1;
  ColouringReport report_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
