#include "gpu/dfcp/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {

template <int D>
void solve_apgd(System<D>& s) {
  s.monitor.stop(SolveEnd::refused, "not built yet");
}
STICKSLIP_SOLVER(solve_apgd)

}  // namespace stickslip::STICKSLIP_BACKEND
