#include "gpu/linear/pcg_grid.cuh"

#include "gpu/core/grid.h"
#include "gpu/linear/stencil_product.h"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

/// p = z + beta p_before. Each reader computes it: no lane needs p to be written first.
struct NextDirection {
  const Vec3 *z, *before;
  Real beta;

  SS_HD Vec3 operator[](std::size_t i) const { return z[i] + beta * before[i]; }
};

/// The iterations on the lanes of one launch. All lanes make the same decisions, on the same sums. SS_LAMBDA:
/// nvcc cannot compile barriers for the host.
struct ResidentPcg {
  ResidentMatrix m;
  PcgVectors v;

  SS_HD std::size_t nodes() const { return m.rows.node_count; }

  /// The run of each node's stencil corners.
  SS_LAMBDA void find_runs(const Grid& grid) const {
    grid.each(nodes(), [&](std::size_t i) {
      const std::int32_t run = m.runs.first_from(static_cast<std::uint32_t>(i));
      v.run[i] = run < *m.runs.count && m.runs.node[run] == i ? run : -1;
    });
  }

  /// Writes q = A p without the stencils, their products, and p to `to`. Returns p'Ap.
  SS_LAMBDA Real multiply(const Grid& grid, const NextDirection& p, Vec3* to) const {
    const std::size_t n = nodes();
    return grid.template sum<Real>(3 * n + m.stencils, [&](std::size_t i) {
      if (i < 3 * n) {
        const std::size_t node = i / 3;
        const int r = static_cast<int>(i % 3);
        const Real q = m.rows.times(AllCoupled{}, i, p), own = p[node][r];
        v.q[node][r] = q;
        to[node][r] = own;
        return own * q;
      }
      const std::size_t k = i - 3 * n;
      return stencil_product(m.nodes[k], m.couplings + kCouplings * k, AllCoupled{}, p, m.products + 4 * k);
    });
  }

  /// q of node i with the stencils' part.
  SS_HD Vec3 whole_product(std::size_t i) const {
    Vec3 q = v.q[i];
    const std::int32_t run = m.stencils > 0 ? v.run[i] : -1;
    if (run < 0) return q;
    for (std::int32_t k = m.runs.begin[run]; k < m.runs.begin[run + 1]; ++k)
      q += m.products[m.runs.corner[k]];
    return q;
  }

  /// A step along p, the residual and its preconditioned form; returns their squares.
  SS_LAMBDA PcgSquares step(const Grid& grid, Real alpha, const Vec3* p) const {
    return grid.template sum<PcgSquares>(nodes(), [&](std::size_t i) {
      const bool moves = v.fixed == nullptr || v.fixed[i] == 0;
      if (moves) v.x[i] += alpha * p[i];
      const Vec3 r = moves ? v.r[i] - alpha * whole_product(i) : Vec3::zero();
      const Vec3 z = v.local.apply(i, r);
      v.r[i] = r;
      v.z[i] = z;
      return PcgSquares{dot(r, z), norm2(r), moves ? norm2(v.x[i]) : Real(0)};
    });
  }

  SS_LAMBDA void operator()(const Grid& grid) const {
    PcgState s = *v.state;
    // Nothing to do, and no barrier since others read the state: no lane may write it.
    if (!s.running()) return;
    if (m.stencils > 0) find_runs(grid);
    Vec3 *p = v.p, *next = v.other_p;
    while (s.running()) {
      s.choose_step(multiply(grid, NextDirection{v.z, p, s.beta}, next));
      Vec3* const before = p;
      p = next, next = before;
      if (!s.running()) break;
      s.advance(step(grid, s.alpha, p));
      if (grid.is_first()) v.history[s.iterations] = s.residual();
    }
    if (p != v.p) grid.each(nodes(), [&](std::size_t i) { v.p[i] = p[i]; });
    grid.each(1, [&](std::size_t) { *v.state = s; });
  }
};

}  // namespace

void iterate_on_grid(Context& ctx, const ResidentMatrix& matrix, const PcgVectors& v) {
  launch_grid(ctx, 3 * matrix.rows.node_count + matrix.stencils, ResidentPcg{matrix, v});
}

}  // namespace stickslip::STICKSLIP_BACKEND
