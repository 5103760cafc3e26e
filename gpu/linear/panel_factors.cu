#include "gpu/linear/panel_factors.cuh"

#include "gpu/core/launch.h"

namespace stickslip {
namespace {

// A tile of a product has three columns, and the rows of this many nodes.
constexpr int kTileNodes = 8;
constexpr int kTileRows = 3 * kTileNodes;
static_assert(kTileRows <= kFactorSpare);

#if STICKSLIP_ON_CUDA
struct Tile {
  float sum[3][kTileRows] = {};

  /// += a b' with a column a of kTileRows numbers and a row b of three.
  SS_HD void add(const float* a, const float* b) {
    for (int c = 0; c < 3; ++c)
      for (int r = 0; r < kTileRows; ++r) sum[c][r] += a[r] * b[c];
  }
  SS_HD float operator()(int r, int c) const { return sum[c][r]; }
};
#else
/// In registers: the compiler does not keep an array there.
struct Tile {
  static constexpr int kLanes = 8;
  using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));
  using Loaded =
      float __attribute__((vector_size(kLanes * sizeof(float)), aligned(alignof(float)), may_alias));
  Lanes a0{}, a1{}, a2{}, b0{}, b1{}, b2{}, c0{}, c1{}, c2{};

  void add(const float* a, const float* b) {
    const auto* rows = reinterpret_cast<const Loaded*>(a);
    const Lanes x = rows[0], y = rows[1], z = rows[2];
    a0 += x * b[0];
    a1 += y * b[0];
    a2 += z * b[0];
    b0 += x * b[1];
    b1 += y * b[1];
    b2 += z * b[1];
    c0 += x * b[2];
    c1 += y * b[2];
    c2 += z * b[2];
  }
  float operator()(int r, int c) const {
    const Lanes* const all[3][3] = {{&a0, &a1, &a2}, {&b0, &b1, &b2}, {&c0, &c1, &c2}};
    return (*all[c][r / kLanes])[r % kLanes];
  }
};
static_assert(3 * Tile::kLanes == kTileRows);
#endif

/// What factorises panels.
struct PanelKernels {
  const std::int32_t *node, *rows, *places;
  const FactorPanel* panels;
  const FactorEntry* entries;
  const FactorUpdate* updates;
  const Mat3 *diagonal, *lower;
  const std::uint8_t* fixed;
  float* values;

  SS_HD bool absent(std::int32_t column) const { return fixed != nullptr && fixed[node[column]] != 0; }
  SS_HD std::int32_t column_of_row(const FactorPanel& p, std::int32_t row) const {
    return row < p.width ? p.first + row : rows[p.rows_begin + row - p.width];
  }

