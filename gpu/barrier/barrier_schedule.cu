#include "gpu/barrier/barrier_schedule.cuh"

#include <algorithm>
#include <utility>

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// Guo24 Alg.1 raises sigma once the smallest gap is below this share of d_hat.
constexpr double kTightGap = 1e-2;
// Friction that is refreshed every iteration has no potential, and under strong friction Newton may cycle.
// After kMostRises iterations that ended at a higher energy than the one before, friction is frozen for the
// rest of the step, except for a few refreshes at the minima found.
// Before that, after kHalvingRises and kQuarteringRises, steps go only half and then a quarter of their way,
// which ends most cycles.
constexpr int kHalvingRises = 8, kQuarteringRises = 24, kMostRises = 80;
constexpr int kSettlings = 2;
// See refuse(). Friction can leave a point where directions are short and momentum does not balance yet, and
// climb. From the iteration kPatience of a step on, after such a point, each rise of the energy shortens the
// steps by kShorter, and each fall lengthens them by kLonger. Milder factors and more patience leave steps of
// a mat on a tower of cards unconverged; without patience, drop takes 6% more iterations in place of 2%.
constexpr int kPatience = 16;
constexpr Real kShorter = Real(0.5), kLonger = Real(1.4), kLeastLate = Real(0.125);

// Newton's model of friction has no curvature along a slip, so steps overshoot where a slip reverses or ends.
// After a step that the line search shortened, the next model majorises friction. This slows the convergence
// of slips, so every full step halves the share of the secant.
constexpr Real kFullStep = Real(0.9), kLeastSecant = Real(0.01);

// See stop_waiting(). Later, squeeze takes 3% more iterations for 1; earlier, hair on a turning ball a third
// more.
constexpr Real kFreeWay = Real(0.5);

/// The new sigma at a tight gap [Guo24 Alg.1, line 16]: as printed, max(growth sigma, cap sigma_0), which
/// jumps to cap sigma_0 at once, or min, which grows up to it.
Real raised(Real sigma, Real first, const Params& params) {
  const Real grown = static_cast<Real>(params.barrier_growth) * sigma;
  const Real cap = static_cast<Real>(params.barrier_cap) * first;
  return params.sigma_rule == SigmaRule::jump ? std::max(grown, cap) : std::min(grown, cap);
}

}  // namespace

BarrierSchedule::BarrierSchedule(Context& ctx, ContactTerms& contacts, const Proximity& near, const Vec3* x,
                                 const Params& params, bool scripts_blocked)
    : contacts_(contacts),
      params_(params),
      first_stiffness_(contacts.stiffness()),
      last_gap_(contacts.set().min_gap()),
      waits_for_scripts_(scripts_blocked && params.friction_update == FrictionUpdate::newton) {
  if (waits_for_scripts_) contacts_.freeze_friction();
  contacts_.augment(ctx, near, x);
  contacts_.set_friction_secant(friction_secant_);
}

void BarrierSchedule::watch(const NewtonRecord& record) {
  const bool rose = record.energy > last_energy_;
  rises_ += rose;
  if (++iterations_ > kPatience && was_refused_) {
    const Real share = (rose ? kShorter : kLonger) * late_share_;
    late_share_ = std::clamp(share, kLeastLate, Real(1));
  }
  last_energy_ = record.energy;
  const bool is_full = record.step_length > kFullStep * record.ccd_bound;
  thawed_ = false;
  if (is_full && record.ccd_bound >= kFreeWay) stop_waiting();
  friction_secant_ = is_full ? Real(0.5) * friction_secant_ : Real(1);
  if (friction_secant_ < kLeastSecant) friction_secant_ = 0;
  contacts_.set_friction_secant(friction_secant_);
  if (params_.friction_update != FrictionUpdate::newton || frozen_ || rises_ != kMostRises) return;
  frozen_ = true;
  contacts_.freeze_friction();
  settlings_ = kSettlings;
}

Real BarrierSchedule::share() const {
  if (params_.friction_update != FrictionUpdate::newton || frozen_) return Real(1);
  if (rises_ < kHalvingRises) return late_share_;
  return std::min(late_share_, rises_ < kQuarteringRises ? Real(0.5) : Real(0.25));
}

/// Springs that pull bodies to where scripts want them press surfaces together with forces that the step does
/// not end with. If friction followed these, it could hold the bodies where they are: until the first step
/// that impacts leave half of its way, it has the normal forces of the start of the step.
void BarrierSchedule::stop_waiting() {
  if (!std::exchange(waits_for_scripts_, false)) return;
  contacts_.thaw_friction();
  forget_energy();
  thawed_ = true;
}

void BarrierSchedule::settle(Context& ctx, const Vec3* x) {
  if (thawed_) return;  // with the contacts
  if (waits_for_scripts_) stop_waiting();
  else --settlings_;
  contacts_.update_friction(ctx, x);
}

void BarrierSchedule::advance(Context& ctx, const Proximity& near, const Vec3* x,
                              const NewtonRecord& record) {
  // With multiplier_pace below 1, multipliers wait until the gradient has fallen to that share.
  if (record.gradient_norm <= params_.multiplier_pace * paced_gradient_) {
    paced_gradient_ = record.gradient_norm;
    if (contacts_.augment(ctx, near, x)) forget_energy();
  }
  const Real gap = contacts_.set().min_gap();
  if (params_.sigma_rule == SigmaRule::ipc2020) return double_stuck(gap);
  const bool tight = gap < kTightGap * params_.d_hat;
  // The algorithm raises sigma at every tight gap; plain IPC only where the last
  // iteration did not widen the gap.
  const bool answers = params_.solver == SolverKind::barrier_al || gap <= last_gap_;
  if (params_.barrier_stiffness == 0 && tight && answers) {
    contacts_.set_stiffness(raised(contacts_.stiffness(), first_stiffness_, params_));
    forget_energy();
  }
  last_gap_ = gap;
}

/// [Li20 suppl.]: sigma doubles where the smallest gap was tiny before the iteration and did not grow.
void BarrierSchedule::double_stuck(Real gap) {
  const auto& [most, tight_gap] = contacts_.ipc2020();
  const bool stuck = gap >= 0 && gap < tight_gap && last_gap_ < tight_gap && gap <= last_gap_;
  if (params_.barrier_stiffness == 0 && stuck && contacts_.stiffness() < most) {
    contacts_.set_stiffness(std::min(2 * contacts_.stiffness(), most));
    forget_energy();
  }
  last_gap_ = gap;
}

}  // namespace stickslip::STICKSLIP_BACKEND
