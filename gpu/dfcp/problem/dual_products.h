// DualProducts: W r of a global problem by A^-1, without the entries of W. Host only.
#pragma once

#include <vector>

#include "gpu/dfcp/problem/dynamics_inverse.h"

namespace stickslip {

/// W = H A^-1 H' + E and q = w + H A^-1 f of a global problem. First-order methods need W in one product per
/// iteration, so A^-1 may be applied there in place of forming W [Daviet20 §2.2]. Impulses are those of
/// to_local: from the apices of cohesive cones.
class DualProducts {
 public:
  /// Throws std::invalid_argument for other forms, and where to_local or DynamicsInverse do.
  DualProducts(const ContactProblem& problem, const InverseOptions& options);

  /// u = W r. Shape: size().
  void apply(const double* r, double* u) const;
  const std::vector<double>& q() const { return q_; }
  const InverseReport& report() const { return inverse_.report(); }

 private:
  SparseRows h_;
  DynamicsInverse inverse_;
  std::vector<double> compliance_, q_;
};

}  // namespace stickslip
