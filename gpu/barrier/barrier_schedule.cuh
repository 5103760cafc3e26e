// BarrierSchedule: updates of sigma, multipliers and friction between the Newton iterations of one
// minimisation [Guo24 Alg.1].
#pragma once

#include <limits>

#include "gpu/barrier/contact_terms.cuh"
#include "gpu/model/report.h"

namespace stickslip::STICKSLIP_BACKEND {

class BarrierSchedule {
 public:
  /// Before the first iteration at x: builds A' for `barrier_al`. `scripts_blocked`: springs pull scripted
  /// nodes to their places.
  BarrierSchedule(Context& ctx, ContactTerms& contacts, const Proximity& near, const Vec3* x,
                  const Params& params, bool scripts_blocked);

  /// After an iteration, before the contacts are updated: stiffens the Hessian of friction where the last
  /// step was too long, and freezes friction if it makes Newton cycle.
  void watch(const NewtonRecord& record);
  /// True if the current potential is final; false while frozen friction is to be refreshed at its minimum.
  bool is_settled() const { return settlings_ == 0 && !waits_for_scripts_ && !thawed_; }
  bool is_frozen() const { return frozen_; }
  /// After an iteration within tolerance that does not end the step, as momentum does not balance: shortens
  /// later steps where friction raises the energy.
  void refuse() { was_refused_ = true; }
  /// The share of a Newton step to go: below 1 where friction makes Newton's method cycle.
  Real share() const;

  /// At the minimum of a potential that is not final: refreshes friction.
  void settle(Context& ctx, const Vec3* x);
  /// After any other iteration: lines 3 to 6 and 12 to 16 of the algorithm, with the contacts updated at x.
  void advance(Context& ctx, const Proximity& near, const Vec3* x, const NewtonRecord& record);

 private:
  void double_stuck(Real gap);
  void stop_waiting();
  void forget_energy() { last_energy_ = std::numeric_limits<double>::infinity(); }

  ContactTerms& contacts_;
  const Params& params_;
  Real first_stiffness_;
  Real last_gap_;
  double last_energy_ = std::numeric_limits<double>::infinity();     // for the next iteration's potential
  double paced_gradient_ = std::numeric_limits<double>::infinity();  // at the last change of multipliers
  Real friction_secant_ = 0, late_share_ = 1;
  int iterations_ = 0, rises_ = 0, settlings_ = 0;
  bool frozen_ = false, was_refused_ = false;
  bool waits_for_scripts_;
  bool thawed_ = false;  // in this iteration
};

}  // namespace stickslip::STICKSLIP_BACKEND
