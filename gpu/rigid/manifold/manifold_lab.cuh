// manifold_gs on problems of the lab.
#pragma once

#include "gpu/dfcp/problem/contact_problem.h"
#include "gpu/dfcp/solvers/system.cuh"
#include "gpu/rigid/manifold/manifold_solver.cuh"

namespace stickslip::STICKSLIP_BACKEND {

class ManifoldLab {
 public:
  /// Solves `problem`, whose operator and laws `system` has, as the solvers of gpu/dfcp do: the monitor has
  /// the best iterate. Refuses problems that are not made of rigid bodies (manifold_problem.h), and
  /// contacts that friction jams.
  void solve(System<3>& system, const ContactProblem& problem);

 private:
  void take_impulses(System<3>& system);

  ManifoldSolver<3> solver_;
  Buffer<std::int32_t> block_;
  Buffer<double> handedness_;
  Buffer<Vec<double, 3>> sorted_;  // impulses in the order of ManifoldProblem::block
};

}  // namespace stickslip::STICKSLIP_BACKEND
