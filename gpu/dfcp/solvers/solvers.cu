#include "gpu/dfcp/solvers/solvers.cuh"

#include <utility>

namespace stickslip::STICKSLIP_BACKEND {

template <int D>
bool run_solver(std::string_view name, System<D>& s) {
  using Entry = std::pair<std::string_view, void (*)(System<D>&)>;
#define STICKSLIP_ENTRY(kind, name, ...) {#name, solve_##name<D>},
#define STICKSLIP_NONE(...)
  static constexpr Entry kSolvers[] = {
      STICKSLIP_CONTACT_SOLVERS(STICKSLIP_ENTRY, STICKSLIP_NONE, STICKSLIP_NONE)};
#undef STICKSLIP_ENTRY
#undef STICKSLIP_NONE
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
