// Multigrid as the preconditioner of CG, with two orders of the nodes [Guo24 §6.3, Fig. 27]. A level's
// unknowns are sums over the connected parts of domains of 32 unknowns below it [Wu22], at most four levels.
// A cycle smooths before and after the correction of the coarser level by block Jacobi, accelerated with
// Chebyshev polynomials; at the coarsest level V-cycles factorise, CG-cycles iterate. Quantities, per scene
// and start, of the first Newton system of a step:
//   C.iterations for C = jacobi (block Jacobi alone), morton_v, morton_cg, eigen_v, eigen_cg, to a relative
//   residual of 1e-4 in |r|_2; eigen.ratio = morton_v / eigen_v, cycle.ratio = eigen_cg / eigen_v, and
//   multigrid.ratio = jacobi / eigen_v, in products with the finest matrix: a cycle takes seven.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "bench/newton_matrix.h"
#include "bench/program/reproduce/measure.h"
#include "gpu/linear/domain_plan.h"

namespace stickslip {
namespace {

using Vector = std::vector<double>;

constexpr int kDomain = 32, kMostLevels = 4, kSmoothings = 3, kMostIterations = 5000, kCoarseIterations = 12;
constexpr double kTolerance = 1e-4;
// The smoother damps errors between this share of the largest eigenvalue and all of it.
constexpr double kSmoothed = 1.0 / 8;
constexpr int kProductsOfCycle = 2 * kSmoothings + 1;

/// A symmetric matrix of 3x3 blocks by rows.
struct BlockRows {
  std::size_t n = 0;
  std::vector<std::size_t> begin;
  std::vector<std::int32_t> column;
  std::vector<Mat3> block, inverse_diagonal;

  void multiply(const Vector& x, Vector& y) const {
    for (std::size_t i = 0; i < n; ++i) {
      double sum[3] = {};
      for (std::size_t e = begin[i]; e < begin[i + 1]; ++e)
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b)
            sum[a] += static_cast<double>(block[e](a, b)) * x[3 * static_cast<std::size_t>(column[e]) + b];
      for (int a = 0; a < 3; ++a) y[3 * i + a] = sum[a];
    }
  }
  void multiply_inverse_diagonal(const Vector& x, Vector& y) const {
    for (std::size_t i = 0; i < n; ++i)
      for (int a = 0; a < 3; ++a) {
        double sum = 0;
        for (int b = 0; b < 3; ++b) sum += static_cast<double>(inverse_diagonal[i](a, b)) * x[3 * i + b];
        y[3 * i + a] = sum;
      }
  }
};

struct Entry {
  std::int32_t row, column;
  Mat3 block;
};

/// The sum of the entries; rows without any get the identity.
BlockRows rows_of(std::size_t n, std::vector<Entry> entries) {
  std::ranges::stable_sort(entries, {}, [](const Entry& e) { return std::pair(e.row, e.column); });
  BlockRows out;
  out.n = n;
  out.begin.assign(n + 1, 0);
  out.inverse_diagonal.assign(n, Mat3::identity());
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const Entry& e = entries[k];
    if (k > 0 && entries[k - 1].row == e.row && entries[k - 1].column == e.column) {
      out.block.back() += e.block;
      continue;
    }
    out.block.push_back(e.block);
    out.column.push_back(e.column);
    ++out.begin[static_cast<std::size_t>(e.row) + 1];
  }
  std::partial_sum(out.begin.begin(), out.begin.end(), out.begin.begin());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t e = out.begin[i]; e < out.begin[i + 1]; ++e)
      if (out.column[e] == static_cast<std::int32_t>(i)) out.inverse_diagonal[i] = inverse(out.block[e]);
  return out;
}

/// All entries between nodes that move.
std::vector<Entry> entries_of(const NewtonSystem& system) {
  std::vector<Entry> entries;
  const HostBlocks& m = system.matrix;
  for (std::size_t k = 0; k < m.places.size(); ++k) {
    const auto [i, j] = std::pair(m.places[k][0], m.places[k][1]);
    if (system.fixed[static_cast<std::size_t>(i)] || system.fixed[static_cast<std::size_t>(j)]) continue;
    entries.push_back({i, j, m.blocks[k]});
    if (i != j) entries.push_back({j, i, m.blocks[k].transposed()});
  }
  return entries;
}

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// CG with a preconditioner that may change from one iteration to the next; returns the iterations.
int solve_iteratively(const BlockRows& a, const Vector& b, Vector& x, double tolerance, int most,
                      const std::function<void(const Vector&, Vector&)>& precondition) {
  std::ranges::fill(x, 0.0);
  Vector r = b, z(b.size()), p(b.size()), ap(b.size()), last(b.size());
  const double target = tolerance * std::sqrt(dot(b, b));
  double rz = 0;
  for (int k = 0; k < most; ++k) {
    if (std::sqrt(dot(r, r)) <= target) return k;
    precondition(r, z);
    double change = dot(z, r);
    const double now = change;
    if (k > 0) change -= dot(z, last);
    const double beta = k > 0 ? change / rz : 0;
    rz = now;
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = z[i] + beta * p[i];
    a.multiply(p, ap);
    const double curvature = dot(p, ap);
    if (!(curvature > 0)) return k;
    const double alpha = dot(p, r) / curvature;
    last = r;
    for (std::size_t i = 0; i < p.size(); ++i) x[i] += alpha * p[i], r[i] -= alpha * ap[i];
  }
  return most;
}

