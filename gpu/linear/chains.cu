#include "gpu/linear/chains.cuh"

#include <algorithm>
#include <functional>
#include <numeric>
#include <type_traits>

#include "gpu/core/launch.h"
#include "gpu/math/lanes.h"

namespace stickslip {
namespace {

constexpr int kWidth = ChainRow<Real>::width;

#if STICKSLIP_ON_CUDA
constexpr int kMostLanes = 1;  // each thread has a chain
#else
constexpr int kMostLanes = std::is_same_v<Real, double> ? kLaneCount : 1;
SS_HD inline void set_lane(WideLanes& of, int lane, double value) { of.v[lane] = value; }
SS_HD inline double lane_of(const WideLanes& of, int lane) { return of.v[lane]; }
#endif
SS_HD inline void set_lane(Real& of, int, Real value) { of = value; }
SS_HD inline Real lane_of(Real of, int) { return of; }

/// A pack of one lane takes a third of the time of one with all of them, so packs should be a third full.
constexpr std::size_t kLeastLanes = 3;

/// What factorises and solves the chains of one pack.
template <class T>
struct ChainFactors {
  static constexpr int kLanes = sizeof(T) / sizeof(Real);
  const std::int32_t* begin;
  const std::int32_t* node;
  const Vec4i* sources;
  const Mat3* diagonal;
  const Mat3* lower;
  const std::uint8_t* fixed;
  ChainRow<T>* rows;

  SS_HD std::int32_t node_at(std::int32_t slot, int lane) const { return node[slot * kLanes + lane]; }
  SS_HD bool absent(std::int32_t slot, int lane) const {
    const std::int32_t at = node_at(slot, lane);
    return at < 0 || (fixed != nullptr && fixed[at] != 0);
  }

  /// Writes the rows of A of a slot to its rows of L, and their diagonals to the inverse pivots.
  SS_HD void fill(std::int32_t slot, std::int32_t first) const {
    for (int r = 0; r < 3; ++r) {
      for (int k = 0; k < kWidth; ++k) rows[3 * slot + r].l[k] = T(Real(0));
      rows[3 * slot + r].inverse_pivot = T(Real(1));
    }
    for (int lane = 0; lane < kLanes; ++lane)
      if (!absent(slot, lane)) fill_lane(slot, first, lane);
  }
  SS_HD void fill_lane(std::int32_t slot, std::int32_t first, int lane) const {
    const Mat3& own = diagonal[node_at(slot, lane)];
    for (int r = 0; r < 3; ++r) {
      ChainRow<T>& row = rows[3 * slot + r];
      set_lane(row.inverse_pivot, lane, own(r, r));
      // Column c of the slot's own block is r - c before the diagonal.
      for (int c = 0; c < r; ++c) set_lane(row.l[kWidth - (r - c)], lane, own(r, c));
    }
    for (int j = 1; j <= kChainReach && slot - j >= first; ++j) {
      const std::int32_t source = sources[slot * kLanes + lane][j - 1];
      if (source < 0 || absent(slot - j, lane)) continue;
      const Mat3& block = lower[source >> 1];
      const bool transposed = (source & 1) != 0;
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
          set_lane(rows[3 * slot + r].l[kWidth - (3 * j + r - c)], lane,
                   transposed ? block(c, r) : block(r, c));
    }
  }

