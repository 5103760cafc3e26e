#include "gpu/dfcp/solvers/newton_system.cuh"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "gpu/math/dense_solve.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Up to this many rows a factorisation on the host is the first choice; on a device
/// its copies cost time too.
constexpr std::size_t kDirectRows = STICKSLIP_ON_CUDA ? 3000 : 12000;

constexpr int kBetweenChecks = 16;  // iterations of conjugate gradients between two checks of the time budget

template <int D>
bool chooses_direct(const Delassus<D>& W, NewtonLinear method) {
  if (method != NewtonLinear::automatic) return method == NewtonLinear::direct;
  return !W.factored() && W.blocks() * D <= kDirectRows;
}

/// out = B (W + E) + A, entry by entry of an assembled W.
template <int D>
void write_system(Context& ctx, const Delassus<D>& W, const Shift& shift, const Mat<double, D>* a,
                  const Mat<double, D>* b, Mat<double, D>* out) {
  const BlockRows<D> w = W.rows();
  const double* scale = W.scale();
  const double absolute = shift.absolute, relative = shift.relative;
  launch(
      ctx, W.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        for (std::int32_t k = w.start[c]; k < w.start[c + 1]; ++k) {
          out[k] = b[c] * w.value[k];
          if (w.column[k] == static_cast<std::int32_t>(c))
            out[k] += (absolute + relative * scale[c]) * b[c] + a[c];
        }
      },
      kMedium);
}

/// The inverses of the diagonal blocks of B (W + E) + A.
template <int D>
void invert_diagonal(Context& ctx, const Delassus<D>& W, const Shift& shift, const Mat<double, D>* a,
                     const Mat<double, D>* b, Mat<double, D>* inverse) {
  const Mat<double, D>* diagonal = W.diagonal();
  const double* scale = W.scale();
  const double absolute = shift.absolute, relative = shift.relative;
  launch(
      ctx, W.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        Mat<double, D> m = diagonal[c];
        for (int i = 0; i < D; ++i) m(i, i) += absolute + relative * scale[c];
        inverse[c] = solve_dense(b[c] * m + a[c], Mat<double, D>::identity());
      },
      kMedium);
}

/// <x, y>. One host read.
template <int D>
double product(Context& ctx, std::size_t blocks, const Vec<double, D>* x, const Vec<double, D>* y,
               double* out) {
  reduce_sum(
      ctx, blocks, [=] SS_LAMBDA(std::size_t c) { return dot(x[c], y[c]); }, out);
  return read_back(ctx, out);
}

/// A step of conjugate gradients; `image` becomes the preconditioned residual.
template <int D>
struct AdvanceAlong {
  double alpha;
  const Vec<double, D>* direction;
  const Mat<double, D>* inverse;
  Vec<double, D>*x, *residual, *image;

  SS_HD void operator()(std::size_t c) const {
    x[c] += alpha * direction[c];
    residual[c] -= alpha * image[c];
    image[c] = inverse[c] * residual[c];
  }
};

/// The next direction.
template <int D>
struct TurnDirection {
  double beta;
  const Vec<double, D>* preconditioned;
  Vec<double, D>* direction;

  SS_HD void operator()(std::size_t c) const { direction[c] = preconditioned[c] + beta * direction[c]; }
};

/// out = m in, block by block.
template <int D>
void multiply_blocks(Context& ctx, std::size_t blocks, const Mat<double, D>* m, const Vec<double, D>* in,
                     Vec<double, D>* out) {
  launch(
      ctx, blocks, [=] SS_LAMBDA(std::size_t c) { out[c] = m[c] * in[c]; }, kMedium);
}

}  // namespace

template <int D>
std::string NewtonSystem<D>::refusal(const Delassus<D>& W, NewtonLinear method) {
  if (method == NewtonLinear::direct && W.factored())
    return "newton_linear = direct needs the entries of W: set storage = assembled, or newton_linear = "
           "krylov";
  return "";
}

template <int D>
NewtonSystem<D>::NewtonSystem(Context& ctx, const Delassus<D>& W, const NewtonLinearOptions& options)
    : ctx_(ctx),
      W_(W),
      options_(options),
      direct_(chooses_direct(W, options.method)),
      a_(ctx, W.blocks()),
      b_(ctx, W.blocks()),
      size_(ctx, 1) {
  if (direct_) {
    if (W.factored()) throw std::logic_error(refusal(W, NewtonLinear::direct));
    lu_.analyse(W.pattern_start(), W.pattern_column());
    matrix_.resize(ctx, W.pattern_column().size());
  } else {
    inverse_.resize(ctx, W.blocks());
    product_.resize(ctx, W.blocks());
    solution_.resize(ctx, W.blocks());
    if (options.symmetric) direction_.resize(ctx, W.blocks());
  }
}