/// L L' of a small dense matrix, for the coarsest level.
struct DenseFactor {
  std::size_t n = 0;
  Vector l;

  explicit DenseFactor(const BlockRows& a) : n(3 * a.n), l(n * n, 0.0) {
    for (std::size_t i = 0; i < a.n; ++i) {
      if (a.begin[i] == a.begin[i + 1])
        for (int c = 0; c < 3; ++c) l[(3 * i + c) * n + 3 * i + c] = 1;
      for (std::size_t e = a.begin[i]; e < a.begin[i + 1]; ++e)
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c)
            l[(3 * i + r) * n + 3 * static_cast<std::size_t>(a.column[e]) + c] =
                static_cast<double>(a.block[e](r, c));
    }
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < j; ++k) l[j * n + j] -= l[j * n + k] * l[j * n + k];
      l[j * n + j] = std::sqrt(std::max(l[j * n + j], 1e-300));
      for (std::size_t i = j + 1; i < n; ++i) {
        for (std::size_t k = 0; k < j; ++k) l[i * n + j] -= l[i * n + k] * l[j * n + k];
        l[i * n + j] /= l[j * n + j];
      }
    }
  }
  void solve(const Vector& b, Vector& x) const {
    x = b;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < i; ++k) x[i] -= l[i * n + k] * x[k];
      x[i] /= l[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) x[i] -= l[k * n + i] * x[k];
      x[i] /= l[i * n + i];
    }
  }
};

class Multigrid {
 public:
  Multigrid(const NewtonSystem& system, const std::vector<std::int32_t>& order, bool factorises)
      : factorises_(factorises) {
    std::vector<Entry> entries = entries_of(system);
    std::vector<Vec2i> pairs;
    for (const Entry& e : entries)
      if (e.row > e.column) pairs.push_back({e.row, e.column});
    const std::size_t n = system.matrix.node_count;
    const DomainPlan plan = make_domain_plan(order, pairs, kDomain, kMostLevels);
    std::vector<std::int32_t> unknown(n);
    std::iota(unknown.begin(), unknown.end(), 0);
    for (std::size_t level = 0;; ++level) {
      const std::size_t size =
          level == 0 ? n : static_cast<std::size_t>(plan.level_begin[level + 1] - plan.level_begin[level]);
      levels_.push_back(rows_of(size, entries));
      largest_.push_back(largest_eigenvalue(levels_.back()));
      if (level + 1 >= plan.levels()) break;
      // Unknowns of this level by those of the next: all nodes of one have the same.
      std::vector<std::int32_t> parent(size, 0);
      for (std::size_t i = 0; i < n; ++i) {
        const std::int32_t next = plan.slot_of_node[(level + 1) * n + i] - plan.level_begin[level + 1];
        parent[static_cast<std::size_t>(unknown[i])] = next;
        unknown[i] = next;
      }
      for (Entry& e : entries)
        e.row = parent[static_cast<std::size_t>(e.row)],
        e.column = parent[static_cast<std::size_t>(e.column)];
      parents_.push_back(std::move(parent));
    }
    if (factorises_) coarsest_.emplace_back(levels_.back());
  }

  void apply(const Vector& r, Vector& z) const { cycle(0, r, z); }

 private:
  /// Of D^-1 A, by twenty iterations of the power method, with a margin.
  static double largest_eigenvalue(const BlockRows& a) {
    Vector x(3 * a.n), y(3 * a.n);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(1.0 + static_cast<double>(i));
    double largest = 1;
    for (int k = 0; k < 20; ++k) {
      a.multiply(x, y);
      a.multiply_inverse_diagonal(y, x);
      largest = std::sqrt(dot(x, x));
      if (!(largest > 0)) return 1;
      for (double& value : x) value /= largest;
    }
    return 1.1 * largest;
  }

