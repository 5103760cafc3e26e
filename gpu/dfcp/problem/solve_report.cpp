#include "gpu/dfcp/problem/solve_report.h"

namespace stickslip {

const char* name_of(SolveEnd end) {
  switch (end) {
    case SolveEnd::converged:
      return "converged";
    case SolveEnd::iterations:
      return "iterations";
    case SolveEnd::time:
      return "time";
    case SolveEnd::cancelled:
      return "cancelled";
    case SolveEnd::stalled:
      return "stalled";
    case SolveEnd::infeasible:
      return "infeasible";
    case SolveEnd::refused:
      return "refused";
  }
  return "";
}

}  // namespace stickslip
