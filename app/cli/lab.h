// What `stickslip solve` and `stickslip race` have in common: where a problem comes from, and the lab's
// settings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/io/fclib/fclib.h"
#include "gpu/contact_lab.h"

namespace CLI {
class App;
}  // namespace CLI

namespace stickslip {

using LabFactory = std::function<std::unique_ptr<ContactLab>(Backend, int threads)>;

struct LabOptions {
  std::string problem, generate;  // one of them: a file, or a generator
  long size = 0;                  // of a generated problem; 0: the generator's default
  std::uint64_t seed = 1;
  std::string law = "exact";  // what all contacts of the problem follow
  std::string backend = "auto";
  int threads = 0;
  std::vector<std::string> settings;
  std::optional<double> tolerance, max_iterations, time_budget;
  bool warm_start = false, json = false;
};

struct SolveOptions : LabOptions {
  std::string solver = "auto", history, out;
};

struct RaceOptions : LabOptions {
  std::vector<std::string> solvers;  // empty: all, or none but those of the sweeps
  std::vector<std::string> sweeps;   // "solver.param=a:b:n"
  std::string csv, plot;
};

/// The subcommands' arguments. They fill `options` when parsed.
CLI::App* add_solve(CLI::App& app, SolveOptions& options);
CLI::App* add_race(CLI::App& app, RaceOptions& options);

/// Both return exit_good, or exit_failed when nothing converged. Throw InputError.
int command_solve(const SolveOptions& options, const LabFactory& labs);
int command_race(const RaceOptions& options, const LabFactory& labs);

/// A problem and what messages and tables call it.
struct NamedProblem {
  std::string name;
  FclibFile file;
};
/// Reads or generates it; its contacts follow `options.law`, and with `warm_start` it has a guess. Throws
/// InputError, also when there is nothing that a warm start could take for a guess.
NamedProblem prepare_problem(const LabOptions& options, bool warm_start);
/// Changes the law of every contact, and of no joint. "exact": nothing, "associated": the flow rule without
/// De Saxce's shift, "box": the pyramid |r_i| <= mu_i r_N, "frictionless": mu = 0.
void apply_law(ContactProblem& problem, const std::string& law);
/// A lab that holds the problem. Throws InputError when the problem is refused, DeviceError.
std::unique_ptr<ContactLab> prepare_lab(const LabOptions& options, const NamedProblem& problem,
                                        Backend backend, const LabFactory& labs);
/// `base` with everything applied that the options say. Throws InputError.
LabParams prepare_lab_params(const LabOptions& options, const LabParams& base = {});
/// lab.solve, where a problem that only shows while W is built that it cannot be solved (A not positive
/// definite, a velocity that no impulse can stop, too many entries) throws InputError.
SolveReport solve_problem(ContactLab& lab, const NamedProblem& problem, const std::string& solver,
                          const LabParams& params, const ContactLab::Options& options);
/// The row of this name. Throws InputError naming the option's text and the nearest name.
const ParamInfo& find_lab_param(const std::string& name, const std::string& option);
/// Throws InputError with the nearest name when there is none.
const ContactSolverInfo& find_contact_solver(const std::vector<ContactSolverInfo>& solvers,
                                             const std::string& name, const std::string& option);
/// "local", "global" or "bodies".
const char* form_name(ContactProblem::Form form);
/// "12 contacts, 2 joint blocks, 48 rows, global (30 dofs)".
std::string describe(const ContactProblem& problem);

}  // namespace stickslip
