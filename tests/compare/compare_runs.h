// Whole steps of a scene on two engines in parallel, and bitwise comparison of repeated runs of one engine.
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
  int steps = 5;     // steps with compared positions
  int then = 0;      // further steps; energy and contacts are compared after them
  double nudge = 0;  // of the second engine's start, in sizes of the scene: mimics rounding
};

/// Result for one scene on two engines.
struct Outcome {
  double size = 0;       // [m] the diagonal of the scene's box
  double distance = 0;   // largest distance between nodes or bodies, in sizes
  double tolerance = 0;  // largest allowed distance
  double by_rounding =
      0;  // like `distance`, for two runs of the first engine with perturbed starts; 0: not run
  int first_contacts = 0, second_contacts = 0;       // at the end
  long first_iterations = 0, second_iterations = 0;  // total of Newton or of the contact solver
  double energy_apart = 0;                           // at the end, relative to the exchanged or gained energy
  double first_seconds = 0, second_seconds = 0;      // of all steps
  std::string fault;                                 // empty: the engines agree
};

/// Prepares the scene for both engines: no time limits, sweeps by colours, and Newton tolerances that define
/// a unique result.
void settle_for_comparison(Scene& scene);

/// Few iterations of Newton's method and PCG, which need not converge: for runs in which each access to
/// memory is checked. Both engines do the same iterations. Contact solvers go on as usual: their sweeps have
/// another order on a device, so they agree only once they have converged.
void make_brief(Scene& scene);

/// Largest distance of two runs after `steps`, in sizes of the scene; 0 for two runs on the CPU.
///
/// Barrier: Newton stops within newton_tolerance dt of the minimiser, at different points. An error e of a
/// step is an error e / dt of the velocity, so n steps accumulate n (n + 1) / 2 errors, on both sides.
///
/// Rigid: contact solvers stop at a residual or after a number of sweeps. Sums in another order differ by
/// rounding, which grows with every impact and every contact that just opens (chaos): see kRigid.
double tolerance_of(const Scene& scene, const Runner& first, const Runner& second, const Lengths& lengths);

/// A scene that fails is run again on the first engine, from a perturbed start. If that also exceeds the
/// tolerance, the two engines may be ten times as far apart.
Outcome compare(const Scene& scene, const Runner& first, const Runner& second, const Lengths& lengths);

/// FNV-1a over the bits of the states after each of `steps` steps.
std::uint64_t hash_run(const Scene& scene, const Runner& runner, int steps);

}  // namespace stickslip::compare
