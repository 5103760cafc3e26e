#include "gpu/linear/domains.cuh"

#include "gpu/core/team.h"
#if !STICKSLIP_ON_CUDA
#include "gpu/linear/domain_rows.h"
#endif

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
  // Odd on CUDA: lanes that each read a row then read from different banks.
  Real a[N][STICKSLIP_ON_CUDA ? N | 1 : N];
  Real inverse_pivot[N], diagonal[N];
};

/// 1/pivot of row k; 0 where the row is absent or vanishes by rounding, so that it passes nothing on to those
/// below.
template <int N>
SS_HD Real inverse_of_pivot(const Elimination<N>& e, int k) {
  constexpr Real epsilon = sizeof(Real) == 8 ? Real(1e-14) : Real(1e-6);
  const Real pivot = e.a[k][k], diagonal = e.diagonal[k];
  return pivot > epsilon * diagonal && diagonal > 0 ? Real(1) / pivot : Real(0);
}

/// Subtracts row k from a row below, so that its column k vanishes, and keeps W there instead.
template <int N>
SS_HD void subtract_row(const Elimination<N>& e, int k, Real inverse, Real* own) {
  const Real factor = own[k] * inverse;
  for (int j = 0; j < N; ++j) own[j] -= factor * e.a[k][j];
  own[k] = -factor;
}

#if !STICKSLIP_ON_CUDA
constexpr int kPivots = 4;  // that a processor subtracts at once

/// As subtract_row for rows k to k + kPivots - 1, after each other, and all rows below these.
template <int N>
void subtract_rows(Elimination<N>& e, int k, const Real* inverse) {
  // By the symmetry of what is left, the columns of the rows below are the rows of the pivots.
  Real factor[kPivots][N], w[kPivots][N];
  for (int p = 0; p < kPivots; ++p)
    for (int i = 0; i < N; ++i) factor[p][i] = e.a[k + p][i] * inverse[p];
  for (int p = 0; p < kPivots; ++p) {
    for (int i = 0; i < N; ++i) w[p][i] = -factor[p][i];
    for (int m = p + 1; m < kPivots; ++m)
      for (int i = 0; i < N; ++i) w[p][i] -= factor[m][i] * e.a[k + m][k + p];
  }
  for (int i = k + kPivots; i < N; ++i) {
    Real* own = e.a[i];
    for (int j = 0; j < N; ++j)
      own[j] -= factor[0][i] * e.a[k][j] + factor[1][i] * e.a[k + 1][j] + factor[2][i] * e.a[k + 2][j] +
                factor[3][i] * e.a[k + 3][j];
    for (int p = 0; p < kPivots; ++p) own[k + p] = w[p][i];
  }
}
#endif

/// Replaces the symmetric matrix in e.a by W (strictly lower) and fills inverse_pivot = 1/d, with W A W' =
/// diag(d) and a unit diagonal of W. An absent row (diagonal zero) gets 1/d = 0, one that vanishes by
/// rounding the inverse of its diagonal.
template <int N>
SS_LAMBDA void eliminate(const Team& team, Elimination<N>& e) {
  team.each(N, [&](int i) { e.diagonal[i] = e.a[i][i]; });
  const auto keep = [&](int k, Real inverse) {
    e.inverse_pivot[k] = inverse > 0 || !(e.diagonal[k] > 0) ? inverse : Real(1) / e.diagonal[k];
  };
  int k = 0;
#if !STICKSLIP_ON_CUDA
  for (; k + kPivots < N; k += kPivots) {
    Real inverse[kPivots];
    for (int p = 0; p < kPivots; ++p) {
      inverse[p] = inverse_of_pivot(e, k + p);
      keep(k + p, inverse[p]);
      for (int i = p + 1; i < kPivots; ++i) subtract_row(e, k + p, inverse[p], e.a[k + i]);
    }
    subtract_rows(e, k, inverse);
  }
#endif
  for (; k < N; ++k) {
    const Real inverse = inverse_of_pivot(e, k);
    team.each(N - k, [&](int below) {
      if (below == 0) keep(k, inverse);
      else subtract_row(e, k, inverse, e.a[k + below]);
    });
  }
}

/// Of each coupling of a stencil, level by level, the key of the domain's block that it adds to; -1: none.
/// `all`: the stencils of all levels, n: nodes.
template <int Size>
void set_coupling_keys(Context& ctx, const SplitMatrix& matrix, const std::uint8_t* fixed,
                       const std::int32_t* slot_of_node, std::size_t n, std::size_t all, Vec4i* keys) {
  const std::size_t stencils = matrix.stencil_count();
  const Vec4i* nodes = matrix.stencils();
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
}

