// HeadStart: where the minimisation of a step begins. On the way there objects move without solving a system.
#pragma once

#include "gpu/barrier/incremental_potential.cuh"
#include "gpu/core/buffer.h"
#include "gpu/model/device_model.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// Objects that nothing touches or holds go where inertia and gravity take them, the others along their
/// velocity for dt: what rests stays, and what turns or swings goes on. Both follow from the state at the
/// start of the step.
class HeadStart {
 public:
  void load(Context& ctx, const DeviceModel& device);

  /// p = the way from x [m], with the contacts that `potential` has; zero at scripted nodes.
  void find(Context& ctx, IncrementalPotential& potential, const DeviceModel& device, const Vec3* x, Vec3* p);
  /// p = about that way, before the contacts are known.
  void foresee(Context& ctx, const StepInputs& inputs, const DeviceModel& device, const Vec3* x, Vec3* p);

 private:
  std::size_t objects_ = 0;
  Buffer<std::int32_t> touched_;  // per object: 1 if something touches or holds it
};

}  // namespace stickslip::STICKSLIP_BACKEND
