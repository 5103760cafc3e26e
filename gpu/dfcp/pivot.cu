#include "gpu/dfcp/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {

template <int D>
void solve_pivot_incremental(System<D>& s) {
  s.monitor.stop(SolveEnd::refused, "not built yet");
}
STICKSLIP_SOLVER(solve_pivot_incremental)

template <int D>
void solve_pivot_block(System<D>& s) {
  s.monitor.stop(SolveEnd::refused, "not built yet");
}
STICKSLIP_SOLVER(solve_pivot_block)

}  // namespace stickslip::STICKSLIP_BACKEND
