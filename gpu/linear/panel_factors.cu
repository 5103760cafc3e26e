#include "gpu/linear/panel_factors.cuh"

#include <type_traits>
#include <variant>

#include "gpu/core/launch.h"

namespace stickslip {
namespace {

// A tile of a product has the columns of one or two nodes, and the rows of this many nodes.
#if STICKSLIP_ON_CUDA || !defined(__AVX512F__)
constexpr int kTileNodes = 8, kTileColumns = 1;
#else
constexpr int kTileNodes = 16, kTileColumns = 2;
#endif
static_assert(3 * kTileNodes <= kFactorSpare);

#if STICKSLIP_ON_CUDA
template <int Nodes, int Columns>
struct Tile {
  float sum[3 * Columns][3 * Nodes] = {};

  /// += a b' with a column a of 3 Nodes numbers and a row b of 3 Columns.
  SS_HD void add(const float* a, const float* b) {
    for (int c = 0; c < 3 * Columns; ++c)
      for (int r = 0; r < 3 * Nodes; ++r) sum[c][r] += a[r] * b[c];
  }
  /// The three columns of a node, one after the other.
  template <int Column>
  SS_HD void store(float* to) const {
    for (int c = 0; c < 3; ++c)
      for (int r = 0; r < 3 * Nodes; ++r) to[3 * Nodes * c + r] = sum[3 * Column + c][r];
  }
  /// From all rows of a node's columns, `leading` apart.
  template <int Column>
  SS_HD void subtract_from(float* to, std::int32_t leading) const {
    for (int c = 0; c < 3; ++c)
      for (int r = 0; r < 3 * Nodes; ++r) to[std::int64_t{c} * leading + r] -= sum[3 * Column + c][r];
  }
};
#else
/// Not a template's own alias: that would lose the alignment.
template <int>
struct FloatLanes;
#define SS_FLOAT_LANES(N)                                                                          \
  template <>                                                                                      \
  struct FloatLanes<N> {                                                                           \
    using type = float __attribute__((vector_size(N * sizeof(float))));                            \
    using stored =                                                                                 \
        float __attribute__((vector_size(N * sizeof(float)), aligned(alignof(float)), may_alias)); \
    static type load(const float* from) { return *reinterpret_cast<const stored*>(from); }         \
    static void store(const type& x, float* to) { *reinterpret_cast<stored*>(to) = x; }            \
    static void subtract(const type& x, float* from) { *reinterpret_cast<stored*>(from) -= x; }    \
  }
SS_FLOAT_LANES(4);
SS_FLOAT_LANES(8);
SS_FLOAT_LANES(16);
#undef SS_FLOAT_LANES

/// Three times as many rows as there are nodes, in registers: the compiler does not keep an array there.
template <int Nodes>
struct TileRows {
  using Lanes = typename FloatLanes<Nodes>::type;
  Lanes x, y, z;

  static TileRows load(const float* from) {
    using Float = FloatLanes<Nodes>;
    return {Float::load(from), Float::load(from + Nodes), Float::load(from + 2 * Nodes)};
  }
  void add(const TileRows& rows, float factor) {
    x += rows.x * factor;
    y += rows.y * factor;
    z += rows.z * factor;
  }
  void store(float* to) const {
    FloatLanes<Nodes>::store(x, to);
    FloatLanes<Nodes>::store(y, to + Nodes);
    FloatLanes<Nodes>::store(z, to + 2 * Nodes);
  }
  void subtract_from(float* to) const {
    FloatLanes<Nodes>::subtract(x, to);
    FloatLanes<Nodes>::subtract(y, to + Nodes);
    FloatLanes<Nodes>::subtract(z, to + 2 * Nodes);
  }
};

template <int Nodes>
struct TileColumns {
  TileRows<Nodes> a{}, b{}, c{};  // of a node

