#include "gpu/linear/pcg_crew.h"

#include <algorithm>

#include "gpu/core/arena.h"

namespace stickslip::cpu {
namespace {

/// p = z + beta p_before, which each reader computes: no thread has to wait for another's p.
struct NextDirection {
  const Lanes3 *z, *before;
  Real beta;

  Lanes3 operator()(std::int32_t i) const { return z[i] + beta * before[i]; }
  void ask_for(std::int32_t i) const {
    __builtin_prefetch(z + i);
    __builtin_prefetch(before + i);
  }
};

/// Where the iterations keep their vectors.
struct LaneVectors {
  Lanes3 *x, *r, *z, *q;
  const Lanes3* inverse;  // three columns per slot
  const std::uint8_t* fixed;
};

Real sum(const Lanes3& a) { return a[0] + a[1] + a[2]; }

/// x += alpha p, r -= alpha q, z = P^-1 r at the nodes of a chunk; returns their squares.
PcgSquares step(const ChunkView& rows, std::size_t chunk, const LaneVectors& v, Real alpha, const Lanes3* p) {
  Lanes3 rz{}, rr{}, xx{};
  const IndexRange slots = rows.slots_of(chunk);
  for (std::size_t i = slots.begin; i < slots.end; ++i) {
    if (v.fixed[i] != 0) continue;  // r and z are zero
    const Lanes3 x = v.x[i] + alpha * p[i];
    const Lanes3 r = v.r[i] - alpha * v.q[i];
    const Lanes3* inverse = v.inverse + 3 * i;
    const Lanes3 z = inverse[0] * r[0] + inverse[1] * r[1] + inverse[2] * r[2];
    v.x[i] = x;
    v.r[i] = r;
    v.z[i] = z;
    rz += r * z;
    rr += r * r;
    xx += x * x;
  }
  return {sum(rz), sum(rr), sum(xx)};
}

Real product(const ChunkView& rows, std::size_t chunk, const Lanes3* a, const Lanes3* b) {
  Lanes3 total{};
  const IndexRange slots = rows.slots_of(chunk);
  for (std::size_t i = slots.begin; i < slots.end; ++i) total += a[i] * b[i];
  return sum(total);
}

void to_lanes(Context& ctx, const ChunkView& rows, const Vec3* from, Lanes3* to) {
  launch(ctx, static_cast<std::size_t>(rows.node_count),
         [=](std::size_t slot) { to[slot] = cpu::to_lanes(from[rows.node[slot]]); });
}

void to_vectors(Context& ctx, const ChunkView& rows, const Lanes3* from, Vec3* to) {
  launch(ctx, static_cast<std::size_t>(rows.node_count),
         [=](std::size_t slot) { to[rows.node[slot]] = to_vec(from[slot]); });
}

/// The columns of P^-1, and which nodes stay.
void set_up(Context& ctx, const ChunkView& rows, const PcgVectors& v, Lanes3* inverse, std::uint8_t* fixed) {
  launch(ctx, static_cast<std::size_t>(rows.node_count), [=](std::size_t slot) {
    const std::int32_t node = rows.node[slot];
    for (int c = 0; c < 3; ++c) {
      Vec3 unit = Vec3::zero();
      unit[c] = 1;
      inverse[3 * slot + c] = cpu::to_lanes(v.local.apply(node, unit));
    }
    fixed[slot] = v.fixed != nullptr && v.fixed[node] != 0;
  });
}

/// Phases over all chunks. Each thread takes the same ones in every phase and all in one go, so that what it
/// wrote is still in its cache.
class Phases {
 public:
  Phases(Arena& arena, std::size_t chunks, int threads)
      : arena_(arena), chunks_(chunks), share_((chunks + threads - 1) / static_cast<std::size_t>(threads)) {}

  /// The sum of value(chunk) over all chunks, in their order; `partial` gets the parts.
  template <class T, class F>
  T sum(std::vector<T>& partial, const F& value) const {
    arena_.run(chunks_, share_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t chunk = begin; chunk < end; ++chunk) partial[chunk] = value(chunk);
    });
    T total{};
    for (const T& part : partial) total = total + part;
    return total;
  }

