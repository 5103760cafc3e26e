// Barrier and friction over the active contacts: values, corner gradients and corner Hessian blocks.
#pragma once

#include <optional>
#include <vector>

#include "gpu/barrier/augmented_set.cuh"
#include "gpu/barrier/impact_constraints.cuh"
#include "gpu/energy/friction.h"
#include "gpu/model/interaction.h"

namespace stickslip {

struct ContactSettings {
  Real d_hat = 0;  // [m]
  Real slip_threshold =
      0;  // eps_v times the time of sliding [m]: sliding distance below which friction is smoothed
  bool lagged_friction = false;
  std::optional<AugmentationSettings> augmentation;  // none: plain barrier
  /// [m] above 0: no barrier; the pairs of A' keep this gap, see ImpactConstraints.
  Real constraint_gap = 0;
  Real cubic_inertia = 0;  // above 0: a cubic barrier, see NodeResistance::inertia
};

/// Of a contact in A, or of one in A' with multiplier m. With constraints, only those of A' have forces.
SS_HD inline ContactPotential potential_of(const Contact& contact, Real d_hat, Real sigma,
                                           Real constraint_gap, bool is_augmented, Real m) {
  if (!(constraint_gap > 0)) {
    ContactPotential potential(d_hat, sigma, m);
    potential.own = contact.own;
    return potential;
  }
  // The other one has no force at any positive gap.
  return is_augmented ? ContactPotential::constraint(constraint_gap, sigma, m)
                      : ContactPotential::constraint(Real(0), Real(1), Real(0));
}

/// The contacts of a step as the potential has them, in backend memory. Stencils i < active are those of A,
/// the others those of A' in the order of `augmented`. Friction has stencils of its own: where `aligned`, one
/// for each contact, in their order; else those of an earlier configuration.
struct ContactTermsView {
  Proximity near;
  const Contact* contact;
  std::size_t size, active;
  const std::int32_t* candidate;  // of A: the index of the contact's pair in `near`
  const AugmentedPair* augmented;
  const std::uint64_t* keys;  // of `augmented`
  std::size_t augmented_count;
  Real sigma, d_hat, constraint_gap;

  const Vec4i* friction_nodes;
  const FrictionStencil* friction;
  const std::uint64_t* friction_keys;  // of their pairs, see friction_key
  std::size_t friction_count;
  bool aligned;
  const Vec3* still;
  Real slip_threshold;

  SS_HD ContactPotential potential(std::size_t i) const {
    return potential_of(contact[i], d_hat, sigma, constraint_gap, i >= active, contact[i].multiplier);
  }
  SS_HD ContactPair pair(std::size_t i) const {
    return i < active ? near[static_cast<std::size_t>(candidate[i])] : augmented[i - active].pair;
  }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Names the stencil of a pair in A, or that in A'.
SS_HD inline std::uint64_t friction_key(const ContactPair& pair, bool is_augmented) {
  return pair_key(pair) ^ (is_augmented ? 0x9e3779b97f4a7c15ULL : 0ULL);
}

static_assert(sizeof(CornerVectors) == 4 * sizeof(Vec3) &&
              sizeof(CornerBlocks) == kCornerBlocks * sizeof(Mat3));

class ContactTerms {
 public:
  /// Friction acts along the displacement from `still` to x, over a time of slip_threshold / eps_v.
  void begin_step(const ContactSettings& settings, const Vec3* still);

  void set_stiffness(Real sigma) { sigma_ = sigma; }
  Real stiffness() const { return sigma_; }
  /// For sigma_rule = ipc2020: the largest sigma of the step [N/m], and the gap [m] below which it grows.
  struct Ipc2020 {
    Real most, tight_gap;
  };
  void set_ipc2020(const Ipc2020& rule) { ipc2020_ = rule; }
  const Ipc2020& ipc2020() const { return ipc2020_; }

  /// Updates the active set at x, and keeps A'. Where friction is updated per Newton iteration, also its
  /// normal forces and frames. `after_values`: the last call of `values` was with this `near` and at this x,
  /// so the gaps are known.
  void update(Context& ctx, const Proximity& near, const Vec3* x, bool after_values = false);
  /// Between two Newton iterations, after `update` at the same x: new multipliers, then a new A' [Guo24
  /// Alg.1]. True if the potential has changed. Does nothing without augmentation.
  bool augment(Context& ctx, const Proximity& near, const Vec3* x);
  /// With constraints: changes A' as AugmentedSet::merge, and `update`.
  void merge(Context& ctx, const Proximity& near, const std::uint8_t* added, const Vec3* x, Real keep);
  /// With constraints, between two Newton iterations: the residual of the multipliers at y [m]; new ones.
  Real multiplier_residual(Context& ctx, const Vec3* y);
  void update_multipliers(Context& ctx, const Vec3* y);
  /// With constraints: normal forces of friction at y.
  void follow_constraints(Context& ctx, const Vec3* y);
  bool has_constraints() const { return settings_.constraint_gap > 0; }
  /// Takes normal forces and frames of friction from the current set at x [Li20: lagging].
  void update_friction(Context& ctx, const Vec3* x);
  /// Until the next step, `update` does not change friction: it then has a potential, and Newton descends.
  void freeze_friction() { settings_.lagged_friction = true; }
  /// From the next update on, friction follows the normal forces again.
  void thaw_friction() { settings_.lagged_friction = false; }
  /// Of the next `linearise`, see friction_hessian: 0 for the Hessian of friction, 1 for a majorant.
  void set_friction_secant(Real share) { friction_secant_ = share; }
  const ContactSet& set() const { return set_; }
  void clear() {
    set_.clear();
    augmented_.clear();
  }
  const AugmentedSet& augmented() const { return augmented_; }