  /// A pivot that rounding or a spring's missing coupling makes vanish is replaced by the diagonal: the
  /// product stays positive definite.
  SS_HD void factorise(std::size_t pack) const {
    const T epsilon(sizeof(Real) == 8 ? Real(1e-14) : Real(1e-6)), one(Real(1)), zero(Real(0));
    const std::int32_t first = begin[pack], last = begin[pack + 1];
    for (std::int32_t slot = first; slot < last; ++slot) {
      fill(slot, first);
      for (std::int32_t i = 3 * slot; i < 3 * slot + 3; ++i) {
        ChainRow<T>& row = rows[i];
        const T own = row.inverse_pivot;
        T pivot = own;
        const int before = i - 3 * first < kWidth ? i - 3 * first : kWidth;
        for (int k = kWidth - before; k < kWidth; ++k) {
          const ChainRow<T>& of_column = rows[i - kWidth + k];
          // row.l[m] is l_im d_m for m < k by now; entries of the column's row are as far to its left.
          T sum = row.l[k];
          for (int m = kWidth - before; m < k; ++m) sum -= row.l[m] * of_column.l[m + kWidth - k];
          row.l[k] = sum;
        }
        for (int k = kWidth - before; k < kWidth; ++k) {
          const T scaled = row.l[k] * rows[i - kWidth + k].inverse_pivot;
          pivot -= row.l[k] * scaled;
          row.l[k] = scaled;
        }
        pivot = pick(pivot > epsilon * own, pivot, own);
        row.inverse_pivot = pick(pivot > zero, one / pick(pivot > zero, pivot, one), zero);
      }
    }
  }

  /// `y`: place for the rows of all chains, whose numbers stand next to each other there.
  SS_HD void solve(std::size_t pack, const Vec3* r, T* y, Vec3* z) const {
    const std::int32_t first = begin[pack], last = begin[pack + 1];
    const std::int32_t top = 3 * first, end = 3 * last;
    for (std::int32_t slot = first; slot < last; ++slot)
      for (int lane = 0; lane < kLanes; ++lane) {
        const std::int32_t at = node_at(slot, lane);
        for (int c = 0; c < 3; ++c) set_lane(y[3 * slot + c], lane, at >= 0 ? r[at][c] : Real(0));
      }
    for (std::int32_t i = top; i < end; ++i) {
      const T* l = rows[i].l;
      const std::int32_t from = i - kWidth;
      const int skipped = i - top < kWidth ? kWidth - (i - top) : 0;
      T even(Real(0)), odd(Real(0));  // two sums, so that additions overlap
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
      const T* l = rows[i].l;
      const std::int32_t from = i - kWidth;
      const int skipped = i - top < kWidth ? kWidth - (i - top) : 0;
      const T own = y[i];
      for (int k = skipped; k < kWidth; ++k) y[from + k] -= l[k] * own;
    }
    for (std::int32_t slot = first; slot < last; ++slot)
      for (int lane = 0; lane < kLanes; ++lane)
        if (const std::int32_t at = node_at(slot, lane); at >= 0)
          for (int c = 0; c < 3; ++c) z[at][c] = lane_of(y[3 * slot + c], lane);
  }
};

}  // namespace
}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {
namespace {

template <class T>
void factorise_packs(Context& ctx, std::size_t count, const ChainFactors<T>& factors) {
  launch(
      ctx, count, [=] SS_LAMBDA(std::size_t pack) { factors.factorise(pack); }, Grain{1});
}

template <class T>
void solve_packs(Context& ctx, std::size_t count, const ChainFactors<T>& factors, const Vec3* r,
                 const std::int32_t* skip, T* y, Vec3* z) {
  launch(
      ctx, count,
      [=] SS_LAMBDA(std::size_t pack) {
        if (*skip == 0) factors.solve(pack, r, y, z);
      },
      Grain{sizeof(T) > sizeof(Real) ? 1 : 4});
}

}  // namespace

void Chains::arrange(std::span<const std::vector<std::int32_t>> chains, int lanes) {
  lanes_ = lanes;
  const auto width = static_cast<std::size_t>(lanes);
  std::vector<std::size_t> order(chains.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (lanes > 1)
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t c) { return chains[c].size(); });
  begin_.assign(1, 0);
  node_of_.clear();
  for (std::size_t first = 0; first < order.size(); first += width) {
    const std::size_t slots = chains[order[first]].size(), start = node_of_.size();
    node_of_.resize(start + slots * width, -1);
    for (std::size_t lane = 0; lane < width && first + lane < order.size(); ++lane) {
      const std::vector<std::int32_t>& chain = chains[order[first + lane]];
      for (std::size_t i = 0; i < chain.size(); ++i) node_of_[start + i * width + lane] = chain[i];
    }
    begin_.push_back(begin_.back() + static_cast<std::int32_t>(slots));
  }
  pack_count_ = begin_.size() - 1;
}

