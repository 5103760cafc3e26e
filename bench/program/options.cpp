#include "bench/program/options.h"

#include <CLI/CLI.hpp>

#include "app/cli/examples.h"
#include "app/cli/number_range.h"

namespace stickslip {
namespace {

void add_bench(CLI::App& app, BenchOptions& options) {
  const std::string names =
      "device, primitives, lbvh, queries, spmv, pcg, assembly, contacts, memory, pile, step, steps, barrier, "
      "rigid, thin, frames";
  CLI::App* bench = app.add_subcommand("bench", "measure: " + names + ", ccd FILE...");
  bench->add_option("name", options.names, names + ", or ccd followed by files of queries")->required();
  bench->add_option("--json", options.json, "also write the figures to this file");
  bench->add_flag(
      "--full", options.full,
      "also what takes long: 1M of 'contacts', 9M tets of 'memory', the published sizes of 'steps', the "
      "largest scenes and every solver of 'rigid', 4k and 16k strands of 'thin'");
  bench->add_option("--backend", options.backend, "all, cpu or cuda; all: every one that answers")
      ->capture_default_str();
  add_threads(*bench, options.threads);
  bench
      ->add_option(
          "--scene,--scenes", options.scenes,
          "scenes of 'step', 'steps' and 'barrier', repeatable or with commas; default: every shipped one; "
          "of 'steps' drop, stack, rubble and those of Guo24's Table 1; of 'barrier' rods-twist, staircase, "
          "roller, "
          "bowl and noodles; of 'rigid' and 'thin' their own; of 'frames' drop")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_scale(*bench, options.scale);
  bench
      ->add_option("--frames,--steps", options.frames,
                   "steps per scene: 30 of 'step', 4 of 'steps', 2 of 'barrier', 600 of 'rigid', 4 of "
                   "'thin', 60 of 'frames'")
      ->check(CLI::Range(1, 100000));
  bench
      ->add_option("--warm", options.warm,
                   "of 'steps' and 'thin': steps before those that are measured; defaults: 8; 26 to 120")
      ->check(CLI::Range(0, 100000));
  bench->add_option("--scales", options.scales, "sizes of the scenes of 'barrier', with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(number_range(1.0, kMaxScale));
  bench->add_option("--at", options.at, "frame of the scenes that 'barrier' starts from")
      ->check(CLI::Range(0, 100000));
  bench
      ->add_option("--set", options.sets,
                   "of 'barrier' and 'thin', repeatable: key=value for all methods, of 'barrier' also "
                   "SOLVER:key=value for those of ipc or barrier_al")
      ->allow_extra_args(false);
  bench->add_option("--tolerance", options.tolerance, "of 'barrier': gradient that ends a step, of the first")
      ->check(number_range(1e-12, 1.0))
      ->capture_default_str();
  bench
      ->add_option("--solvers", options.solvers,
                   "contact solvers of 'rigid', methods of 'thin' (nsgs, nodal_admm), with commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  bench->add_option("--iterations", options.iterations, "of the contact solvers of 'rigid', with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1000000));
}

}  // namespace

int run_bench_cli(int argc, const char* const* argv, const EngineFactory& factory) {
  return reported([&]() -> int {
    CLI::App app{"stickslip: a sandbox for frictional contact", "stickslip"};
    app.require_subcommand(1);
    BenchOptions options;
    add_bench(app, options);
    refuse_empty_values(app);
    add_examples(app);
    return parse_arguments(app, argc, argv) ? command_bench(options, factory) : exit_good;
  });
}

}  // namespace stickslip
