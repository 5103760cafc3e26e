#include "gpu/linear/chains.cuh"

#include "gpu/core/launch.h"

namespace stickslip {
namespace {

constexpr int kWidth = ChainRow::width;

/// What factorises and solves one chain.
struct ChainFactors {
  const std::int32_t* begin;
  const std::int32_t* node;
  const Vec4i* sources;
  const Mat3* diagonal;
  const Mat3* lower;
  const std::uint8_t* fixed;
  ChainRow* rows;

  SS_HD bool absent(std::int32_t slot) const { return fixed != nullptr && fixed[node[slot]] != 0; }

  /// Writes the rows of A of a slot to its rows of L, and their diagonals to the inverse pivots.
  SS_HD void fill(std::int32_t slot, std::int32_t first) const {
    const bool gone = absent(slot);
    for (int r = 0; r < 3; ++r) {
      ChainRow& row = rows[3 * slot + r];
      for (int k = 0; k < kWidth; ++k) row.l[k] = Real(0);
      row.inverse_pivot = gone ? Real(1) : diagonal[node[slot]](r, r);
      // Column c of the slot's own block is r - c before the diagonal.
      for (int c = 0; c < r && !gone; ++c) row.l[kWidth - (r - c)] = diagonal[node[slot]](r, c);
    }
    for (int j = 1; j <= kChainReach && slot - j >= first; ++j) {
      const std::int32_t source = sources[slot][j - 1];
      if (source < 0 || gone || absent(slot - j)) continue;
      const Mat3& block = lower[source >> 1];
      const bool transposed = (source & 1) != 0;
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
          rows[3 * slot + r].l[kWidth - (3 * j + r - c)] = transposed ? block(c, r) : block(r, c);
    }
  }

  /// A pivot that rounding or a spring's missing coupling makes vanish is replaced by the diagonal: the
  /// product stays positive definite.
  SS_HD void factorise(std::size_t chain) const {
    constexpr Real epsilon = sizeof(Real) == 8 ? Real(1e-14) : Real(1e-6);
    const std::int32_t first = begin[chain], last = begin[chain + 1];
    for (std::int32_t slot = first; slot < last; ++slot) {
      fill(slot, first);
      for (std::int32_t i = 3 * slot; i < 3 * slot + 3; ++i) {
        ChainRow& row = rows[i];
        const Real own = row.inverse_pivot;
        Real pivot = own;
        const int before = i - 3 * first < kWidth ? i - 3 * first : kWidth;
        for (int k = kWidth - before; k < kWidth; ++k) {
          const ChainRow& of_column = rows[i - kWidth + k];
          // row.l[m] is l_im d_m for m < k by now; entries of the column's row are as far to its left.
          Real sum = row.l[k];
          for (int m = kWidth - before; m < k; ++m) sum -= row.l[m] * of_column.l[m + kWidth - k];
          row.l[k] = sum;
        }
        for (int k = kWidth - before; k < kWidth; ++k) {
          const Real scaled = row.l[k] * rows[i - kWidth + k].inverse_pivot;
          pivot -= row.l[k] * scaled;
          row.l[k] = scaled;
        }
        if (!(pivot > epsilon * own)) pivot = own;
        row.inverse_pivot = pivot > Real(0) ? Real(1) / pivot : Real(0);
      }
    }
  }

