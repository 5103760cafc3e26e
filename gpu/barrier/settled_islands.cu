#include "gpu/barrier/settled_islands.cuh"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpu/core/host_view.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// Of the nodes that still move: what has to settle at once. A change of the flags costs an evaluation of the
// energy.
constexpr double kWorthwhile = 0.05;

}  // namespace

void SettledIslands::load(Context& ctx, const DeviceModel& device, std::span<const Vec4i> stencils) {
  object_ = device.node_object.download(ctx);
  mass_ = device.mass.download(ctx);
  std::int32_t last = -1;
  for (const std::int32_t object : object_) last = std::max(last, object);
  parts_.assign(static_cast<std::size_t>(last + 1), {});
  // Of affine bodies the mesh has the mass, and the control nodes the residual.
  std::vector<double> mass(parts_.size()), massless(parts_.size());
  for (std::size_t i = 0; i < object_.size(); ++i) {
    mass[object_[i]] += static_cast<double>(mass_[i]);
    massless[object_[i]] += !(mass_[i] > 0);
  }
  resists_ = mass_;
  for (std::size_t i = 0; i < object_.size(); ++i)
    if (!(mass_[i] > 0)) resists_[i] = static_cast<Real>(mass[object_[i]] / massless[object_[i]]);
  parent_.resize(parts_.size());
  bridges_.clear();
  for (const Vec4i& stencil : stencils)
    for (int c = 1; c < 4; ++c)
      if (stencil[c] >= 0 && object_[stencil[c]] != object_[stencil[0]]) {
        bridges_.push_back(stencil);
        break;
      }
  movable_ = settled_nodes_ = 0;
}

void SettledIslands::begin(Context& ctx, const std::uint8_t* fixed) {
  const std::span<const std::uint8_t> held = host_view(ctx, fixed, object_.size(), host_flags_);
  fixed_.assign(held.begin(), held.end());
  std::fill(parts_.begin(), parts_.end(), Part{});
  for (std::size_t i = 0; i < object_.size(); ++i) {
    if (fixed_[i] != 0) continue;
    Part& part = parts_[object_[i]];
    ++part.nodes;
    part.mass += static_cast<double>(mass_[i]);
  }
  movable_ = static_cast<std::size_t>(
      std::count_if(parts_.begin(), parts_.end(), [](const Part& part) { return part.nodes > 0; }));
  settled_nodes_ = 0;
}

bool SettledIslands::release() {
  for (Part& part : parts_) part.settled = part.converged = false;
  return std::exchange(settled_nodes_, 0) > 0;
}

void SettledIslands::measure(Context& ctx, const Vec3* p, const Vec3* r, const ObjectBalance& balance,
                             const Limits& limits) {
  const std::size_t n = object_.size();
  const std::span<const Vec3> step = host_view(ctx, p, n, p_), residual = host_view(ctx, r, n, r_);
  std::vector<double> longest2(parts_.size()), left2(parts_.size());
  for (std::size_t i = 0; i < n; ++i) {
    if (fixed_[i] != 0) continue;
    const std::int32_t o = object_[i];
    longest2[o] = std::max(longest2[o], static_cast<double>(norm2(step[i])));
    // The matrix is at least the masses / (dt momentum_dt).
    if (resists_[i] > 0)
      left2[o] += static_cast<double>(norm2(residual[i])) / static_cast<double>(resists_[i]);
  }
  const std::vector<double> imbalance = balance.of_objects(ctx, limits.momentum_dt);
  for (std::size_t o = 0; o < parts_.size(); ++o) {
    Part& part = parts_[o];
    if (part.nodes == 0 || part.settled) continue;
    const double left = part.mass > 0 ? limits.momentum_dt * std::sqrt(left2[o] / part.mass) : 0;
    part.converged = std::sqrt(longest2[o]) <= limits.speed * limits.dt && left <= limits.speed;
    part.balanced = imbalance[o] <= limits.imbalance;
  }
}

std::int32_t SettledIslands::root_of(std::int32_t object) {
  while (parent_[object] != object) {
    parent_[object] = parent_[parent_[object]];
    object = parent_[object];
  }
  return object;
}

