// SweptBlock: a block of any law between two rigid bodies, and its exact update in a Gauss-Seidel sweep over
// velocities of bodies.
#pragma once

#include "gpu/core/out_of_line.h"
#include "gpu/dfcp/problem/constraint_block.h"
#include "gpu/law/local_solve.h"
#include "gpu/law/natural_map.h"
#include "gpu/rigid/manifold/manifold_packs.h"

namespace stickslip {

struct SweptBlock {
  ConstraintBlock<3> rows;
  Vec<double, 6> response[2][3];  // A^-1 H'; zero at immovable bodies
  LocalData<3> local;
  Mat<double, 3> w;  // W_cc with E
  double scale;      // s of the natural map [1/kg], as that of the judge: trace W_cc / 3
  double lambda;     // of local_solve
  bool pushes[2];    // by side: the body is movable

  SS_HD bool moves() const { return pushes[0] || pushes[1]; }
};

/// `inverse`: per body.
SS_HD inline SweptBlock swept_block(const ConstraintBlock<3>& rows, const BodyInverse* inverse) {
  SweptBlock block{};
  block.rows = rows;
  for (int side = 0; side < 2; ++side) {
    const std::int32_t b = rows.body[side];
    if (b < 0 || !(inverse[b].mass > 0)) continue;
    block.pushes[side] = true;
    for (int i = 0; i < 3; ++i) {
      block.response[side][i] = inverse[b].times(rows.jacobian[side][i]);
      for (int j = 0; j < 3; ++j) block.w(j, i) += dot(rows.jacobian[side][j], block.response[side][i]);
    }
  }
  for (int i = 0; i < 3; ++i) {
    block.w(i, i) += rows.compliance[i];
    for (int j = 0; j < i; ++j) block.w(i, j) = block.w(j, i);
  }
  block.local = prepare_local(rows.law, block.w);
  block.scale = trace(block.w) / 3;
  return block;
}

/// The velocities that sweeps change: kMotionFields per body.
SS_HD inline Vec<double, 3> block_velocity(const SweptBlock& block, const Vec<double, 3>& r,
                                           const double* v) {
  Vec<double, 3> u = block.rows.w;
  for (int side = 0; side < 2; ++side) {
    const std::int32_t b = block.rows.body[side];
    if (b < 0) continue;
    const double* row = v + static_cast<std::size_t>(b) * kMotionFields;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        u[i] += block.rows.jacobian[side][i][j] * row[j] + block.rows.jacobian[side][i][3 + j] * row[4 + j];
  }
  for (int i = 0; i < 3; ++i) u[i] += block.rows.compliance[i] * r[i];
  return u;
}

/// v += A^-1 H' dr.
SS_HD inline void push_block(const SweptBlock& block, const Vec<double, 3>& dr, double* v) {
  for (int side = 0; side < 2; ++side) {
    if (!block.pushes[side]) continue;
    double* row = v + static_cast<std::size_t>(block.rows.body[side]) * kMotionFields;
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i) {
        row[j] += block.response[side][i][j] * dr[i];
        row[4 + j] += block.response[side][i][3 + j] * dr[i];
      }
  }
}

/// The exact impulse of the block at the present velocities of its bodies. Impulses between immovable bodies
/// stay.
SS_HD_LARGE inline void update_block(SweptBlock& block, double* impulse, double* v) {
  if (!block.moves()) return;
  const Vec<double, 3> r{impulse[0], impulse[1], impulse[2]};
  const Vec<double, 3> q = block_velocity(block, r, v) - block.w * r;
  const Vec<double, 3> next = local_solve(block.rows.law, block.local, q, block.lambda);
  push_block(block, next - r, v);
  for (int i = 0; i < 3; ++i) impulse[i] = next[i];
}

}  // namespace stickslip
