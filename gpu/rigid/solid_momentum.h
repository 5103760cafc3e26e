// SolidMomentum, SolidsCheck: what the judge of a step finds of its elastic solids.
#pragma once

#include <cmath>

#include "gpu/elastic/solid_balance.h"
#include "gpu/law/law_check.h"

namespace stickslip {

/// Sums over the nodes of the solids, see SolidChecker.
struct SolidMomentum {
  MomentumSums missing = MomentumSums::zero();  // gained, but not given; a sign for each object
  double moved = 0;                             // [N s] sum of the absolute values of all impulses
  double rounding = 0;                          // [N s] an estimate of what rounding adds to `missing`

  /// [N s] that the nodes gained and nothing gave them.
  double unexplained() const {
    double plain = 0, with_sign = 0;
    for (int i = 0; i < 3; ++i) {
      plain += missing[i] * missing[i];
      with_sign += missing[6 + i] * missing[6 + i];
    }
    return std::sqrt(law_check_detail::larger(plain, with_sign));
  }
};

struct AddSolidMomentum {
  SS_HD SolidMomentum operator()(const SolidMomentum& a, const SolidMomentum& b) const {
    return {a.missing + b.missing, a.moved + b.moved, a.rounding + b.rounding};
  }
};

struct SolidsCheck {
  SolidBalance balance;
  SolidMomentum momentum;
};

}  // namespace stickslip
