#include "gpu/linear/pcg.cuh"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Iterations between two host reads of the state; a read is free on the CPU. After the stop, kernels do
/// nothing.
constexpr int kCheckInterval = STICKSLIP_ON_CUDA ? 16 : 1;
/// [Guo24 App. B]
constexpr int kPatience = 100;
constexpr Grain kVectorGrain{1024};

SS_HD bool running(const Pcg::State& s) { return s.stop == static_cast<std::int32_t>(PcgStop::running); }
SS_HD void stop(Pcg::State& s, PcgStop why) { s.stop = static_cast<std::int32_t>(why); }

/// The decisions after `iterations` of them, with s.now up to date.
SS_HD void judge(Pcg::State& s, Real* history) {
  const Real rz = s.now.rz;
  history[s.iterations] = s.reference > 0 ? std::sqrt(rz / s.reference) : Real(0);
  if (rz < s.best) {
    s.best = rz;
    s.best_at = s.iterations;
  }
  if (!(rz >= 0)) stop(s, PcgStop::indefinite);
  else if (rz <= s.rz_target || s.now.rr <= s.rr_target + s.xx_share * s.now.xx) stop(s, PcgStop::converged);
  else if (s.iterations >= s.last) stop(s, PcgStop::iteration_cap);
  else if (s.iterations - s.best_at >= kPatience) stop(s, PcgStop::stagnated);
}

/// Sets what the criterion asks for; s.reference is known, and bb = |b|_2^2.
SS_HD void set_targets(Pcg::State& s, const PcgSettings& settings, Real bb) {
  // Beyond one half every direction would do, the zero one too.
  const Real rounding = std::min(std::numeric_limits<Real>::epsilon() * settings.condition, Real(0.5));
  switch (settings.criterion) {
    case PcgCriterion::relative:
      s.rz_target = settings.tolerance * settings.tolerance * s.reference;
      break;
    case PcgCriterion::euclidean:
      s.rr_target = settings.tolerance * settings.tolerance * bb;
      break;
    case PcgCriterion::truncated: {
      const Real b = std::sqrt(bb);
      s.rr_target = (b < Real(0.25) ? b : Real(0.25)) * bb;  // (min(1/2, sqrt|b|) |b|)^2
      break;
    }
    case PcgCriterion::condition_x:
      s.xx_share = rounding * rounding;
      break;
    case PcgCriterion::condition_b:
      s.rr_target = rounding * rounding * bb;
      break;
  }
}

/// r_i = residual(i) where node i moves, and zero elsewhere; z = P^-1 r; and the squares of both. Nothing is
/// done after the stop. `residual` may write x_i.
template <class F>
void set_residual(Context& ctx, std::size_t n, Preconditioner& preconditioner, const Pcg::Vectors& v,
                  F residual) {
  Pcg::State* s = v.state;
  reduce_sum(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        if (!running(*s)) return Pcg::Squares{};
        const bool moves = v.fixed == nullptr || v.fixed[i] == 0;
        const Vec3 r = moves ? residual(i) : Vec3::zero();
        const Vec3 z = v.local.apply(i, r);
        v.r[i] = r;
        v.z[i] = z;
        return Pcg::Squares{dot(r, z), norm2(r), moves ? norm2(v.x[i]) : Real(0)};
      },
      v.squares, kVectorGrain);
  preconditioner.add_domains(ctx, v.r, v.z, &v.squares->rz, &s->stop);
}

/// One iteration in three passes over the vectors: the direction, its product with p'Ap, and everything else
/// with r'z.
void iterate(Context& ctx, SplitMatrix& matrix, Preconditioner& preconditioner, const Pcg::Vectors& v) {
  const std::size_t n = matrix.node_count();
  Pcg::State* s = v.state;
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        if (running(*s)) v.p[i] = v.z[i] + s->beta * v.p[i];
      },
      kVectorGrain);
  matrix.multiply(ctx, v.p, v.q, &s->pq, &s->stop);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    if (!running(*s)) return;
    if (!(s->pq > 0)) return stop(*s, PcgStop::indefinite);
    s->alpha = s->now.rz / s->pq;
  });
  set_residual(ctx, n, preconditioner, v, [=] SS_LAMBDA(std::size_t i) {
    v.x[i] += s->alpha * v.p[i];
    return v.r[i] - s->alpha * v.q[i];
  });
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    if (!running(*s)) return;
    s->beta = v.squares->rz / s->now.rz;
    s->now = *v.squares;
    ++s->iterations;
    judge(*s, v.history);
  });
}

}  // namespace

