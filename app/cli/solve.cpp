// stickslip solve: solves one contact problem with one solver.
#include <cstdio>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/interrupt.h"
#include "app/cli/lab.h"
#include "app/io/file/output_file.h"
#include "app/io/report/solve_json.h"

namespace stickslip {
namespace {

void print_report(const NamedProblem& problem, const SolveReport& report, const LabParams& params,
                  const std::string& backend) {
  const Judgement& judged = report.judgement;
  std::printf("problem       %s: %s\n", problem.name.c_str(), describe(problem.file.problem).c_str());
  std::printf("solver        %s on %s: %s after %ld iterations, %.4g s (and %.3g s of setup)%s%s\n",
              report.solver.c_str(), backend.c_str(),
              report.converged ? "converged" : ("NOT converged, " + std::string(name_of(report.end))).c_str(),
              report.iterations, report.seconds, report.setup_seconds,
              report.message.empty() ? "" : "\n              ", report.message.c_str());
  std::printf("residual      %.3e, tolerance %g; as FCLIB measures %.3e\n", judged.residual, params.tolerance,
              judged.residual_fclib);
  if (report.equation_residual >= 0)
    std::printf("equations     |M v - H r - f| / |f| = %.3e\n", report.equation_residual);
  std::printf("velocities    wrong by %.3e m/s at most, penetration %.3e m/s, complementarity %.3e J\n",
              judged.largest_error, judged.penetration, judged.complementarity);
  std::printf("impulses      out of their cones by %.3e of the largest\n", judged.cone_violation);
  std::printf("dissipation   %.6g J\n", judged.dissipation);
  std::printf("spectrum      of W from %.4g to %.4g m/s per N s (estimated)", report.lambda_min,
              report.lambda_max);
  if (report.nu > 0) std::printf("; nu = 3 contacts / dofs = %.3g", report.nu);
  std::printf("\n");
  if (report.colouring.colours > 0)
    std::printf("colours       %d, of %zu to %zu blocks, in %.3g s\n", report.colouring.colours,
                report.colouring.smallest, report.colouring.largest, report.colouring.seconds);
}

/// Asymmetry of the problem's M or W; zero for the form of bodies.
Asymmetry asymmetry_of(const ContactProblem& problem) {
  if (problem.form == ContactProblem::Form::bodies) return {};
  return asymmetry_of(problem.form == ContactProblem::Form::global ? problem.A : problem.W);
}

/// Warns that a matrix is not symmetric and is used unchanged.
void print_asymmetry(const ContactProblem& problem) {
  constexpr double kWorthSaying = 1e-6;
  const Asymmetry seen = asymmetry_of(problem);
  if (seen.relative <= kWorthSaying) return;
  const char* name = problem.form == ContactProblem::Form::global ? "M" : "W";
  std::printf(
      "asymmetry     %s(%d, %d) is %.6g and %s(%d, %d) is %.6g, apart by %.3g of the geometric mean of their "
      "diagonal entries; used as it stands\n",
      name, seen.row, seen.column, seen.lower, name, seen.column, seen.row, seen.upper, seen.relative);
  if (seen.one_sided)
    std::printf(
        "              all its entries off the diagonal stand on one side: if it is half of a symmetric "
        "matrix, the file must hold both halves\n");
}

void save_history(const std::string& path, const SolveReport& report) {
  OutputFile file(path);
  write_history_head(file.stream());
  write_history(file.stream(), report, "");
  file.commit();
}

}  // namespace

int command_solve(const SolveOptions& options, const LabFactory& labs) {
  const std::vector<ContactSolverInfo> solvers = list_lab_solvers();
  find_contact_solver(solvers, options.solver, "--solver " + options.solver);
  const LabParams params = prepare_lab_params(options);
  check_distinct({{"--history", options.history}, {"--out", options.out}});
  if (!options.problem.empty())
    check_not_input({{"--history", options.history}}, options.problem, "the problem");
  const Backend backend = prepare_backend(options.backend);
  NamedProblem problem = prepare_problem(options, params.warm_start);
  if (!options.out.empty()) check_expressible(problem.file.problem, options.out);
  const std::unique_ptr<ContactLab> lab = prepare_lab(options, problem, backend, labs);

  const InterruptGuard interrupt;
  const SolveReport report =
      solve_problem(*lab, problem, options.solver, params,
                    {.cancel = &interrupt.flag(), .history = !options.history.empty()});

  // A failed output must lose neither the other output nor the result.
  std::exception_ptr failure;
  const auto attempt = [&](const auto& write) {
    try {
      write();
    } catch (const std::runtime_error&) {
      if (failure == nullptr) failure = std::current_exception();
    }
  };
  if (!options.out.empty() && !report.r.empty())
    attempt([&] {
      problem.file.solution = to_fclib(problem.file.problem, report.r, report.u);
      write_fclib(options.out, problem.file);
    });
  if (!options.history.empty()) attempt([&] { save_history(options.history, report); });
  if (options.json) {
    nlohmann::json row = to_json(report);
    row["problem"] = problem.name;
    row["form"] = form_name(problem.file.problem.form);
    row["dim"] = problem.file.problem.dim;
    row["backend"] = backend_name(backend);
    row["asymmetry"] = asymmetry_of(problem.file.problem).relative;
    row["tolerance"] = params.tolerance;
    row["law"] = options.law;
    std::cout << json_line(row) << std::endl;
  } else {
    print_report(problem, report, params, backend_name(backend));
    print_asymmetry(problem.file.problem);
    std::fflush(stdout);
  }
  if (failure != nullptr) std::rethrow_exception(failure);
  return report.converged ? exit_good : exit_failed;
}

}  // namespace stickslip
