#include "gpu/barrier/head_start.cuh"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gpu/core/atomics.h"
#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// touched[object] = 1 for those with a node in one of the n contacts.
void mark_touched(Context& ctx, std::size_t n, const Vec4i* nodes, const std::int32_t* object,
                  std::int32_t* touched) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    for (int c = 0; c < 4; ++c)
      if (nodes[i][c] >= 0) atomic_max(touched + object[nodes[i][c]], 1);
  });
}

/// The same for objects with a node that a script holds or the pointer pulls: they need not fall.
void mark_held(Context& ctx, std::size_t n, const std::int32_t* object, const std::uint8_t* scripted,
               const DragSpring& drag, std::int32_t* touched) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    const auto node = static_cast<std::int32_t>(i);
    const bool pulled =
        drag.stiffness > Real(0) && (drag.nodes[0] == node || drag.nodes[1] == node || drag.nodes[2] == node);
    if (scripted[i] || pulled) atomic_max(touched + object[i], 1);
  });
}

void set_way(Context& ctx, std::size_t n, const StepInputs& in, const std::int32_t* object,
             const std::int32_t* touched, const std::uint8_t* scripted, const Vec3* x, Vec3* p) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    if (scripted[i]) p[i] = Vec3::zero();
    else p[i] = (touched[object[i]] != 0 ? in.x_t[i] + in.dt * in.v_t[i] : in.y[i]) - x[i];
  });
}

/// In each coordinate the longer of both ways that an object can take.
void set_longer_way(Context& ctx, std::size_t n, const StepInputs& in, const std::uint8_t* scripted,
                    const Vec3* x, Vec3* p) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    if (scripted[i]) return void(p[i] = Vec3::zero());
    const Vec3 goes_on = in.x_t[i] + in.dt * in.v_t[i] - x[i], falls = in.y[i] - x[i];
    for (int k = 0; k < 3; ++k) p[i][k] = std::abs(falls[k]) > std::abs(goes_on[k]) ? falls[k] : goes_on[k];
  });
}

}  // namespace

void HeadStart::load(Context& ctx, const DeviceModel& device) {
  const std::vector<std::int32_t> object = device.node_object.download(ctx);
  objects_ = object.empty() ? 0 : static_cast<std::size_t>(*std::ranges::max_element(object)) + 1;
  touched_.resize(ctx, objects_);
}

void HeadStart::find(Context& ctx, IncrementalPotential& potential, const DeviceModel& device, const Vec3* x,
                     Vec3* p) {
  const ContactSet& contacts = potential.contacts().set();
  // Joints hold bodies, too.
  fill(ctx, touched_.data(), objects_, std::int32_t{potential.constraints().empty() ? 0 : 1});
  mark_touched(ctx, contacts.size(), contacts.nodes(), device.node_object.data(), touched_.data());
  mark_held(ctx, device.node_count, device.node_object.data(), device.scripted.data(),
            potential.inputs().drag, touched_.data());
  set_way(ctx, device.node_count, potential.inputs(), device.node_object.data(), touched_.data(),
          device.scripted.data(), x, p);
}

void HeadStart::foresee(Context& ctx, const StepInputs& inputs, const DeviceModel& device, const Vec3* x,
                        Vec3* p) {
  set_longer_way(ctx, device.node_count, inputs, device.scripted.data(), x, p);
}

}  // namespace stickslip::STICKSLIP_BACKEND
