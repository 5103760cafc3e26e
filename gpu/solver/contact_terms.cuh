// Barrier and friction over the active contacts: values, corner gradients and corner Hessian blocks.
#pragma once

#include "gpu/energy/friction.h"
#include "gpu/model/interaction.h"
#include "gpu/solver/contact_set.cuh"

namespace stickslip {

struct ContactSettings {
  Real d_hat = 0;           // [m]
  Real slip_threshold = 0;  // eps_v dt [m]: sliding distance per step below which friction is smoothed
  bool lagged_friction = false;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

static_assert(sizeof(CornerVectors) == 4 * sizeof(Vec3) && sizeof(CornerBlocks) == kTetBlocks * sizeof(Mat3));

class ContactTerms {
 public:
  void begin_step(const ContactSettings& settings, const Vec3* x_t);

  void set_stiffness(Real sigma) { sigma_ = sigma; }
  Real stiffness() const { return sigma_; }

  /// The active set at x. With friction updated per Newton iteration, its normal forces and frames too.
  void update(Context& ctx, const Proximity& near, const Vec3* x);
  /// Takes normal forces and frames of friction from the current set at x [Li 2020: lagging].
  void update_friction(Context& ctx, const Vec3* x);
  /// Until the next step `update` leaves friction alone: it has a potential then, and Newton descends.
  void freeze_friction() { settings_.lagged_friction = true; }
  const ContactSet& set() const { return set_; }
  void clear() { set_.clear(); }

  /// Energies at x [J] into backend memory: the barrier's over all of `near`, and friction's.
  void values(Context& ctx, const Proximity& near, const Vec3* x, double* barrier, double* friction);
  /// Corner gradients and blocks at x, friction included; `stencil_count` of them, over `stencil_nodes`.
  void linearise(Context& ctx, const Vec3* x);
  /// Corner gradients of the bare barrier (sigma = 1), for the stiffness fit. Overwrites what `linearise`
  /// left.
  void barrier_gradients(Context& ctx, const Vec3* x);

  /// The current set for a viewer, at positions x [m] and velocities v [m/s].
  void records(Context& ctx, const DeviceModel& device, const Params& params, const Vec3* x, const Vec3* v,
               Buffer<ContactRecord>& out);

  std::size_t stencil_count() const { return stencil_count_; }
  const Vec4i* stencil_nodes() const { return stencil_nodes_.data(); }
  /// Four per stencil.
  const Vec3* corner_gradients() const { return reinterpret_cast<const Vec3*>(gradients_.data()); }
  /// Ten per stencil, lower blocks by rows.
  const Mat3* corner_blocks() const { return reinterpret_cast<const Mat3*>(blocks_.data()); }

 private:
  void resize(Context& ctx, std::size_t count);

  ContactSettings settings_;
  Real sigma_ = 0;
  const Vec3* x_t_ = nullptr;
  const Plane* planes_ = nullptr;
  ContactSet set_;
  std::size_t friction_count_ = 0;
  Buffer<Vec4i> friction_nodes_;
  Buffer<FrictionStencil> friction_;
  std::size_t stencil_count_ = 0;
  Buffer<Vec4i> stencil_nodes_;
  Buffer<CornerVectors> gradients_;
  Buffer<CornerBlocks> blocks_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
