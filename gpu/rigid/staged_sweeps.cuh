// StagedSweeps: Gauss-Seidel over some blocks of a running scene, stage after stage, where each stage moves
// some bodies only.
#pragma once

#include <limits>
#include <vector>

#include "gpu/dfcp/operator/colouring.cuh"
#include "gpu/dfcp/operator/delassus.cuh"
#include "gpu/law/local_data.h"

namespace stickslip {

/// Who takes part when. Backend memory.
struct Stages {
  const std::int32_t* of_block;  // -1: never
  const std::int32_t* of_body;   // in the stages up to this one the body moves; in later ones it is held
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Successive blocks between the same two bodies take their turns one after the other, groups of them that
/// share no body that moves at once: the result depends on no number of threads. W is the factored one.
template <int D>
class StagedSweeps {
 public:
  /// Groups, colours and local problems. A handful of host reads.
  void prepare(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law, const Stages& stages);
  /// Sweeps over the blocks of the first stage, then of the next ..., each block solved exactly. v are
  /// velocities of bodies (6 numbers each) such that u = H v + q + E r; both change together for bodies that
  /// move.
  void run(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law, int sweeps, Vec<double, D>* r,
           double* v);

  // Stages of `prepare`; public because nvcc allows no device lambda in a private member.
  void find_groups(Context& ctx, const Delassus<D>& W, const Stages& stages);
  void colour_groups(Context& ctx, const Delassus<D>& W, const Stages& stages);
  void order_groups(Context& ctx, const Stages& stages);
  void prepare_blocks(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law, const Stages& stages);
  void run_batch(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law, std::size_t batch,
                 Vec<double, D>* r, double* v);

 private:
  std::size_t groups_ = 0;
  Buffer<std::int32_t> first_, group_, count_;  // first block of each group; group of each block, -1: none
  Buffer<std::int32_t> conflict_start_, conflict_;  // groups that must not go at once
  Buffer<std::int32_t> order_;                      // groups by stage and colour
  Buffer<std::uint32_t> key_;
  Buffer<Vec<std::uint8_t, 2>> moves_;  // per block: which of its bodies do
  Buffer<Mat<double, D>> w_;            // per block, of what moves
  Buffer<LocalData<D>> local_;
  Colouring colouring_;
  std::vector<std::uint32_t> keys_;
  std::vector<std::size_t> batch_;  // where batches begin in `order_`, and the end
  std::vector<std::size_t> stage_;  // where stages begin in `batch_`, and the end
};

extern template class StagedSweeps<3>;
extern template class StagedSweeps<4>;

}  // namespace stickslip::STICKSLIP_BACKEND
