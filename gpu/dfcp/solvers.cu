#include "gpu/dfcp/solvers.cuh"

#include <array>
#include <utility>

namespace stickslip::STICKSLIP_BACKEND {

template <int D>
bool run_solver(std::string_view name, System<D>& s) {
  using Entry = std::pair<std::string_view, void (*)(System<D>&)>;
  static constexpr std::array<Entry, 17> kSolvers{{
      {"auto", solve_auto<D>},
      {"nsgs", solve_nsgs<D>},
      {"prox_gs", solve_prox_gs<D>},
      {"prox_jacobi", solve_prox_jacobi<D>},
      {"staggered", solve_staggered<D>},
      {"nncg", solve_nncg<D>},
      {"newton_ac", solve_newton_ac<D>},
      {"newton_fb", solve_newton_fb<D>},
      {"newton_minmap", solve_newton_minmap<D>},
      {"spg", solve_spg<D>},
      {"apgd", solve_apgd<D>},
      {"admm", solve_admm<D>},
      {"pgs", solve_pgs<D>},
      {"pgs_jacobi", solve_pgs_jacobi<D>},
      {"pgs_sm", solve_pgs_sm<D>},
      {"pivot_incremental", solve_pivot_incremental<D>},
      {"pivot_block", solve_pivot_block<D>},
  }};
  for (const auto& [known, solve] : kSolvers)
    if (known == name) {
      solve(s);
      return true;
    }
  return false;
}

template bool run_solver(std::string_view, System<3>&);
template bool run_solver(std::string_view, System<4>&);

}  // namespace stickslip::STICKSLIP_BACKEND
