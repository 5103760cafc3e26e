#include "app/cli/lab.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "app/cli/cli.h"
#include "app/cli/number_range.h"
#include "gpu/dfcp/problem/generators.h"

namespace stickslip {
namespace {

void add_lab_options(CLI::App& command, LabOptions& options, const char* problem_meaning) {
  command.add_option("problem", options.problem, problem_meaning);
  CLI::Option* generate = command.add_option(
      "--generate", options.generate, "make a problem instead of reading one (see: stickslip list problems)");
  command.add_option("--size", options.size, "of a generated problem; default: the generator's")
      ->check(CLI::Range(1L, 2000000000L))
      ->needs(generate);
  add_seed(command, options.seed, "of a generated problem")->needs(generate);
  command
      .add_option(
          "--law", options.law,
          "of all contacts: exact (Coulomb's or what the problem says), associated (sliding opens gaps, "
          "a convex problem), box (a pyramid of friction) or frictionless")
      ->check(CLI::IsMember({"exact", "associated", "box", "frictionless"}))
      ->capture_default_str();
  command.add_option("--tolerance", options.tolerance,
                     "residual (the judge's) that ends a solve; default: 1e-8");
  command.add_option("--max-iterations", options.max_iterations, "iterations at most");
  command
      .add_option("--set", options.settings,
                  "key=value, repeatable: a parameter of the solvers (see: stickslip list lab-params)")
      ->allow_extra_args(false);
  add_backend(command, options.backend, options.threads);
  command.add_flag(
      "--warm-start", options.warm_start,
      "start from the problem's guess, or else from its solution, instead of zero; as --set warm_start=true");
  command.add_flag("--json", options.json, "one JSON object instead of text");
}

constexpr const char* kExitCodes =
    "Exit codes: 0 converged, 1 not converged, 2 bad input, 3 no suitable device.";

/// ": did you mean ...?", or the command that lists the names.
std::string hint(const std::string& nearest, const char* list) {
  return nearest.empty() ? "; stickslip list " + std::string(list) + " shows all"
                         : "; did you mean '" + nearest + "'?";
}

void set_lab_param(LabParams& params, const std::string& name, double value, const std::string& option) {
  try {
    set_param(&params, find_lab_param(name, option), value);
  } catch (const std::invalid_argument& error) {
    throw InputError(option + ": " + error.what());
  }
}

void apply_lab_setting(LabParams& params, const std::string& assignment) {
  const std::string option = "--set " + assignment;
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) throw InputError(option + ": must be key=value");
  try {
    set_param(&params, find_lab_param(assignment.substr(0, equals), option),
              std::string_view(assignment).substr(equals + 1));
  } catch (const std::invalid_argument& error) {
    throw InputError(option + ": " + error.what());
  }
}

NamedProblem read_problem(const std::string& path) {
  return {std::filesystem::path(path).filename().string(), read_fclib(path)};
}

NamedProblem generate_problem(const LabOptions& options) {
  try {
    NamedProblem made{options.generate, {}};
    made.file.problem = generate(options.generate, options.size, options.seed);
    if (!made.file.problem.guess.empty())
      made.file.guesses = {to_fclib(made.file.problem, made.file.problem.guess, {})};
    return made;
  } catch (const std::invalid_argument& error) {
    throw InputError("--generate " + options.generate + ": " + error.what());
  }
}

/// The options of a race of steppers. With --steppers, those of contact problems alone are refused.
void add_stepper_options(CLI::App& race, RaceOptions& options) {
  CLI::Option* steppers =
      race.add_option("--steppers", options.steppers,
                      "with commas: steppers that all advance the scene from the same state (see: stickslip "
                      "list solvers, step-solvers), or all; --set then takes the scene's parameters")
          ->delimiter(',')
          ->allow_extra_args(false);
  for (const char* name : {"--generate", "--size", "--seed", "--law", "--tolerance", "--max-iterations",
                           "--warm-start", "--solvers", "--time-budget", "--sweep", "--csv", "--plot"})
    steppers->excludes(race.get_option(name));
  race.add_option("--frame", options.frame, "frame of the scene from which the steppers start")
      ->check(CLI::Range(0, 100000000))
      ->capture_default_str()
      ->needs(steppers);
  race.add_option("--steps", options.steps, "steps of each stepper")
      ->check(CLI::Range(1, 100000000))
      ->capture_default_str()
      ->needs(steppers);
  race.add_option("--picture-dir", options.pictures,
                  "draw the state at the end of each stepper to STEPPER.png in this folder")
      ->needs(steppers);
  race.add_option("--variant", options.variant, "one of the scene's variants")->needs(steppers);
  race.add_option("--scale", options.scale, "of the scene, instead of its own")
      ->check(number_range(1.0, kMaxScale))
      ->needs(steppers);
}

}  // namespace

CLI::App* add_solve(CLI::App& app, SolveOptions& options) {
  CLI::App* solve = app.add_subcommand("solve", "solve one frictional contact problem");
  add_lab_options(*solve, options, "FCLIB file (.hdf5), local or global");
  solve->add_option("--solver", options.solver, "see: stickslip list contact-solvers")->capture_default_str();
  solve->add_option("--time-budget", options.time_budget,
                    "seconds after which the best iterate is returned, as it is upon Ctrl+C; default: none");
  solve->add_option("--history", options.history,
                    "write residuals of every iteration to this CSV file (judged off the clock)");
  solve->add_option("--out", options.out, "write problem and solution to this FCLIB file");
  solve->footer(kExitCodes);
  return solve;
}

