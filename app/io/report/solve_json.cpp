#include "app/io/report/solve_json.h"

#include <nlohmann/json.hpp>

#include "app/io/file/number_text.h"

namespace stickslip {

using nlohmann::json;

json to_json(const SolveReport& report) {
  const Judgement& judged = report.judgement;
  const auto known = [](auto value) { return value > 0 ? json(value) : json(); };
  return {{"solver", report.solver},
          {"contacts", report.contacts},
          {"blocks", report.blocks},
          {"dofs", known(report.dofs)},
          {"iterations", report.iterations},
          {"seconds", report.seconds},
          {"setup_seconds", report.setup_seconds},
          {"residual", judged.residual},
          {"residual_fclib", judged.residual_fclib},
          {"equation_residual", report.equation_residual >= 0 ? json(report.equation_residual) : json()},
          {"largest_error", judged.largest_error},
          {"converged", report.converged},
          {"end", name_of(report.end)},
          {"message", report.message.empty() ? json() : json(report.message)},
          {"penetration", judged.penetration},
          {"cone_violation", judged.cone_violation},
          {"cone_distance", judged.cone_distance},
          {"complementarity", judged.complementarity},
          {"dissipation", judged.dissipation},
          {"nu", known(report.nu)},
          {"lambda_max", report.lambda_max},
          {"lambda_min", report.lambda_min},
          {"colours", known(report.colouring.colours)},
          {"colour_smallest", known(report.colouring.smallest)},
          {"colour_largest", known(report.colouring.largest)},
          {"colour_seconds", report.colouring.seconds}};
}

std::string json_line(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

void write_history_head(std::ostream& csv) {
  csv << "solver,setting,iteration,seconds,residual,residual_fclib\n";
}

void write_history(std::ostream& csv, const SolveReport& report, const std::string& setting) {
  for (const HistoryPoint& point : report.history)
    csv << report.solver << "," << setting << "," << point.iteration << "," << number_text(point.seconds)
        << "," << number_text(point.residual) << "," << number_text(point.residual_fclib) << "\n";
}

}  // namespace stickslip
