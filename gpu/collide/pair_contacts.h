// The data of one candidate pair in the kernels of the narrow phase.
#pragma once

#include "gpu/collide/match.h"
#include "gpu/collide/narrow_view.h"
#include "gpu/math/lanes.h"

namespace stickslip {

/// Two bodies, or a body and half-space -1 - b.
struct CandidatePair {
  std::int32_t a, b;
  std::uint64_t key;
  bool live;          // false: the contacts of the last step are kept
  std::int32_t seen;  // index of the pair in the last step's list; -1: not in it
  Pose pose_a, pose_b;
  double margin;  // [m] plus the distance closed within dt by both, or by one with the other at rest

  SS_HD bool half_space() const { return b < 0; }
};

SS_HD inline bool has_many_parts(const ShapeView& shapes, std::int32_t body) {
  return body >= 0 && shapes.kind[body] == kManyParts;
}

SS_HD inline CandidatePair candidate_pair(const NarrowInput& in, std::uint64_t key) {
  CandidatePair pair{};
  pair.key = key;
  pair.a = in.pair_keys.a(key);
  pair.b = in.pair_keys.b(key);
  pair.live = ((in.state[pair.a] | (pair.b >= 0 ? in.state[pair.b] : std::uint8_t{0})) & kLive) != 0;
  pair.seen = in.before.find(pair.a, key);
  pair.pose_a = in.motion.pose[pair.a];
  pair.pose_b = pair.b >= 0 ? in.motion.pose[pair.b] : Pose::identity();
  pair.margin = in.margin;
  if (in.dt > 0) {
    const Vec<double, 3> va = in.motion.velocity[pair.a];
    double speed = norm(va), turn = norm(in.motion.spin[pair.a]) * in.shapes.radius[pair.a];
    if (pair.b >= 0) {
      const Vec<double, 3> vb = in.motion.velocity[pair.b];
      speed = larger(speed, larger(norm(vb), norm(va - vb)));
      turn += norm(in.motion.spin[pair.b]) * in.shapes.radius[pair.b];
    }
    pair.margin += in.dt * (speed + turn);
  }
  return pair;
}

/// Drops the points of `m` whose gap exceeds the margin plus the distance closed within dt, by both bodies or
/// by one with the other at rest. The latter is needed: in a falling stack no bodies approach each other, but
/// all land on each other in one step.
SS_HD inline void drop_distant(const NarrowInput& in, const CandidatePair& pair, Manifold& m) {
  if (!(in.dt > 0)) return;
  int kept = 0;
  for (int i = 0; i < m.count; ++i) {
    const ManifoldPoint& p = m.points[i];
    const double a =
        -dot(m.normal, in.motion.velocity[pair.a] + cross(in.motion.spin[pair.a], p.point - pair.pose_a.x));
    const double b = pair.b < 0 ? 0.0
                                : dot(m.normal, in.motion.velocity[pair.b] +
                                                    cross(in.motion.spin[pair.b], p.point - pair.pose_b.x));
    const double closing = larger(larger(a, b), larger(a + b, 0.0));
    if (p.gap > in.margin + in.dt * closing) continue;
    // A copy of the whole struct would read its padding, which is never written.
    ManifoldPoint& to = m.points[kept++];
    to.point = p.point;
    to.gap = p.gap;
    to.feature = p.feature;
  }
  m.count = kept;
}

SS_HD inline int write_contacts(const CandidatePair& pair, const Manifold& m, RigidContact* to) {
  for (int i = 0; i < m.count; ++i)
    to[i] = {pair.a, pair.b, m.points[i].point, m.normal, m.points[i].gap, m.points[i].feature, -1};
  return m.count;
}

/// Copies the last contacts of a sleeping pair, if any; returns their number.
SS_HD inline int copy_contacts(const NarrowInput& in, const CandidatePair& pair, RigidContact* to, int most) {
  if (pair.seen < 0) return 0;
  const std::int32_t begin = in.before.pair_start[pair.seen], end = in.before.pair_start[pair.seen + 1];
  int count = 0;
  for (std::int32_t k = begin; k < end && count < most; ++k, ++count) {
    to[count] = in.before.contacts[k];
    to[count].previous = k;
  }
  return count;
}

/// Sets `previous` of the pair's contacts. A contact within 2% of the smaller body's size, or a quarter of
/// the margin, of an earlier one with another name is matched with it.
SS_HD inline void match_pair(const NarrowInput& in, const CandidatePair& pair, RigidContact* contacts,
                             int count) {
  if (pair.seen < 0) return;
  double size = 2 * in.shapes.radius[pair.a];
  PairPoses poses{pair.pose_a, pair.pose_b, in.pose_before[pair.a], Pose::identity()};
  if (!pair.half_space()) {
    poses.b_before = in.pose_before[pair.b];
    const double other = 2 * in.shapes.radius[pair.b];
    size = other < size ? other : size;
  }
  const double by_size = 0.02 * size, by_margin = 0.25 * in.margin;
  match_contacts(contacts, count, in.before.contacts, in.before.pair_start[pair.seen],
                 in.before.pair_start[pair.seen + 1], poses, by_size > by_margin ? by_size : by_margin);
}

SS_HD inline void keep_place(const NarrowOutput& out, std::size_t candidate, std::int32_t begin, int count) {
  out.stage[candidate] = {begin, count};
  out.tally[candidate] = count > 0 ? std::uint64_t{1} << 32 | static_cast<std::uint64_t>(count) : 0;
}

}  // namespace stickslip
