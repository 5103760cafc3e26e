#include "gpu/collide/pair_search.cuh"

#include <algorithm>
#include <utility>

#include "gpu/broadphase/tree_boxes.cuh"
#include "gpu/core/atomics.h"
#include "gpu/core/launch.h"
#include "gpu/core/sort.h"
#include "gpu/core/trace.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

FloatBox SS_HD float_box(const Box3d& box) {
  // Empty or NaN boxes overlap nothing.
  if (box.is_empty()) return FloatBox::empty();
  return round_outward({box.lo.cast<Real>(), box.hi.cast<Real>()});
}

/// The conditions on a pair found in the walk of one body.
struct PairFilter {
  PairKeys pair_keys;
  const BodyReach* reach;
  const std::uint8_t* state;
  const std::int32_t* excluded_start;  // null: none is excluded
  const std::int32_t* excluded;
  bool swept;

  SS_HD bool forbidden(std::int32_t a, std::int32_t b) const {
    if (excluded_start == nullptr) return false;
    std::int32_t low = excluded_start[a], high = excluded_start[a + 1];
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (excluded[middle] < b) low = middle + 1;
      else high = middle;
    }
    return low < excluded_start[a + 1] && excluded[low] == b;
  }

  /// True if the boxes overlap while a moves by `displacement` relative to b.
  SS_HD bool overlaps_swept(const BodyReach& a, const BodyReach& b, const Vec3f& displacement) const {
    const float turn = a.turn + b.turn;
    for (int k = 0; k < 3; ++k) {
      const float shift = displacement[k];
      const float back = shift < 0 ? shift : 0.0f, ahead = shift > 0 ? shift : 0.0f;
      if (!(a.box.lo[k] + back - turn <= b.box.hi[k] && b.box.lo[k] <= a.box.hi[k] + ahead + turn))
        return false;
    }
    return true;
  }

  /// True if they overlap while both move, or while one moves and the other is stopped:
  /// tighter than sweeping both.
  SS_HD bool may_overlap(const BodyReach& a, const BodyReach& b) const {
    return overlaps_swept(a, b, a.shift - b.shift) || overlaps_swept(a, b, a.shift) ||
           overlaps_swept(a, b, -b.shift);
  }

  SS_HD bool accepts(std::int32_t a, std::int32_t b) const {
    const std::uint8_t either = state[a] | state[b];
    if ((either & kMoves) == 0 || (either & kLive) == 0) return false;
    if (swept && !may_overlap(reach[a], reach[b])) return false;
    return !forbidden(a, b);
  }
};

/// The walk of one leaf of the moving tree.
struct PairWalk {
  PairFilter filter;
  LbvhView moving, still;
  const std::int32_t* bodies;
  std::size_t moving_count;
  const HalfSpaceView* half_spaces;
  std::int32_t half_space_count;
  double half_margin;

  /// Boxes are already grown by half the margin, half-spaces are not.
  SS_HD bool near_half_space(const FloatBox& box, const HalfSpaceView& space) const {
    double lowest = -half_margin;
    for (int k = 0; k < 3; ++k)
      lowest += space.normal[k] * static_cast<double>(space.normal[k] > 0 ? box.lo[k] : box.hi[k]);
    return lowest <= space.offset;
  }

  template <class Emit>
  SS_HD void operator()(std::size_t leaf, Emit&& emit) const {
    const std::int32_t body = bodies[moving.order[leaf]];
    const FloatBox box = moving.leaf_boxes[leaf];
    const auto consider = [&](std::int32_t other) {
      const std::int32_t a = body < other ? body : other, b = body < other ? other : body;
      if (filter.accepts(a, b)) emit(filter.pair_keys.key(a, b));
    };
    traverse(
        moving, box, [&](std::int32_t slot) { consider(bodies[slot]); }, static_cast<std::int32_t>(leaf));
    traverse(still, box, [&](std::int32_t slot) { consider(bodies[moving_count + slot]); });
    if ((filter.state[body] & (kMoves | kLive)) != (kMoves | kLive)) return;
    for (std::int32_t k = 0; k < half_space_count; ++k)
      if (near_half_space(box, half_spaces[k])) emit(filter.pair_keys.key(body, -1 - k));
  }
};

/// Writes state, box and reach of each of the n bodies; boxes in the order of `bodies`.
void write_boxes(Context& ctx, const PairSearch::Input& in, const std::int32_t* bodies, std::size_t n,
                 FloatBox* boxes, BodyReach* reach, std::uint8_t* state) {
  const ShapeView shapes = in.shapes;
  const BodyMotionView motion = in.motion;
  const double margin = in.margin, dt = in.dt;
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        const std::int32_t b = bodies[i];
        const bool moves = motion.moves[b] != 0;
        const Vec3d v = motion.velocity[b], w = motion.spin[b];
        const bool live = moves ? motion.asleep == nullptr || motion.asleep[b] == 0 : norm2(v) + norm2(w) > 0;
        state[b] = static_cast<std::uint8_t>((moves ? kMoves : 0) | (live ? kLive : 0));

        const Box3d box = inflate(body_box(shapes, b, motion.pose[b]), margin / 2);
        const Vec3d shift = dt * v;
        const double full = 2 * shapes.radius[b], arc = dt * norm(w) * shapes.radius[b];
        const double turn = arc < full ? arc : full;
        const Box3d swept = merge(box, Box3d{box.lo + shift, box.hi + shift});
        boxes[i] = float_box(dt > 0 ? inflate(swept, turn) : box);
        // Rounded up by more than the possible rounding error.
        reach[b] = {float_box(box), shift.cast<float>(), static_cast<float>(1.000001 * turn)};
      },
      kMedium);
}

