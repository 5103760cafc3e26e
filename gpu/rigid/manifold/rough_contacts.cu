#include "gpu/rigid/manifold/rough_contacts.cuh"

#include <algorithm>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/select.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

struct IsRough {
  SteppedContacts list;

  SS_HD bool operator()(std::size_t c) const {
    return c >= list.count - list.of_solids || !list.plain(list.contacts[c]);
  }
};

/// The bodies that contacts share with others. A particle has one contact; its core, which counts as a body
/// after those of the scene, has more.
struct BodyPairs {
  SteppedContacts list;
  std::int32_t scene_bodies;
  const std::int32_t* index;
  Vec2i* bodies;

  SS_HD std::int32_t shared(std::int32_t b) const {
    if (b < 0) return -1;
    if (b < scene_bodies) return b;
    const std::int32_t core = list.cores.of(b);
    return core < 0 ? -1 : scene_bodies + core - list.cores.first_core;
  }
  SS_HD void operator()(std::size_t k) const {
    const RigidContact& c = list.contacts[index[k]];
    bodies[k] = {shared(c.a), shared(c.b)};
  }
};

/// 1 for a contact whose bodies are not those of the same place in `known`.
struct IsChanged {
  const Vec2i *bodies, *known;
  const std::int32_t* count;
  std::size_t known_count;

  SS_HD std::int32_t operator()(std::size_t k) const {
    if (k >= static_cast<std::size_t>(*count)) return 0;
    return k >= known_count || bodies[k] != known[k] ? 1 : 0;
  }
};

}  // namespace

void RoughContacts::find(Context& ctx, const SteppedContacts& list, const JointEnds& joints) {
  const std::size_t count = list.count;
  const auto scene_bodies = static_cast<std::int32_t>(joints.moves.size());
  index_.resize(ctx, count);
  bodies_.resize(ctx, count);
  found_.resize(ctx, 1);
  count_ = 0;
  bool changed = !with_joints_ || *with_joints_ != joints;
  if (count > 0) {
    auto* const found = reinterpret_cast<std::int32_t*>(found_.data());
    select_indices(ctx, count, IsRough{list}, index_.data(), found);
    launch_counted(ctx, count, found, BodyPairs{list, scene_bodies, index_.data(), bodies_.data()});
    reduce_max(ctx, count, IsChanged{bodies_.data(), coloured_.data(), found, coloured_.size()},
               std::int32_t{0}, found + 1);
    const Vec2i result = read_back(ctx, found_.data());
    count_ = static_cast<std::size_t>(result[0]);
    changed = changed || result[1] != 0;
  }
  if (changed || count_ != coloured_.size()) colour(ctx, joints);
}

void RoughContacts::colour(Context& ctx, const JointEnds& joints) {
  coloured_.resize(ctx, count_);
  copy(ctx, coloured_.data(), bodies_.data(), count_);
  std::vector<std::array<std::int32_t, 2>> bodies = joints.bodies;
  std::vector<std::int32_t> start = joints.start;
  std::vector<std::uint8_t> moves = joints.moves;
  for (const Vec2i& pair : coloured_.download(ctx)) {
    bodies.push_back({pair[0], pair[1]});
    start.push_back(start.back() + 1);
    const auto known = static_cast<std::size_t>(std::max(pair[0], pair[1]) + 1);
    if (known > moves.size()) moves.resize(known, 1);
  }
  GroupOrder order = colour_groups(bodies, moves);
  group_.upload(ctx, order.group);
  start_.upload(ctx, start);
  colours_ = std::move(order.colours);
  with_joints_ = joints;
}

}  // namespace stickslip::STICKSLIP_BACKEND
