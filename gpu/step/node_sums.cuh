// Energies and momenta of a model's free nodes, for the report of a step.
#pragma once

#include "gpu/model/device_model.cuh"

namespace stickslip {

struct NodeSums {
  double kinetic, gravity;                    // [J]
  Vec<double, 3> momentum, angular_momentum;  // [kg m/s], [kg m^2/s] about the origin
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Sums over nodes at x with velocities v, under gravity g along y; writes to backend memory.
void launch_node_sums(Context& ctx, const DeviceModel& device, const Vec3* x, const Vec3* v, double g,
                      NodeSums* out);

}  // namespace stickslip::STICKSLIP_BACKEND