/// Writes the pairs that the walks of all leaves of the moving tree find.
void write_pairs(Context& ctx, const PairWalk& walk, const PairSearch::Output& target) {
  launch(
      ctx, walk.moving_count,
      [=] SS_LAMBDA(std::size_t leaf) {
        // Written in batches: the order is arbitrary until the sort.
        constexpr int kBatch = 32;
        std::uint64_t batch[kBatch];
        int count = 0;
        const auto hand_over = [&] {
          if (count == 0) return;
          const auto at = static_cast<std::size_t>(atomic_add(target.found, count));
          for (int k = 0; k < count && at + k < target.room; ++k) target.keys[at + k] = batch[k];
          count = 0;
        };
        walk(leaf, [&](std::uint64_t key) {
          if (count == kBatch) hand_over();
          batch[count++] = key;
        });
        hand_over();
      },
      Grain{64});
}

/// Adds the pairs of the last step with a movable body and none that is live.
void copy_sleeping_pairs(Context& ctx, const PairSearch::Input& in, const std::uint8_t* state,
                         const PairSearch::Output& target) {
  const ContactListView before = in.before;
  const PairKeys pair_keys = in.pair_keys;
  launch(ctx, static_cast<std::size_t>(before.pairs), [=] SS_LAMBDA(std::size_t p) {
    const std::uint64_t key = before.keys[p];
    const std::int32_t a = pair_keys.a(key), b = pair_keys.b(key);
    const std::uint8_t either = state[a] | (b >= 0 ? state[b] : std::uint8_t{0});
    if ((either & kMoves) == 0 || (either & kLive) != 0) return;
    const auto at = static_cast<std::size_t>(atomic_add(target.found, 1));
    if (at < target.room) target.keys[at] = key;
  });
}

}  // namespace

void PairSearch::load(Context& ctx, const Model& model) {
  std::vector<std::int32_t> order;
  const auto count = static_cast<std::int32_t>(model.bodies.size());
  for (std::int32_t b = 0; b < count; ++b)
    if (model.bodies[b].moves) order.push_back(b);
  moving_ = order.size();
  for (std::int32_t b = 0; b < count; ++b)
    if (!model.bodies[b].moves) order.push_back(b);
  bodies_.upload(ctx, order);

  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (const Joint& joint : model.joints)
    if (!joint.collide && joint.a >= 0 && joint.b >= 0 && joint.a != joint.b)
      pairs.push_back(std::minmax({joint.a, joint.b}));
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::vector<std::int32_t> start, larger;
  if (!pairs.empty()) start.assign(model.bodies.size() + 1, 0);
  for (const auto& [a, b] : pairs) {
    ++start[a + 1];
    larger.push_back(b);
  }
  for (std::size_t b = 1; b < start.size(); ++b) start[b] += start[b - 1];
  excluded_start_.upload(ctx, start);
  excluded_.upload(ctx, larger);
}

void PairSearch::place_boxes(Context& ctx, const Input& in) {
  const std::size_t n = bodies_.size();
  boxes_.resize(ctx, n);
  reach_.resize(ctx, n);
  state_.resize(ctx, n);
  write_boxes(ctx, in, bodies_.data(), n, boxes_.data(), reach_.data(), state_.data());
}

void PairSearch::walk_trees(Context& ctx, const Input& in, const Output& out) {
  const PairFilter filter{in.pair_keys,     reach_.data(),
                          state_.data(),    excluded_start_.empty() ? nullptr : excluded_start_.data(),
                          excluded_.data(), in.dt > 0};
  const PairWalk walk{filter,  moving_tree_.view(),   still_tree_.view(),         bodies_.data(),
                      moving_, in.shapes.half_spaces, in.shapes.half_space_count, in.margin / 2};
  write_pairs(ctx, walk, out);
}

void PairSearch::find(Context& ctx, const Input& in, const Output& out) {
  const Span span(ctx, "broad phase");
  fill(ctx, out.found, 1, std::int32_t{0});
  fill(ctx, out.keys, out.room, in.pair_keys.none());
  place_boxes(ctx, in);
  moving_tree_.build(ctx, boxes_.data(), moving_);
  still_tree_.build(ctx, boxes_.data() + moving_, bodies_.size() - moving_);
  walk_trees(ctx, in, out);
  if (in.motion.asleep != nullptr && in.before.pairs > 0) copy_sleeping_pairs(ctx, in, state_.data(), out);
  sort_keys(ctx, out.room, out.keys, in.pair_keys.end_bit());
}

void PairSearch::append_trees(Context& ctx, std::vector<TreeBox>& out) const {
  append_tree(ctx, moving_tree_.view(), out);
  append_tree(ctx, still_tree_.view(), out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
