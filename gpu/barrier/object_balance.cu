#include "gpu/barrier/object_balance.cuh"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gpu/core/reduce.h"
#include "gpu/core/segmented.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr std::size_t kNodesOfChunk = 64;

/// |sum of the gradient|^2 / mass^2 [m^2/s^4] of an object; 0 if no node of it moves freely.
SS_HD double imbalance2(const Vec<double, 4>& sums) {
  const double m = sums[3];
  return m > 0 ? (sums[0] * sums[0] + sums[1] * sums[1] + sums[2] * sums[2]) / (m * m) : 0.0;
}

}  // namespace

void ObjectBalance::load(Context& ctx, const DeviceModel& device) {
  const std::vector<std::int32_t> object = device.node_object.download(ctx);
  std::vector<std::int32_t> nodes(object.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  const auto of = [&](std::int32_t node) { return object[static_cast<std::size_t>(node)]; };
  std::stable_sort(nodes.begin(), nodes.end(), [&](std::int32_t a, std::int32_t b) { return of(a) < of(b); });
  std::vector<std::int32_t> chunks, objects;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool first = i == 0 || of(nodes[i]) != of(nodes[i - 1]);
    if (first) objects.push_back(static_cast<std::int32_t>(chunks.size()));
    const auto at = static_cast<std::int32_t>(i);
    if (first || at - chunks.back() == static_cast<std::int32_t>(kNodesOfChunk)) chunks.push_back(at);
  }
  chunk_sums_.resize(ctx, chunks.size());
  object_sums_.resize(ctx, objects.size());
  objects.push_back(static_cast<std::int32_t>(chunks.size()));
  chunks.push_back(static_cast<std::int32_t>(nodes.size()));
  nodes_.upload(ctx, nodes);
  chunk_start_.upload(ctx, chunks);
  object_start_.upload(ctx, objects);
}

void ObjectBalance::launch_measure(Context& ctx, const DeviceModel& device, const Vec3* g, double factor,
                                   double* out) {
  const std::int32_t* nodes = nodes_.data();
  const Real* mass = device.mass.data();
  const std::uint8_t* scripted = device.scripted.data();
  segmented_sum(
      ctx, chunk_sums_.size(), chunk_start_.data(),
      [=] SS_LAMBDA(std::int32_t k) {
        const std::int32_t i = nodes[k];
        if (scripted[i]) return Sums{0, 0, 0, 0};
        return Sums{double(g[i][0]), double(g[i][1]), double(g[i][2]), double(mass[i])};
      },
      chunk_sums_.data());
  const Sums* sums = chunk_sums_.data();
  segmented_sum(
      ctx, object_sums_.size(), object_start_.data(), [=] SS_LAMBDA(std::int32_t k) { return sums[k]; },
      object_sums_.data());
  const Sums* objects = object_sums_.data();
  reduce_max(
      ctx, object_sums_.size(), [=] SS_LAMBDA(std::size_t o) { return imbalance2(objects[o]); }, 0.0, out);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *out = factor * sqrt(*out); });
}

}  // namespace stickslip::STICKSLIP_BACKEND
