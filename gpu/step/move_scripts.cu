// Where scripted nodes go before a step is solved, and others with them.
#include "gpu/core/launch.h"
#include "gpu/core/trace.h"
#include "gpu/step/time_stepper.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// way = script_step of scripted nodes, dt v of the others.
void set_common_way(Context& ctx, std::size_t n, const std::uint8_t* scripted, const Vec3* script_step,
                    Real dt, const Vec3* v, Vec3* way) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { way[i] = scripted[i] ? script_step[i] : dt * v[i]; });
}

/// x += way.
void move_nodes(Context& ctx, std::size_t n, const Vec3* way, Vec3* x) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { x[i] += way[i]; });
}

}  // namespace

void TimeStepper::go(Context& ctx, const DeviceModel& device, const Vec3* way) {
  move_nodes(ctx, device.node_count, way, x_.data());
}

/// Moves scripted nodes straight to their targets unless a contact, or an element that must not invert, is in
/// the way [Li20 §4]. Returns true if they are blocked: then they move together with the others
/// (find_common_way), or springs pull them during the minimisation, against contacts and elements.
bool TimeStepper::move_scripts(Context& ctx, const DeviceModel& device, const Params& params,
                               const DeviceState& state, StageClock& clock, StepReport& report) {
  const Span span(ctx, "scripts");
  if (!is_free(ctx, device, params, script_step_.data(), state, clock, report)) return true;
  go(ctx, device, script_step_.data());
  return false;
}

/// The way of scripted nodes to their targets and of the others along their velocity.
const Vec3* TimeStepper::common_way(Context& ctx, const DeviceModel& device, const Params& params,
                                    const DeviceState& state) {
  Vec3* way = velocity_.data();  // free until update_velocities
  set_common_way(ctx, device.node_count, device.scripted.data(), script_step_.data(),
                 static_cast<Real>(params.dt), state.v.data(), way);
  potential_.embedding().expand(ctx, way);  // lattices whose nodes are scripted
  return way;
}

/// That way, turned for bodies that turn; null if something is in its way, too, or it is longer than a Newton
/// step may be.
const Vec3* TimeStepper::find_common_way(Context& ctx, const DeviceModel& device, const Params& params,
                                         const DeviceState& state, StageClock& clock, StepReport& report) {
  const Span span(ctx, "scripts");
  const Vec3* way = common_way(ctx, device, params, state);
  if (potential_.embedding().turns()) {
    Vec3* turned = script_step_.data();
    potential_.embedding().turn(ctx, x_.data(), way, turned);
    way = turned;
  }
  const bool goes =
      newton_.is_short_enough(ctx, device, way) && is_free(ctx, device, params, way, state, clock, report);
  return goes ? way : nullptr;
}

/// Whether no contact and no element is in this way from x.
bool TimeStepper::is_free(Context& ctx, const DeviceModel& device, const Params& params, const Vec3* way,
                          const DeviceState& state, StageClock& clock, StepReport& report) {
  Vec3* x = x_.data();
  if (newton_.step_bound(ctx, device, params, x, way, clock, report.seconds) < Real(1)) return false;
  go(ctx, device, way);
  const bool is_inverted = potential_.is_inverted(ctx, x);
  copy(ctx, x, state.x.data(), device.node_count);
  return !is_inverted;
}

}  // namespace stickslip::STICKSLIP_BACKEND
