#include "gpu/dfcp/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {

template <int D>
void solve_pgs_sm(System<D>& s) {
  s.monitor.stop(SolveEnd::refused, "not built yet");
}
STICKSLIP_SOLVER(solve_pgs_sm)

}  // namespace stickslip::STICKSLIP_BACKEND
