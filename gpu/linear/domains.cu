#include "gpu/linear/domains.cuh"

#include "gpu/core/team.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// Of a stencil's six couplings, each has one key; two Vec4i hold them.
constexpr int kKeys = 8;

/// The corners (a, b), a > b, of coupling k.
SS_HD Vec2i coupling_corners(int k) {
  return k == 0 ? Vec2i{1, 0} : k < 3 ? Vec2i{2, k - 1} : Vec2i{3, k - 3};
}

SS_HD bool absent(const std::uint8_t* fixed, std::int32_t node) {
  return node < 0 || (fixed != nullptr && fixed[node] != 0);
}

template <int N>
struct Elimination {
  Real a[N][N];
  Real inverse_pivot[N], diagonal[N];
};

/// Replaces the symmetric matrix in e.a by W (strictly lower) and fills inverse_pivot = 1/d, with W A W' =
/// diag(d) and a unit diagonal of W. An absent row (diagonal zero) gets 1/d = 0; one that vanishes by
/// rounding counts as coupled to nothing.
template <int N>
SS_LAMBDA void eliminate(const Team& team, Elimination<N>& e) {
  constexpr Real epsilon = sizeof(Real) == 8 ? Real(1e-14) : Real(1e-6);
  team.each(N, [&](int i) { e.diagonal[i] = e.a[i][i]; });
  for (int k = 0; k < N; ++k) {
    const Real pivot = e.a[k][k], diagonal = e.diagonal[k];
    const bool usable = pivot > epsilon * diagonal && diagonal > 0;
    const Real inverse = usable ? Real(1) / pivot : Real(0);
    team.each(N - k - 1, [&](int row) {
      Real* own = e.a[k + 1 + row];
      const Real factor = own[k] * inverse;
      for (int j = 0; j < N; ++j) own[j] -= factor * e.a[k][j];
      own[k] = -factor;
    });
    team.each(1, [&](int) {
      e.inverse_pivot[k] = usable ? inverse : diagonal > 0 ? Real(1) / diagonal : Real(0);
    });
  }
}

/// out (row-major) = A^-1 = W' diag(1/d) W: positive definite whatever rounding did to W.
template <int N>
SS_LAMBDA void write_inverse(const Team& team, const Elimination<N>& e, Real* out) {
  team.each(N, [&](int i) {
    Real sum[N];
    for (int j = 0; j < N; ++j) sum[j] = 0;
    for (int k = i; k < N; ++k) {
      const Real weight = (k == i ? Real(1) : e.a[k][i]) * e.inverse_pivot[k];
      for (int j = 0; j < k; ++j) sum[j] += weight * e.a[k][j];
      sum[k] += weight;
    }
    for (int j = 0; j < N; ++j) out[i * N + j] = sum[j];
  });
}

/// T rows of a symmetric N x N matrix times x: y[t] = sum_j m[j][first + t] x[j].
template <int N, int T>
SS_HD void multiply_rows(const Real* m, int first, const Real* x, Real* y) {
  Real sum[T];
  for (int t = 0; t < T; ++t) sum[t] = 0;
  for (int j = 0; j < N; ++j)
    for (int t = 0; t < T; ++t) sum[t] += m[j * N + first + t] * x[j];
  for (int t = 0; t < T; ++t) y[first + t] = sum[t];
}

}  // namespace

template <int Size>
void Domains<Size>::set_plan(Context& ctx, const DomainPlan& plan) {
  node_count_ = plan.node_count;
  slot_count_ = static_cast<std::size_t>(plan.slot_count());
  level_begin_ = plan.level_begin;
  slot_of_node_.upload(ctx, plan.slot_of_node);
  member_begin_.upload(ctx, plan.member_begin);
  members_.upload(ctx, plan.members);
  source_begin_.upload(ctx, plan.source_begin);
  sources_.upload(ctx, plan.sources);
  matrices_.resize(ctx, slot_count_ * Size);
  r_.resize(ctx, slot_count_);
  z_.resize(ctx, slot_count_);
  fill(ctx, r_.data(), slot_count_, Vec3::zero());
}

template <int Size>
void Domains<Size>::build(Context& ctx, const SplitMatrix& matrix, const std::uint8_t* fixed) {
  assemble(ctx, matrix, fixed);
  if (matrix.stencil_count() > 0) add_stencils(ctx, matrix, fixed);
  invert(ctx);
}

template <int Size>
void Domains<Size>::assemble(Context& ctx, const SplitMatrix& matrix, const std::uint8_t* fixed) {
  const auto n = static_cast<std::uint32_t>(node_count_);
  const Mat3 *diagonal = matrix.diagonal(), *lower = matrix.lower();
  const Vec2i* entries = matrix.entries();
  const std::int32_t* begin = source_begin_.data();
  const std::uint32_t* sources = sources_.data();
  Mat3* blocks = matrices_.data();
  launch(
      ctx, slot_count_ * Size,
      [=] SS_LAMBDA(std::size_t block) {
        Mat3 sum = Mat3::zero();
        for (std::int32_t k = begin[block]; k < begin[block + 1]; ++k) {
          const std::uint32_t source = sources[k] >> 1;
          if (source < n) {
            if (!absent(fixed, static_cast<std::int32_t>(source))) sum += diagonal[source];
            continue;
          }
          const Vec2i pair = entries[source - n];
          if (absent(fixed, pair[0]) || absent(fixed, pair[1])) continue;
          sum += (sources[k] & 1U) != 0 ? lower[source - n].transposed() : lower[source - n];
        }
        blocks[block] = sum;
      },
      kMedium);
}

