// Code shared by `stickslip solve` and `stickslip race`: the source of the problem, and the lab's settings.
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
  std::string problem, generate;  // exactly one: a file, or a generator
  long size = 0;                  // of a generated problem; 0: the generator's default
  std::uint64_t seed = 1;
  std::string law = "exact";  // law of all contacts of the problem
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
  std::vector<std::string> solvers;  // empty: all; with sweeps: only those of the sweeps
  std::vector<std::string> sweeps;   // "solver.param=a:b:n"
  std::string csv, plot;
  // Of a race of steppers: `problem` is then a scene.
  std::vector<std::string> steppers;  // empty: a race of contact solvers
  int frame = 0, steps = 1;
  std::string pictures, variant;
  std::optional<double> scale;
};

/// Declare the arguments of the subcommands. Parsing fills `options`.
CLI::App* add_solve(CLI::App& app, SolveOptions& options);
CLI::App* add_race(CLI::App& app, RaceOptions& options);

/// Both return exit_good, or exit_failed if no solver converged. Throw InputError.
int command_solve(const SolveOptions& options, const LabFactory& labs);
int command_race(const RaceOptions& options, const LabFactory& labs);

/// A problem and its name in messages and tables.
struct NamedProblem {
  std::string name;
  FclibFile file;
};
/// Reads or generates the problem and applies `options.law` to its contacts. With `warm_start` the result has
/// an initial guess. Throws InputError, also when no guess for the warm start exists.
NamedProblem prepare_problem(const LabOptions& options, bool warm_start);
/// Changes the law of every contact; joints stay. "exact": no change, "associated": the flow rule without De
/// Saxce's shift, "box": the pyramid |r_i| <= mu_i r_N, "frictionless": mu = 0.
void apply_law(ContactProblem& problem, const std::string& law);
/// Returns a lab with the problem loaded. Throws InputError when the lab refuses the problem, DeviceError.
std::unique_ptr<ContactLab> prepare_lab(const LabOptions& options, const NamedProblem& problem,
                                        Backend backend, const LabFactory& labs);
/// `base` with the options applied. Throws InputError.
LabParams prepare_lab_params(const LabOptions& options, const LabParams& base = {});
/// Calls lab.solve. Some unsolvable problems show only while W is built: A is not positive definite, no
/// impulse can stop a velocity, or W has too many entries. These throw InputError.
SolveReport solve_problem(ContactLab& lab, const NamedProblem& problem, const std::string& solver,
                          const LabParams& params, const ContactLab::Options& options);
/// The row of this name. Throws InputError with the option's text and the nearest name.
const ParamInfo& find_lab_param(const std::string& name, const std::string& option);
/// The solver of this name. Throws InputError with the nearest name if there is none.
const ContactSolverInfo& find_contact_solver(const std::vector<ContactSolverInfo>& solvers,
                                             const std::string& name, const std::string& option);
/// "local", "global" or "bodies".
const char* form_name(ContactProblem::Form form);
/// "12 contacts, 2 joint blocks, 48 rows, global (30 dofs)".
std::string describe(const ContactProblem& problem);

}  // namespace stickslip
