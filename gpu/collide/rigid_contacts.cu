#include "gpu/collide/rigid_contacts.cuh"

#include <algorithm>
#include <stdexcept>

#include "gpu/core/cleared.h"
#include "gpu/core/launch.h"
#include "gpu/core/scan.h"
#include "gpu/core/stage_clock.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Sets list.first: the first pair of each body.
void index_pairs(Context& ctx, const PairKeys& pair_keys, ContactList& list) {
  if (list.pairs == 0) return;
  const auto bodies = static_cast<std::size_t>(pair_keys.bodies);
  list.first.resize(ctx, bodies + 1);
  const std::uint64_t* keys = list.keys.data();
  std::int32_t* first = list.first.data();
  const auto pairs = static_cast<std::int32_t>(list.pairs);
  const PairKeys of = pair_keys;
  launch(ctx, bodies + 1, [=] SS_LAMBDA(std::size_t body) {
    const std::uint64_t least = of.key(static_cast<std::int32_t>(body), 0);
    std::int32_t low = 0, high = pairs;
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (keys[middle] < least) low = middle + 1;
      else high = middle;
    }
    first[body] = low;
  });
}

/// The results of the narrow phase, per candidate.
struct Staged {
  std::size_t candidates;
  const std::uint64_t* keys;
  const RigidContact* contacts;
  const Vec2i* stage;
  const std::uint64_t* tally;  // prefix sums
};

/// Moves the staged contacts to the positions given by the sums of `tally`; contacts beyond the room are
/// dropped. `totals`: all pairs and contacts.
void gather_contacts(Context& ctx, const Staged& from, ContactList& list, Vec2i* totals) {
  const std::size_t contact_room = list.contacts.size(), pair_room = list.keys.size();
  RigidContact* contacts = list.contacts.data();
  std::int32_t* pair_start = list.pair_start.data();
  std::uint64_t* keys = list.keys.data();
  const Staged in = from;
  launch(
      ctx, in.candidates + 1,
      [=] SS_LAMBDA(std::size_t i) {
        const std::size_t pair = in.tally[i] >> 32, begin = in.tally[i] & 0xffffffffu;
        const auto start = static_cast<std::int32_t>(begin);
        if (i == in.candidates) {
          *totals = {static_cast<std::int32_t>(pair), start};
          if (pair <= pair_room) pair_start[pair] = start;
          return;
        }
        const Vec2i stage = in.stage[i];
        if (stage[1] == 0 || pair >= pair_room || begin + static_cast<std::size_t>(stage[1]) > contact_room)
          return;
        keys[pair] = in.keys[i];
        pair_start[pair] = start;
        for (std::int32_t k = 0; k < stage[1]; ++k) contacts[begin + k] = in.contacts[stage[0] + k];
      },
      kMedium);
}

/// Sets both counts to zero.
void clear_part_counts(Context& ctx, std::int32_t* shape_pairs, std::int32_t* part_contacts) {
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *shape_pairs = *part_contacts = 0; });
}

/// A quarter more than last time.
std::size_t room_for(std::size_t found) { return found + found / 4 + 256; }

}  // namespace

void RigidContacts::load(Context& ctx, const Model& model) {
  shapes_.load(ctx, model);
  search_.load(ctx, model);
  pair_keys_ = PairKeys::of(model.bodies.size(), model.half_spaces.size());
  const bool parts = shapes_.has_many_parts();
  pose_before_.resize(ctx, model.bodies.size());
  resize_cleared(ctx, found_, 1);
  const std::size_t guess = room_for(4 * model.bodies.size());
  room_ = {guess, guess, guess, parts ? guess : 0, parts ? guess : 0};
  now_.count = now_.pairs = before_.count = before_.pairs = candidates_ = 0;
  known_ = false;
}

