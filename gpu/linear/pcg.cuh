// Pcg: preconditioned conjugate gradients on a SplitMatrix.
#pragma once

#include <vector>

#include "gpu/linear/preconditioner.cuh"
#include "gpu/linear/split_matrix.cuh"
#include "gpu/params/params.h"

namespace stickslip {

struct PcgSettings {
  Real tolerance = Real(1e-4);  // on |r| / max(|b|, |r_0|) in the preconditioner's norm |r| = sqrt(r' P^-1 r)
  int max_iterations = 10000;
  bool start_from_x = false;  // else x is overwritten with zero first
  // What ends the iterations. `relative` is the tolerance above, where Guo24 App. B has |r|_2 <= tol |r_0|_2:
  // in the preconditioner's norm a stiff contact weighs no more than what it moves. The others are in |.|_2
  // as printed, and leave the tolerance alone: (i) truncated, (ii) condition_x, (iii) condition_b.
  PcgCriterion criterion = PcgCriterion::relative;
  Real condition = 1;  // estimate of A's condition number, for (ii) and (iii)
  PreconditionerSettings preconditioner{};
};

enum class PcgStop : std::int32_t {
  running,
  converged,
  stagnated,  // 100 iterations brought no smaller residual [Guo24 App. B]
  iteration_cap,
  indefinite  // p'Ap <= 0, or not a number: x is what the iterations before had reached
};

struct PcgResult {
  int iterations = 0;
  Real residual = 0;  // relative, in the preconditioner's norm, whatever the criterion
  PcgStop stop = PcgStop::running;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

class Pcg {
 public:
  /// For preconditioners that sort nodes, see Preconditioner.
  void set_positions(std::span<const Vec3> positions) { preconditioner_.set_positions(positions); }

  /// Solves A x = b approximately. Nodes with fixed[i] != 0 keep their x (`fixed` may be null). All pointers
  /// are backend memory; all arguments but b and the settings must outlive a later `resume`. Scalars stay on
  /// the backend: CUDA reads them back once every few iterations.
  PcgResult solve(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x, const PcgSettings& settings,
                  const std::uint8_t* fixed = nullptr);

  /// Continues the last solve for at most `extra_iterations`, whatever the criterion [Guo24 App. B]. The
  /// result counts all iterations since `solve`. Does nothing after PcgStop::indefinite.
  PcgResult resume(Context& ctx, int extra_iterations);

  /// Relative residuals of the last solve and its resumptions: entry k after k iterations. Waits for the
  /// host.
  std::vector<Real> history(Context& ctx) const;

  /// r' P^-1 r, |r|_2^2, |x|_2^2 over the nodes that move.
  struct Squares {
    Real rz, rr, xx;
    SS_HD friend constexpr Squares operator+(const Squares& a, const Squares& b) {
      return {a.rz + b.rz, a.rr + b.rr, a.xx + b.xx};
    }
  };
  /// What the iterations know of themselves, in backend memory.
  struct State {
    Squares now;
    Real pq;  // p' A p
    Real alpha, beta;
    Real reference;            // the r' P^-1 r that counts as 1
    Real best;                 // smallest r' P^-1 r so far ...
    std::int32_t best_at;      // ... and the iteration that had it
    Real rz_target;            // converged where rz <= rz_target ...
    Real rr_target, xx_share;  // ... or rr <= rr_target + xx_share xx
    std::int32_t iterations;
    std::int32_t last;  // iteration cap
    std::int32_t stop;  // a PcgStop
  };

  /// What kernels see.
  struct Vectors {
    Vec3 *x, *r, *z, *p, *q;
    const std::uint8_t* fixed;
    Preconditioner::Local local;
    State* state;
    Squares* squares;
    Real* history;
  };

 private:
  Vectors vectors();
  PcgResult run(Context& ctx);

  SplitMatrix* matrix_ = nullptr;
  Preconditioner preconditioner_;
  const std::uint8_t* fixed_ = nullptr;
  Vec3* x_ = nullptr;
  Buffer<Vec3> r_, z_, p_, q_;
  Buffer<Real> history_;
  Buffer<Squares> squares_;
  Buffer<State> state_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