template <int Size>
void Domains<Size>::add_stencils(Context& ctx, const SplitMatrix& matrix, const std::uint8_t* fixed) {
  const std::size_t stencils = matrix.stencil_count(), n = node_count_, all = stencils * levels();
  stencil_blocks_.resize(ctx, all * kKeys / 4);
  const Vec4i* nodes = matrix.stencils();
  const Mat3* couplings = matrix.couplings();
  const std::int32_t* slot_of_node = slot_of_node_.data();
  Vec4i* keys = stencil_blocks_.data();
  launch(ctx, all, [=] SS_LAMBDA(std::size_t s) {
    const std::int32_t* slot = slot_of_node + s / stencils * n;
    for (int k = 0; k < kKeys; ++k) {
      std::int32_t key = -1;
      const Vec2i corner = coupling_corners(k < kCouplings ? k : 0);
      const std::int32_t i = nodes[s % stencils][corner[0]], j = nodes[s % stencils][corner[1]];
      if (k < kCouplings && !absent(fixed, i) && !absent(fixed, j) && slot[i] / Size == slot[j] / Size) {
        const std::int32_t row = slot[i] > slot[j] ? slot[i] : slot[j], column = slot[i] + slot[j] - row;
        key = row * Size + column % Size;
      }
      keys[2 * s + k / 4][k % 4] = key;
    }
  });
  stencil_gather_.build(ctx, keys, 2 * all, slot_count_ * Size);
  stencil_gather_.sum(
      ctx,
      [=] SS_LAMBDA(std::int32_t corner) {
        const std::size_t s = static_cast<std::size_t>(corner) / kKeys;
        const int k = corner % kKeys;
        const Vec2i corners = coupling_corners(k);
        const std::int32_t* slot = slot_of_node + s / stencils * n;
        const std::int32_t row = slot[nodes[s % stencils][corners[0]]];
        const std::int32_t column = slot[nodes[s % stencils][corners[1]]];
        const Mat3& block = couplings[kCouplings * (s % stencils) + k];
        if (row == column) return block + block.transposed();
        return row > column ? block : block.transposed();
      },
      matrices_.data());
}

template <int Size>
void Domains<Size>::invert(Context& ctx) {
  Mat3* matrices = matrices_.data();
  launch_teams<Elimination<kRows>>(
      ctx, slot_count_ / Size, [=] SS_LAMBDA(std::size_t domain, const Team& team, Elimination<kRows>& e) {
        Mat3* blocks = matrices + domain * Size * Size;
        team.each(Size * Size, [&](int block) {
          const int row = block / Size, column = block % Size;
          if (row < column) return;
          for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c)
              e.a[3 * row + r][3 * column + c] = e.a[3 * column + c][3 * row + r] = blocks[block](r, c);
        });
        eliminate(team, e);
        write_inverse(team, e, blocks->m);
      });
}

template <int Size>
void Domains<Size>::solve(Context& ctx, const Vec3* r, const std::int32_t* skip) {
  const std::int32_t *slot = slot_of_node_.data(), *begin = member_begin_.data(), *member = members_.data();
  Vec3* r_slots = r_.data();
  launch(ctx, node_count_, [=] SS_LAMBDA(std::size_t i) {
    if (skip == nullptr || *skip == 0) r_slots[slot[i]] = r[i];
  });
  for (int level = 1; level < levels(); ++level) {
    const std::int32_t first = level_begin_[level];
    launch(ctx, static_cast<std::size_t>(level_begin_[level + 1] - first), [=] SS_LAMBDA(std::size_t s) {
      if (skip != nullptr && *skip != 0) return;
      Vec3 sum = Vec3::zero();
      for (std::int32_t k = begin[first + s]; k < begin[first + s + 1]; ++k) sum += r_slots[member[k]];
      r_slots[first + s] = sum;
    });
  }

  // One thread per row on CUDA, whose neighbours then read neighbouring numbers; a whole domain on a
  // processor.
  constexpr int kRowsAtOnce = STICKSLIP_ON_CUDA ? 1 : kRows;
  constexpr std::size_t kParts = kRows / kRowsAtOnce;
  const Mat3* matrices = matrices_.data();
  Vec3* z_slots = z_.data();
  launch(
      ctx, slot_count_ / Size * kParts,
      [=] SS_LAMBDA(std::size_t part) {
        if (skip != nullptr && *skip != 0) return;
        const std::size_t domain = part / kParts;
        multiply_rows<kRows, kRowsAtOnce>(matrices[domain * Size * Size].m,
                                          static_cast<int>(part % kParts) * kRowsAtOnce,
                                          r_slots[domain * Size].v, z_slots[domain * Size].v);
      },
      kHeavy);
}

template class Domains<3>;
template class Domains<9>;
template class Domains<16>;

}  // namespace stickslip::STICKSLIP_BACKEND
