// Pcg: preconditioned conjugate gradients on a SplitMatrix.
#pragma once

#include <vector>

#include "gpu/linear/block_jacobi.cuh"
#include "gpu/linear/split_matrix.cuh"

namespace stickslip {

struct PcgSettings {
  Real tolerance = Real(1e-4);  // on |r| / max(|b|, |r_0|) in the preconditioner's norm |r| = sqrt(r' P^-1 r)
  int max_iterations = 10000;
  bool start_from_x = false;  // else x is overwritten with zero first
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
  Real residual = 0;  // relative, as in PcgSettings
  PcgStop stop = PcgStop::running;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

class Pcg {
 public:
  /// Solves A x = b approximately. Nodes with fixed[i] != 0 keep their x (`fixed` may be null). All pointers
  /// are backend memory; `matrix`, x and b must outlive a later `resume`. Scalars stay on the backend: CUDA
  /// reads them back once every few iterations.
  PcgResult solve(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x, const PcgSettings& settings,
                  const std::uint8_t* fixed = nullptr);

  /// Continues the last solve for at most `extra_iterations`, whatever the tolerance [Guo24 App. B]. The
  /// result counts all iterations since `solve`. Does nothing after PcgStop::indefinite.
  PcgResult resume(Context& ctx, int extra_iterations);

  /// Relative residuals of the last solve and its resumptions: entry k after k iterations. Waits for the
  /// host.
  std::vector<Real> history(Context& ctx) const;

  /// What the iterations know of themselves, in backend memory.
  struct State {
    Real rz, pq;  // r' P^-1 r, p' A p
    Real alpha, beta;
    Real reference;        // the r' P^-1 r that counts as 1
    Real best;             // smallest r' P^-1 r so far ...
    std::int32_t best_at;  // ... and the iteration that had it
    Real target;           // r' P^-1 r at which to stop
    std::int32_t iterations;
    std::int32_t last;  // iteration cap
    std::int32_t stop;  // a PcgStop
  };

 private:
  PcgResult run(Context& ctx);

  SplitMatrix* matrix_ = nullptr;
  Vec3* x_ = nullptr;
  std::size_t n_ = 0;
  BlockJacobi preconditioner_;
  Buffer<Vec3> r_, z_, p_, q_;
  Buffer<Real> history_;
  Buffer<Real> sums_;
  Buffer<Vec2> start_;
  Buffer<State> state_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
