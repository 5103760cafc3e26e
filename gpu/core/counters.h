// Counters: what a backend did, so that a step can be held to its bounds on any machine.
#pragma once

#include <cstddef>

namespace stickslip {

/// Since they were last cleared. The CPU counts its copies as if host and backend memory were apart, so that
/// what it shows holds for a device.
struct Counters {
  std::size_t allocations = 0;
  std::size_t launches = 0;        // of kernels by the host, without those of repeated graphs
  std::size_t graph_launches = 0;  // of loops that the device repeats by itself, and of recorded launches
  std::size_t copies_to_host = 0, bytes_to_host = 0;
  std::size_t copies_to_device = 0, bytes_to_device = 0;
  std::size_t synchronisations = 0;  // waits of the host

  friend Counters operator-(Counters a, const Counters& b) {
    a.allocations -= b.allocations;
    a.launches -= b.launches;
    a.graph_launches -= b.graph_launches;
    a.copies_to_host -= b.copies_to_host;
    a.bytes_to_host -= b.bytes_to_host;
    a.copies_to_device -= b.copies_to_device;
    a.bytes_to_device -= b.bytes_to_device;
    a.synchronisations -= b.synchronisations;
    return a;
  }
};

}  // namespace stickslip
