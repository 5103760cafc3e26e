#include "gpu/dfcp/solvers/solvers.cuh"

#include <string>
#include <utility>

namespace stickslip::STICKSLIP_BACKEND {

namespace {

/// Names of the solvers that take blocks of five rows: "a, b, c".
std::string rolling_solvers() {
  std::string names;
  for (const ContactSolverInfo& info : list_contact_solvers())
    if (info.has(SolverTrait::rolling)) names.append(names.empty() ? "" : ", ").append(info.name);
  return names;
}

template <int D>
void refuse_rolling(System<D>& s) {
  s.monitor.stop(SolveEnd::refused, rolling_refusal());
}

}  // namespace

std::string rolling_refusal() {
  return "contacts have rolling resistance (five rows), which only these take: " + rolling_solvers();
}

template <int D>
bool run_solver(std::string_view name, System<D>& s) {
  using namespace SolverTrait;
  using Entry = std::pair<std::string_view, void (*)(System<D>&)>;
#define STICKSLIP_ENTRY(kind, name, law, traits, ...)                                 \
  {#name, [](System<D>& system) {                                                     \
     if constexpr (D < kRollingRows || ((traits)&rolling) != 0) solve_##name(system); \
     else refuse_rolling(system);                                                     \
   }},
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
template bool run_solver(std::string_view, System<5>&);

}  // namespace stickslip::STICKSLIP_BACKEND