 private:
  Arena& arena_;
  std::size_t chunks_, share_;
};

}  // namespace

void CrewPcg::iterate(Context& ctx, const ChunkView& rows, const ChunkCouplings& couplings,
                      Preconditioner& preconditioner, const PcgVectors& v) {
  PcgState s = *v.state;
  if (!s.running()) return;
  const AffineModes* modes = preconditioner.modes();
  const CoarseSpace* coarse = preconditioner.coarse();
  PanelFactors* factors = preconditioner.factors();
  const Domains<16>* levels = preconditioner.levels();
  const auto n = static_cast<std::size_t>(rows.node_count);
  for (Buffer<Lanes3>* vector : {&x_, &r_, &z_, &p_, &other_p_, &q_}) vector->resize(ctx, n);
  inverse_.resize(ctx, 3 * n);
  fixed_.resize(ctx, n);
  to_lanes(ctx, rows, v.x, x_.data());
  to_lanes(ctx, rows, v.r, r_.data());
  to_lanes(ctx, rows, v.z, z_.data());
  to_lanes(ctx, rows, v.p, p_.data());
  const std::size_t chunks = rows.chunk_count();
  const int threads = static_cast<int>(std::min<std::size_t>(ctx.threads(), chunks));
  if (!known_) {
    set_up(ctx, rows, v, inverse_.data(), fixed_.data());
    if (modes != nullptr) motions_.load(ctx, rows, modes->view(), modes->inverse());
    if (coarse != nullptr) motions_.load(ctx, rows, coarse->motions(), nullptr);
    if (factors != nullptr) factors_.load(rows, *factors, threads);
    if (levels != nullptr) levels_.load(rows, *levels, fixed_.data());
  }
  known_ = true;

  const LaneVectors vectors{x_.data(), r_.data(), z_.data(), q_.data(), inverse_.data(), fixed_.data()};
  std::vector<Real> dots(chunks);
  std::vector<PcgSquares> squares(chunks);
  Lanes3 *p = p_.data(), *next = other_p_.data();
  {
    Arena& arena = ctx.arena();
    const Phases phases(arena, chunks, std::max(threads, 1));
    while (s.running()) {
      const NextDirection direction{vectors.z, p, s.beta};
      s.choose_step(phases.sum(dots, [&](std::size_t chunk) {
        return multiply_chunk(rows, chunk, couplings, AllCoupled{}, direction,
                              [&](std::int32_t slot, const Lanes3& pi, const Lanes3& qi) {
                                next[slot] = pi;
                                vectors.q[slot] = qi;
                              });
      }));
      std::swap(p, next);
      if (!s.running()) break;
      PcgSquares now = phases.sum(squares, [&](std::size_t chunk) {
        const PcgSquares part = step(rows, chunk, vectors, s.alpha, p);
        if (modes != nullptr || coarse != nullptr) motions_.sum(chunk, vectors.r);
        return part;
      });
      if (levels != nullptr) {
        levels_.solve(arena, vectors.r);
        now.rz = phases.sum(
            dots, [&](std::size_t chunk) { return levels_.add(chunk, vectors.r, vectors.z, vectors.fixed); });
      }
      if (coarse != nullptr) motions_.solve(arena, coarse->factors());
      if (modes != nullptr || coarse != nullptr)
        now.rz = phases.sum(dots,
                            [&](std::size_t chunk) { return motions_.correct(chunk, vectors.r, vectors.z); });
      if (factors != nullptr) {
        factors_.add(arena, vectors.r, vectors.z, vectors.fixed);
        now.rz =
            phases.sum(dots, [&](std::size_t chunk) { return product(rows, chunk, vectors.r, vectors.z); });
      }
      s.advance(now);
      v.history[s.iterations] = s.residual();
    }
  }
  to_vectors(ctx, rows, x_.data(), v.x);
  to_vectors(ctx, rows, r_.data(), v.r);
  to_vectors(ctx, rows, z_.data(), v.z);
  to_vectors(ctx, rows, p, v.p);
  *v.state = s;
}

}  // namespace stickslip::cpu
