// The state of conjugate gradients and their stopping criteria: host + device, no launches.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "gpu/linear/preconditioner_settings.h"
#include "gpu/math/vec.h"

namespace stickslip {

struct PcgSettings {
  Real tolerance = Real(1e-4);  // on |r| / |b| in the preconditioner's norm |r| = sqrt(r' P^-1 r)
  int max_iterations = 10000;
  bool start_from_x = false;  // else x is overwritten with zero first
  bool same_system = false;   // matrix, fixed nodes and preconditioner are those of the last solve: kept
  // What ends the iterations. `relative` is the tolerance above, where Guo24 App. B has |r|_2 <= tol |r_0|_2:
  // in the preconditioner's norm a stiff contact has no more weight than the nodes that it moves. The others
  // are in |.|_2 as printed, and leave the tolerance alone: (i) truncated, (ii) condition_x, (iii)
  // condition_b.
  PcgCriterion criterion = PcgCriterion::relative;
  Real condition = 1;  // estimate of A's condition number, for (ii) and (iii)
  PreconditionerSettings preconditioner{};
  const Vec3* positions = nullptr;  // of the nodes [m], in backend memory; two_level needs them
  // Where the backend is a device, systems up to this size run in one resident kernel. On an H200 it is
  // faster for every size measured: 6.5 times with 10,000 nodes, 2.2 times with 104,000, 1.2 times with
  // 301,000. But a device that also draws ends kernels that run for seconds. On the CPU CrewPcg
  // runs all systems; 0: launches.
  std::size_t most_resident_nodes = 320'000;
};

enum class PcgStop : std::int32_t {
  running,
  converged,
  stagnated,  // 100 iterations brought no smaller residual, in the criterion's norm [Guo24 App. B]
  iteration_cap,
  indefinite  // p'Ap <= 0, or not a number: x is what the iterations before had reached
};

struct PcgResult {
  int iterations = 0;
  Real residual = 0;  // relative, in the preconditioner's norm, whatever the criterion
  PcgStop stop = PcgStop::running;
};

/// r' P^-1 r, |r|_2^2, |x|_2^2 over the nodes that move.
struct PcgSquares {
  Real rz, rr, xx;
  SS_HD friend constexpr PcgSquares operator+(const PcgSquares& a, const PcgSquares& b) {
    return {a.rz + b.rz, a.rr + b.rr, a.xx + b.xx};
  }
};

struct PcgState {
  PcgSquares now;
  Real pq;  // p' A p
  Real alpha, beta;
  Real reference;            // the r' P^-1 r that counts as 1
  Real best;                 // smallest square of the residual so far, in the criterion's norm ...
  std::int32_t best_at;      // ... and the iteration that had it
  Real rz_target;            // converged where rz <= rz_target ...
  Real rr_target, xx_share;  // ... or rr <= rr_target + xx_share xx
  std::int32_t iterations;
  std::int32_t last;       // iteration cap
  std::int32_t stop;       // a PcgStop
  std::int32_t euclidean;  // whether the criterion measures |r|_2

  SS_HD bool running() const { return stop == static_cast<std::int32_t>(PcgStop::running); }
  SS_HD void end(PcgStop why) { stop = static_cast<std::int32_t>(why); }
  /// The square of the residual in the criterion's norm.
  SS_HD Real watched() const { return euclidean != 0 ? now.rr : now.rz; }
  /// Relative, in the preconditioner's norm.
  SS_HD Real residual() const { return reference > 0 ? std::sqrt(now.rz / reference) : Real(0); }

  /// alpha, from p'Ap.
  SS_HD void choose_step(Real p_a_p) {
    pq = p_a_p;
    if (pq > 0) alpha = now.rz / pq;
    else end(PcgStop::indefinite);
  }
  /// After an iteration with the squares it led to.
  SS_HD void advance(const PcgSquares& squares) {
    beta = squares.rz / now.rz;
    now = squares;
    ++iterations;
    judge();
  }
  /// The decisions after `iterations` of them, with `now` up to date.
  SS_HD void judge();
  /// Sets what the criterion asks for, and its norm; `reference` is known, and bb = |b|_2^2.
  SS_HD void set_targets(const PcgSettings& settings, Real bb);
};

SS_HD inline void PcgState::judge() {
  constexpr int kPatience = 100;  // [Guo24 App. B]
  const Real rz = now.rz;
  if (watched() < best) {
    best = watched();
    best_at = iterations;
  }
  if (!(rz >= 0)) end(PcgStop::indefinite);
  else if (rz <= rz_target || now.rr <= rr_target + xx_share * now.xx) end(PcgStop::converged);
  else if (iterations >= last) end(PcgStop::iteration_cap);
  else if (iterations - best_at >= kPatience) end(PcgStop::stagnated);
}

SS_HD inline void PcgState::set_targets(const PcgSettings& settings, Real bb) {
  euclidean = settings.criterion != PcgCriterion::relative;
  // Beyond one half every direction would be accepted, even zero.
  const Real rounding = std::min(std::numeric_limits<Real>::epsilon() * settings.condition, Real(0.5));
  switch (settings.criterion) {
    case PcgCriterion::relative:
      rz_target = settings.tolerance * settings.tolerance * reference;
      break;
    case PcgCriterion::euclidean:
      rr_target = settings.tolerance * settings.tolerance * bb;
      break;
    case PcgCriterion::truncated: {
      const Real b = std::sqrt(bb);
      rr_target = (b < Real(0.25) ? b : Real(0.25)) * bb;  // (min(1/2, sqrt|b|) |b|)^2
      break;
    }
    case PcgCriterion::condition_x:
      xx_share = rounding * rounding;
      break;
    case PcgCriterion::condition_b:
      rr_target = rounding * rounding * bb;
      break;
  }
}

}  // namespace stickslip
