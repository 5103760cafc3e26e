#include "gpu/linear/pcg_grid.cuh"

#include "gpu/core/grid.h"
#include "gpu/linear/stencil_product.h"

namespace stickslip::STICKSLIP_BACKEND {

void iterate_on_grid(Context& ctx, const ResidentMatrix& matrix, const PcgVectors& v) {
  const std::size_t n = matrix.rows.node_count, stencils = matrix.stencils;
  const ResidentMatrix m = matrix;
  launch_grid(ctx, 3 * n + stencils, [=] SS_LAMBDA(const Grid& grid) {
    // Every lane decides for itself, on the same sums: nobody waits for scalars of another.
    PcgState s = *v.state;
    // Nothing to do, and no barrier since others read the state: no lane may write it.
    if (!s.running()) return;
    while (s.running()) {
      grid.each(n, [&](std::size_t i) { v.p[i] = v.z[i] + s.beta * v.p[i]; });
      const Real p_a_p = grid.template sum<Real>(3 * n + stencils, [&](std::size_t i) {
        if (i < 3 * n) {
          const Real q = m.rows.times(AllCoupled{}, i, v.p);
          v.q[i / 3][static_cast<int>(i % 3)] = q;
          return v.p[i / 3][static_cast<int>(i % 3)] * q;
        }
        const std::size_t k = i - 3 * n;
        return stencil_product(m.nodes[k], m.couplings + kCouplings * k, AllCoupled{}, v.p,
                               m.products + 4 * k);
      });
      if (stencils > 0)
        grid.each(*m.runs.count, [&](std::size_t run) {
          const std::uint32_t node = m.runs.node[run];
          if (node >= n) return;  // of unused corners
          Vec3 sum = v.q[node];
          for (std::int32_t k = m.runs.begin[run]; k < m.runs.begin[run + 1]; ++k)
            sum += m.products[m.runs.corner[k]];
          v.q[node] = sum;
        });
      s.choose_step(p_a_p);
      if (!s.running()) break;
      s.advance(grid.template sum<PcgSquares>(n, [&](std::size_t i) {
        const bool moves = v.fixed == nullptr || v.fixed[i] == 0;
        if (moves) v.x[i] += s.alpha * v.p[i];
        const Vec3 r = moves ? v.r[i] - s.alpha * v.q[i] : Vec3::zero();
        const Vec3 z = v.local.apply(i, r);
        v.r[i] = r;
        v.z[i] = z;
        return PcgSquares{dot(r, z), norm2(r), moves ? norm2(v.x[i]) : Real(0)};
      }));
      if (grid.is_first()) v.history[s.iterations] = s.residual();
    }
    grid.each(1, [&](std::size_t) { *v.state = s; });
  });
}

}  // namespace stickslip::STICKSLIP_BACKEND