template <int D>
void NewtonSystem<D>::apply(const Shift& shift, const Vec<double, D>* x, Vec<double, D>* y) {
  W_.apply(ctx_, x, y, false);
  const Mat<double, D>*a = a_.data(), *b = b_.data();
  const double* scale = W_.scale();
  const double absolute = shift.absolute, relative = shift.relative;
  launch(
      ctx_, W_.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        y[c] = b[c] * (y[c] + (absolute + relative * scale[c]) * x[c]) + a[c] * x[c];
      },
      kMedium);
}

template <int D>
bool NewtonSystem<D>::solve(const Shift& shift, const Vec<double, D>* b, Vec<double, D>* x,
                            double tolerance) {
  if (direct_ && !factorise(shift)) return false;
  return solve_again(shift, b, x, tolerance);
}

template <int D>
bool NewtonSystem<D>::solve_again(const Shift& shift, const Vec<double, D>* b, Vec<double, D>* x,
                                  double tolerance) {
  if (direct_) {
    solve_direct(b, x);
  } else if (options_.symmetric) {
    solve_symmetric(shift, b, x, std::max(tolerance, options_.tolerance));
  } else {
    solve_krylov(shift, b, x, std::max(tolerance, options_.tolerance));
  }
  double* size = size_.data();
  reduce_sum(
      ctx_, W_.blocks(), [=] SS_LAMBDA(std::size_t c) { return norm2(x[c]); }, size);
  return std::isfinite(read_back(ctx_, size));
}

template <int D>
bool NewtonSystem<D>::factorise(const Shift& shift) {
  Mat<double, D>* out = matrix_.data();
  write_system<D>(ctx_, W_, shift, a_.data(), b_.data(), out);
#if STICKSLIP_ON_CUDA
  host_matrix_.resize(matrix_.size());
  copy_to_host(ctx_, host_matrix_.data(), out, matrix_.size());
  return lu_.factorise(host_matrix_);
#else
  return lu_.factorise({out, matrix_.size()});
#endif
}

template <int D>
void NewtonSystem<D>::solve_direct(const Vec<double, D>* b, Vec<double, D>* x) {
#if STICKSLIP_ON_CUDA
  host_vector_.resize(W_.blocks());
  copy_to_host(ctx_, host_vector_.data(), b, W_.blocks());
  lu_.solve(host_vector_.data(), host_vector_.data());
  copy_to_device(ctx_, x, host_vector_.data(), W_.blocks());
#else
  lu_.solve(b, x);
#endif
}

/// Preconditioned from the right by the inverted diagonal blocks, so that the residual is the system's own.
template <int D>
void NewtonSystem<D>::solve_krylov(const Shift& shift, const Vec<double, D>* b, Vec<double, D>* x,
                                   double tolerance) {
  invert_diagonal<D>(ctx_, W_, shift, a_.data(), b_.data(), inverse_.data());
  const auto precondition = [&](const Vec<double, D>* in, Vec<double, D>* out) {
    multiply_blocks<D>(ctx_, W_.blocks(), inverse_.data(), in, out);
  };
  Vec<double, D>* scaled = product_.data();
  gmres_.solve(
      ctx_, W_.blocks(), b, solution_.data(), tolerance, options_.iterations,
      [&](const Vec<double, D>* in, Vec<double, D>* out) {
        precondition(in, scaled);
        apply(shift, scaled, out);
      },
      options_.stop);
  precondition(solution_.data(), x);
}

/// Conjugate gradients, preconditioned by the inverted diagonal blocks. The host reads two numbers in each
/// iteration.
template <int D>
void NewtonSystem<D>::solve_symmetric(const Shift& shift, const Vec<double, D>* b, Vec<double, D>* x,
                                      double tolerance) {
  const std::size_t n = W_.blocks();
  invert_diagonal<D>(ctx_, W_, shift, a_.data(), b_.data(), inverse_.data());
  Vec<double, D>*residual = product_.data(), *image = solution_.data(), *direction = direction_.data();
  const Mat<double, D>* inverse = inverse_.data();
  fill(ctx_, x, n, Vec<double, D>::zero());
  copy(ctx_, residual, b, n);
  multiply_blocks<D>(ctx_, n, inverse, residual, direction);
  double now = product<D>(ctx_, n, residual, direction, size_.data());
  // In the norm of the preconditioner: rows without impulse are so stiff that they would hide all others.
  const double wanted = tolerance * tolerance * now;
  for (int k = 0; k < options_.iterations && now > wanted; ++k) {
    if (options_.stop && k % kBetweenChecks == 0 && options_.stop()) return;
    apply(shift, direction, image);
    const double bend = product<D>(ctx_, n, direction, image, size_.data());
    if (!(bend > 0)) return;
    const double alpha = now / bend;
    launch(ctx_, n, AdvanceAlong<D>{alpha, direction, inverse, x, residual, image});
    const double next = product<D>(ctx_, n, residual, image, size_.data());
    launch(ctx_, n, TurnDirection<D>{next / now, image, direction});
    now = next;
  }
}

template class NewtonSystem<3>;
template class NewtonSystem<4>;
template class NewtonSystem<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
