// Matches the contacts of a pair with those of the last step.
#pragma once

#include "gpu/collide/rigid_contact.h"

namespace stickslip {

/// Present and previous poses of the two bodies of a pair; for a half-space both of b are the identity.
struct PairPoses {
  Pose a, b, a_before, b_before;
};

/// Squared distance [m^2] from a contact to an earlier one moved with body a, or with body b, whichever is
/// nearer: a sliding contact stays with one of them.
SS_HD inline double drift2(const PairPoses& poses, const Vec<double, 3>& point,
                           const Vec<double, 3>& earlier) {
  const double with_a = norm2(poses.a.apply_back(point) - poses.a_before.apply_back(earlier));
  const double with_b = norm2(poses.b.apply_back(point) - poses.b_before.apply_back(earlier));
  return with_a < with_b ? with_a : with_b;
}

/// Sets `previous` of a pair's contacts: indices into the list in which the pair's contacts are [begin, end),
/// at most 64 of them. Matches first by feature, then the others by the nearest contact within `near` [m]
/// with a similar normal. Each is matched at most once.
SS_HD inline void match_contacts(RigidContact* contacts, int count, const RigidContact* before,
                                 std::int32_t begin, std::int32_t end, const PairPoses& poses, double near) {
  std::uint64_t taken = 0;
  int left = 0;
  const auto free_at = [&](std::int32_t k) { return (taken >> (k - begin) & 1) == 0; };
  for (int i = 0; i < count; ++i) {
    RigidContact& c = contacts[i];
    c.previous = -1;
    for (std::int32_t k = begin; c.previous < 0 && k < end; ++k)
      if (before[k].feature == c.feature && free_at(k)) c.previous = k;
    if (c.previous >= 0) taken |= std::uint64_t{1} << (c.previous - begin);
    else ++left;
  }
  for (int i = 0; left > 0 && i < count; ++i) {
    RigidContact& c = contacts[i];
    if (c.previous >= 0) continue;
    --left;
    double best = near * near;
    for (std::int32_t k = begin; k < end; ++k) {
      if (!free_at(k) || dot(before[k].normal, c.normal) < 0.7) continue;
      const double d2 = drift2(poses, c.point, before[k].point);
      if (d2 < best) best = d2, c.previous = k;
    }
    if (c.previous >= 0) taken |= std::uint64_t{1} << (c.previous - begin);
  }
}

}  // namespace stickslip