/// Nodes that do not move connect nothing.
void SettledIslands::link(const Vec4i& nodes) {
  std::int32_t first = -1;
  for (int c = 0; c < 4; ++c) {
    if (nodes[c] < 0 || fixed_[nodes[c]] != 0) continue;
    const std::int32_t root = root_of(object_[nodes[c]]);
    if (first < 0) first = root;
    else if (root != first) parent_[root] = first;
  }
}

void SettledIslands::connect(Context& ctx, const Vec4i* contacts, std::size_t count) {
  for (std::size_t o = 0; o < parent_.size(); ++o) parent_[o] = static_cast<std::int32_t>(o);
  for (const Vec4i& nodes : bridges_) link(nodes);
  for (const Vec4i& nodes : host_view(ctx, contacts, count, contacts_)) link(nodes);
  // The contacts inside a settled island are left out.
  for (std::size_t o = 0; o < parts_.size(); ++o)
    if (parts_[o].settled) parent_[root_of(static_cast<std::int32_t>(o))] = root_of(parts_[o].island);

  islands_.assign(parts_.size(), Island{});
  for (std::size_t o = 0; o < parts_.size(); ++o) {
    const Part& part = parts_[o];
    if (part.nodes == 0) continue;
    Island& island = islands_[root_of(static_cast<std::int32_t>(o))];
    island.nodes += part.nodes;
    (part.settled ? island.has_settled : island.has_moving) = true;
    island.waits |= !part.settled && !part.converged;
    island.is_unbalanced |= !part.settled && !part.balanced;
  }
}

/// Of the nodes that move: the number that would settle, if enough of them.
std::int64_t SettledIslands::settling(bool balanced) const {
  std::int64_t moving = 0, settling = 0;
  for (const Island& island : islands_) {
    if (!island.has_moving) continue;
    moving += island.nodes;
    if (island.can_settle(balanced)) settling += island.nodes;
  }
  return static_cast<double>(settling) >= kWorthwhile * static_cast<double>(moving) ? settling : 0;
}

bool SettledIslands::asks_for_balance() const { return settling(true) > settling(false); }

void SettledIslands::rebalance(Context& ctx, const ObjectBalance& balance, const Limits& limits) {
  const std::vector<double> imbalance = balance.of_objects(ctx, limits.momentum_dt);
  for (Island& island : islands_) island.is_unbalanced = false;
  for (std::size_t o = 0; o < parts_.size(); ++o) {
    Part& part = parts_[o];
    if (part.nodes == 0 || part.settled) continue;
    part.balanced = imbalance[o] <= limits.imbalance;
    islands_[root_of(static_cast<std::int32_t>(o))].is_unbalanced |= !part.balanced;
  }
}

bool SettledIslands::update(Context& ctx, bool walked) {
  const bool settles = walked && settling(false) > 0;
  bool changes = false;
  for (std::size_t o = 0; o < parts_.size(); ++o) {
    Part& part = parts_[o];
    if (part.nodes == 0) continue;
    const Island& island = islands_[root_of(static_cast<std::int32_t>(o))];
    const bool settled = !island.has_moving || (settles && island.can_settle(false));
    changes |= settled != part.settled;
    part.settled = settled;
    part.island = settled ? root_of(static_cast<std::int32_t>(o)) : -1;
  }
  if (changes) set_flags(ctx);
  return changes;
}

void SettledIslands::set_flags(Context& ctx) {
  settled_nodes_ = 0;
  host_flags_ = fixed_;
  for (std::size_t i = 0; i < object_.size(); ++i) {
    if (fixed_[i] != 0 || !parts_[object_[i]].settled) continue;
    host_flags_[i] = 1;
    ++settled_nodes_;
  }
  flags_.resize(ctx, host_flags_.size());
#if STICKSLIP_ON_CUDA
  copy_to_device(ctx, flags_.data(), host_flags_.data(), host_flags_.size());
#else
  std::copy(host_flags_.begin(), host_flags_.end(), flags_.data());
#endif
}

}  // namespace stickslip::STICKSLIP_BACKEND
