// Solves (W + R) x = b with a positive diagonal R: factorised on the host where that is cheap, otherwise by
// preconditioned conjugate gradients on the backend.
#pragma once

#include <cmath>
#include <optional>

#include "gpu/core/device_loop.h"
#include "gpu/dfcp/solvers/block_lu.h"
#include "gpu/dfcp/solvers/system.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// The arrays of conjugate gradients on W + R, per block. Backend memory.
template <int D>
struct DampedIterate {
  const Vec<double, D>* damping;                // diagonal of R
  const Mat<double, D>* inverse;                // of W_cc + R_c
  Vec<double, D>*residual, *direction, *image;  // image = (W + R) direction
};

/// The state of these iterations, in backend memory: the host does not wait for any of them.
struct DampedState {
  static constexpr std::int32_t kRunning = 0, kPaused = 1, kEnded = 2;
  static constexpr std::int32_t kMost = 2000;  // iterations in all
  /// Iterations between two pauses. In a pause the host reads the clock; afterwards it records the loop anew.
  static constexpr std::int32_t kPause = STICKSLIP_ON_CUDA ? 256 : 16;

  Vec<double, 2> now, next;  // <res, P^-1 res>, |res|^2 before and after the step
  Vec<double, 2> bend;       // <direction, (W + R) direction>, 0
  double beta, tolerance;
  std::int32_t iterations, pause_at, stop, unused;

  SS_HD bool running() const { return stop == kRunning; }
  /// With `now` set.
  SS_HD void begin(double wanted) {
    tolerance = wanted;
    beta = 0;  // the first direction stays
    iterations = 0, pause_at = kPause;
    stop = std::sqrt(now[1]) > tolerance ? kRunning : kEnded;
  }
  SS_HD void resume() { pause_at += kPause, stop = kRunning; }
  /// After a step, with `bend` and `next` set.
  SS_HD void advance() {
    if (!running()) return;
    if (!(bend[0] > 0)) {
      stop = kEnded;
      return;
    }
    beta = next[0] / now[0];
    now = next;
    ++iterations;
    if (!(std::sqrt(now[1]) > tolerance) || iterations >= kMost) stop = kEnded;
    else if (iterations >= pause_at) stop = kPaused;
  }
};

template <int D>
class DampedSolver {
 public:
  explicit DampedSolver(System<D>& s);

  bool direct() const { return lu_.has_value(); }

  /// Sets the diagonal of R [1/kg], borrowed, and factorises. False when the factorisation fails.
  bool set(const Vec<double, D>* damping);

  /// x = (W + R)^-1 b. CG starts from x and stops at |b - (W + R) x|_2 <= tolerance [m/s]. b and x must not
  /// alias. False when the monitor's budget is used up.
  bool solve(const Vec<double, D>* b, Vec<double, D>* x, double tolerance);

 private:
  bool conjugate_gradients(const Vec<double, D>* b, Vec<double, D>* x, double tolerance);
  DampedIterate<D> arrays();
  void start(const Vec<double, D>* b, const Vec<double, D>* x, double tolerance);
  void iterate(Vec<double, D>* x);

  System<D>& s_;
  std::optional<BlockLu<D>> lu_;
  std::vector<Mat<double, D>> values_;
  std::vector<Vec<double, D>> host_;
  const Vec<double, D>* damping_ = nullptr;
  // Conjugate gradients
  Buffer<Mat<double, D>> inverse_;  // of W_cc + R_c
  Buffer<Vec<double, D>> residual_, direction_, image_;
  Buffer<DampedState> state_;
  LoopGraph graph_;
};

extern template class DampedSolver<3>;
extern template class DampedSolver<4>;
extern template class DampedSolver<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