  /// Pairs of `near` closer than d_hat at x. One host read.
  std::size_t count_active(Context& ctx, const Proximity& near, const Vec3* x);
  /// Writes energies at x [J] to backend memory: the barrier's over all of `near`,
  /// that of A', and friction's.
  void values(Context& ctx, const Proximity& near, const Vec3* x, double* barrier, double* augmented,
              double* friction);
  /// The same at the x of the last update: the barrier's over the current set, which is quicker.
  void current_values(Context& ctx, const Proximity& near, const Vec3* x, double* barrier, double* augmented,
                      double* friction);
  /// Those of A' and friction alone.
  void other_values(Context& ctx, const Proximity& near, const Vec3* x, double* augmented, double* friction);
  /// Corner gradients and blocks at x, friction included; `stencil_count` of them, over `stencil_nodes`.
  /// Behind them come places for `extra` stencils, which the caller fills.
  void linearise(Context& ctx, const Vec3* x, std::size_t extra = 0);
  Vec4i* extra_nodes() { return stencil_nodes_.data() + (stencil_count_ - extra_); }
  CornerVectors* extra_gradients() { return gradients_.data() + (stencil_count_ - extra_); }
  CornerBlocks* extra_blocks() { return blocks_.data() + (stencil_count_ - extra_); }
  /// True if friction follows the normal forces at the x of the last update, and any contact has friction.
  bool follows_normal_forces() const { return !settings_.lagged_friction && friction_count_ > 0; }
  /// Where it does: the change of friction's corner gradients along p by that of the normal forces, times -1;
  /// `set().size()` of them, for the first stencils of the last `linearise` at x.
  void friction_change(Context& ctx, const Vec3* x, const Vec3* p);
  const Vec3* corner_changes() const { return reinterpret_cast<const Vec3*>(changes_.data()); }
  /// Corner gradients of the bare barrier (sigma = 1), for the stiffness fit. Overwrites
  /// the results of `linearise`.
  void barrier_gradients(Context& ctx, const Vec3* x);
  /// *out = the energy of the barrier over A, for the given sigma.
  void barrier_energy(Context& ctx, const Vec3* x, Real sigma, double* out);

  /// The current contacts for a viewer, at positions x [m] and velocities v [m/s]: A, and the contacts of A'
  /// beyond d_hat that still have a force. `errors`: see BarrierJudge; null: not known. Waits for the host.
  void records(Context& ctx, const DeviceModel& device, const Params& params, const Vec3* x, const Vec3* v,
               const float* errors, std::vector<ContactRecord>& out);

  /// For those who judge the step; valid until the next update.
  ContactTermsView view() const;

  std::size_t stencil_count() const { return stencil_count_; }
  const Vec4i* stencil_nodes() const { return stencil_nodes_.data(); }
  /// Four per stencil.
  const Vec3* corner_gradients() const { return reinterpret_cast<const Vec3*>(gradients_.data()); }
  /// Ten per stencil, lower blocks by rows.
  const Mat3* corner_blocks() const { return reinterpret_cast<const Mat3*>(blocks_.data()); }

 private:
  void resize(Context& ctx, std::size_t count);
  /// `near` as the barrier of this step sees it.
  Proximity seen(Proximity near) const {
    near.resistance.inertia = settings_.cubic_inertia;
    return near;
  }

  ContactSettings settings_;
  Real sigma_ = 0, friction_secant_ = 0;
  Ipc2020 ipc2020_{0, 0};
  const Vec3* still_ = nullptr;
  Proximity near_{};  // of the last update
  ContactSet set_;
  AugmentedSet augmented_;
  ImpactConstraints constraints_;
  Real last_gap_ = 0;  // smallest distance at the last update of A' [m]
  Buffer<ContactRecord> records_;
  Buffer<std::int32_t> active_count_;
  std::size_t friction_count_ = 0;
  Buffer<Vec4i> friction_nodes_;
  Buffer<FrictionStencil> friction_;
  Buffer<std::uint64_t> friction_keys_;
  std::size_t stencil_count_ = 0, extra_ = 0;
  Buffer<Vec4i> stencil_nodes_;
  Buffer<CornerVectors> gradients_, changes_;
  Buffer<CornerBlocks> blocks_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
