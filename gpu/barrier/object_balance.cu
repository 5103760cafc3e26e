#include "gpu/barrier/object_balance.cuh"

#include <cmath>

#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// |sum of the gradient|^2 / mass^2 [m^2/s^4] of an object; 0 if no node of it moves freely.
SS_HD double imbalance2(const Vec<double, 4>& sums) {
  const double m = sums[3];
  return m > 0 ? (sums[0] * sums[0] + sums[1] * sums[1] + sums[2] * sums[2]) / (m * m) : 0.0;
}

}  // namespace

void ObjectBalance::load(Context& ctx, const DeviceModel& device) {
  sums_.load(ctx, device.node_object);
  of_object_.resize(ctx, sums_.objects());
}

void ObjectBalance::launch_measure(Context& ctx, const DeviceModel& device, const Vec3* g, double factor,
                                   double* out) {
  const Real* mass = device.mass.data();
  const std::uint8_t* scripted = device.scripted.data();
  sums_.sum(
      ctx,
      [=] SS_LAMBDA(std::int32_t i) {
        if (scripted[i]) return Sums{0, 0, 0, 0};
        return Sums{double(g[i][0]), double(g[i][1]), double(g[i][2]), double(mass[i])};
      },
      partial_, of_object_.data());
  const Sums* objects = of_object_.data();
  reduce_max(
      ctx, sums_.objects(), [=] SS_LAMBDA(std::size_t o) { return imbalance2(objects[o]); }, 0.0, out);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *out = factor * sqrt(*out); });
}

}  // namespace stickslip::STICKSLIP_BACKEND
