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
  const RowView rows = view(diagonal, lower);
  reduce_sum(
      ctx, 3 * node_count_,
      [=] SS_LAMBDA(std::size_t i) {
        if (skip != nullptr && *skip != 0) return Real(0);
        const Real sum = rows.times(coupled, i, x);
        y[i / 3][static_cast<int>(i % 3)] = sum;
        return x[i / 3][static_cast<int>(i % 3)] * sum;
      },
      x_dot_y, kMedium);
}

}  // namespace stickslip::STICKSLIP_BACKEND
