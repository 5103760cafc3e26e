#include "gpu/linear/pcg_crew.h"

#include <algorithm>
#include <array>

#include "gpu/core/arena.h"

namespace stickslip::cpu {
namespace {

constexpr std::size_t kApart = 128;

/// p = z + beta p_before, with the z of the chunk's own slots from `preconditioned`. Each reader computes it:
/// no thread has to wait for another's p.
template <class Preconditioned>
struct NextDirection {
  Preconditioned preconditioned;
  const Lanes3* before;
  Real beta;
  const Lanes3* halo;         // p of the slots elsewhere
  const std::int32_t* place;  // there, of the next entry

  Lanes3 operator()(std::int32_t i) const { return preconditioned(i) + beta * before[i]; }
  void ask_for(std::int32_t i) const { __builtin_prefetch(before + i); }
  Lanes3 across(std::int32_t) { return halo[*place++]; }
  void ask_for_across(std::int32_t) const {}
};

/// How far ahead `step` asks for memory, in slots. Asking beyond an array is harmless.
constexpr std::size_t kSlotsAhead = 128;

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
    // Other threads read z at the rims of their chunks: the right to write it takes its time to come back.
    if (i % 2 == 0) __builtin_prefetch(v.z + i + kSlotsAhead, 1);
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

void to_lanes(Context& ctx, const ChunkView& rows, const std::array<const Vec3*, 4>& from,
              const std::array<Lanes3*, 4>& to) {
  launch(ctx, static_cast<std::size_t>(rows.node_count), [=](std::size_t slot) {
    for (std::size_t k = 0; k < from.size(); ++k) to[k][slot] = cpu::to_lanes(from[k][rows.node[slot]]);
  });
}

void to_vectors(Context& ctx, const ChunkView& rows, const std::array<const Lanes3*, 4>& from,
                const std::array<Vec3*, 4>& to) {
  launch(ctx, static_cast<std::size_t>(rows.node_count), [=](std::size_t slot) {
    for (std::size_t k = 0; k < from.size(); ++k) to[k][rows.node[slot]] = to_vec(from[k][slot]);
  });
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
  to_lanes(ctx, rows, {v.x, v.r, v.z, v.p}, {x_.data(), r_.data(), z_.data(), p_.data()});
  const std::size_t chunks = rows.chunk_count();
  const int threads = static_cast<int>(std::min<std::size_t>(ctx.threads(), chunks));
  if (!known_) {
    set_up(ctx, rows, v, inverse_.data(), fixed_.data());
    if (modes != nullptr) motions_.load(ctx, rows, modes->view(), modes->inverse());
    if (coarse != nullptr) motions_.load(ctx, rows, coarse->motions(), nullptr);
    if (factors != nullptr) factors_.load(rows, *factors, threads);
    if (levels != nullptr) levels_.load(rows, *levels, fixed_.data());
  }
  if (!known_) halo_.find(ctx, rows, couplings);
  if (coarse != nullptr) motions_.clear();  // z is complete
  halo_.load(ctx, p_.data());
  known_ = true;

  // What all threads read in every phase, apart from what one of them writes.
  struct alignas(kApart) Constant {
    ChunkView rows;
    ChunkCouplings couplings;
    LaneVectors v;
  };
  struct alignas(kApart) Changing {
    Real alpha, beta;
    Lanes3 *p, *next;
  };
  const Constant c{
      rows, couplings, {x_.data(), r_.data(), z_.data(), q_.data(), inverse_.data(), fixed_.data()}};
  Changing now{0, s.beta, p_.data(), other_p_.data()};
  const auto multiply = [&](std::size_t chunk, auto preconditioned) {
    ChunkHalo::Part& halo = halo_.part(chunk);
    Lanes3* x = halo.x.data();
    const Real beta = now.beta;
    for (std::size_t k = 0; k < halo.slot.size(); ++k) x[k] = preconditioned(halo.slot[k]) + beta * x[k];
    return multiply_chunk(
        c.rows, chunk, c.couplings, AllCoupled{},
        NextDirection<decltype(preconditioned)>{preconditioned, now.p, beta, x, halo.place.data()},
        [next = now.next, q = c.v.q](std::int32_t slot, const Lanes3& pi, const Lanes3& qi) {
          next[slot] = pi;
          q[slot] = qi;
        });
  };
  const auto multiply_plain = [&](std::size_t chunk) {
    return multiply(chunk, [z = c.v.z](std::int32_t i) { return z[i]; });
  };
  // z lacks the coarse space's part, which is added where z is read.
  const auto multiply_corrected = [&](std::size_t chunk) {
    motions_.ask_for_motions(chunk);
    return multiply(chunk, [z = c.v.z, of = motions_.corrections()](std::int32_t i) { return z[i] + of[i]; });
  };
  const auto go = [&](std::size_t chunk) {
    if (modes != nullptr || coarse != nullptr) motions_.ask_for_shares(chunk);
    const PcgSquares part = step(c.rows, chunk, c.v, now.alpha, now.p);
    if (modes != nullptr || coarse != nullptr) motions_.sum(chunk, c.v.r);
    return part;
  };
  Arena& arena = ctx.arena();
  const Phases phases(arena, chunks, std::max(threads, 1));
  std::vector<Real> dots(chunks);
  std::vector<PcgSquares> squares(chunks);
  while (s.running()) {
    now.beta = s.beta;
    s.choose_step(coarse != nullptr ? phases.sum(dots, multiply_corrected)
                                    : phases.sum(dots, multiply_plain));
    std::swap(now.p, now.next);
    if (!s.running()) break;
    now.alpha = s.alpha;
    PcgSquares sums = phases.sum(squares, go);
    if (levels != nullptr) {
      levels_.solve(arena, c.v.r);
      sums.rz =
          phases.sum(dots, [&](std::size_t chunk) { return levels_.add(chunk, c.v.r, c.v.z, c.v.fixed); });
    }
    if (modes != nullptr)
      sums.rz = phases.sum(dots, [&](std::size_t chunk) { return motions_.correct(chunk, c.v.r, c.v.z); });
    if (factors != nullptr) {
      factors_.add(arena, c.v.r, c.v.z, c.v.fixed);
      sums.rz = phases.sum(dots, [&](std::size_t chunk) { return product(c.rows, chunk, c.v.r, c.v.z); });
    }
    if (coarse != nullptr) sums.rz += motions_.solve(arena, coarse->factors());
    s.advance(sums);
    v.history[s.iterations] = s.residual();
  }
  if (coarse != nullptr)
    launch(ctx, n, [z = z_.data(), of = motions_.corrections()](std::size_t i) {
      z[i] += of[static_cast<std::int32_t>(i)];
    });
  to_vectors(ctx, rows, {x_.data(), r_.data(), z_.data(), now.p}, {v.x, v.r, v.z, v.p});
  *v.state = s;
}

}  // namespace stickslip::cpu
