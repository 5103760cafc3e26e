// StagedSweeps: Gauss-Seidel over some blocks of a running scene, stage after stage; each
// stage moves only some bodies.
#pragma once

#include <limits>
#include <vector>

#include "gpu/dfcp/operator/colouring.cuh"
#include "gpu/dfcp/operator/delassus.cuh"
#include "gpu/law/local_data.h"

namespace stickslip {

/// The stages of blocks and bodies. Backend memory.
struct Stages {
  const std::int32_t* of_block;  // -1: never
  const std::int32_t* of_body;   // last stage in which the body moves; it is held in later ones
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Successive blocks between the same two bodies form a group and are updated one after the other; groups
/// that share no movable body are updated concurrently. So the result is independent of the number of
/// threads. W is the factored one.
template <int D>
class StagedSweeps {
 public:
  /// Groups, colours and local problems. A handful of host reads.
  void prepare(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law, const Stages& stages);
  /// Sweeps over the blocks of the first stage, then of the next ..., each block solved
  /// exactly. v are velocities of bodies (6 numbers each) such that u = H v + q + E r; v
  /// changes with r for bodies that move.
  void run(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law, int sweeps, Vec<double, D>* r,
           double* v);

 private:
  void find_groups(Context& ctx, const Delassus<D>& W, const Stages& stages);
  void colour_groups(Context& ctx, const Delassus<D>& W, const Stages& stages);
  void order_groups(Context& ctx, const Stages& stages);
  void prepare_blocks(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law, const Stages& stages);
  void run_batch(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law, std::size_t batch,
                 Vec<double, D>* r, double* v);

  std::size_t groups_ = 0;
  Buffer<std::int32_t> first_, group_, count_;  // first block of each group; group of each block, -1: none
  Buffer<std::int32_t> conflict_start_, conflict_;  // groups that must not run concurrently
  Buffer<std::int32_t> order_;                      // groups by stage and colour
  Buffer<std::uint32_t> key_;
  Buffer<Vec<std::uint8_t, 2>> moves_;  // per block: which of its bodies move
  Buffer<Mat<double, D>> w_;            // per block, of the movable bodies
  Buffer<LocalData<D>> local_;
  Colouring colouring_;
  std::vector<std::uint32_t> keys_;
  std::vector<std::size_t> batch_;  // where batches begin in `order_`, and the end
  std::vector<std::size_t> stage_;  // where stages begin in `batch_`, and the end
};

extern template class StagedSweeps<3>;
extern template class StagedSweeps<4>;
extern template class StagedSweeps<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