/// Gathers the matrix of a domain, and inverts it.
template <int Size>
struct DomainFactoriser {
  static constexpr int kRows = 3 * Size;

  const std::uint8_t* fixed;
  std::uint32_t n;  // nodes
  const Mat3 *diagonal, *lower, *couplings;
  const Vec2i* entries;
  const Vec4i* nodes;  // of the stencils
  std::size_t stencils;
  const std::int32_t *slot_of_node, *source_begin;
  const std::uint32_t* sources;
  NodeGather::Runs runs;  // of the stencils' couplings by block
  InverseFactors<kRows>* factors;

  /// The part of D + L in a block.
  SS_HD Mat3 mesh_block(std::size_t block) const {
    Mat3 sum = Mat3::zero();
    for (std::int32_t k = source_begin[block]; k < source_begin[block + 1]; ++k) {
      const std::uint32_t source = sources[k] >> 1;
      if (source < n) {
        if (!absent(fixed, static_cast<std::int32_t>(source))) sum += diagonal[source];
        continue;
      }
      const Vec2i pair = entries[source - n];
      if (absent(fixed, pair[0]) || absent(fixed, pair[1])) continue;
      sum += (sources[k] & 1U) != 0 ? lower[source - n].transposed() : lower[source - n];
    }
    return sum;
  }

  /// What a coupling of a stencil adds to its block.
  SS_HD Mat3 stencil_block(std::int32_t corner) const {
    const std::size_t s = static_cast<std::size_t>(corner) / kKeys;
    const int k = corner % kKeys;
    const Vec2i corners = coupling_corners(k);
    const std::int32_t* slot = slot_of_node + s / stencils * n;
    const std::int32_t row = slot[nodes[s % stencils][corners[0]]];
    const std::int32_t column = slot[nodes[s % stencils][corners[1]]];
    const Mat3& block = couplings[kCouplings * (s % stencils) + k];
    if (row == column) return block + block.transposed();
    return row > column ? block : block.transposed();
  }

  /// Whether no node of the domain moves.
  SS_HD bool is_absent(std::size_t first_block) const {
    for (int slot = 0; slot < Size; ++slot) {
      const std::size_t block = first_block + slot * Size + slot;
      for (std::int32_t k = source_begin[block]; k < source_begin[block + 1]; ++k)
        if (const std::uint32_t source = sources[k] >> 1;
            source < n && !absent(fixed, static_cast<std::int32_t>(source)))
          return false;
    }
    return true;
  }

  SS_LAMBDA void operator()(std::size_t domain, const Team& team, Elimination<kRows>& e) const {
    const std::size_t first_block = domain * Size * Size;
    if (is_absent(first_block)) {
      InverseFactors<kRows>& out = factors[domain];
      team.each(out.kPadded, [&](int j) { out.inverse_pivot[j] = 0.0F; });
      team.each(out.kValues, [&](int k) { out.w[k] = 0.0F; });
      return;
    }
    const auto add = [&](int block, const Mat3& value, bool overwrite) {
      const int row = block / Size, column = block % Size;
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < (row == column ? r + 1 : 3); ++c) {
          const Real sum = overwrite ? value(r, c) : e.a[3 * row + r][3 * column + c] + value(r, c);
          e.a[3 * row + r][3 * column + c] = e.a[3 * column + c][3 * row + r] = sum;
        }
    };
    team.each(Size * Size, [&](int block) {
      if (block / Size >= block % Size) add(block, mesh_block(first_block + block), true);
    });
    const std::int32_t run = runs.first_from(static_cast<std::uint32_t>(first_block));
    const std::int32_t end = runs.first_from(static_cast<std::uint32_t>(first_block + Size * Size));
    team.each(end - run, [&](int i) {
      Mat3 sum = Mat3::zero();
      for (std::int32_t k = runs.begin[run + i]; k < runs.begin[run + i + 1]; ++k)
        sum += stencil_block(runs.corner[k]);
      add(static_cast<int>(runs.node[run + i] - first_block), sum, false);
    });
    eliminate(team, e);
    InverseFactors<kRows>& out = factors[domain];
    team.each(out.kPadded, [&](int j) {
      out.inverse_pivot[j] = j < kRows ? static_cast<float>(e.inverse_pivot[j]) : 0.0F;
      for (int i = out.first_row(j); i < out.kPadded; ++i)
        out.w[out.place(i, j)] = j < i && i < kRows ? static_cast<float>(e.a[i][j]) : 0.0F;
    });
  }
};

