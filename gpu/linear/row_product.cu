#include "gpu/linear/row_product.cuh"

#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// RowProduct::multiply with the blocks that `coupled` lets through.
template <class Coupled>
void multiply_rows(Context& ctx, Coupled coupled, const RowView& rows, const Vec3* x, Vec3* y, Real* x_dot_y,
                   const std::int32_t* skip) {
  reduce_sum(
      ctx, 3 * rows.node_count,
      [=] SS_LAMBDA(std::size_t i) {
        if (skip != nullptr && *skip != 0) return Real(0);
        const Real sum = rows.times(coupled, i, x);
        y[i / 3][static_cast<int>(i % 3)] = sum;
        return x[i / 3][static_cast<int>(i % 3)] * sum;
      },
      x_dot_y, kMedium);
}

}  // namespace

void RowProduct::set_pattern(Context& ctx, const Pattern& pattern) {
  const RowUses rows = list_rows(pattern);
  node_count_ = pattern.node.size();
  begin_.upload(ctx, rows.begin);
  uses_.upload(ctx, rows.uses);
}

void RowProduct::multiply(Context& ctx, const Mat3* diagonal, const Mat3* lower, const Vec3* x, Vec3* y,
                          Real* x_dot_y, const std::int32_t* skip, const NodeGroup* group) {
  const RowView rows = view(diagonal, lower);
  if (group != nullptr) multiply_rows(ctx, SameGroup{group}, rows, x, y, x_dot_y, skip);
  else multiply_rows(ctx, AllCoupled{}, rows, x, y, x_dot_y, skip);
}

}  // namespace stickslip::STICKSLIP_BACKEND
