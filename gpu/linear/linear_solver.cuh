// LinearSolver: Newton directions from A p = b, in the way that the parameters choose.
#pragma once

#include "gpu/linear/pcg.cuh"
#include "gpu/linear/warm_start.cuh"

namespace stickslip::STICKSLIP_BACKEND {

class LinearSolver {
 public:
  /// Where the nodes are [m], at the start of the scene: for preconditioners that sort them.
  void set_positions(std::span<const Vec3> positions) { pcg_.set_positions(positions); }
  /// Where they are in the matrices that `solve` gets; in backend memory, valid until the next call. Null:
  /// the preconditioner two_level is refused.
  void set_current_positions(const Vec3* x) { current_ = x; }
  /// A coarse space for every preconditioner, see Preconditioner::set_modes.
  void set_modes(AffineModes* modes) {
    has_modes_ = modes != nullptr;
    pcg_.set_modes(modes);
  }
  /// See Preconditioner::set_chains.
  void set_chains(std::vector<std::vector<std::int32_t>> chains) {
    has_chains_ = !chains.empty();
    pcg_.set_chains(std::move(chains));
  }
  /// Forgets what the solves so far have shown, so that a step depends on its own state alone.
  void begin_step() {
    is_slow_ = false;
    coarse_solves_ = 0;
  }

  /// Configures the matrix for `solve`, before it is assembled.
  static void prepare(SplitMatrix& matrix, const Params& params);

  /// Solves A x = b from x = 0; nodes with fixed[i] != 0 get zero. All pointers are backend memory, and must
  /// outlive a later `resume`. PCG without groups runs without the host, which may read `outcome` together
  /// with other results. Throws SimulationError where a factorisation is impossible (see sparse_cholesky.h).
  void launch_solve(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x, const Params& params,
                    const std::uint8_t* fixed, bool same_system = false);
  /// Of the last solve, in backend memory.
  const PcgState* outcome() const { return direct_ ? factorised_.data() : pcg_.state(); }
  /// What that says, once read back; counts the iterations before its last start, too.
  PcgResult result(const PcgState& outcome) const { return counted(Pcg::result_of(outcome)); }
  /// Both, with a read. `same_system`: all but b and the tolerance is as in the last solve.
  PcgResult solve(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x, const Params& params,
                  const std::uint8_t* fixed, bool same_system = false);

  /// x = A^-1 b but for rounding to single precision, where the preconditioner is the inverse; else false,
  /// and x is unchanged. Arguments are those of `launch_solve`.
  bool apply_inverse(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x, const Params& params,
                     const std::uint8_t* fixed, bool same_system = false);

  /// Continues for up to `iterations` more, and returns whether the residual fell; within
  /// params.pcg_iterations in all. For a direction that a line search cannot use [Guo24 App. B].
  bool resume(Context& ctx, int iterations, const Params& params, PcgResult& result);

  /// Groups of the last solve that made them: with a warm start, or where `pcg_stop` asks for the condition
  /// number.
  const std::vector<StiffnessGroup>& groups() const { return groups_; }

 private:
  PcgResult counted(PcgResult result) const {
    result.iterations += started_;
    return result;
  }

  bool may_take_two_levels(const SplitMatrix& matrix, const Params& params,
                           const PcgSettings& settings) const;
  void solve_by_two_levels(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x, PcgSettings settings,
                           const std::uint8_t* fixed);
  PcgResult solve_by_kept_levels(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x,
                                 PcgSettings& settings, const std::uint8_t* fixed);

  WarmStart warm_start_;
  Pcg pcg_;
  std::vector<StiffnessGroup> groups_;
  const Vec3* current_ = nullptr;
  int started_ = 0;  // iterations before those of the last solve of pcg_
  bool has_modes_ = false, has_chains_ = false;
  bool is_slow_ = false;       // block_jacobi took many iterations in this step
  int coarse_solves_ = 0;      // with the present coarse matrix; 0: the next solve needs a new one
  int coarse_iterations_ = 0;  // of the first of them
  bool direct_ = false;        // the last solve was a factorisation
  Buffer<PcgState> factorised_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
