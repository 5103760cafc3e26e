#include "gpu/dfcp/solvers/damped_solver.cuh"

#include <algorithm>
#include <cmath>

#include "gpu/core/cleared.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Gauss-Jordan with pivots on the diagonal: the matrix is symmetric positive definite.
template <int D>
SS_HD Mat<double, D> inverse_of(Mat<double, D> a) {
  Mat<double, D> x = Mat<double, D>::identity();
  for (int p = 0; p < D; ++p) {
    const double scale = 1 / a(p, p);
    for (int j = 0; j < D; ++j) {
      a(p, j) *= scale;
      x(p, j) *= scale;
    }
    for (int i = 0; i < D; ++i) {
      if (i == p) continue;
      const double factor = a(i, p);
      for (int j = 0; j < D; ++j) {
        a(i, j) -= factor * a(p, j);
        x(i, j) -= factor * x(p, j);
      }
    }
  }
  return x;
}

/// Writes the inverses of W_cc + R_c.
template <int D>
struct InvertDamped {
  const Mat<double, D>* diagonal;
  const Vec<double, D>* damping;
  Mat<double, D>* inverse;

  SS_HD void operator()(std::size_t c) const {
    Mat<double, D> a = diagonal[c];
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j)
        a(i, j) = 0.5 * (diagonal[c](i, j) + diagonal[c](j, i)) + (i == j ? damping[c][i] : 0);
    inverse[c] = inverse_of(a);
  }
};

/// res = b - (W + R) x from image = W x, direction = P^-1 res. Returns a block's part of <res, P^-1 res>,
/// |res|^2.
template <int D>
struct StartDamped {
  DampedIterate<D> at;
  const Vec<double, D>*b, *x;

  SS_HD Vec<double, 2> operator()(std::size_t c) const {
    at.residual[c] = b[c] - at.image[c];
    for (int i = 0; i < D; ++i) at.residual[c][i] -= at.damping[c][i] * x[c][i];
    at.direction[c] = at.inverse[c] * at.residual[c];
    return Vec<double, 2>{dot(at.residual[c], at.direction[c]), norm2(at.residual[c])};
  }
};

/// Adds R direction to image = W direction. Returns a block's part of <direction, (W + R) direction>, and 0.
template <int D>
struct CurveDamped {
  DampedIterate<D> at;

  SS_HD Vec<double, 2> operator()(std::size_t c) const {
    for (int i = 0; i < D; ++i) at.image[c][i] += at.damping[c][i] * at.direction[c][i];
    return Vec<double, 2>{dot(at.direction[c], at.image[c]), 0.0};
  }
};

/// A step along the direction, unless the iterations have ended. Returns a block's part of <res, P^-1 res>,
/// |res|^2.
template <int D>
struct AdvanceDamped {
  DampedIterate<D> at;
  const DampedState* state;
  Vec<double, D>* x;

  SS_HD Vec<double, 2> operator()(std::size_t c) const {
    if (!state->running() || !(state->bend[0] > 0)) return Vec<double, 2>{0.0, 0.0};
    const double alpha = state->now[0] / state->bend[0];
    x[c] += alpha * at.direction[c];
    at.residual[c] -= alpha * at.image[c];
    return Vec<double, 2>{dot(at.residual[c], at.inverse[c] * at.residual[c]), norm2(at.residual[c])};
  }
};

struct BeginDamped {
  DampedState* state;
  double tolerance;

  SS_HD void operator()(std::size_t) const { state->begin(tolerance); }
};
struct EndIteration {
  DampedState* state;

  SS_HD void operator()(std::size_t) const { state->advance(); }
};
struct ResumeDamped {
  DampedState* state;

  SS_HD void operator()(std::size_t) const { state->resume(); }
};

/// direction = P^-1 res + beta direction.
template <int D>
struct TurnDamped {
  DampedIterate<D> at;
  const DampedState* state;

  SS_HD void operator()(std::size_t c) const {
    if (!state->running()) return;
    const double beta = state->beta;
    at.direction[c] = at.inverse[c] * at.residual[c] + beta * at.direction[c];
  }
};

}  // namespace

