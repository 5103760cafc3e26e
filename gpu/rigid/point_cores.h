// PointCores: the rigid motion of each elastic object as a body of the contact problem, beside its particles.
#pragma once

#include "gpu/dfcp/problem/constraint_block.h"
#include "gpu/math/quat.h"
#include "gpu/rigid/stabilisation.h"

namespace stickslip {

/// Bodies in the order: those of the scene, touched points (particles), frames of joints on solids, cores.
/// Backend memory.
struct PointCores {
  const std::int32_t* core = nullptr;  // per touched point: its object; null: points have no cores
  std::int32_t first_point = 0, first_core = 0;
  const Pose* pose = nullptr;            // per body
  const BodyInverse* inverse = nullptr;  // likewise
  const double* free = nullptr;          // 6 per body

  /// The core of a body that is a particle; -1: none.
  SS_HD std::int32_t of(std::int32_t body) const {
    if (core == nullptr || body < first_point || body >= first_core || !(inverse[body].mass > 0)) return -1;
    const std::int32_t found = first_core + core[body - first_point];
    return inverse[found].mass > 0 ? found : -1;
  }

  /// Replaces particles by their cores: u = d . (V + W x arm) + (d . t + r / m). The particle's own mobility
  /// 1 / m becomes compliance, and its velocity t without impulses an offset.
  template <int D>
  SS_HD void replace(const Vec<double, 3>& point, ConstraintBlock<D>& block) const {
    for (int side = 0; side < 2; ++side) {
      const std::int32_t b = block.body[side], found = of(b);
      if (found < 0) continue;
      const double* t = free + 6 * static_cast<std::size_t>(b);
      for (int i = 0; i < 3; ++i) {
        const Vec<double, 6>& row = block.jacobian[side][i];
        const Vec<double, 3> d{row[0], row[1], row[2]};
        block.w[i] += d[0] * t[0] + d[1] * t[1] + d[2] * t[2];
        block.compliance[i] += inverse[b].mass;
        block.jacobian[side][i] = rigid_detail::point_row(d, point - pose[found].x);
      }
      block.body[side] = found;
    }
  }
};

}  // namespace stickslip
