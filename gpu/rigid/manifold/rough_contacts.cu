#include "gpu/rigid/manifold/rough_contacts.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/select.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

struct IsRough {
  PlainContacts plain;
  const RigidContact* contact;

  SS_HD bool operator()(std::size_t c) const { return !plain(contact[c]); }
};

struct BodyPairs {
  const RigidContact* contact;
  const std::int32_t* index;
  Vec2i* bodies;

  SS_HD void operator()(std::size_t k) const {
    const RigidContact& c = contact[index[k]];
    bodies[k] = {c.a, c.b < 0 ? -1 : c.b};
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

void RoughContacts::find(Context& ctx, const PlainContacts& plain, const RigidContact* contacts,
                         std::size_t count, const JointEnds& joints) {
  index_.resize(ctx, count);
  bodies_.resize(ctx, count);
  found_.resize(ctx, 1);
  count_ = 0;
  bool changed = !with_joints_ || *with_joints_ != joints;
  if (count > 0) {
    auto* const found = reinterpret_cast<std::int32_t*>(found_.data());
    select_indices(ctx, count, IsRough{plain, contacts}, index_.data(), found);
    launch_counted(ctx, count, found, BodyPairs{contacts, index_.data(), bodies_.data()});
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
  for (const Vec2i& pair : coloured_.download(ctx)) {
    bodies.push_back({pair[0], pair[1]});
    start.push_back(start.back() + 1);
  }
  GroupOrder order = colour_groups(bodies, joints.moves);
  group_.upload(ctx, order.group);
  start_.upload(ctx, start);
  colours_ = std::move(order.colours);
  with_joints_ = joints;
}

}  // namespace stickslip::STICKSLIP_BACKEND