  void add(const TileRows<Nodes>& rows, const float* factors) {
    a.add(rows, factors[0]);
    b.add(rows, factors[1]);
    c.add(rows, factors[2]);
  }
  void store(float* to) const {
    a.store(to);
    b.store(to + 3 * Nodes);
    c.store(to + 6 * Nodes);
  }
  void subtract_from(float* to, std::int32_t leading) const {
    a.subtract_from(to);
    b.subtract_from(to + leading);
    c.subtract_from(to + std::int64_t{2} * leading);
  }
};

template <int Nodes, int Columns>
struct Tile {
  TileColumns<Nodes> first;
  [[no_unique_address]] std::conditional_t<Columns == 2, TileColumns<Nodes>, std::monostate> second;

  void add(const float* a, const float* b) {
    const auto rows = TileRows<Nodes>::load(a);
    first.add(rows, b);
    if constexpr (Columns == 2) second.add(rows, b + 3);
  }
  template <int Column>
  const TileColumns<Nodes>& column() const {
    if constexpr (Column == 0) return first;
    else return second;
  }
  template <int Column>
  void store(float* to) const {
    column<Column>().store(to);
  }
  template <int Column>
  void subtract_from(float* to, std::int32_t leading) const {
    column<Column>().subtract_from(to, leading);
  }
};
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

  /// The part of A in the columns of nodes [begin, end) of a panel.
  SS_HD void fill(const FactorPanel& p, std::int32_t begin, std::int32_t end) const {
    float* l = values + p.values;
    const std::int32_t leading = p.leading();
    for (std::int64_t k = std::int64_t{3} * begin * leading; k < std::int64_t{3} * end * leading; ++k)
      l[k] = 0.0F;
    for (std::int32_t j = begin; j < end; ++j) {
      const bool gone = absent(p.first + j);
      const Mat3& block = diagonal[node[p.first + j]];
      for (int c = 0; c < 3; ++c)
        for (int r = c; r < 3; ++r)
          l[std::int64_t{3 * j + c} * leading + 3 * j + r] = !gone ? block(r, c) : float(r == c);
    }
    for (std::int32_t e = p.entries_begin; e < p.entries_end; ++e) {
      const FactorEntry& entry = entries[e];
      if (entry.column < begin || entry.column >= end) continue;
      if (absent(p.first + entry.column) || absent(column_of_row(p, entry.row))) continue;
      const Mat3& block = lower[entry.source >> 1];
      const bool transposed = (entry.source & 1) != 0;
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r)
          l[std::int64_t{3 * entry.column + c} * leading + 3 * entry.row + r] =
              transposed ? block(c, r) : block(r, c);
    }
  }

  /// A product of the first scalar columns of a panel with some of its rows, to be subtracted from another
  /// one.
  struct Product {
    const float* source;
    std::int32_t leading, columns;  // scalar
    std::int32_t first, count;      // nodes: rows first + k, k < count
    float* target;
    std::int32_t target_leading;
    const std::int32_t* place;  // row k is row place[k] of the target; null: first + k

    SS_HD std::int32_t row(std::int32_t k) const { return place != nullptr ? place[k] : first + k; }
  };

  /// Subtracts a node's columns of a tile whose first row is row k of the product.
  template <int Column, int Nodes, int Columns>
  SS_HD static void subtract_tile(const Product& product, std::int32_t k, std::int32_t nodes, bool adjacent,
                                  const Tile<Nodes, Columns>& tile) {
    const std::int32_t leading = product.target_leading;
    float* target = product.target + std::int64_t{3} * product.row(Column) * leading;
    if (adjacent) return tile.template subtract_from<Column>(target + 3 * product.row(k), leading);
    float sums[9 * Nodes];
    tile.template store<Column>(sums);
    for (std::int32_t t = 0; t < nodes; ++t) {
      float* at = target + 3 * product.row(k + t);
      const float* of = sums + 3 * t;
      for (int c = 0; c < 3; ++c, at += leading, of += 3 * Nodes)
        for (int r = 0; r < 3; ++r) at[r] -= of[r];
    }
  }

