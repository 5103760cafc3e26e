#include "tests/device/cost_model.h"

#include <algorithm>
#include <cmath>

namespace stickslip::emulation {
namespace {

constexpr double kLoadsInFlight = 4;
// For kernels whose registers are unknown.
constexpr double kOccupancy = 0.5;
constexpr unsigned kWarp = 32;
constexpr double kLocalLoad = 8;  // [B] of one load from a stack

constexpr std::size_t rounded_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

/// Lanes per processor.
double resident_lanes(const DeviceSheet& device, const LaunchCost& cost, const KernelResources* kernel) {
  if (kernel == nullptr || cost.block == 0) return kOccupancy * device.lanes_per_processor;
  return std::max(1, resident_blocks(device, *kernel, cost.block)) * static_cast<double>(cost.block);
}

/// What stacks and spilled registers add to a launch.
struct LocalMemory {
  double bytes = 0;
  double bandwidth = 0;  // [B/s] below the L1 cache; 0: they stay in it
  double wait = 0;       // [cycles] of each lane
};
LocalMemory local_memory(const DeviceSheet& device, const LaunchCost& cost, const KernelResources& kernel,
                         double resident) {
  const auto stores = static_cast<double>(std::max(kernel.stack, kernel.spill_stores));
  const auto loads = static_cast<double>(std::max(kernel.stack, kernel.spill_loads));
  const double lanes = static_cast<double>(cost.blocks) * cost.block;
  const double at_once = std::min(resident, std::ceil(lanes / device.processors));
  const double stacks = at_once * static_cast<double>(kernel.stack);
  const bool in_l1 = stacks <= static_cast<double>(device.l1_cache);
  const bool in_l2 = stacks * device.processors <= static_cast<double>(device.cache);
  LocalMemory out;
  out.bytes = static_cast<double>(cost.loading) * (stores + loads);
  out.bandwidth = in_l1 ? 0 : in_l2 ? device.cache_bandwidth : device.bandwidth;
  out.wait = loads / kLocalLoad * (in_l1 ? device.l1_wait : in_l2 ? device.cache_wait : device.memory_wait);
  return out;
}

}  // namespace

int resident_blocks(const DeviceSheet& device, const KernelResources& kernel, unsigned block) {
  constexpr std::size_t kRegisterUnit = 256, kWarpUnit = 4, kSharedUnit = 128, kSharedOfSystem = 1024;
  const std::size_t warps = (block + kWarp - 1) / kWarp;
  std::size_t most =
      std::min<std::size_t>(static_cast<std::size_t>(device.blocks_per_processor),
                            static_cast<std::size_t>(device.lanes_per_processor) / (warps * kWarp));
  if (kernel.registers > 0) {
    const std::size_t of_warp = rounded_up(static_cast<std::size_t>(kernel.registers) * kWarp, kRegisterUnit);
    most = std::min(most, device.registers / of_warp / kWarpUnit * kWarpUnit / warps);
  }
  if (kernel.shared > 0)
    most = std::min(most,
                    device.shared_per_processor / rounded_up(kernel.shared + kSharedOfSystem, kSharedUnit));
  return static_cast<int>(most);
}

const char* name(Bound bound) {
  switch (bound) {
    case Bound::launch:
      return "launches";
    case Bound::bandwidth:
      return "bandwidth";
    case Bound::cache:
      return "cache";
    case Bound::latency:
      return "latency";
    case Bound::barriers:
      return "grid barriers";
    case Bound::wait:
      return "waits";
    case Bound::copy:
      return "copies";
  }
  return "?";
}

Prediction predict(const DeviceSheet& device, const LaunchCost& cost, bool in_graph, bool in_cache,
                   const KernelResources* kernel) {
  Prediction out;
  const double bytes = 32.0 * static_cast<double>(cost.sectors);
  const auto all_bytes = static_cast<double>(cost.bytes_read + cost.bytes_written);
  out.floor = bytes / device.bandwidth;
  double inside = 0;
  const auto at_least = [&](double seconds, Bound bound) {
    if (seconds <= inside) return;
    inside = seconds;
    out.bound = bound;
  };
  const double bandwidth = in_cache ? device.cache_bandwidth : device.bandwidth;
  if (cost.library_launches > 0) {
    // Each pass of a sort moves everything: what one lane loads and stores in the emulation.
    at_least(all_bytes / bandwidth, Bound::bandwidth);
  } else {
    const double resident = resident_lanes(device, cost, kernel);
    const LocalMemory local =
        kernel != nullptr ? local_memory(device, cost, *kernel, resident) : LocalMemory{};
    at_least(bytes / bandwidth + (local.bandwidth > 0 ? local.bytes / local.bandwidth : 0), Bound::bandwidth);
    const double busy = std::min<double>(device.processors, static_cast<double>(cost.blocks));
    at_least((all_bytes + local.bytes) / (busy * device.l1_bytes_per_cycle * device.clock), Bound::cache);
    const double of_all = cost.all_waits + static_cast<double>(cost.loading) * local.wait;
    const double of_one = cost.longest_wait > 0 ? cost.longest_wait + local.wait : 0;
    const double waits = std::max(of_one, of_all / (resident * device.processors));
    at_least(waits / kLoadsInFlight / device.clock, Bound::latency);
    const double barriers = static_cast<double>(cost.grid_barriers) * device.grid_barrier;
    inside += barriers;
    if (barriers > inside / 2) out.bound = Bound::barriers;
  }
  const double launches = cost.library_launches > 0 ? cost.library_launches : 1;
  const double fixed = launches * (in_graph ? device.node : device.launch);
  // The host starts kernels one after the other: a shorter kernel waits for the next start.
  const double least = in_graph ? 0 : launches * device.host_launch;
  out.seconds = std::max(inside + fixed, least);
  if (out.seconds > 2 * inside) out.bound = Bound::launch;
  return out;
}

Bound CostRow::bound() const {
  const auto most = std::max_element(by.begin(), by.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == by.end() ? Bound::launch : most->first;
}

void CostModel::add(const Place& place, const CostRow& row) {
  for (CostRow* to : {&stages_[place.stage], &places_[place]}) {
    to->launches += row.launches;
    to->nodes += row.nodes;
    to->waits += row.waits;
    to->copies += row.copies;
    to->bytes += row.bytes;
    to->seconds += row.seconds;
    to->floor += row.floor;
    for (const auto& [bound, seconds] : row.by) to->by[bound] += seconds;
  }
}

void CostModel::add_launch(const std::string& stage, const void* function, const LaunchCost& cost,
                           bool in_graph, bool in_cache) {
  const KernelResources* known = resources(function);
  if (cost.library_launches == 0) kernels_[function] = known != nullptr;
  const Prediction predicted = predict(device_, cost, in_graph, in_cache, known);
  CostRow row;
  (in_graph ? row.nodes : row.launches) = 1;
  row.bytes = 32 * cost.sectors;
  row.seconds = predicted.seconds;
  row.floor = predicted.floor;
  row.by[predicted.bound] = predicted.seconds;
  add({stage, function}, row);
}

void CostModel::add_graph(const std::string& stage) {
  CostRow row;
  row.launches = 1;
  row.seconds = row.by[Bound::launch] = device_.host_launch;
  add({stage, nullptr}, row);
}

void CostModel::add_wait(const std::string& stage) {
  CostRow row;
  row.waits = 1;
  row.seconds = row.by[Bound::wait] = device_.wait;
  add({stage, nullptr}, row);
}

void CostModel::add_copy(const std::string& stage, std::size_t bytes, bool within) {
  CostRow row;
  row.copies = 1;
  row.bytes = bytes;
  row.seconds = row.by[Bound::copy] =
      device_.host_launch + (within ? 2 * static_cast<double>(bytes) / device_.bandwidth
                                    : static_cast<double>(bytes) / device_.host_bandwidth);
  add({stage, nullptr}, row);
}

const KernelResources* CostModel::resources(const void* function) const {
  const auto found = resources_.find(function);
  return found == resources_.end() ? nullptr : &found->second;
}

void CostModel::forget() {
  kernels_.clear();
  stages_.clear();
  places_.clear();
}

}  // namespace stickslip::emulation
