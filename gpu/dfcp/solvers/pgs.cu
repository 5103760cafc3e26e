// Projected Jacobi and Gauss-Seidel by scalar rows, over-relaxed: PSOR [Course §3.2.1-3.2.3, Alg.5-7]. They
// solve box friction.
#include <algorithm>
#include <cmath>

#include "gpu/core/reduce.h"
#include "gpu/dfcp/solvers/contraction.cuh"
#include "gpu/dfcp/solvers/joint_block.cuh"
#include "gpu/dfcp/solvers/row_sweep.cuh"
#include "gpu/dfcp/solvers/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// One power iteration: the vector of an image y = W x, and the largest Rayleigh quotient x' W x / x' B x so
/// far.
template <int D>
struct PowerStep {
  const Mat<double, D>* diagonal;
  const Vec<double, D>* image;
  const Vec<double, 2>* sums;  // x' W x, x' B x
  const double* before;        // largest quotient before
  double* radius;              // and after
  Vec<double, D>* vector;

  SS_HD void operator()(std::size_t c) const {
    const double quotient = (*sums)[1] > 0 ? (*sums)[0] / (*sums)[1] : 0.0;
    const double best = *before < quotient ? quotient : *before;
    if (c == 0) *radius = best;
    const double inverse = best > 0 ? 1 / best : 1.0;
    for (int i = 0; i < D; ++i)
      vector[c][i] = diagonal[c](i, i) > 0 ? inverse * image[c][i] / diagonal[c](i, i) : 0.0;
  }
};

/// The largest eigenvalue of B^-1 W, with B the rows' diagonal, from below: power
/// iterations from a fixed start. One host read.
template <int D>
double jacobi_radius(System<D>& s) {
  constexpr std::size_t kProducts = 30;
  const std::size_t n = s.blocks();
  Buffer<Vec<double, D>> vector(s.ctx, n), image(s.ctx, n);
  Buffer<Vec<double, 2>> sums(s.ctx, 1);
  Buffer<double> radius(s.ctx, kProducts + 1);
  Vec<double, D>*x = vector.data(), *y = image.data();
  const Mat<double, D>* diagonal = s.W.diagonal();
  launch(s.ctx, n, [=] SS_LAMBDA(std::size_t c) {
    for (int i = 0; i < D; ++i) x[c][i] = (c * 2654435761u >> (8 + i) & 1u) != 0 ? 1.0 : -1.0;
  });
  fill(s.ctx, radius.data(), 1, 0.0);
  for (std::size_t k = 0; k < kProducts; ++k) {
    s.W.apply(s.ctx, x, y, false);
    reduce_sum(
        s.ctx, n,
        [=] SS_LAMBDA(std::size_t c) {
          Vec<double, 2> sum{dot(x[c], y[c]), 0.0};
          for (int i = 0; i < D; ++i) sum[1] += diagonal[c](i, i) * x[c][i] * x[c][i];
          return sum;
        },
        sums.data());
    launch(s.ctx, n, PowerStep<D>{diagonal, y, sums.data(), radius.data() + k, radius.data() + k + 1, x});
  }
  return n > 0 ? read_back(s.ctx, radius.data() + kProducts) : 0;
}

/// Every row steps with the old velocities; only friction's bound uses the new normal impulse.
template <int D>
SS_HD Vec<double, D> jacobi_rows(const ContactLaw<D>& law, const Mat<double, D>& w, double omega,
                                 Vec<double, D> r, const Vec<double, D>& u) {
  for (int i = 0; i < D; ++i) r[i] = w(i, i) > 0 ? r[i] - omega * u[i] / w(i, i) : 0.0;
  if (law.set == FrictionSet::bilateral) return r;
  r[0] = r[0] > 0 ? r[0] : 0.0;
  for (int i = 1; i < D; ++i) r[i] = law_detail::clamp(r[i], law.mu[i - 1] * r[0]);
  return r;
}

}  // namespace

template <int D>
void solve_pgs(System<D>& s) {
  JointBlock<D> joints(s);
  RowSweep<D> sweep(s);
  BoxFriction<D> box(s);
  ContractionTest<D> contraction(s);
  sweep.refresh(s.r);
  do {
    sweep.leave_joints(joints.active());
    sweep.run(s.r);
    if (joints.solve(s.r)) sweep.refresh(s.r);
  } while (!s.monitor.done(s.r) && !box.settled(s.r) && !contraction.ended(s.r));
}
STICKSLIP_SOLVER(solve_pgs)

/// Jacobi's method diverges where the largest eigenvalue of B^-1 W exceeds 2 / omega, as soon as a body has
/// more than a few contacts: `omega` is therefore relative to the largest safe step.
template <int D>
void solve_pgs_jacobi(System<D>& s) {
  constexpr double kMargin = 0.9;  // power iterations estimate the radius from below
  const double radius = jacobi_radius(s);
  const double omega = s.params.omega * std::min(1.0, kMargin * 2 / std::max(radius, 1e-300));
  BoxFriction<D> box(s);
  ContractionTest<D> contraction(s);
  Buffer<Vec<double, D>> velocity(s.ctx, s.blocks());
  const Mat<double, D>* diagonal = s.W.diagonal();
  const ContactLaw<D>* law = s.law;
  const Vec<double, D>* u = velocity.data();
  Vec<double, D>* r = s.r;
  do {
    s.W.apply(s.ctx, r, velocity.data(), true);
    launch(
        s.ctx, s.blocks(),
        [=] SS_LAMBDA(std::size_t c) { r[c] = jacobi_rows(law[c], diagonal[c], omega, r[c], u[c]); },
        kMedium);
  } while (!s.monitor.done(r) && !box.settled(r) && !contraction.ended(r));
}
STICKSLIP_SOLVER(solve_pgs_jacobi)

}  // namespace stickslip::STICKSLIP_BACKEND
