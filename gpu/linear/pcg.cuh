// Pcg: preconditioned conjugate gradients on a SplitMatrix.
#pragma once

#include <vector>

#include "gpu/core/device_loop.h"
#include "gpu/linear/pcg_grid.cuh"
#include "gpu/linear/split_matrix.cuh"

#if !STICKSLIP_ON_CUDA
#include "gpu/linear/pcg_crew.h"
#endif

namespace stickslip::STICKSLIP_BACKEND {

class Pcg {
 public:
  /// For preconditioners that sort nodes, see Preconditioner.
  void set_positions(std::span<const Vec3> positions) { preconditioner_.set_positions(positions); }
  void set_modes(AffineModes* modes) { preconditioner_.set_modes(modes); }
  /// See Preconditioner::set_chains.
  void set_chains(std::vector<std::vector<std::int32_t>> chains) {
    preconditioner_.set_chains(std::move(chains));
  }

  /// Solves A x = b approximately. Nodes with fixed[i] != 0 keep their x (`fixed` may be null). All pointers
  /// are backend memory; all arguments but b and the settings must outlive a later `resume`. The iterations
  /// end by themselves: on CUDA small systems run in one resident kernel, others in a graph that the device
  /// repeats. One host read, for the result.
  PcgResult solve(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x, const PcgSettings& settings,
                  const std::uint8_t* fixed = nullptr);
  /// The same without that read: the caller takes the outcome from `state()`.
  void launch_solve(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x, const PcgSettings& settings,
                    const std::uint8_t* fixed = nullptr);
  /// x = P^-1 b where that is A^-1 b but for rounding (Preconditioner::is_inverse); else false, and x is
  /// unchanged. b is zero at fixed nodes. No host read.
  bool apply_inverse(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x, const PcgSettings& settings,
                     const std::uint8_t* fixed = nullptr);
  /// In backend memory.
  const PcgState* state() const { return state_.data(); }
  static PcgResult result_of(const PcgState& state) {
    return {state.iterations, state.residual(), static_cast<PcgStop>(state.stop)};
  }

  /// Continues the last solve for at most `extra_iterations`, whatever the criterion [Guo24 App. B]. The
  /// result counts all iterations since `solve`. Does nothing after PcgStop::indefinite.
  PcgResult resume(Context& ctx, int extra_iterations);

  /// Relative residuals of the last solve and its resumptions: entry k after k iterations. Waits for the
  /// host.
  std::vector<Real> history(Context& ctx) const;

 private:
  PcgVectors vectors();
  void prepare(Context& ctx, SplitMatrix& matrix, Vec3* x, const PcgSettings& settings,
               const std::uint8_t* fixed);
  void run(Context& ctx);

  SplitMatrix* matrix_ = nullptr;
  std::size_t most_resident_nodes_ = 0;
  bool stays_ = false;  // all iterations run together, see PcgSettings
  Preconditioner preconditioner_;
  const std::uint8_t* fixed_ = nullptr;
  Vec3* x_ = nullptr;
  Buffer<Vec3> r_, z_, p_, q_;
  Buffer<Vec3> other_p_;  // of iterate_on_grid, as the next
  Buffer<std::int32_t> run_;
  Buffer<Real> history_;
  Buffer<PcgSquares> squares_;
  Buffer<PcgState> state_;
  LoopGraph loop_;
#if !STICKSLIP_ON_CUDA
  CrewPcg crew_;
#endif
};

}  // namespace stickslip::STICKSLIP_BACKEND
