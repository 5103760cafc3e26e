#include "gpu/energy/constraint_share.h"

#include <algorithm>

namespace stickslip {
namespace {

constexpr std::size_t kPair = 2, kCorners = 4;

/// The distinct nodes of a constraint, in the order of its points.
std::vector<std::int32_t> nodes_of(const Model& model, const NodeConstraint& constraint) {
  std::vector<std::int32_t> nodes;
  for (int c = 0; c < 4; ++c) {
    if (constraint.points[c] < 0) continue;
    const ConstraintPoint& point = model.constraint_points[static_cast<std::size_t>(constraint.points[c])];
    for (int k = 0; k < 4; ++k)
      if (point.nodes[k] >= 0 && std::ranges::find(nodes, point.nodes[k]) == nodes.end())
        nodes.push_back(point.nodes[k]);
  }
  return nodes;
}

/// W_ck of point c and a node.
double weight_of(const Model& model, const NodeConstraint& constraint, int c, std::int32_t node) {
  if (constraint.points[c] < 0) return 0;
  const ConstraintPoint& point = model.constraint_points[static_cast<std::size_t>(constraint.points[c])];
  double sum = 0;
  for (int k = 0; k < 4; ++k)
    if (point.nodes[k] == node) sum += point.weights[k];
  return sum;
}

/// The share of `places`, indices into `nodes`. It owns the blocks between them that no share before it
/// owned.
ConstraintShare share_of(const Model& model, std::size_t index, const std::vector<std::int32_t>& nodes,
                         const std::vector<std::size_t>& places, std::vector<bool>& taken) {
  ConstraintShare share;
  share.constraint = static_cast<std::int32_t>(index);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto corner = static_cast<int>(k);
    share.nodes[corner] = nodes[places[k]];
    for (int c = 0; c < 4; ++c)
      share.weights[c][corner] =
          static_cast<Real>(weight_of(model, model.constraints[index], c, nodes[places[k]]));
    for (std::size_t l = 0; l <= k; ++l) {
      const std::size_t block =
          std::max(places[k], places[l]) * nodes.size() + std::min(places[k], places[l]);
      if (taken[block]) continue;
      taken[block] = true;
      share.owned = static_cast<std::uint16_t>(share.owned | 1U << (4 * k + l));
    }
  }
  return share;
}

}  // namespace

std::vector<ConstraintShare> constraint_shares(const Model& model) {
  std::vector<ConstraintShare> shares;
  for (std::size_t i = 0; i < model.constraints.size(); ++i) {
    const std::vector<std::int32_t> nodes = nodes_of(model, model.constraints[i]);
    std::vector<bool> taken(nodes.size() * nodes.size());
    std::vector<std::size_t> places;
    if (nodes.size() <= kCorners) {
      for (std::size_t k = 0; k < nodes.size(); ++k) places.push_back(k);
      shares.push_back(share_of(model, i, nodes, places, taken));
      continue;
    }
    for (std::size_t first = 0; first < nodes.size(); first += kPair)
      for (std::size_t second = first + kPair; second < nodes.size(); second += kPair) {
        places.clear();
        for (const std::size_t begin : {first, second})
          for (std::size_t k = begin; k < std::min(begin + kPair, nodes.size()); ++k) places.push_back(k);
        shares.push_back(share_of(model, i, nodes, places, taken));
      }
  }
  return shares;
}

}  // namespace stickslip