void Chains::set_plan(Context& ctx, std::span<const std::vector<std::int32_t>> chains,
                      std::span<const Vec2i> entries, std::size_t node_count) {
  std::size_t nodes = 0;
  for (const std::vector<std::int32_t>& chain : chains) nodes += chain.size();
  arrange(chains, kMostLanes);
  if (kMostLanes > 1 && nodes < kLeastLanes * static_cast<std::size_t>(begin_.back())) arrange(chains, 1);

  // By node: its place in node_of_, and its chain.
  std::vector<std::int32_t> place(node_count, -1), chain_of(node_count, -1);
  std::vector<std::uint8_t> member(node_count, 0);
  for (std::size_t i = 0; i < node_of_.size(); ++i) {
    if (node_of_[i] < 0) continue;
    const auto node = static_cast<std::size_t>(node_of_[i]);
    place[node] = static_cast<std::int32_t>(i);
    member[node] = 1;
  }
  for (std::size_t c = 0; c < chains.size(); ++c)
    for (const std::int32_t node : chains[c])
      chain_of[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(c);
  std::vector<Vec4i> sources(node_of_.size(), Vec4i{-1, -1, -1, -1});
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const auto row = static_cast<std::size_t>(entries[e][0]),
               column = static_cast<std::size_t>(entries[e][1]);
    if (chain_of[row] < 0 && chain_of[column] < 0) has_others_ = true;
    else if (chain_of[row] != chain_of[column]) leaves_out_ = true;
    if (chain_of[row] < 0 || chain_of[row] != chain_of[column]) continue;
    const std::int32_t ahead = (place[row] - place[column]) / lanes_, reach = ahead < 0 ? -ahead : ahead;
    if (reach > kChainReach) {  // by a spring between two points of a strand
      leaves_out_ = true;
      continue;
    }
    const auto later = static_cast<std::size_t>(ahead > 0 ? place[row] : place[column]);
    sources[later][reach - 1] = static_cast<std::int32_t>(2 * e + (ahead > 0 ? 0 : 1));
  }
  pack_begin_.upload(ctx, begin_);
  node_.upload(ctx, node_of_);
  sources_.upload(ctx, sources);
  is_member_.upload(ctx, member);
  const std::size_t rows = 3 * node_of_.size();
  rows_.resize(ctx, rows * (kWidth + 1));
  y_.resize(ctx, rows);
  z_.resize(ctx, node_count);
  fill(ctx, z_.data(), node_count, Vec3::zero());
}

void Chains::build(Context& ctx, const SplitMatrix& matrix, const std::uint8_t* fixed) {
  const auto factorise = [&]<class T>(ChainRow<T>* rows) {
    factorise_packs(ctx, pack_count_,
                    ChainFactors<T>{pack_begin_.data(), node_.data(), sources_.data(), matrix.diagonal(),
                                    matrix.lower(), fixed, rows});
  };
#if !STICKSLIP_ON_CUDA
  if constexpr (kMostLanes > 1)
    if (lanes_ > 1) return factorise(reinterpret_cast<ChainRow<WideLanes>*>(rows_.data()));
#endif
  factorise(reinterpret_cast<ChainRow<Real>*>(rows_.data()));
}

void Chains::solve(Context& ctx, const Vec3* r, const std::int32_t* skip) {
  const auto solve = [&]<class T>(ChainRow<T>* rows) {
    solve_packs(ctx, pack_count_,
                ChainFactors<T>{pack_begin_.data(), node_.data(), nullptr, nullptr, nullptr, nullptr, rows},
                r, skip, reinterpret_cast<T*>(y_.data()), z_.data());
  };
#if !STICKSLIP_ON_CUDA
  if constexpr (kMostLanes > 1)
    if (lanes_ > 1) return solve(reinterpret_cast<ChainRow<WideLanes>*>(rows_.data()));
#endif
  solve(reinterpret_cast<ChainRow<Real>*>(rows_.data()));
}

}  // namespace stickslip::STICKSLIP_BACKEND