  template <int Nodes, int Columns>
  SS_HD static void subtract_rows(const Product& product, std::int32_t k) {
    Tile<Nodes, Columns> tile;
    const float* b = product.source + 3 * product.first;
    const float* a = b + 3 * k;
    for (std::int32_t c = 0; c < product.columns; ++c, a += product.leading, b += product.leading)
      tile.add(a, b);
    const std::int32_t left = product.count - k, nodes = left < Nodes ? left : Nodes;
    const bool adjacent = nodes == Nodes && product.row(k + Nodes - 1) - product.row(k) == Nodes - 1;
    subtract_tile<0>(product, k, nodes, adjacent, tile);
    if constexpr (Columns == 2) subtract_tile<1>(product, k, nodes, adjacent, tile);
  }

  /// Subtracts from the columns of the first one or two rows. Of two, the second one's part above the
  /// diagonal gets a value that nothing reads.
  template <int Columns>
  SS_HD static void subtract(const Product& product) {
    std::int32_t k = 0;
    for (; product.count - k > kTileNodes / 2; k += kTileNodes)
      subtract_rows<kTileNodes, Columns>(product, k);
    for (; k < product.count; k += kTileNodes / 2) subtract_rows<kTileNodes / 2, Columns>(product, k);
  }

  /// The scalar columns of `nodes` nodes from j on, from which all earlier ones are subtracted. A pivot that
  /// rounding makes vanish is replaced by the diagonal of A: the product stays positive definite.
  SS_HD void factorise_columns(const FactorPanel& p, std::int32_t j, std::int32_t nodes) const {
    constexpr float epsilon = 1e-6F;
    const std::int32_t leading = p.leading();
    float* first = values + p.values + std::int64_t{3 * j} * leading + 3 * j;  // at its diagonal
    const std::int32_t count = leading - 3 * j;
    for (int c = 0; c < 3 * nodes; ++c) {
      float* column = first + std::int64_t{c} * leading;
      for (int b = 0; b < c; ++b) {
        const float* before = first + std::int64_t{b} * leading;
        const float share = before[c];
        for (std::int32_t r = c; r < count; ++r) column[r] -= share * before[r];
      }
      const std::int32_t at = p.first + j + c / 3;
      const float own = absent(at) ? 1.0F : diagonal[node[at]](c % 3, c % 3);
      float pivot = column[c];
      if (!(pivot > epsilon * own)) pivot = own;
      const float inverse = pivot > 0.0F ? 1.0F / std::sqrt(pivot) : 0.0F;
      column[c] = inverse;
      for (std::int32_t r = c + 1; r < count; ++r) column[r] *= inverse;
    }
  }

  /// Subtracts what earlier panels leave in the columns of nodes [begin, end).
  SS_HD void update(const FactorPanel& p, std::int32_t begin, std::int32_t end) const {
    for (std::int32_t u = p.updates_begin; u < p.updates_end; ++u) {
      const FactorUpdate& update = updates[u];
      const FactorPanel& source = panels[update.panel];
      const std::int32_t* place = places + update.place_begin - update.from;  // by row, in ascending order
      std::int32_t q = update.from, to = update.to;
      while (q < to && place[q] < begin) ++q;
      while (to > q && place[to - 1] >= end) --to;
      Product product{values + source.values, source.leading(), 3 * source.width, 0, 0,
                      values + p.values,      p.leading(),      nullptr};
      while (q < to) {
        product.first = source.width + q;
        product.count = source.below() - q;
        product.place = place + q;
        const bool wide = q + kTileColumns <= to;
        if (wide) subtract<kTileColumns>(product);
        else subtract<1>(product);
        q += wide ? kTileColumns : 1;
      }
    }
  }

