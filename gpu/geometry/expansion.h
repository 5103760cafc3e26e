// Exact sums of products of doubles, as expansions [Shewchuk97]: sums of components that do not overlap,
// smallest first. Exact while no product of the inputs over- or underflows.
#pragma once

#include <cmath>

#include "gpu/core/backend.h"

namespace stickslip {

/// value + error, exactly.
struct RoundedResult {
  double value, error;
};

SS_HD inline RoundedResult exact_sum(double a, double b) {
  const double sum = a + b, b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}
/// The product is written as an fma so that no compiler fuses it with a later sum.
SS_HD inline RoundedResult exact_product(double a, double b) {
  const double product = std::fma(a, b, 0.0);
  return {product, std::fma(a, b, -product)};
}

/// Room for `capacity` added numbers.
template <int capacity>
class Expansion {
 public:
  SS_HD void add(double x) {
    if (x == 0.0) return;
    int kept = 0;
    for (int i = 0; i < size_; ++i) {
      const RoundedResult sum = exact_sum(x, component_[i]);
      if (sum.error != 0.0) component_[kept++] = sum.error;
      x = sum.value;
    }
    if (x != 0.0) component_[kept++] = x;
    size_ = kept;
  }
  /// Adds a b: two numbers.
  SS_HD void add_product(double a, double b) {
    const RoundedResult ab = exact_product(a, b);
    add(ab.error);
    add(ab.value);
  }
  /// Adds a b c: four numbers.
  SS_HD void add_product(double a, double b, double c) {
    const RoundedResult ab = exact_product(a, b);
    add_product(ab.error, c);
    add_product(ab.value, c);
  }
  /// The sum, rounded a few times.
  SS_HD double estimate() const {
    double sum = 0.0;
    for (int i = 0; i < size_; ++i) sum += component_[i];
    return sum;
  }
  /// -1, 0 or 1: that of the largest component.
  SS_HD int sign() const { return size_ == 0 ? 0 : (component_[size_ - 1] > 0.0 ? 1 : -1); }

 private:
  double component_[capacity];
  int size_ = 0;
};

}  // namespace stickslip
