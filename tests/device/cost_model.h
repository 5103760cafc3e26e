// Predicts what a run would cost on a device: from counted launches, waits and copies, and from each access
// of its kernels to memory.
//
// A launch takes a fixed time, the time of its grid barriers, and the longest of three others. `bandwidth`:
// the distinct sectors of 32 bytes at the bandwidth of the level that holds the data, which is the L2 cache
// if all live memory fits into it. `cache`: all bytes that lanes load and store, at the bandwidth of the L1
// caches of the processors that have a block. `latency`: the time that the slowest lane waits for its loads,
// or the time of all lanes divided by the number of lanes that are resident.
//
// The first load of a sector in a launch costs the latency of the level that holds the data, each other load,
// and each access to shared memory, that of the L1 cache; kLoadsInFlight loads overlap. A barrier of a block
// lets all its lanes wait for the slowest. Arithmetic and divergence are not counted.
//
// Resident lanes follow from the registers and shared memory of the kernel, and local memory (stack and
// spilled registers) from its stack, where nvcc's figures are known. A lane that loads anything stores and
// loads each byte of its stack once, or as often as the spill instructions say, if that is more. These bytes
// go through the L1 cache. Stacks of resident lanes that do not fit there move at the bandwidth, and with the
// latency, of the L2 cache, or of device memory if they do not fit there either.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/device/devices.h"

namespace stickslip::emulation {

/// What a kernel takes, as ptxas reports it.
struct KernelResources {
  int registers = 0;                              // per lane
  std::size_t stack = 0;                          // [B] per lane, with calls and spilled registers
  std::size_t spill_stores = 0, spill_loads = 0;  // [B] of instructions, each counted once
  std::size_t shared = 0;                         // [B] per block
};

/// Blocks of `block` lanes that a processor holds at a time; 0 where it cannot hold one. A warp of 32 lanes
/// gets registers in units of 256, warps come in fours, and a block takes 1 KiB of shared memory besides its
/// own (CUDA's occupancy calculator, compute capability 8.9 and 9.0).
int resident_blocks(const DeviceSheet& device, const KernelResources& kernel, unsigned block);

/// What one launch did.
struct LaunchCost {
  std::size_t bytes_read = 0, bytes_written = 0;
  std::size_t sectors = 0;  // distinct ones of 32 bytes
  std::size_t blocks = 0;
  unsigned block = 0;                      // lanes of each
  std::size_t loading = 0;                 // lanes that load anything
  double longest_wait = 0, all_waits = 0;  // [cycles] for loads and atomic operations: of a lane, and of all
  std::size_t grid_barriers = 0;
  int library_launches = 0;  // of CUB, which the emulated device runs as one lane; 0: a kernel of the project
};

/// What bounds the time of a launch, or what else takes time.
enum class Bound { launch, bandwidth, cache, latency, barriers, wait, copy };
const char* name(Bound bound);

struct Prediction {
  double seconds = 0, floor = 0;  // floor: the distinct bytes at the full bandwidth of device memory
  Bound bound = Bound::launch;
};
/// `in_graph`: the device starts the kernel by itself. `in_cache`: all live memory fits into the L2 cache.
/// `kernel`: nullptr if unknown; then half of the lanes that fit are resident, and there is no stack.
Prediction predict(const DeviceSheet& device, const LaunchCost& cost, bool in_graph, bool in_cache,
                   const KernelResources* kernel = nullptr);

/// Sums over launches. Time by bound in `by`.
struct CostRow {
  std::size_t launches = 0, nodes = 0, waits = 0, copies = 0;
  std::size_t bytes = 0;  // distinct per launch, or copied
  double seconds = 0, floor = 0;
  std::map<Bound, double> by;
  Bound bound() const;
};

class CostModel {
 public:
  explicit CostModel(const DeviceSheet& device) : device_(device) {}

  void add_launch(const std::string& stage, const void* function, const LaunchCost& cost, bool in_graph,
                  bool in_cache);
  /// The host starts a graph; its kernels are added as they run.
  void add_graph(const std::string& stage);
  void add_wait(const std::string& stage);
  /// `within`: from device memory to device memory.
  void add_copy(const std::string& stage, std::size_t bytes, bool within);
  void forget();

  using Resources = std::map<const void*, KernelResources>;
  void set_resources(Resources resources) { resources_ = std::move(resources); }
  /// nullptr: unknown.
  const KernelResources* resources(const void* function) const;
  /// The project's own kernels that were launched, each with whether its resources are known.
  const std::map<const void*, bool>& kernels() const { return kernels_; }

  const std::map<std::string, CostRow>& stages() const { return stages_; }
  struct Place {
    std::string stage;
    const void* function;  // of a kernel; nullptr: waits and copies
    bool operator<(const Place& other) const {
      return stage != other.stage ? stage < other.stage : function < other.function;
    }
  };
  const std::map<Place, CostRow>& places() const { return places_; }

 private:
  void add(const Place& place, const CostRow& row);
  const DeviceSheet& device_;
  std::map<std::string, CostRow> stages_;
  std::map<Place, CostRow> places_;
  Resources resources_;
  std::map<const void*, bool> kernels_;
};

}  // namespace stickslip::emulation
