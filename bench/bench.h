// Benchmarks of the library: host-only face, so that the program can run them on each backend.
#pragma once

#include <string>
#include <vector>

#include "gpu/engine.h"

namespace stickslip {

/// One measured figure, with the floor and the peer it is compared to; both in its unit, 0: none. Of a unit
/// that ends in "/s" more is better, of any other less.
struct BenchFigure {
  std::string name;  // e.g. "sort u32 10M"
  double value = 0;
  std::string unit;  // e.g. "Mpairs/s"
  double floor = 0;  // best possible
  std::string floor_name = {};
  // Another program's figure for the same work, machine and run; one that was published for other hardware is
  // named so.
  double peer = 0;
  std::string peer_name = {};
};

struct BenchResult {
  std::string bench, backend, device;
  int threads = 0;
  std::vector<BenchFigure> figures;
  std::vector<std::string> notes = {};  // e.g. a peer that is not there
};

/// "device", "primitives", "lbvh", "queries", "spmv", "pcg", "assembly", "contacts", "memory", "pile".
/// `full`: also the sizes that take minutes and gigabytes, of "contacts" and "memory". Throws
/// std::invalid_argument for an unknown name.
BenchResult run_bench(const std::string& name, Backend backend, int threads, bool full = false);
std::vector<std::string> list_benches();

/// Bandwidth in bytes/s of the triad a[i] = b[i] + s c[i]: what the floors of other benches are reckoned
/// from.
double measure_triad(Backend backend, int threads);

/// What some steps took, all in all.
struct StepProfile {
  int steps = 0, converged = 0;
  double wall = 0;  // [s]
  StageTimes stages;
  double newton = 0, pcg = 0, contact_iterations = 0;
  int contacts_most = 0;
  Counters counters;
  std::size_t memory_bytes = 0;  // the most that the backend held
};

/// Steps `engine`, which is loaded.
StepProfile profile_steps(Engine& engine, int steps);

/// Steps `engine`, which is loaded, `frames` times and appends to result.figures, each beginning with `name`:
/// wall time of a step, the share of each stage, Newton and PCG iterations a step, time of a PCG iteration,
/// contacts, kernel launches and host reads a step.
void add_step_profile(Engine& engine, const std::string& name, int frames, BenchResult& result);

/// A JSON object with the fields of the result by their names; a floor or peer of 0 is null.
std::string bench_json(const BenchResult& result);
/// The same for a terminal: a head line, and one line per figure and note.
std::string bench_text(const BenchResult& result);

}  // namespace stickslip