template <int N>
struct Rows {
  Real v[N];
};

/// z = A^-1 r for `count` domains that follow each other; `y` is a place for all their rows, on CUDA.
template <int N>
SS_LAMBDA void apply_inverses([[maybe_unused]] const Team& team, const InverseFactors<N>* factors, int count,
                              const Real* r, [[maybe_unused]] Real* y, Real* z) {
#if STICKSLIP_ON_CUDA
  // A lane per row, whose neighbours then read neighbouring numbers in the first product.
  team.each(count * N, [&](int k) {
    const InverseFactors<N>& f = factors[k / N];
    const int row = k % N;
    Real sum = r[k];
    for (int j = 0; j < row; ++j) sum += Real(f.w[f.place(row, j)]) * r[k - row + j];
    y[k] = sum * Real(f.inverse_pivot[row]);
  });
  team.each(count * N, [&](int k) {
    const InverseFactors<N>& f = factors[k / N];
    const int column = k % N;
    Real sum = y[k];
    for (int i = column + 1; i < N; ++i) sum += Real(f.w[f.place(i, column)]) * y[k - column + i];
    z[k] = sum;
  });
#else
  for (int domain = 0; domain < count; ++domain) {
    DomainRows<N> rows;
    for (int i = 0; i < N; ++i) rows.v[i] = static_cast<float>(r[domain * N + i]);
    apply_inverse(factors[domain], rows);
    for (int i = 0; i < N; ++i) z[domain * N + i] = Real(rows.v[i]);
  }
#endif
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
  factors_.resize(ctx, slot_count_ / Size);
  r_.resize(ctx, slot_count_);
  z_.resize(ctx, slot_count_);
  fill(ctx, r_.data(), slot_count_, Vec3::zero());
}

template <int Size>
void Domains<Size>::build(Context& ctx, const SplitMatrix& matrix, const std::uint8_t* fixed) {
  sort_stencils(ctx, matrix, fixed);
  factorise(ctx, matrix, fixed);
}

template <int Size>
void Domains<Size>::sort_stencils(Context& ctx, const SplitMatrix& matrix, const std::uint8_t* fixed) {
  const std::size_t all = matrix.stencil_count() * levels();
  stencil_blocks_.resize(ctx, all * kKeys / 4);
  set_coupling_keys<Size>(ctx, matrix, fixed, slot_of_node_.data(), node_count_, all, stencil_blocks_.data());
  stencil_gather_.build(ctx, stencil_blocks_.data(), 2 * all, slot_count_ * Size);
}

template <int Size>
void Domains<Size>::factorise(Context& ctx, const SplitMatrix& matrix, const std::uint8_t* fixed) {
  const DomainFactoriser<Size> factoriser{
      .fixed = fixed,
      .n = static_cast<std::uint32_t>(node_count_),
      .diagonal = matrix.reduced_diagonal(),
      .lower = matrix.lower(),
      .couplings = matrix.couplings(),
      .entries = matrix.entries(),
      .nodes = matrix.stencils(),
      .stencils = matrix.stencil_count(),
      .slot_of_node = slot_of_node_.data(),
      .source_begin = source_begin_.data(),
      .sources = sources_.data(),
      .runs = stencil_gather_.runs(),
      .factors = factors_.data(),
  };
  launch_teams<Elimination<kRows>>(ctx, slot_count_ / Size, factoriser);
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

  constexpr int kAtOnce = STICKSLIP_ON_CUDA ? 128 / kRows : 1;  // domains that fill a team
  const std::size_t domains = slot_count_ / Size;
  const InverseFactors<kRows>* factors = factors_.data();
  Vec3* z_slots = z_.data();
  launch_teams<Rows<kAtOnce * kRows>>(
      ctx, (domains + kAtOnce - 1) / kAtOnce,
      [=] SS_LAMBDA(std::size_t t, const Team& team, Rows<kAtOnce * kRows>& middle) {
        if (skip != nullptr && *skip != 0) return;
        const std::size_t first = t * kAtOnce, left = domains - first;
        apply_inverses<kRows>(team, factors + first, static_cast<int>(left < kAtOnce ? left : kAtOnce),
                              r_slots[first * Size].v, middle.v, z_slots[first * Size].v);
      });
}

template class Domains<3>;
template class Domains<9>;
template class Domains<16>;

}  // namespace stickslip::STICKSLIP_BACKEND
