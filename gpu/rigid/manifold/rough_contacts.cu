#include "gpu/rigid/manifold/rough_contacts.cuh"

#include "gpu/core/launch.h"
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

}  // namespace

void RoughContacts::find(Context& ctx, const PlainContacts& plain, const RigidContact* contacts,
                         std::size_t count, const JointEnds& joints) {
  index_.resize(ctx, count);
  found_.resize(ctx, 1);
  select_indices(ctx, count, IsRough{plain, contacts}, index_.data(), found_.data());
  count_ = count > 0 ? static_cast<std::size_t>(read_back(ctx, found_.data())) : 0;
  bodies_.resize(ctx, count_);
  launch(ctx, count_, BodyPairs{contacts, index_.data(), bodies_.data()});
  std::vector<std::array<std::int32_t, 2>> bodies = joints.bodies;
  std::vector<std::int32_t> start = joints.start;
  for (const Vec2i& pair : bodies_.download(ctx)) {
    bodies.push_back({pair[0], pair[1]});
    start.push_back(start.back() + 1);
  }
  GroupOrder order = colour_groups(bodies, joints.moves);
  group_.upload(ctx, order.group);
  start_.upload(ctx, start);
  colours_ = std::move(order.colours);
}

}  // namespace stickslip::STICKSLIP_BACKEND
