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
  // Figures of the cost model; their sources are in README.md.
  double clock;                             // [Hz]
  double bandwidth, cache_bandwidth;        // [B/s] of device memory and of the L2 cache
  std::size_t cache;                        // [B] of the L2 cache
  std::size_t l1_cache;                     // [B] per processor, with shared memory
  std::size_t shared_per_processor;         // [B] of it, at most
  std::size_t registers;                    // per processor, of 32 bits
  double l1_bytes_per_cycle;                // per processor
  double l1_wait, cache_wait, memory_wait;  // [cycles] until a load arrives
  double launch, node,
      host_launch;        // [s] between two kernels of a stream, of a graph; of the host per launch
  double wait;            // [s] from the end of the work until the host goes on
  double grid_barrier;    // [s]
  double host_bandwidth;  // [B/s] of copies between host and device
};

/// nullptr: unknown.
const DeviceSheet* find_device(const char* key);

/// The one that STICKSLIP_DEVICE names, or the small one.
const DeviceSheet& chosen_device();

}  // namespace stickslip::emulation
