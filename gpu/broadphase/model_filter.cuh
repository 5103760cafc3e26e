// pair_filter: the pairs of nodes of a model that never come into contact.
#pragma once

#include "gpu/broadphase/primitive_pairs.h"
#include "gpu/model/device_model.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// `device` must outlive the filter.
inline PairFilter pair_filter(const DeviceModel& device) {
  PairFilter filter(device.apart.data());
  if (device.node_body.size() > 0) filter.body = device.node_body.data();
  filter.object = device.node_object.data();
  filter.exempt = device.exempt_objects.data();
  filter.exempt_count = static_cast<std::int32_t>(device.exempt_objects.size());
  return filter;
}

}  // namespace stickslip::STICKSLIP_BACKEND
