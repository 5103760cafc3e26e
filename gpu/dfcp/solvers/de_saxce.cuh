// A fixed point on De Saxce's shift around solvers of convex cone programs.
//
// With a fixed shift sigma = sigma(u_T), Coulomb's law is r in K, u + sigma n in K*,
// orthogonal: the optimum of
//   min 1/2 r' W r + (q + sigma n)' r   over K.
// Its solution gives the next shift [Acary11; Course §3.1].
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/dfcp/solvers/system.cuh"
#include "gpu/law/natural_map.h"

namespace stickslip::STICKSLIP_BACKEND {

/// e_c [m/s] of the problem with this shift [m/s]; u = W r + q, without the shift.
template <int D>
SS_HD inline double convex_error(ContactLaw<D> law, double s, const Vec<double, D>& r, Vec<double, D> u,
                                 double shift) {
  law.flow = FlowRule::associated;
  u[0] += shift;
  return block_error(law, s, r, u);
}

/// True if some block follows the exact rule with friction. One host read.
template <int D>
bool has_exact_law(System<D>& s) {
  Buffer<double> most(s.ctx, 1);
  const ContactLaw<D>* law = s.law;
  reduce_max(
      s.ctx, s.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        // A law without friction has no shift at any velocity.
        return shifted(law[c], Vec<double, D>::filled(1.0))[0] - 1.0;
      },
      0.0, most.data());
  return read_back(s.ctx, most.data()) > 0;
}

/// The shifts of all blocks. All zero and `active` false when no law has a shift or `params.de_saxce` is off.
template <int D>
class DeSaxce {
 public:
  explicit DeSaxce(System<D>& s) : s_(s), shift_(s.ctx, s.blocks()), exact_(has_exact_law(s)) {
    fill(s.ctx, shift_.data(), s.blocks(), 0.0);
  }

  bool exact() const { return exact_; }  // some block follows the exact rule with friction
  bool active() const { return exact_ && s_.params.de_saxce; }
  const double* data() const { return shift_.data(); }
  double* data() { return shift_.data(); }

  /// shift += share (sigma(u_T) - shift).
  void update(const Vec<double, D>* u, double share) {
    if (!active()) return;
    const ContactLaw<D>* law = s_.law;
    double* shift = shift_.data();
    launch(
        s_.ctx, s_.blocks(),
        [=] SS_LAMBDA(std::size_t c) {
          const double next = shifted(law[c], u[c])[0] - u[c][0];
          shift[c] += share * (next - shift[c]);
        },
        kMedium);
  }

 private:
  System<D>& s_;
  Buffer<double> shift_;
  bool exact_;
};

/// The outcome of a convex method on one problem.
struct ConvexEnd {
  double residual;       // |e|_2 / |q|_2, as the judge measures, with the shift fixed
  bool over = false;     // the monitor ended the solve
  bool stalled = false;  // no direction of descent is left
};

inline constexpr const char* kNoDescent = "no direction of descent is left";

/// For a solve of the associated law where the exact one was requested.
inline std::string associated_message(double residual) {
  char number[32];
  std::snprintf(number, sizeof number, "%.1e", residual);
  return std::string("the associated law is solved to ") + number +
         ", and under it gaps open by mu |u_T| where contacts slide; de_saxce = true iterates to Coulomb's "
         "law";
}

/// Solves s by a convex method: `method.run(shift, target)` continues from its current iterate until its
/// residual reaches the target. `method.r()` and `method.u()` are that iterate, with u = W r + q
/// accurate enough to judge.
template <int D, class Method>
void solve_by_shifts(System<D>& s, Method& method) {
  DeSaxce<D> shift(s);
  Monitor<D>& monitor = s.monitor;
  const double tolerance = monitor.limits().tolerance;
  // The shift at r = 0 would be that of free flight; zero is a better first shift.
  bool rough = shift.active() && !s.params.warm_start;
  double share = 1, close = 1, outer = monitor.check(method.r(), method.u());
  for (int stalls = 0; !monitor.converged() && !monitor.out_of_budget();) {
    if (!rough) shift.update(method.u(), share);
    const double inner = rough ? std::max(0.3, s.params.de_saxce_inner) : s.params.de_saxce_inner;
    const double target =
        shift.active() ? std::max(inner * outer, 0.1 * close * tolerance) : close * tolerance;
    const ConvexEnd end = method.run(shift.data(), target);
    if (end.over) return;
    const double now = monitor.check(method.r(), method.u());
    if (monitor.converged()) return;
    if (!shift.active() && shift.exact())
      return monitor.stop(SolveEnd::stalled, end.stalled ? kNoDescent : associated_message(end.residual));
    // The residual stagnates because of rounding in u or an oscillating shift: lower the
    // target, shorten the update.
    if (end.residual <= target && now <= 2 * tolerance && now > 0.9 * outer) close *= 0.5;
    if (!rough) share = now < outer ? std::min(1.0, 1.5 * share) : std::max(0.05, 0.7 * share);
    stalls = end.stalled && !(now < 0.99 * outer) ? stalls + 1 : 0;
    if (stalls > 20 || !(now < 1e300) || close < 1e-6) return monitor.stop(SolveEnd::stalled, kNoDescent);
    rough = false;
    outer = now;
  }
}

}  // namespace stickslip::STICKSLIP_BACKEND
