#include "gpu/rigid/start_overlaps.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "gpu/rigid/islands.cuh"

namespace stickslip {
namespace {

constexpr double kDeep = 0.05;  // relative to the distance from a body's centre to its farthest point

std::string name_of(const Model& model, std::int32_t body) {
  if (body < 0) return "half-space " + std::to_string(-1 - body);
  return "'" +
         model.objects[static_cast<std::size_t>(model.bodies[static_cast<std::size_t>(body)].object)].name +
         "'";
}

}  // namespace

std::vector<DeepOverlap> deep_overlaps(const Model& model, const std::vector<RigidContact>& contacts) {
  if (std::ranges::none_of(contacts, [](const RigidContact& c) { return c.gap < 0; })) return {};
  const std::vector<double> reach = body_reaches(model);
  std::map<std::pair<std::int32_t, std::int32_t>, double> depths;
  for (const RigidContact& contact : contacts) {
    double size = reach[static_cast<std::size_t>(contact.a)];
    if (contact.b >= 0) size = std::min(size, reach[static_cast<std::size_t>(contact.b)]);
    if (-contact.gap <= kDeep * size) continue;
    double& depth = depths[{contact.a, contact.b}];
    depth = std::max(depth, -contact.gap);
  }
  std::vector<DeepOverlap> overlaps;
  overlaps.reserve(depths.size());
  for (const auto& [pair, depth] : depths) overlaps.push_back({pair.first, pair.second, depth});
  std::ranges::stable_sort(overlaps,
                           [](const DeepOverlap& p, const DeepOverlap& q) { return p.depth > q.depth; });
  return overlaps;
}

std::string describe(const std::vector<DeepOverlap>& overlaps, const Model& model) {
  if (overlaps.empty()) return {};
  const DeepOverlap& worst = overlaps.front();
  char depth[32];
  std::snprintf(depth, sizeof depth, "%.3g mm", 1e3 * worst.depth);
  std::string text =
      name_of(model, worst.a) + " and " + name_of(model, worst.b) + " overlap by " + depth + " at the start";
  if (overlaps.size() == 2) text += ", and so does another pair";
  if (overlaps.size() > 2) text += ", and so do " + std::to_string(overlaps.size() - 1) + " other pairs";
  return text +
         ": they are moved apart without gaining speed; to have them where the scene says, move them apart "
         "there";
}

}  // namespace stickslip
