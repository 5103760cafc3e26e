// ObjectBalance: how far every object is from the balance of its momentum, for the stopping test of Newton's
// method.
#pragma once

#include "gpu/linear/object_sums.cuh"
#include "gpu/model/device_model.cuh"

namespace stickslip::STICKSLIP_BACKEND {

class ObjectBalance {
 public:
  void load(Context& ctx, const DeviceModel& device);

  /// *out = largest |sum of g over the nodes of an object| factor / (their mass), over all objects with nodes
  /// that no script holds. `g`: gradient [N], zero at nodes that do not move. factor = beta dt: the speed
  /// [m/s] by which the momentum at the end of the step is wrong. Writes to backend memory; no host read.
  void launch_measure(Context& ctx, const DeviceModel& device, const Vec3* g, double factor, double* out);

 private:
  /// Of some nodes: the sum of their gradients [N] and their mass [kg].
  using Sums = Vec<double, 4>;

  ObjectSums sums_;
  Buffer<Sums> partial_, of_object_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
