#include "tests/device/cost_model.h"

#include <algorithm>

namespace stickslip::emulation {
namespace {

constexpr double kLoadsInFlight = 4;
// Registers of large kernels leave room for about half of the lanes that a processor can hold.
constexpr double kOccupancy = 0.5;

}  // namespace

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

Prediction predict(const DeviceSheet& device, const LaunchCost& cost, bool in_graph, bool in_cache) {
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
  // Each pass of a sort moves everything: what one lane loads and stores in the emulation.
  at_least((cost.library_launches > 0 ? all_bytes : bytes) / bandwidth, Bound::bandwidth);
  if (cost.library_launches == 0) {
    const double busy = std::min<double>(device.processors, static_cast<double>(cost.blocks));
    at_least(all_bytes / (busy * device.l1_bytes_per_cycle * device.clock), Bound::cache);
    const double resident = kOccupancy * device.processors * device.lanes_per_processor;
    const double waits = std::max(cost.longest_wait, cost.all_waits / resident);
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
  const Prediction predicted = predict(device_, cost, in_graph, in_cache);
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

void CostModel::forget() {
  stages_.clear();
  places_.clear();
}

}  // namespace stickslip::emulation
