#include "gpu/linear/pcg.cuh"

#include "gpu/core/cleared.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr Grain kVectorGrain{1024};

/// r_i = residual(i) where node i moves, and zero elsewhere; z = P^-1 r; and the squares of both. Nothing is
/// done after the stop. `residual` may write x_i.
template <class F>
void set_residual(Context& ctx, std::size_t n, Preconditioner& preconditioner, const PcgVectors& v,
                  F residual) {
  PcgState* s = v.state;
  reduce_sum(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        if (!s->running()) return PcgSquares{};
        const bool moves = v.fixed == nullptr || v.fixed[i] == 0;
        const Vec3 r = moves ? residual(i) : Vec3::zero();
        const Vec3 z = v.local.apply(i, r);
        v.r[i] = r;
        v.z[i] = z;
        return PcgSquares{dot(r, z), norm2(r), moves ? norm2(v.x[i]) : Real(0)};
      },
      v.squares, kVectorGrain);
  preconditioner.add_domains(ctx, v.r, v.z, &v.squares->rz, &s->stop);
}

/// One iteration in three passes over the vectors: the direction, its product with p'Ap, and everything else
/// with r'z.
void iterate(Context& ctx, SplitMatrix& matrix, Preconditioner& preconditioner, const PcgVectors& v) {
  const std::size_t n = matrix.node_count();
  PcgState* s = v.state;
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        if (s->running()) v.p[i] = v.z[i] + s->beta * v.p[i];
      },
      kVectorGrain);
  matrix.multiply(ctx, v.p, v.q, &s->pq, &s->stop);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    if (s->running()) s->choose_step(s->pq);
  });
  set_residual(ctx, n, preconditioner, v, [=] SS_LAMBDA(std::size_t i) {
    v.x[i] += s->alpha * v.p[i];
    return v.r[i] - s->alpha * v.q[i];
  });
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    if (!s->running()) return;
    s->advance(*v.squares);
    v.history[s->iterations] = s->residual();
  });
}

}  // namespace

PcgResult Pcg::solve(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x, const PcgSettings& settings,
                     const std::uint8_t* fixed) {
  launch_solve(ctx, matrix, b, x, settings, fixed);
  return result_of(read_back(ctx, state_.data()));
}

/// Everything that a solve needs before its first residual.
void Pcg::prepare(Context& ctx, SplitMatrix& matrix, Vec3* x, const PcgSettings& settings,
                  const std::uint8_t* fixed) {
  matrix_ = &matrix;
  most_resident_nodes_ = settings.most_resident_nodes;
  fixed_ = fixed;
  x_ = x;
  const std::size_t n = matrix.node_count();
  for (Buffer<Vec3>* vector : {&r_, &z_, &p_, &q_}) vector->resize(ctx, n);
  if (STICKSLIP_ON_CUDA && n <= most_resident_nodes_) {
    other_p_.resize(ctx, n);
    run_.resize(ctx, n);
  }
  history_.resize(ctx, static_cast<std::size_t>(settings.max_iterations) + 1);
  squares_.resize(ctx, 1);
  resize_cleared(ctx, state_, 1);
  if (!settings.same_system)
    preconditioner_.build(ctx, matrix, settings.preconditioner, fixed, settings.positions);
  const bool is_resident = STICKSLIP_ON_CUDA ? n <= most_resident_nodes_ && preconditioner_.modes() == nullptr
                                             : most_resident_nodes_ > 0;
  stays_ = is_resident && matrix.embedding() == nullptr &&
           (STICKSLIP_ON_CUDA ? preconditioner_.is_local_or_modes() : preconditioner_.fits_crew());
#if !STICKSLIP_ON_CUDA
  if (!settings.same_system) crew_.forget();
#endif
}

bool Pcg::apply_inverse(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x,
                        const PcgSettings& settings, const std::uint8_t* fixed) {
  prepare(ctx, matrix, x, settings, fixed);
  if (!preconditioner_.is_inverse(matrix)) return false;
  const PcgVectors v = vectors();
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *v.state = PcgState{}; });
  if (const Chains* chains = preconditioner_.solve_chains(ctx, b, &v.state->stop)) {
    const Vec3* z = chains->z();
    const std::uint8_t* is_member = chains->is_member();
    launch(
        ctx, matrix.node_count(),
        [=] SS_LAMBDA(std::size_t i) { x[i] = is_member[i] != 0 ? z[i] : v.local.apply(i, b[i]); },
        kVectorGrain);
    return true;
  }
  set_residual(ctx, matrix.node_count(), preconditioner_, v, [=] SS_LAMBDA(std::size_t i) { return b[i]; });
  copy(ctx, x, v.z, matrix.node_count());
  if (matrix.embedding() != nullptr) matrix.embedding()->expand(ctx, x);
  return true;
}

void Pcg::launch_solve(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x, const PcgSettings& settings,
                       const std::uint8_t* fixed) {
  prepare(ctx, matrix, x, settings, fixed);
  const std::size_t n = matrix.node_count();
  const PcgVectors v = vectors();
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *v.state = PcgState{}; });
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
    PcgState& s = *v.state;
    const PcgSquares of_b = s.now;
    s.now = *v.squares;
    // Of b, not of a bad start: that would loosen the target. Without b there is nothing else.
    s.reference = of_b.rz > 0 ? of_b.rz : s.now.rz;
    s.last = settings.max_iterations;
    s.set_targets(settings, of_b.rr);
    s.best = s.watched();
    s.judge();
    v.history[0] = s.residual();
  });
  run(ctx);
}

PcgResult Pcg::resume(Context& ctx, int extra_iterations) {
  const int most = read_back(ctx, state_.data()).iterations + extra_iterations;
  if (const auto longest = static_cast<std::size_t>(most) + 1; history_.size() < longest)
    history_.extend(ctx, longest);
  PcgState* state = state_.data();
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    PcgState& s = *state;
    if (s.stop == static_cast<std::int32_t>(PcgStop::indefinite) || !(s.now.rz > 0)) return;
    s.end(PcgStop::running);
    s.rz_target = s.rr_target = s.xx_share = 0;
    s.last = s.iterations + extra_iterations;
    s.best = s.watched();
    s.best_at = s.iterations;
  });
  run(ctx);
  return result_of(read_back(ctx, state_.data()));
}

PcgVectors Pcg::vectors() {
  return {x_,
          r_.data(),
          z_.data(),
          p_.data(),
          q_.data(),
          other_p_.data(),
          run_.data(),
          fixed_,
          preconditioner_.local(),
          state_.data(),
          squares_.data(),
          history_.data()};
}

void Pcg::run(Context& ctx) {
  const PcgVectors v = vectors();
#if STICKSLIP_ON_CUDA
  if (stays_) iterate_on_grid(ctx, *matrix_->resident(), v);
#else
  if (stays_) crew_.iterate(ctx, matrix_->chunk_rows(), matrix_->coupling_rows(ctx), preconditioner_, v);
#endif
  else repeat_until(ctx, loop_, &v.state->stop, [&] { iterate(ctx, *matrix_, preconditioner_, v); });
  if (matrix_->embedding() != nullptr) matrix_->embedding()->expand(ctx, x_);
}

std::vector<Real> Pcg::history(Context& ctx) const {
  const PcgState s = read_back(ctx, state_.data());
  std::vector<Real> residuals(static_cast<std::size_t>(s.iterations) + 1);
  copy_to_host(ctx, residuals.data(), history_.data(), residuals.size());
  return residuals;
}

}  // namespace stickslip::STICKSLIP_BACKEND
