// Benchmarks of the library: a host-only interface, so that the program can run them on each backend.
#pragma once

#include <string>
#include <vector>

#include "gpu/engine.h"

namespace stickslip {

/// One measured figure, with the floor and the peer for comparison, both in its unit, 0: none. For a unit
/// that ends in "/s" larger is better, for any other smaller.
struct BenchFigure {
  std::string name;  // e.g. "sort u32 10M"
  double value = 0;
  std::string unit;  // e.g. "Mpairs/s"
  double floor = 0;  // best possible
  std::string floor_name = {};
  // Another program's figure for the same work, machine and run. A figure published for other
  // hardware is marked as such.
  double peer = 0;
  std::string peer_name = {};
};

struct BenchResult {
  std::string bench, backend, device;
  int threads = 0;
  std::vector<BenchFigure> figures;
  std::vector<std::string> notes = {};  // for example about a missing peer
};

/// "device", "primitives", "lbvh", "queries", "spmv", "pcg", "assembly", "contacts", "memory", "pile".
/// `full`: includes the sizes of "contacts" and "memory" that take minutes and gigabytes. Throws
/// std::invalid_argument for an unknown name.
BenchResult run_bench(const std::string& name, Backend backend, int threads, bool full = false);
std::vector<std::string> list_benches();

/// Bandwidth in bytes/s of the triad a[i] = b[i] + s c[i]: the basis of the other benches' floors.
double measure_triad(Backend backend, int threads);

/// Totals over some steps.
struct StepProfile {
  int steps = 0, converged = 0;
  double wall = 0;  // [s]
  StageTimes stages;
  double newton = 0, pcg = 0, contact_iterations = 0;
  int contacts_most = 0;
  Counters counters;
  std::size_t memory_bytes = 0;  // maximum of backend memory
};

/// Steps the loaded `engine`.
StepProfile profile_steps(Engine& engine, int steps);

/// Steps the loaded `engine` `frames` times and appends to result.figures, each beginning with `name`: wall
/// time of a step, the share of each stage, Newton and PCG iterations a step, time of a PCG iteration,
/// contacts, kernel launches and host reads a step.
void add_step_profile(Engine& engine, const std::string& name, int frames, BenchResult& result);

/// A JSON object with the fields of the result under their names; a floor or peer of 0 is null.
std::string bench_json(const BenchResult& result);
/// The same for a terminal: a head line, and one line per figure and note.
std::string bench_text(const BenchResult& result);

}  // namespace stickslip