  /// Once all columns are filled and updated.
  SS_HD void factorise(const FactorPanel& p) const {
    float* l = values + p.values;
    const std::int32_t leading = p.leading();
    for (std::int32_t j = 0; j < p.width; j += kTileColumns) {
      const std::int32_t nodes = j + kTileColumns <= p.width ? kTileColumns : 1;
      const Product product{l, leading, 3 * j, j, p.width + p.below() - j, l, leading, nullptr};
      if (j > 0 && nodes == kTileColumns) subtract<kTileColumns>(product);
      else if (j > 0) subtract<1>(product);
      factorise_columns(p, j, nodes);
    }
  }

  SS_HD void operator()(std::int32_t index) const {
    const FactorPanel& p = panels[index];
    fill(p, 0, p.width);
    update(p, 0, p.width);
    factorise(p);
  }
};

/// Component c of a vector by node, at a column.
struct NodeVectors {
  const std::int32_t* node;
  const Vec3* r;
  SS_HD float operator()(std::int32_t column, int c) const { return static_cast<float>(r[node[column]][c]); }
};

/// The first node of a strip of a panel's columns. Strips begin at even ones: tiles may have two.
SS_HD std::int32_t strip_begin(const FactorPanel& panel, std::size_t strip, std::size_t strips) {
  if (strip == strips) return panel.width;
  return static_cast<std::int32_t>(static_cast<std::size_t>(panel.width) * strip / strips / 2 * 2);
}

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

/// The panels of a stage's only task, in order: alone where that takes long, else several together.
std::vector<IndexRange> lone_runs(const FactorPlan& plan, std::size_t stage) {
  constexpr double kLong = 1e5;  // multiplications, some 20 us
  std::vector<IndexRange> runs;
  const auto tasks = plan.task_begin.begin() + plan.stage_begin[stage];
  if (plan.stage_begin[stage + 1] - plan.stage_begin[stage] != 1) return runs;
  bool was_long = true;
  for (std::int32_t k = tasks[0]; k < tasks[1]; ++k) {
    const FactorPanel& panel = plan.panels[plan.sequence[k]];
    double work = 0;
    for (std::int32_t u = panel.updates_begin; u < panel.updates_end; ++u) {
      const FactorUpdate& update = plan.updates[u];
      const FactorPanel& source = plan.panels[update.panel];
      work += 27.0 * source.width * (update.to - update.from) * (source.below() - update.from);
    }
    const bool is_long = work > kLong;
    const auto at = static_cast<std::size_t>(k);
    if (is_long || was_long) runs.push_back({at, at + 1});
    else runs.back().end = at + 1;
    was_long = is_long;
  }
  return runs;
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
  lone_runs_.clear();
  for (std::size_t s = 0; s + 1 < stage_begin_.size(); ++s) lone_runs_.push_back(lone_runs(plan, s));
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
  constexpr std::size_t kStrips = 16;
  const std::int32_t* sequence = sequence_.data();
  const FactorPanel* panels = panels_.data();
  for (std::size_t s = 0; s + 1 < stage_begin_.size(); ++s) {
    if (lone_runs_[s].empty())
      run_tasks(ctx, tasks_of(s), task_begin_.data(), sequence, false, nullptr, kernels);
    // The threads share out the columns of a panel where a stage has only one task.
    for (const IndexRange& run : lone_runs_[s]) {
      if (run.size() > 1) {
        launch(
            ctx, 1,
            [=] SS_LAMBDA(std::size_t) {
              for (std::size_t k = run.begin; k < run.end; ++k) kernels(sequence[k]);
            },
            kHeavy);
        continue;
      }
      launch(
          ctx, kStrips,
          [=] SS_LAMBDA(std::size_t strip) {
            const FactorPanel& panel = panels[sequence[run.begin]];
            const auto begin = strip_begin(panel, strip, kStrips),
                       end = strip_begin(panel, strip + 1, kStrips);
            kernels.fill(panel, begin, end);
            kernels.update(panel, begin, end);
          },
          Grain{1});
      launch(
          ctx, 1, [=] SS_LAMBDA(std::size_t) { kernels.factorise(panels[sequence[run.begin]]); }, kHeavy);
    }
  }
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
