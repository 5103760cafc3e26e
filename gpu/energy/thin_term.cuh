// What the terms of cloth and rods have in common: no det F, so nothing that could be inverted.
#pragma once

#include "gpu/energy/energy_term.cuh"

namespace stickslip::STICKSLIP_BACKEND {

class ThinTerm : public EnergyTerm {
 public:
  bool forbids_inversion() const final { return false; }
  double energy_rounding() const final { return energy_rounding_; }
  void min_determinant(Context& ctx, const Vec3* x, bool only_forbidden, double* out) final;
  void count_inverted(Context& ctx, const Vec3* x, double* out) final;

 protected:
  double energy_rounding_ = 0;  // [J]
};

}  // namespace stickslip::STICKSLIP_BACKEND
