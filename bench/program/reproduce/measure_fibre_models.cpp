// Contact solvers on wisps of fibres in three discretisations (fibre_models.h) over nu = 3 contacts / dofs
// [Bertails11]. Each nu and each start is one wisp, whose strands, motion and contacts are the same for the
// three. Quantities and curves are those of measure_fibre_nu.cpp for each discretisation D and method M:
// D.M.failed_below and so on.
#include <cmath>

#include "bench/program/reproduce/fibre_models.h"
#include "bench/program/reproduce/fibre_problems.h"

namespace stickslip {

Measurement measure_fibre_models(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  if (run.sizes.size() != 1 || run.values.empty())
    throw InputError("claim " + claim.name +
                     ": this measure takes one size (strands along a side of the wisp) and values (nu)");
  Measurement out;
  for (const FibreModel model : kFibreModels) {
    std::vector<FibreProblem> problems;
    for (const double nu : run.values)
      for (int k = 0; k < run.starts; ++k) {
        context.check();
        Wisp wisp;
        wisp.side = static_cast<int>(run.sizes[0]);
        wisp.contacts = static_cast<int>(std::lround(nu * kFibreDofs * wisp.side * wisp.side / 3));
        wisp.seed = static_cast<std::uint64_t>(k) + 1;
        problems.emplace_back(wisp_problem(model, wisp));
      }
    measure_fibres(claim, run, context, std::string(name_of(model)) + ".", std::move(problems), out);
  }
  return out;
}

}  // namespace stickslip
