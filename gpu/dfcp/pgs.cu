#include "gpu/dfcp/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {

template <int D>
void solve_pgs_jacobi(System<D>& s) {
  s.monitor.stop(SolveEnd::refused, "not built yet");
}
STICKSLIP_SOLVER(solve_pgs_jacobi)

template <int D>
void solve_pgs(System<D>& s) {
  s.monitor.stop(SolveEnd::refused, "not built yet");
}
STICKSLIP_SOLVER(solve_pgs)

}  // namespace stickslip::STICKSLIP_BACKEND