CLI::App* add_race(CLI::App& app, RaceOptions& options) {
  CLI::App* race = app.add_subcommand(
      "race", "all solvers on one frictional contact problem, or steppers on a scene, ranked");
  add_lab_options(*race, options,
                  "FCLIB file (.hdf5), local or global; with --steppers a scene: shipped name or file");
  race->add_option("--solvers", options.solvers, "some, with commas; default: all, or only those of --sweep")
      ->delimiter(',')
      ->allow_extra_args(false);
  race->add_option("--time-budget", options.time_budget, "seconds for each solver, 0: no limit; default: 5");
  race->add_option(
          "--sweep", options.sweeps,
          "solver.param=a:b:n, repeatable: n runs with the parameter from a to b, in equal ratios where "
          "b / a is 10 or more")
      ->allow_extra_args(false);
  race->add_option("--csv", options.csv,
                   "write all residuals to this file, one row for each check by the judge");
  race->add_option(
      "--plot", options.plot,
      "draw residuals against iterations and time into this .png file (needs python3 with matplotlib); "
      "the figures go to a .csv beside it");
  add_stepper_options(*race, options);
  race->footer(
      "Exit codes: 0 some solver converged, or some stepper made all steps; 1 none did, 2 bad input, 3 no "
      "suitable device.");
  return race;
}

NamedProblem prepare_problem(const LabOptions& options, bool warm_start) {
  if (options.problem.empty() == options.generate.empty())
    throw InputError(
        "a problem is needed: either an FCLIB file or --generate NAME (stickslip list problems)");
  NamedProblem made = options.generate.empty() ? read_problem(options.problem) : generate_problem(options);
  ContactProblem& p = made.file.problem;
  if (warm_start && p.guess.empty()) p.guess = p.solution;
  if (warm_start && p.guess.empty())
    throw InputError(made.name + ": --warm-start: it has neither a guess nor a solution to start from");
  apply_law(p, options.law);
  return made;
}

void apply_law(ContactProblem& problem, const std::string& law) {
  if (law == "box" && problem.dim == kRollingRows)
    throw InputError(
        "--law box: contacts with rolling resistance have no pyramid; choose exact, associated or "
        "frictionless");
  for (BlockLaw& block : problem.laws) {
    if (block.set == FrictionSet::bilateral) continue;
    if (law == "associated") block.flow = FlowRule::associated;
    if (law == "box") block.set = FrictionSet::box;
    if (law == "frictionless") block.mu = {};
  }
}

std::unique_ptr<ContactLab> prepare_lab(const LabOptions& options, const NamedProblem& problem,
                                        Backend backend, const LabFactory& labs) {
  std::unique_ptr<ContactLab> lab = labs(backend, options.threads);
  try {
    lab->load(problem.file.problem);
  } catch (const std::invalid_argument& error) {
    throw InputError(problem.name + ": " + error.what());
  }
  return lab;
}

LabParams prepare_lab_params(const LabOptions& options, const LabParams& base) {
  LabParams params = base;
  for (const std::string& setting : options.settings) apply_lab_setting(params, setting);
  if (options.tolerance) set_lab_param(params, "tolerance", *options.tolerance, "--tolerance");
  if (options.max_iterations)
    set_lab_param(params, "max_iterations", *options.max_iterations, "--max-iterations");
  if (options.time_budget) set_lab_param(params, "time_budget", *options.time_budget, "--time-budget");
  if (options.warm_start) params.warm_start = true;
  return params;
}

SolveReport solve_problem(ContactLab& lab, const NamedProblem& problem, const std::string& solver,
                          const LabParams& params, const ContactLab::Options& options) {
  try {
    return lab.solve(solver, params, options);
  } catch (const std::invalid_argument& error) {
    throw InputError(problem.name + ": " + error.what());
  }
}

const ParamInfo& find_lab_param(const std::string& name, const std::string& option) {
  const ParamInfo* row = find_param(lab_param_table(), name);
  if (!row)
    throw InputError(option + ": there is no parameter '" + name + "'" +
                     hint(nearest_name(lab_param_table(), name), "lab-params"));
  return *row;
}

const ContactSolverInfo& find_contact_solver(const std::vector<ContactSolverInfo>& solvers,
                                             const std::string& name, const std::string& option) {
  std::vector<std::string_view> names;
  for (const ContactSolverInfo& solver : solvers) {
    if (solver.name == name) return solver;
    names.push_back(solver.name);
  }
  throw InputError(option + ": there is no contact solver '" + name + "'" +
                   hint(nearest_name(names, name), "contact-solvers"));
}

const char* form_name(ContactProblem::Form form) {
  switch (form) {
    case ContactProblem::Form::local:
      return "local";
    case ContactProblem::Form::global:
      return "global";
    case ContactProblem::Form::bodies:
      return "bodies";
  }
  return "";
}

std::string describe(const ContactProblem& problem) {
  std::string text = std::to_string(problem.contacts()) + " contacts, ";
  if (const std::size_t joints = problem.blocks() - problem.contacts(); joints > 0)
    text += std::to_string(joints) + " joint blocks, ";
  text.append(std::to_string(problem.size())).append(" rows, ");
  if (problem.dim != 3)
    text.append(std::to_string(problem.dim))
        .append(" a block (")
        .append(problem.dim == kRollingRows ? "rolling resistance" : "torsion")
        .append("), ");
  text += form_name(problem.form);
  if (problem.dofs() > 0) text += " (" + std::to_string(problem.dofs()) + " dofs)";
  return text;
}

}  // namespace stickslip