void RigidContacts::find(Context& ctx, const BodyMotionView& motion, const Options& options) {
  search_seconds_ = 0;
  if (pair_keys_.bodies == 0) return;
  std::swap(now_, before_);
  now_.count = now_.pairs = 0;
  if (!known_) before_.count = before_.pairs = 0;
  index_pairs(ctx, pair_keys_, before_);
  // Without contacts of the last step, sleeping pairs have none to keep: search them too.
  BodyMotionView searched = motion;
  if (!known_) searched.asleep = nullptr;
  Options checked = options;
  checked.manifold_points = std::clamp(options.manifold_points, 1, Manifold::kMost);

  while (true) {
    const Found found = run(ctx, searched, checked);
    if (make_room(found)) {
      candidates_ = static_cast<std::size_t>(found.candidates);
      now_.pairs = static_cast<std::size_t>(found.pairs_contacts[0]);
      now_.count = static_cast<std::size_t>(found.pairs_contacts[1]);
      break;
    }
  }
  copy(ctx, pose_before_.data(), motion.pose, pose_before_.size());
  known_ = true;
}

bool RigidContacts::make_room(const Found& found) {
  const Room needed{
      static_cast<std::size_t>(found.candidates), static_cast<std::size_t>(found.pairs_contacts[1]),
      static_cast<std::size_t>(found.pairs_contacts[0]), static_cast<std::size_t>(found.shape_pairs),
      static_cast<std::size_t>(found.part_contacts)};
  const bool fits = needed.candidates <= room_.candidates && needed.contacts <= room_.contacts &&
                    needed.pairs <= room_.pairs && needed.shape_pairs <= room_.shape_pairs &&
                    needed.part_contacts <= room_.part_contacts;
  // Candidates dropped for lack of room are missing in the later counts: after a failed
  // run those may be too low.
  const auto next = [&](std::size_t had, std::size_t found_now) {
    return fits ? room_for(found_now) : std::max(had, room_for(found_now));
  };
  room_.candidates = next(room_.candidates, needed.candidates);
  room_.contacts = next(room_.contacts, needed.contacts);
  room_.pairs = next(room_.pairs, needed.pairs);
  if (shapes_.has_many_parts()) {
    room_.shape_pairs = next(room_.shape_pairs, needed.shape_pairs);
    room_.part_contacts = next(room_.part_contacts, needed.part_contacts);
  }
  return fits;
}

RigidContacts::Found RigidContacts::run(Context& ctx, const BodyMotionView& motion, const Options& options) {
  const std::size_t room = room_.candidates;
  const auto most = static_cast<std::size_t>(options.manifold_points);
  keys_.resize(ctx, room);
  stage_.resize(ctx, room);
  tally_.resize(ctx, room + 1);
  staged_.resize(ctx, room * most + room_.part_contacts);
  shape_pairs_.resize(ctx, room_.shape_pairs);
  manifolds_.resize(ctx, room_.shape_pairs);
  now_.contacts.resize(ctx, room_.contacts);
  now_.pair_start.resize(ctx, room_.pairs + 1);
  now_.keys.resize(ctx, room_.pairs);

  const ShapeView shapes = shapes_.view();
  Found* found = found_.data();
  StageClock clock;
  search_.find(ctx, {shapes, motion, pair_keys_, options.margin, options.dt, before_.view()},
               {keys_.data(), room, &found->candidates});
  clock.lap(search_seconds_);
  const NarrowInput in{
      shapes,         motion,     search_.state(),         pair_keys_,     keys_.data(),       room,
      options.margin, options.dt, options.manifold_points, before_.view(), pose_before_.data()};
  const NarrowOutput out{staged_.data(),      stage_.data(),       tally_.data(),
                         room_.part_contacts, room_.shape_pairs,   &found->part_contacts,
                         &found->shape_pairs, shape_pairs_.data(), manifolds_.data()};
  clear_part_counts(ctx, &found->shape_pairs, &found->part_contacts);
  find_manifolds(ctx, in, out, {shapes_.has_many_parts(), shapes_.has_search(), shapes_.has_meshes()});
  exclusive_scan(ctx, room, tally_.data(), tally_.data());
  gather_contacts(ctx, {room, keys_.data(), staged_.data(), stage_.data(), tally_.data()}, now_,
                  &found->pairs_contacts);
  return read_back(ctx, found);
}

}  // namespace stickslip::STICKSLIP_BACKEND
