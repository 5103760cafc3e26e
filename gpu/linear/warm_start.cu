#include "gpu/linear/warm_start.cuh"

#include <cmath>
#include <limits>

#include "gpu/core/cleared.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr int kGroups = WarmStart::kGroups;
using Sums = WarmStart::Sums;
using State = WarmStart::State;
constexpr Grain kWarmStartGrain{1024};

SS_HD int exponent(Real stiffness) { return static_cast<int>(std::floor(std::log10(stiffness))); }

struct Vectors {
  Vec3 *x, *r, *z, *p, *q;
  const NodeGroup* group;
  Preconditioner::Local preconditioner;
  State* state;
  Sums* sums;
};

/// *out = the sums of value(i) by group.
template <class F>
void sum_by_group(Context& ctx, std::size_t n, const NodeGroup* group, F value, Sums* out) {
  reduce_sum(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        Sums sums = Sums::zero();
        sums[group[i]] = value(i);
        return sums;
      },
      out, kWarmStartGrain);
}

/// A group whose residual has reached its target, or whose curvature is not positive, has alpha = 0 from then
/// on and stays as it is.
void iterate(Context& ctx, SplitMatrix& matrix, const Vectors& v, int max_iterations) {
  const std::size_t n = matrix.node_count();
  State* s = v.state;
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        if (s->stop == 0) v.p[i] = v.z[i] + s->beta[v.group[i]] * v.p[i];
      },
      kWarmStartGrain);
  matrix.multiply(ctx, v.p, v.q, nullptr, &s->stop, v.group);
  sum_by_group(
      ctx, n, v.group, [=] SS_LAMBDA(std::size_t i) { return s->stop == 0 ? dot(v.p[i], v.q[i]) : Real(0); },
      v.sums);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    for (int g = 0; g < kGroups; ++g) {
      const Real curvature = (*v.sums)[g];
      const bool goes_on = s->rz[g] > s->target[g] && curvature > 0;
      s->alpha[g] = goes_on ? s->rz[g] / curvature : Real(0);
    }
  });
  sum_by_group(
      ctx, n, v.group,
      [=] SS_LAMBDA(std::size_t i) {
        if (s->stop != 0) return Real(0);
        const Real alpha = s->alpha[v.group[i]];
        v.x[i] += alpha * v.p[i];
        v.r[i] -= alpha * v.q[i];
        v.z[i] = v.preconditioner.apply(i, v.r[i]);
        return dot(v.r[i], v.z[i]);
      },
      v.sums);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    if (s->stop != 0) return;
    bool all_done = true;
    for (int g = 0; g < kGroups; ++g) {
      const Real rz = (*v.sums)[g];
      const bool goes_on = s->alpha[g] > 0 && rz > s->target[g];
      s->beta[g] = goes_on ? rz / s->rz[g] : Real(0);
      s->rz[g] = goes_on ? rz : Real(0);
      all_done = all_done && !goes_on;
    }
    if (++s->iterations >= max_iterations || all_done) s->stop = 1;
  });
}

}  // namespace

void WarmStart::group(Context& ctx, const Real* stiffness, const std::uint8_t* fixed, std::size_t n) {
  group_.resize(ctx, n);
  histogram_.resize(ctx, 1);
  StiffnessHistogram* histogram = histogram_.data();
  NodeGroup* group = group_.data();
  const Real infinity = std::numeric_limits<Real>::infinity();
  reduce(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        const bool moves = fixed == nullptr || fixed[i] == 0;
        return moves ? Extent{stiffness[i], stiffness[i]} : Extent{infinity, Real(0)};
      },
      [] SS_LAMBDA(const Extent& a, const Extent& b) {
        return Extent{b.least < a.least ? b.least : a.least, a.most < b.most ? b.most : a.most};
      },
      Extent{infinity, Real(0)}, &histogram->stiffness);
  reduce_sum(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        const int top = kGroups - 1,
                  place = top + exponent(stiffness[i]) - exponent(histogram->stiffness.most);
        group[i] = static_cast<NodeGroup>(place < 0 ? 0 : place > top ? top : place);
        auto count = Vec<std::int32_t, kGroups>::zero();
        count[group[i]] = fixed == nullptr || fixed[i] == 0 ? 1 : 0;
        return count;
      },
      &histogram->nodes, kWarmStartGrain);

  const StiffnessHistogram host = read_back(ctx, histogram);
  groups_.clear();
  const Extent e = host.stiffness;
  condition_ = e.least > 0 ? e.most / e.least : infinity;
  for (int g = 0; g < kGroups; ++g)
    if (host.nodes[g] > 0) groups_.push_back({g - (kGroups - 1) + exponent(e.most), host.nodes[g]});
}

int WarmStart::solve(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x,
                     const WarmStartSettings& settings, const std::uint8_t* fixed) {
  const std::size_t n = matrix.node_count();
  for (Buffer<Vec3>* vector : {&r_, &z_, &p_, &q_}) vector->resize(ctx, n);
  sums_.resize(ctx, 1);
  resize_cleared(ctx, state_, 1);
  preconditioner_.build(ctx, matrix, {PreconditionerKind::block_jacobi}, fixed);
  const Vectors v{x,
                  r_.data(),
                  z_.data(),
                  p_.data(),
                  q_.data(),
                  group_.data(),
                  preconditioner_.local(),
                  state_.data(),
                  sums_.data()};
  sum_by_group(
      ctx, n, v.group,
      [=] SS_LAMBDA(std::size_t i) {
        v.x[i] = v.p[i] = Vec3::zero();
        v.r[i] = b[i];
        v.z[i] = v.preconditioner.apply(i, v.r[i]);
        return dot(v.r[i], v.z[i]);
      },
      v.sums);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    State s{};
    s.rz = *v.sums;
    s.target = settings.tolerance * settings.tolerance * s.rz;
    *v.state = s;
  });
  repeat_until(ctx, loop_, &v.state->stop, [&] { iterate(ctx, matrix, v, settings.max_iterations); });
  return read_back(ctx, v.state).iterations;
}

}  // namespace stickslip::STICKSLIP_BACKEND
