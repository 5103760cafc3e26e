#include "gpu/linear/row_product.cuh"

#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {

void RowProduct::set_pattern(Context& ctx, const Pattern& pattern) {
  const RowUses rows = list_rows(pattern);
  node_count_ = pattern.node.size();
  begin_.upload(ctx, rows.begin);
  uses_.upload(ctx, rows.uses);
}

void RowProduct::multiply(Context& ctx, const Mat3* diagonal, const Mat3* lower, const Vec3* x, Vec3* y,
                          Real* x_dot_y, const std::int32_t* skip, const NodeGroup* group) {
  if (group != nullptr) multiply_coupled(ctx, SameGroup{group}, diagonal, lower, x, y, x_dot_y, skip);
  else multiply_coupled(ctx, AllCoupled{}, diagonal, lower, x, y, x_dot_y, skip);
}

template <class Coupled>
void RowProduct::multiply_coupled(Context& ctx, Coupled coupled, const Mat3* diagonal, const Mat3* lower,
                                  const Vec3* x, Vec3* y, Real* x_dot_y, const std::int32_t* skip) {
  const std::int32_t* begin = begin_.data();
  const BlockUse* uses = uses_.data();
  reduce_sum(
      ctx, 3 * node_count_,
      [=] SS_LAMBDA(std::size_t i) {
        if (skip != nullptr && *skip != 0) return Real(0);
        const std::size_t node = i / 3;
        const int r = static_cast<int>(i % 3);
        Real sum = dot(diagonal[node].row(r), x[node]);
        for (std::int32_t k = begin[node]; k < begin[node + 1]; ++k) {
          const BlockUse use = uses[k];
          if (!coupled(static_cast<std::int32_t>(node), use.other)) continue;
          const Mat3& block = lower[use.block >> 1];
          // Row r of the block, or of its transpose.
          const Real* first = block.m + ((use.block & 1U) != 0 ? r : 3 * r);
          const int stride = (use.block & 1U) != 0 ? 3 : 1;
          const Vec3& other = x[use.other];
          sum += first[0] * other[0] + first[stride] * other[1] + first[2 * stride] * other[2];
        }
        y[node][r] = sum;
        return x[node][r] * sum;
      },
      x_dot_y, kMedium);
}

}  // namespace stickslip::STICKSLIP_BACKEND