PcgResult Pcg::solve(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x, const PcgSettings& settings,
                     const std::uint8_t* fixed) {
  matrix_ = &matrix;
  fixed_ = fixed;
  x_ = x;
  const std::size_t n = matrix.node_count();
  for (Buffer<Vec3>* vector : {&r_, &z_, &p_, &q_}) vector->resize(ctx, n);
  history_.resize(ctx, static_cast<std::size_t>(settings.max_iterations) + 1);
  squares_.resize(ctx, 1);
  state_.resize(ctx, 1);
  preconditioner_.build(ctx, matrix, settings.preconditioner, fixed);

  const Vectors v = vectors();
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *v.state = State{}; });
  const bool warm = settings.start_from_x;
  if (!warm) fill(ctx, x, n, Vec3::zero());
  fill(ctx, v.p, n, Vec3::zero());
  set_residual(ctx, n, preconditioner_, v, [=] SS_LAMBDA(std::size_t i) { return b[i]; });
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { v.state->now = *v.squares; });
  if (warm) {
    matrix.multiply(ctx, x, v.q);
    set_residual(ctx, n, preconditioner_, v, [=] SS_LAMBDA(std::size_t i) { return b[i] - v.q[i]; });
  }
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    State& s = *v.state;
    const Squares of_b = s.now;
    s.now = *v.squares;
    s.best = s.now.rz;
    s.reference = of_b.rz > s.now.rz ? of_b.rz : s.now.rz;
    s.last = settings.max_iterations;
    set_targets(s, settings, of_b.rr);
    judge(s, v.history);
  });
  return run(ctx);
}

PcgResult Pcg::resume(Context& ctx, int extra_iterations) {
  const State before = read_back(ctx, state_.data());
  const std::size_t longest = static_cast<std::size_t>(before.iterations + extra_iterations) + 1;
  if (history_.size() < longest) {
    Buffer<Real> longer(ctx, longest);
    copy(ctx, longer.data(), history_.data(), static_cast<std::size_t>(before.iterations) + 1);
    ctx.synchronize();
    history_.swap(longer);
  }
  State* state = state_.data();
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    State& s = *state;
    if (s.stop == static_cast<std::int32_t>(PcgStop::indefinite) || !(s.now.rz > 0)) return;
    stop(s, PcgStop::running);
    s.rz_target = s.rr_target = s.xx_share = 0;
    s.last = s.iterations + extra_iterations;
    s.best = s.now.rz;
    s.best_at = s.iterations;
  });
  return run(ctx);
}

Pcg::Vectors Pcg::vectors() {
  return {x_,
          r_.data(),
          z_.data(),
          p_.data(),
          q_.data(),
          fixed_,
          preconditioner_.local(),
          state_.data(),
          squares_.data(),
          history_.data()};
}

PcgResult Pcg::run(Context& ctx) {
  const Vectors v = vectors();
  State s = read_back(ctx, state_.data());
  while (running(s)) {
    for (int k = 0; k < kCheckInterval; ++k) iterate(ctx, *matrix_, preconditioner_, v);
    s = read_back(ctx, state_.data());
  }
  if (matrix_->embedding() != nullptr) matrix_->embedding()->expand(ctx, x_);
  const Real residual = s.reference > 0 ? std::sqrt(s.now.rz / s.reference) : Real(0);
  return {s.iterations, residual, static_cast<PcgStop>(s.stop)};
}

std::vector<Real> Pcg::history(Context& ctx) const {
  const State s = read_back(ctx, state_.data());
  std::vector<Real> residuals(static_cast<std::size_t>(s.iterations) + 1);
  copy_to_host(ctx, residuals.data(), history_.data(), residuals.size());
  return residuals;
}

}  // namespace stickslip::STICKSLIP_BACKEND
