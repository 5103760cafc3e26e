// Cost of sums in a fixed order, compared with floating-point atomics in arbitrary order.
#pragma once

#include <cstddef>

namespace stickslip::compare {

/// For the sum of 3-vectors at the corners of tets into nodes.
struct OrderCost {
  std::size_t corners = 0, nodes = 0;
  double gather = 0, atomics = 0;  // [s] of one sum
  double order = 0;                // [s] to sort the corners by node, once per list
  double apart = 0;                // difference of the two sums, relative to the largest value
};

}  // namespace stickslip::compare

namespace stickslip::cpu {
/// Measures a box of `cells`^3 cells with six tets each.
compare::OrderCost order_cost(int cells, int threads);
}  // namespace stickslip::cpu

namespace stickslip::cuda {
compare::OrderCost order_cost(int cells, int threads);
}  // namespace stickslip::cuda
