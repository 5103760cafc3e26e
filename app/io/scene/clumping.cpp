#include "app/io/scene/clumping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace stickslip {

std::vector<std::int32_t> free_ends(const Model& model, const Object& rods) {
  std::vector<std::int32_t> segments_at(static_cast<std::size_t>(rods.node_end - rods.node_begin), 0);
  for (std::int32_t s = rods.segment_begin; s < rods.segment_end; ++s)
    for (int end = 0; end < 2; ++end) ++segments_at[model.segments[s][end] - rods.node_begin];
  for (const ScriptedNodes& script : model.scripted)
    if (script.acts(0, 0))
      for (const std::int32_t node : script.nodes)
        if (rods.node_begin <= node && node < rods.node_end) segments_at[node - rods.node_begin] = 0;
  std::vector<std::int32_t> ends;
  for (std::size_t i = 0; i < segments_at.size(); ++i)
    if (segments_at[i] == 1) ends.push_back(rods.node_begin + static_cast<std::int32_t>(i));
  return ends;
}

std::vector<double> nearest_distances(std::span<const Vec<double, 3>> points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return points[i][0]; });
  std::vector<double> nearest(points.size(), std::numeric_limits<double>::infinity());
  for (std::size_t k = 0; k < order.size(); ++k) {
    double& least = nearest[order[k]];
    // False where the other point is farther in x alone than the nearest so far: so are all behind it.
    const auto compare = [&](std::size_t other) {
      const Vec<double, 3> apart = points[order[other]] - points[order[k]];
      if (std::abs(apart[0]) > least) return false;
      least = std::min(least, norm(apart));
      return true;
    };
    for (std::size_t other = k + 1; other < order.size() && compare(other);) ++other;
    for (std::size_t other = k; other > 0 && compare(other - 1);) --other;
  }
  return nearest;
}

}  // namespace stickslip