  /// The panel's part of A.
  SS_HD void fill(const FactorPanel& p) const {
    float* l = values + p.values;
    const std::int32_t leading = p.leading();
    for (std::int64_t k = 0; k < std::int64_t{3} * p.width * leading; ++k) l[k] = 0.0F;
    for (std::int32_t j = 0; j < p.width; ++j) {
      const bool gone = absent(p.first + j);
      const Mat3& block = diagonal[node[p.first + j]];
      for (int c = 0; c < 3; ++c)
        for (int r = c; r < 3; ++r)
          l[std::int64_t{3 * j + c} * leading + 3 * j + r] = !gone ? block(r, c) : float(r == c);
    }
    for (std::int32_t e = p.entries_begin; e < p.entries_end; ++e) {
      const FactorEntry& entry = entries[e];
      if (absent(p.first + entry.column) || absent(column_of_row(p, entry.row))) continue;
      const Mat3& block = lower[entry.source >> 1];
      const bool transposed = (entry.source & 1) != 0;
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r)
          l[std::int64_t{3 * entry.column + c} * leading + 3 * entry.row + r] =
              transposed ? block(c, r) : block(r, c);
    }
  }

  /// Subtracts from three columns, at `target`, the product of the rows `first` + k of the first `columns`
  /// scalar columns of `source` with its row `first`, k < count. Row k of the product is row place[k] of the
  /// target; place null: `first` + k.
  SS_HD void subtract_product(const float* source, std::int32_t leading, std::int32_t columns,
                              std::int32_t first, std::int32_t count, float* target,
                              std::int32_t target_leading, const std::int32_t* place) const {
    const float* row = source + 3 * first;
    for (std::int32_t k = 0; k < count; k += kTileNodes) {
      Tile tile;
      const float* a = row + 3 * k;
      for (std::int32_t c = 0; c < columns; ++c)
        tile.add(a + std::int64_t{c} * leading, row + std::int64_t{c} * leading);
      const std::int32_t nodes = count - k < kTileNodes ? count - k : kTileNodes;
      for (int c = 0; c < 3; ++c) {
        float* to = target + std::int64_t{c} * target_leading;
        for (std::int32_t t = 0; t < nodes; ++t) {
          float* at = to + 3 * (place != nullptr ? place[k + t] : first + k + t);
          for (int r = 0; r < 3; ++r) at[r] -= tile(3 * t + r, c);
        }
      }
    }
  }

  /// Columns 3j to 3j + 2, from which all earlier ones are subtracted. A pivot that rounding makes vanish is
  /// replaced by the diagonal of A: the product stays positive definite.
  SS_HD void factorise_columns(const FactorPanel& p, std::int32_t j) const {
    constexpr float epsilon = 1e-6F;
    const std::int32_t leading = p.leading();
    const Mat3& block = diagonal[node[p.first + j]];
    const bool gone = absent(p.first + j);
    for (int c = 0; c < 3; ++c) {
      float* column = values + p.values + std::int64_t{3 * j + c} * leading;
      for (int b = 0; b < c; ++b) {
        const float* before = column - std::int64_t{c - b} * leading;
        const float share = before[3 * j + c];
        for (std::int32_t r = 3 * j + c; r < leading; ++r) column[r] -= share * before[r];
      }
      const float own = gone ? 1.0F : block(c, c);
      float pivot = column[3 * j + c];
      if (!(pivot > epsilon * own)) pivot = own;
      const float inverse = pivot > 0.0F ? 1.0F / std::sqrt(pivot) : 0.0F;
      column[3 * j + c] = inverse;
      for (std::int32_t r = 3 * j + c + 1; r < leading; ++r) column[r] *= inverse;
    }
  }

  SS_HD void operator()(std::int32_t index) const {
    const FactorPanel& p = panels[index];
    fill(p);
    float* l = values + p.values;
    const std::int32_t leading = p.leading();
    for (std::int32_t u = p.updates_begin; u < p.updates_end; ++u) {
      const FactorUpdate& update = updates[u];
      const FactorPanel& source = panels[update.panel];
      for (std::int32_t q = update.from; q < update.to; ++q) {
        const std::int32_t* place = places + update.place_begin + (q - update.from);
        subtract_product(values + source.values, source.leading(), 3 * source.width, source.width + q,
                         source.below() - q, l + std::int64_t{3} * place[0] * leading, leading, place);
      }
    }
    for (std::int32_t j = 0; j < p.width; ++j) {
      if (j > 0)
        subtract_product(l, leading, 3 * j, j, p.width + p.below() - j, l + std::int64_t{3} * j * leading,
                         leading, nullptr);
      factorise_columns(p, j);
    }
  }
};

/// Component c of a vector by node, at a column.
struct NodeVectors {
  const std::int32_t* node;
  const Vec3* r;
  SS_HD float operator()(std::int32_t column, int c) const { return static_cast<float>(r[node[column]][c]); }
};

struct ForwardSolve {
  PanelSolves solves;
  NodeVectors right;
  SS_HD void operator()(std::int32_t panel) const { solves.forward(panel, right); }
};

