#include "gpu/dfcp/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {

template <int D>
void solve_nncg(System<D>& s) {
  s.monitor.stop(SolveEnd::refused, "not built yet");
}
STICKSLIP_SOLVER(solve_nncg)

}  // namespace stickslip::STICKSLIP_BACKEND
