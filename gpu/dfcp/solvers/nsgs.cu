// Blocked (nonsmooth) Gauss-Seidel: every block in turn gets the exact solution of its own problem
// [Course §3.2.4 Alg.8].
#include "gpu/dfcp/solvers/exact_sweep.cuh"
#include "gpu/dfcp/solvers/joint_block.cuh"
#include "gpu/dfcp/solvers/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {

template <int D>
void solve_nsgs(System<D>& s) {
  JointBlock<D> joints(s);
  ExactSweep<D> sweep(s);
  sweep.refresh();
  do {
    sweep.leave_joints(joints.active());
    sweep.run();
    if (joints.solve(s.r)) sweep.refresh();
  } while (!s.monitor.done(s.r));
}
STICKSLIP_ROLLING_SOLVER(solve_nsgs)

}  // namespace stickslip::STICKSLIP_BACKEND