struct NodeSolutions {
  const std::int32_t* node;
  Vec3* z;
  SS_HD void operator()(std::int32_t column, const float* x) const { z[node[column]] = {x[0], x[1], x[2]}; }
};

struct BackwardSolve {
  PanelSolves solves;
  NodeSolutions left;
  SS_HD void operator()(std::int32_t panel) const { solves.backward(panel, left); }
};

}  // namespace
}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Runs visit(panel) for the panels of these tasks, each task from its first panel on or from its last.
/// Nothing while *skip (may be null) is not zero.
template <class Visit>
void run_tasks(Context& ctx, IndexRange tasks, const std::int32_t* begin, const std::int32_t* sequence,
               bool from_last, const std::int32_t* skip, Visit visit) {
  launch(
      ctx, tasks.size(),
      [=] SS_LAMBDA(std::size_t t) {
        if (skip != nullptr && *skip != 0) return;
        const std::int32_t first = begin[tasks.begin + t], last = begin[tasks.begin + t + 1];
        for (std::int32_t k = first; k < last; ++k) visit(sequence[from_last ? first + last - 1 - k : k]);
      },
      Grain{1});
}

}  // namespace

void PanelFactors::set_plan(Context& ctx, std::span<const std::uint8_t> is_member,
                            std::span<const Vec2i> entries, std::int64_t most_values) {
  forget_plan();
  const FactorPlan plan = make_factor_plan(is_member, entries, most_values);
  if (plan.empty()) return;
  const std::size_t columns = plan.node.size();
  multiplications_ = plan.multiplications;
  stage_begin_ = plan.stage_begin;
  node_.upload(ctx, plan.node);
  rows_.upload(ctx, plan.rows);
  places_.upload(ctx, plan.places);
  sequence_.upload(ctx, plan.sequence);
  task_begin_.upload(ctx, plan.task_begin);
  panels_.upload(ctx, plan.panels);
  entries_.upload(ctx, plan.entries);
  updates_.upload(ctx, plan.updates);
  is_member_.upload(ctx, is_member);
  values_.resize(ctx, static_cast<std::size_t>(plan.values));
  fill(ctx, values_.data(), values_.size(), 0.0F);
  solution_.resize(ctx, 3 * columns);
  work_.resize(ctx, 3 * (columns + plan.rows.size()));
  z_.resize(ctx, is_member.size());
  fill(ctx, z_.data(), is_member.size(), Vec3::zero());
  columns_ = columns;  // last: an allocation may have failed before
}

void PanelFactors::build(Context& ctx, const SplitMatrix& matrix, const std::uint8_t* fixed) {
  const PanelKernels kernels{node_.data(),
                             rows_.data(),
                             places_.data(),
                             panels_.data(),
                             entries_.data(),
                             updates_.data(),
                             matrix.reduced_diagonal(),
                             matrix.lower(),
                             fixed,
                             values_.data()};
  for (std::size_t s = 0; s + 1 < stage_begin_.size(); ++s)
    run_tasks(ctx, tasks_of(s), task_begin_.data(), sequence_.data(), false, nullptr, kernels);
}

void PanelFactors::solve(Context& ctx, const Vec3* r, const std::int32_t* skip) {
  const ForwardSolve forward{view(), {node_.data(), r}};
  const BackwardSolve backward{view(), {node_.data(), z_.data()}};
  const std::size_t stages = stage_begin_.size() - 1;
  for (std::size_t s = 0; s < stages; ++s)
    run_tasks(ctx, tasks_of(s), task_begin_.data(), sequence_.data(), false, skip, forward);
  for (std::size_t s = stages; s-- > 0;)
    run_tasks(ctx, tasks_of(s), task_begin_.data(), sequence_.data(), true, skip, backward);
}

PanelSolves PanelFactors::view() {
  return {rows_.data(),   places_.data(),   panels_.data(), updates_.data(),
          values_.data(), solution_.data(), work_.data()};
}

}  // namespace stickslip::STICKSLIP_BACKEND
