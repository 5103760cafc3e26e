// Whole steps of a scene on two engines, side by side; and runs of one engine, bit by bit.
#pragma once

#include <cstdint>
#include <string>

#include "app/io/scene/scene.h"
#include "gpu/engine.h"

namespace stickslip::compare {

/// "cpu", "cpu:2" (threads), "cuda".
struct Runner {
  std::string text = "cpu";
  Backend backend = Backend::cpu;
  int threads = 0;
};
/// Throws InputError.
Runner parse_runner(const std::string& text);

struct Lengths {
  int steps = 5;     // whose positions are compared
  int then = 0;      // further steps, after which energy and contacts are
  double nudge = 0;  // of the second engine's start, in sizes of the scene: what rounding alone would do
};

/// Of one scene on two engines.
struct Outcome {
  double size = 0;       // [m] the diagonal of the scene's box
  double distance = 0;   // the largest between nodes or bodies, in sizes
  double tolerance = 0;  // for that
  double by_rounding =
      0;  // as `distance`, between runs of the first from starts that differ by rounding; 0: not asked
  int first_contacts = 0, second_contacts = 0;       // at the end
  long first_iterations = 0, second_iterations = 0;  // of Newton or of the contact solver, in all
  double energy_apart = 0;                       // of the two at the end, in what the run exchanged or gained
  double first_seconds = 0, second_seconds = 0;  // of all steps
  std::string fault;                             // empty: they agree
};

/// The scene as both engines run it: no limit of time, and tolerances of Newton that leave a common answer.
void settle_for_comparison(Scene& scene);

/// How far apart two runs may be after `steps`, in sizes of the scene; 0 for two runs on the CPU.
///
/// Barrier: Newton stops within newton_tolerance dt of the minimiser, from different sides; an error e of a
/// step is one of e / dt in the velocity, so that n steps can gather n (n + 1) / 2 of them, from both sides.
///
/// Rigid: contact solvers stop at a residual or after a number of sweeps, and sums in another order then
/// differ by rounding, which every impact and every contact that just opens makes larger (chaos): see kRigid.
double tolerance_of(const Scene& scene, const Runner& first, const Runner& second, const Lengths& lengths);

/// A scene that fails is run again, on the first engine, from a start that differs by rounding: where that
/// leads beyond what is allowed too, the two engines may be ten times as far apart.
Outcome compare(const Scene& scene, const Runner& first, const Runner& second, const Lengths& lengths);

/// FNV-1a over the bits of the states after each of `steps` steps.
std::uint64_t hash_run(const Scene& scene, const Runner& runner, int steps);

}  // namespace stickslip::compare