  /// `y`: place for the rows of all chains, whose numbers stand next to each other there.
  SS_HD void solve(std::size_t chain, const Vec3* r, Real* y, Vec3* z) const {
    const std::int32_t first = begin[chain], last = begin[chain + 1];
    const std::int32_t top = 3 * first, end = 3 * last;
    for (std::int32_t slot = first; slot < last; ++slot)
      for (int c = 0; c < 3; ++c) y[3 * slot + c] = r[node[slot]][c];
    for (std::int32_t i = top; i < end; ++i) {
      const Real* l = rows[i].l;
      const std::int32_t from = i - kWidth;
      const int skipped = i - top < kWidth ? kWidth - (i - top) : 0;
      Real even = Real(0), odd = Real(0);  // two sums, so that additions overlap
      int k = skipped;
      if ((kWidth - k) % 2 != 0) even += l[k] * y[from + k], ++k;
      for (; k < kWidth; k += 2) {
        even += l[k] * y[from + k];
        odd += l[k + 1] * y[from + k + 1];
      }
      y[i] -= even + odd;
    }
    for (std::int32_t i = top; i < end; ++i) y[i] *= rows[i].inverse_pivot;
    for (std::int32_t i = end - 1; i >= top; --i) {
      const Real* l = rows[i].l;
      const std::int32_t from = i - kWidth;
      const int skipped = i - top < kWidth ? kWidth - (i - top) : 0;
      const Real own = y[i];
      for (int k = skipped; k < kWidth; ++k) y[from + k] -= l[k] * own;
    }
    for (std::int32_t slot = first; slot < last; ++slot)
      z[node[slot]] = {y[3 * slot], y[3 * slot + 1], y[3 * slot + 2]};
  }
};

}  // namespace
}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

void Chains::set_plan(Context& ctx, std::span<const std::vector<std::int32_t>> chains,
                      std::span<const Vec2i> entries, std::size_t node_count) {
  chain_count_ = chains.size();
  std::vector<std::int32_t> begin{0}, nodes, slot(node_count, -1), chain_of(node_count, -1);
  std::vector<std::uint8_t> member(node_count, 0);
  for (std::size_t c = 0; c < chains.size(); ++c) {
    for (const std::int32_t node : chains[c]) {
      const auto i = static_cast<std::size_t>(node);
      slot[i] = static_cast<std::int32_t>(nodes.size());
      chain_of[i] = static_cast<std::int32_t>(c);
      member[i] = 1;
      nodes.push_back(node);
    }
    begin.push_back(static_cast<std::int32_t>(nodes.size()));
  }
  std::vector<Vec4i> sources(nodes.size(), Vec4i{-1, -1, -1, -1});
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const auto row = static_cast<std::size_t>(entries[e][0]),
               column = static_cast<std::size_t>(entries[e][1]);
    if (chain_of[row] < 0 || chain_of[row] != chain_of[column]) continue;
    const std::int32_t ahead = slot[row] - slot[column], reach = ahead < 0 ? -ahead : ahead;
    if (reach > kChainReach) continue;  // by a spring between two points of a strand
    const auto later = static_cast<std::size_t>(ahead > 0 ? slot[row] : slot[column]);
    sources[later][reach - 1] = static_cast<std::int32_t>(2 * e + (ahead > 0 ? 0 : 1));
  }
  chain_begin_.upload(ctx, begin);
  node_.upload(ctx, nodes);
  sources_.upload(ctx, sources);
  is_member_.upload(ctx, member);
  rows_.resize(ctx, 3 * nodes.size());
  y_.resize(ctx, 3 * nodes.size());
  z_.resize(ctx, node_count);
  fill(ctx, z_.data(), node_count, Vec3::zero());
}

void Chains::build(Context& ctx, const SplitMatrix& matrix, const std::uint8_t* fixed) {
  const ChainFactors factors{chain_begin_.data(), node_.data(), sources_.data(), matrix.diagonal(),
                             matrix.lower(),      fixed,        rows_.data()};
  launch(
      ctx, chain_count_, [=] SS_LAMBDA(std::size_t chain) { factors.factorise(chain); }, Grain{1});
}

void Chains::solve(Context& ctx, const Vec3* r, const std::int32_t* skip) {
  const ChainFactors factors{chain_begin_.data(), node_.data(), nullptr, nullptr, nullptr, nullptr,
                             rows_.data()};
  Vec3* z = z_.data();
  Real* y = y_.data();
  launch(
      ctx, chain_count_,
      [=] SS_LAMBDA(std::size_t chain) {
        if (*skip == 0) factors.solve(chain, r, y, z);
      },
      Grain{4});
}

}  // namespace stickslip::STICKSLIP_BACKEND