template <int D>
DampedSolver<D>::DampedSolver(System<D>& s) : s_(s) {
  // A factorisation of kMostWork block operations takes about a second. With kMostFill operations per block
  // of W the fill is so large that a solve costs as much as CG: about thirty products with W.
  constexpr double kMostWork = 3e7, kMostFill = 200;
  constexpr std::size_t kMostBlocks = 30000;
  if (!s.W.factored() && s.blocks() <= kMostBlocks) {
    lu_.emplace();
    lu_->analyse(s.W.pattern_start(), s.W.pattern_column());
    if (lu_->work() > std::min(kMostWork, kMostFill * static_cast<double>(s.W.pattern_column().size())))
      lu_.reset();
  }
  if (lu_) return;
  resize_cleared(s.ctx, state_, 1);
  inverse_.resize(s.ctx, s.blocks());
  residual_.resize(s.ctx, s.blocks());
  direction_.resize(s.ctx, s.blocks());
  image_.resize(s.ctx, s.blocks());
}

template <int D>
bool DampedSolver<D>::set(const Vec<double, D>* damping) {
  damping_ = damping;
  if (!lu_) {
    launch(s_.ctx, s_.blocks(), InvertDamped<D>{s_.W.diagonal(), damping, inverse_.data()}, kMedium);
    return true;
  }
  const std::span<const Mat<double, D>> w = s_.W.host_values(s_.ctx);
  values_.assign(w.begin(), w.end());
  std::vector<Vec<double, D>> host(s_.blocks());
  copy_to_host(s_.ctx, host.data(), damping, host.size());
  const auto start = s_.W.pattern_start(), column = s_.W.pattern_column();
  for (std::size_t c = 0; c < host.size(); ++c)
    for (auto k = static_cast<std::size_t>(start[c]); k < static_cast<std::size_t>(start[c + 1]); ++k)
      if (static_cast<std::size_t>(column[k]) == c)
        for (int i = 0; i < D; ++i) values_[k](i, i) += host[c][i];
  return lu_->factorise(values_);
}

template <int D>
bool DampedSolver<D>::solve(const Vec<double, D>* b, Vec<double, D>* x, double tolerance) {
  if (!lu_) return conjugate_gradients(b, x, tolerance);
#if STICKSLIP_ON_CUDA
  host_.resize(s_.blocks());
  copy_to_host(s_.ctx, host_.data(), b, host_.size());
  lu_->solve(host_.data(), host_.data());
  copy_to_device(s_.ctx, x, host_.data(), host_.size());
#else
  lu_->solve(b, x);
#endif
  return true;
}

template <int D>
bool DampedSolver<D>::conjugate_gradients(const Vec<double, D>* b, Vec<double, D>* x, double tolerance) {
  start(b, x, tolerance);
  DampedState* state = state_.data();
#if !STICKSLIP_ON_CUDA
  if (!state->running()) return true;  // a device finds out within the loop, without a wait
#endif
  while (true) {
    repeat_until(s_.ctx, graph_, &state->stop, [&] { iterate(x); });
    if (read_back(s_.ctx, &state->stop) != DampedState::kPaused) return true;
    if (s_.monitor.out_of_budget()) return false;
    launch(s_.ctx, 1, ResumeDamped{state});
  }
}

template <int D>
DampedIterate<D> DampedSolver<D>::arrays() {
  return {damping_, inverse_.data(), residual_.data(), direction_.data(), image_.data()};
}

/// res = b - (W + R) x, direction = P^-1 res.
template <int D>
void DampedSolver<D>::start(const Vec<double, D>* b, const Vec<double, D>* x, double tolerance) {
  DampedState* state = state_.data();
  s_.W.apply(s_.ctx, x, image_.data(), false);
  reduce_sum(s_.ctx, s_.blocks(), StartDamped<D>{arrays(), b, x}, &state->now, kMedium);
  launch(s_.ctx, 1, BeginDamped{state, tolerance});
}

template <int D>
void DampedSolver<D>::iterate(Vec<double, D>* x) {
  DampedState* state = state_.data();
  // First, not last: an iteration that pauses or ends leaves the direction as it was.
  launch(s_.ctx, s_.blocks(), TurnDamped<D>{arrays(), state}, kMedium);
  s_.W.apply(s_.ctx, direction_.data(), image_.data(), false);
  reduce_sum(s_.ctx, s_.blocks(), CurveDamped<D>{arrays()}, &state->bend, kMedium);
  reduce_sum(s_.ctx, s_.blocks(), AdvanceDamped<D>{arrays(), state, x}, &state->next, kMedium);
  launch(s_.ctx, 1, EndIteration{state});
}

template class DampedSolver<3>;
template class DampedSolver<4>;
template class DampedSolver<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
