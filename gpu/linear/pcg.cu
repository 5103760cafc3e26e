#include "gpu/linear/pcg.cuh"

#include <cmath>

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

/// The decisions after `iterations` of them, with s.rz up to date.
SS_HD void judge(Pcg::State& s, Real* history) {
  history[s.iterations] = s.reference > 0 ? std::sqrt(s.rz / s.reference) : Real(0);
  if (s.rz < s.best) {
    s.best = s.rz;
    s.best_at = s.iterations;
  }
  if (!(s.rz >= 0)) stop(s, PcgStop::indefinite);
  else if (s.rz <= s.target) stop(s, PcgStop::converged);
  else if (s.iterations >= s.last) stop(s, PcgStop::iteration_cap);
  else if (s.iterations - s.best_at >= kPatience) stop(s, PcgStop::stagnated);
}

struct Vectors {
  Vec3 *x, *r, *z, *p, *q;
  BlockJacobi::View preconditioner;
  Pcg::State* state;
  Real* rz;
  Real* history;
};

/// One iteration in three passes over the vectors: the direction, its product with p'Ap, and everything else
/// with r'z.
void iterate(Context& ctx, SplitMatrix& matrix, const Vectors& v) {
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
    s->alpha = s->rz / s->pq;
  });
  reduce_sum(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        if (!running(*s)) return Real(0);
        const Real alpha = s->alpha;
        v.x[i] += alpha * v.p[i];
        const Vec3 r = v.r[i] - alpha * v.q[i];
        const Vec3 z = v.preconditioner.apply(i, r);
        v.r[i] = r;
        v.z[i] = z;
        return dot(r, z);
      },
      v.rz, kVectorGrain);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    if (!running(*s)) return;
    s->beta = *v.rz / s->rz;
    s->rz = *v.rz;
    ++s->iterations;
    judge(*s, v.history);
  });
}

}  // namespace

PcgResult Pcg::solve(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x, const PcgSettings& settings,
                     const std::uint8_t* fixed) {
  matrix_ = &matrix;
  x_ = x;
  n_ = matrix.node_count();
  for (Buffer<Vec3>* vector : {&r_, &z_, &p_, &q_}) vector->resize(ctx, n_);
  history_.resize(ctx, static_cast<std::size_t>(settings.max_iterations) + 1);
  sums_.resize(ctx, 1);
  start_.resize(ctx, 1);
  state_.resize(ctx, 1);
  preconditioner_.build(ctx, matrix.diagonal(), fixed, n_);

  const bool warm = settings.start_from_x;
  if (warm) matrix.multiply(ctx, x, q_.data());
  Vec3 *r = r_.data(), *z = z_.data(), *p = p_.data();
  const Vec3* q = q_.data();
  const BlockJacobi::View preconditioner = preconditioner_.view();
  Vec2* start = start_.data();
  reduce_sum(
      ctx, n_,
      [=] SS_LAMBDA(std::size_t i) {
        if (!warm) x[i] = Vec3::zero();
        r[i] = warm ? b[i] - q[i] : b[i];
        z[i] = preconditioner.apply(i, r[i]);
        p[i] = Vec3::zero();
        return Vec2{dot(b[i], preconditioner.apply(i, b[i])), dot(r[i], z[i])};
      },
      start, kVectorGrain);
  State* state = state_.data();
  Real* history = history_.data();
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    const Real b2 = (*start)[0], r2 = (*start)[1];
    State s{};
    s.rz = s.best = r2;
    s.reference = b2 > r2 ? b2 : r2;
    s.target = settings.tolerance * settings.tolerance * s.reference;
    s.last = settings.max_iterations;
    judge(s, history);
    *state = s;
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
    if (s.stop == static_cast<std::int32_t>(PcgStop::indefinite) || !(s.rz > 0)) return;
    stop(s, PcgStop::running);
    s.target = 0;
    s.last = s.iterations + extra_iterations;
    s.best = s.rz;
    s.best_at = s.iterations;
  });
  return run(ctx);
}

PcgResult Pcg::run(Context& ctx) {
  const Vectors vectors{
      x_,           r_.data(),      z_.data(), p_.data(), q_.data(), preconditioner_.view(), state_.data(),
      sums_.data(), history_.data()};
  State s = read_back(ctx, state_.data());
  while (running(s)) {
    for (int k = 0; k < kCheckInterval; ++k) iterate(ctx, *matrix_, vectors);
    s = read_back(ctx, state_.data());
  }
  const Real residual = s.reference > 0 ? std::sqrt(s.rz / s.reference) : Real(0);
  return {s.iterations, residual, static_cast<PcgStop>(s.stop)};
}

std::vector<Real> Pcg::history(Context& ctx) const {
  const State s = read_back(ctx, state_.data());
  std::vector<Real> residuals(static_cast<std::size_t>(s.iterations) + 1);
  copy_to_host(ctx, residuals.data(), history_.data(), residuals.size());
  return residuals;
}

}  // namespace stickslip::STICKSLIP_BACKEND
