// Solves (W + R) x = b with a positive diagonal R: factorised on the host where that is cheap, otherwise by
// preconditioned conjugate gradients on the backend.
#pragma once

#include <optional>

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
  DampedIterate<D> iterate();
  Vec<double, 2> start(const Vec<double, D>* b, const Vec<double, D>* x);
  double curvature();
  Vec<double, 2> advance(double alpha, Vec<double, D>* x);

  System<D>& s_;
  std::optional<BlockLu<D>> lu_;
  std::vector<Mat<double, D>> values_;
  std::vector<Vec<double, D>> host_;
  const Vec<double, D>* damping_ = nullptr;
  // Conjugate gradients
  Buffer<Mat<double, D>> inverse_;  // of W_cc + R_c
  Buffer<Vec<double, D>> residual_, direction_, image_;
  Buffer<Vec<double, 2>> sums_;
};

extern template class DampedSolver<3>;
extern template class DampedSolver<4>;

}  // namespace stickslip::STICKSLIP_BACKEND
