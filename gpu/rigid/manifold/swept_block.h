// SweptBlock: a block of any law between two rigid bodies, and its exact update in a Gauss-Seidel sweep over
// velocities of bodies.
#pragma once

#include "gpu/core/out_of_line.h"
#include "gpu/dfcp/problem/constraint_block.h"
#include "gpu/law/local_solve.h"
#include "gpu/law/natural_map.h"
#include "gpu/rigid/manifold/manifold_packs.h"

namespace stickslip {

template <int D>
struct SweptBlock {
  ConstraintBlock<D> rows;
  Vec<double, 6> response[2][D];  // A^-1 H'; zero at immovable bodies
  LocalData<D> local;
  Mat<double, D> w;  // W_cc with E
  double scale;      // s of the natural map [1/kg], as that of the judge: trace W_cc / D
  double lambda;     // of local_solve
  bool pushes[2];    // by side: the body is movable

  SS_HD bool moves() const { return pushes[0] || pushes[1]; }
};

template <int D>
SS_HD inline Vec<double, D> read_impulse(const double* from) {
  Vec<double, D> r{};
  for (int i = 0; i < D; ++i) r[i] = from[i];
  return r;
}

/// `inverse`: per body.
template <int D>
SS_HD inline SweptBlock<D> swept_block(const ConstraintBlock<D>& rows, const BodyInverse* inverse) {
  SweptBlock<D> block{};
  block.rows = rows;
  for (int side = 0; side < 2; ++side) {
    const std::int32_t b = rows.body[side];
    if (b < 0 || !(inverse[b].mass > 0)) continue;
    block.pushes[side] = true;
    for (int i = 0; i < D; ++i) {
      block.response[side][i] = inverse[b].times(rows.jacobian[side][i]);
      for (int j = 0; j < D; ++j) block.w(j, i) += dot(rows.jacobian[side][j], block.response[side][i]);
    }
  }
  for (int i = 0; i < D; ++i) {
    block.w(i, i) += rows.compliance[i];
    for (int j = 0; j < i; ++j) block.w(i, j) = block.w(j, i);
  }
  block.local = prepare_local(rows.law, block.w);
  block.scale = trace(block.w) / D;
  return block;
}

/// u of the block. `v`: the velocities that sweeps change, kMotionFields per body.
template <int D>
SS_HD inline Vec<double, D> block_velocity(const SweptBlock<D>& block, const Vec<double, D>& r,
                                           const double* v) {
  Vec<double, D> u = block.rows.w;
  for (int side = 0; side < 2; ++side) {
    const std::int32_t b = block.rows.body[side];
    if (b < 0) continue;
    const double* row = v + static_cast<std::size_t>(b) * kMotionFields;
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < 3; ++j)
        u[i] += block.rows.jacobian[side][i][j] * row[j] + block.rows.jacobian[side][i][3 + j] * row[4 + j];
  }
  for (int i = 0; i < D; ++i) u[i] += block.rows.compliance[i] * r[i];
  return u;
}

/// v += A^-1 H' dr.
template <int D>
SS_HD inline void push_block(const SweptBlock<D>& block, const Vec<double, D>& dr, double* v) {
  for (int side = 0; side < 2; ++side) {
    if (!block.pushes[side]) continue;
    double* row = v + static_cast<std::size_t>(block.rows.body[side]) * kMotionFields;
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < D; ++i) {
        row[j] += block.response[side][i][j] * dr[i];
        row[4 + j] += block.response[side][i][3 + j] * dr[i];
      }
  }
}

/// The exact impulse of the block at the present velocities of its bodies. Impulses between immovable bodies
/// stay.
template <int D>
SS_HD_LARGE inline void update_block(SweptBlock<D>& block, double* impulse, double* v) {
  if (!block.moves()) return;
  const Vec<double, D> r = read_impulse<D>(impulse);
  const Vec<double, D> q = block_velocity(block, r, v) - block.w * r;
  const Vec<double, D> next = local_solve(block.rows.law, block.local, q, block.lambda);
  push_block(block, next - r, v);
  for (int i = 0; i < D; ++i) impulse[i] = next[i];
}

}  // namespace stickslip
