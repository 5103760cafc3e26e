// The devices that can be emulated: their limits, and the figures of the cost model.
#pragma once

#include <cstddef>

namespace stickslip::emulation {

struct DeviceSheet {
  const char* key;  // in STICKSLIP_DEVICE
  const char* name;
  int processors;                // streaming multiprocessors
  int lanes_per_processor;       // resident
  int blocks_per_processor;      // resident
  std::size_t shared_per_block;  // [B], without opting in for more
  std::size_t memory;            // [B]
  int capability;                // 90 for 9.0
  int memory_clock;              // [kHz]
  int bus_width;                 // [bit]
};

/// The one that STICKSLIP_DEVICE names, or the small one.
const DeviceSheet& chosen_device();

}  // namespace stickslip::emulation