  /// kSmoothings steps of the Chebyshev iteration for A x = b, from x.
  void smooth(std::size_t level, const Vector& b, Vector& x) const {
    const BlockRows& a = levels_[level];
    const double high = largest_[level], low = kSmoothed * high;
    const double middle = (high + low) / 2, half = (high - low) / 2;
    Vector r(b.size()), z(b.size()), p(b.size(), 0.0);
    double alpha = 0;
    for (int k = 0; k < kSmoothings; ++k) {
      a.multiply(x, r);
      for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
      a.multiply_inverse_diagonal(r, z);
      const double beta = k == 0   ? 0
                          : k == 1 ? 0.5 * std::pow(half * alpha, 2)
                                   : std::pow(half * alpha / 2, 2);
      alpha = k == 0 ? 1 / middle : 1 / (middle - beta / alpha);
      for (std::size_t i = 0; i < x.size(); ++i) p[i] = z[i] + beta * p[i], x[i] += alpha * p[i];
    }
  }

  void cycle(std::size_t level, const Vector& b, Vector& x) const {
    const BlockRows& a = levels_[level];
    if (level + 1 == levels_.size()) {
      if (factorises_) return coarsest_.front().solve(b, x);
      solve_iteratively(a, b, x, 1e-12, kCoarseIterations,
                        [&](const Vector& r, Vector& z) { a.multiply_inverse_diagonal(r, z); });
      return;
    }
    std::ranges::fill(x, 0.0);
    smooth(level, b, x);
    Vector r(b.size());
    a.multiply(x, r);
    const std::vector<std::int32_t>& parent = parents_[level];
    Vector coarse_b(3 * levels_[level + 1].n, 0.0), coarse_x(coarse_b.size());
    for (std::size_t i = 0; i < a.n; ++i)
      for (int c = 0; c < 3; ++c)
        coarse_b[3 * static_cast<std::size_t>(parent[i]) + c] += b[3 * i + c] - r[3 * i + c];
    cycle(level + 1, coarse_b, coarse_x);
    for (std::size_t i = 0; i < a.n; ++i)
      for (int c = 0; c < 3; ++c) x[3 * i + c] += coarse_x[3 * static_cast<std::size_t>(parent[i]) + c];
    smooth(level, b, x);
  }

  bool factorises_;
  std::vector<BlockRows> levels_;
  std::vector<double> largest_;
  std::vector<std::vector<std::int32_t>> parents_;
  std::vector<DenseFactor> coarsest_;  // one, of V-cycles
};

std::vector<std::int32_t> morton(const NewtonSystem& system) {
  std::vector<Vec2i> pairs;
  for (const Vec2i& place : system.matrix.places)
    if (place[0] != place[1]) pairs.push_back(place);
  return morton_order(system.positions, pairs);
}

std::vector<std::int32_t> by_stiffness(const NewtonSystem& system) {
  std::vector<std::int32_t> order(system.stiffness.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {},
                           [&](std::int32_t i) { return system.stiffness[static_cast<std::size_t>(i)]; });
  return order;
}

}  // namespace

Measurement measure_multigrid(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  Measurement out;
  for (const std::string& name : run.scenes) {
    const Scene scene = claim_scene(name, run, methods_of(claim)[0]);
    const std::unique_ptr<Engine> engine = context.engine();
    load_into(*engine, scene);
    for (int k = 0; k < run.starts; ++k) {
      while (engine->state().frame < run.from + k * run.stride) {
        context.check();
        engine->step();
      }
      const NewtonSystem system =
          cpu::newton_system(scene.model, scene.params, engine->state(), context.threads);
      const BlockRows a = rows_of(system.matrix.node_count, entries_of(system));
      Vector b(3 * a.n), x(3 * a.n);
      for (std::size_t i = 0; i < a.n; ++i)
        for (int c = 0; c < 3; ++c) b[3 * i + c] = static_cast<double>(system.rhs[i][c]);
      std::map<std::string, double> found;
      const auto count = [&](const std::string& method,
                             const std::function<void(const Vector&, Vector&)>& apply) {
        context.check();
        found[method] = solve_iteratively(a, b, x, kTolerance, kMostIterations, apply);
        out.add(method + ".iterations", found[method]);
      };
      count("jacobi", [&](const Vector& r, Vector& z) { a.multiply_inverse_diagonal(r, z); });
      for (const bool factorises : {true, false}) {
        const std::string cycle = factorises ? "_v" : "_cg";
        const Multigrid along_curve(system, morton(system), factorises);
        count("morton" + cycle, [&](const Vector& r, Vector& z) { along_curve.apply(r, z); });
        const Multigrid by_eigenvalue(system, by_stiffness(system), factorises);
        count("eigen" + cycle, [&](const Vector& r, Vector& z) { by_eigenvalue.apply(r, z); });
      }
      out.add("contacts", static_cast<double>(system.contacts));
      if (found["eigen_v"] > 0) {
        out.add("eigen.ratio", found["morton_v"] / found["eigen_v"]);
        out.add("cycle.ratio", found["eigen_cg"] / found["eigen_v"]);
        out.add("multigrid.ratio", found["jacobi"] / found["eigen_v"] / (kProductsOfCycle + 1));
      }
    }
  }
  return out;
}

}  // namespace stickslip
