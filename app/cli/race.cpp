// stickslip race: many solvers on one contact problem, ranked.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/cli/cli.h"
#include "app/cli/interrupt.h"
#include "app/cli/lab.h"
#include "app/cli/race_plot.h"
#include "app/cli/race_sweep.h"
#include "app/io/file/output_file.h"
#include "app/io/report/race_rank.h"
#include "app/io/report/solve_json.h"

namespace stickslip {
namespace {

using nlohmann::json;

constexpr double kBudget = 5;  // seconds for each solver

struct Finish {
  RaceEntry entry;
  SolveReport report;
};

/// The named solvers and the sweeps; if neither is given, all solvers.
std::vector<RaceEntry> entries_of(const RaceOptions& options, const LabParams& params) {
  const std::vector<ContactSolverInfo> known = list_lab_solvers();
  std::vector<RaceEntry> entries;
  for (const std::string& name : options.solvers)
    entries.push_back({std::string(find_contact_solver(known, name, "--solvers " + name).name), "", params});
  for (const std::string& sweep : options.sweeps) {
    const std::vector<RaceEntry> more = expand_sweep(sweep, known, params);
    entries.insert(entries.end(), more.begin(), more.end());
  }
  if (entries.empty())
    for (const ContactSolverInfo& solver : known) entries.push_back({std::string(solver.name), "", params});
  return entries;
}

std::vector<Finish> run(ContactLab& lab, const NamedProblem& problem, const std::vector<RaceEntry>& entries,
                        const std::atomic<bool>& cancel) {
  std::vector<Finish> finishes;
  for (const RaceEntry& entry : entries) {
    if (cancel) break;
    finishes.push_back({entry, solve_or_refuse(lab, problem.file.problem, entry.solver, entry.params,
                                               {.cancel = &cancel, .history = true})});
    const SolveReport& report = finishes.back().report;
    std::fprintf(stderr, "%s: %s, residual %.2e after %ld iterations, %.3g s\n", entry.name().c_str(),
                 name_of(report.end), report.judgement.residual, report.iterations, report.seconds);
  }
  return finishes;
}

std::string seconds_text(std::optional<double> seconds) {
  char text[32] = "-";
  if (seconds) std::snprintf(text, sizeof text, "%.4g", *seconds);
  return text;
}

void print_table(const std::vector<Finish>& finishes) {
  std::size_t width = 14;
  for (const Finish& f : finishes) width = std::max(width, f.entry.name().size());
  std::printf("\n%3s  %-*s  %-10s %10s %10s %10s %10s %11s %11s %10s\n", "", static_cast<int>(width),
              "solver", "end", "iterations", "seconds", "to 1e-4 s", "setup s", "residual", "as FCLIB",
              "dissip. J");
  int rank = 0;
  for (const Finish& f : finishes) {
    const SolveReport& r = f.report;
    std::printf("%3d  %-*s  %-10s %10ld %10.4g %10s %10.2g %11.3e %11.3e %10.4g\n", ++rank,
                static_cast<int>(width), f.entry.name().c_str(), name_of(r.end), r.iterations, r.seconds,
                seconds_text(seconds_to(r, 1e-4)).c_str(), r.setup_seconds, r.judgement.residual,
                r.judgement.residual_fclib, r.judgement.dissipation);
  }
  for (const Finish& f : finishes)
    if (!f.report.message.empty()) std::printf("%s: %s\n", f.entry.name().c_str(), f.report.message.c_str());
  std::fflush(stdout);
}

json to_json(const NamedProblem& problem, const std::vector<Finish>& finishes, const LabParams& params,
             Backend backend) {
  json rows = json::array();
  for (const Finish& f : finishes) {
    json row = stickslip::to_json(f.report);
    const std::optional<double> rough = seconds_to(f.report, 1e-4);
    row["name"] = f.entry.name();
    row["setting"] = f.entry.setting.empty() ? json() : json(f.entry.setting);
    row["seconds_to_1e-4"] = rough ? json(*rough) : json();
    rows.push_back(std::move(row));
  }
  const ContactProblem& p = problem.file.problem;
  return {{"problem", problem.name},
          {"form", form_name(p.form)},
          {"contacts", p.contacts()},
          {"blocks", p.blocks()},
          {"dofs", p.dofs() ? json(p.dofs()) : json()},
          {"backend", backend_name(backend)},
          {"tolerance", params.tolerance},
          {"time_budget", params.time_budget},
          {"ranking", std::move(rows)}};
}

void save_csv(const std::string& path, const std::vector<Finish>& finishes) {
  OutputFile file(path);
  write_history_head(file.stream());
  for (const Finish& f : finishes) write_history(file.stream(), f.report, f.entry.setting);
  file.commit();
}

}  // namespace

int command_race(const RaceOptions& options, const LabFactory& labs) {
  LabParams base;
  base.time_budget = kBudget;
  const LabParams params = prepare_lab_params(options, base);
  const std::vector<RaceEntry> entries = entries_of(options, params);
  const std::string csv = race_csv(options.csv, options.plot);
  check_distinct({{"--csv", csv}, {"--plot", options.plot}});
  if (!options.problem.empty())
    check_not_input({{"--csv", csv}, {"--plot", options.plot}}, options.problem, "the problem");
  if (!options.plot.empty()) check_race_plot(options.plot);
  const Backend backend = prepare_backend(options.backend);
  const NamedProblem problem = prepare_problem(options, params.warm_start);
  const std::unique_ptr<ContactLab> lab = prepare_lab(options, problem, backend, labs);

  const InterruptGuard interrupt;
  std::vector<Finish> finishes = run(*lab, problem, entries, interrupt.flag());
  std::stable_sort(finishes.begin(), finishes.end(),
                   [](const Finish& a, const Finish& b) { return ranks_before(a.report, b.report); });
  if (options.json) {
    json result = to_json(problem, finishes, params, backend);
    result["law"] = options.law;
    std::cout << json_line(result) << std::endl;
  } else {
    std::printf("%s: %s; to %g on %s", problem.name.c_str(), describe(problem.file.problem).c_str(),
                params.tolerance, backend_name(backend).c_str());
    if (params.time_budget > 0) std::printf(", %g s each", params.time_budget);
    if (options.law != "exact") std::printf(", %s", options.law.c_str());
    print_table(finishes);
  }
  if (!csv.empty()) save_csv(csv, finishes);
  if (!options.plot.empty())
    draw_race(csv, options.plot,
              {problem.name + ": " + describe(problem.file.problem) + ", " + backend_name(backend),
               params.tolerance});
  return std::any_of(finishes.begin(), finishes.end(), [](const Finish& f) { return f.report.converged; })
             ? exit_good
             : exit_failed;
}

}  // namespace stickslip
