// Pairs that scripts bring together, whatever moves freely: penetration_guard cannot keep them apart. Pure
// functions.
#pragma once

#include "gpu/elastic/guarded_pair.h"

namespace stickslip {

/// The part of a pair between its scripted corners: these also stand in the place of the free ones of their
/// side. False if a side has none.
template <class Pair>
SS_HD inline bool keep_scripted(const std::uint8_t* scripted, const Vec4i& q, Pair& pair) {
  int of_side[2] = {-1, -1};
  for (int c = 0; c < 4; ++c)
    if (scripted[q[c]] != 0) of_side[c < Pair::kCornersOfA ? 0 : 1] = c;
  if (of_side[0] < 0 || of_side[1] < 0) return false;
  for (int c = 0; c < 4; ++c) {
    if (scripted[q[c]] != 0) continue;
    const int in_place = of_side[c < Pair::kCornersOfA ? 0 : 1];
    pair.x[c] = pair.x[in_place];
    pair.p[c] = pair.p[in_place];
  }
  return true;
}

/// Whether scripts alone bring the sides nearer than the pair may come. To stop them would not help: their
/// nodes go on in the next step, from further behind.
template <class Pair>
SS_HD inline bool scripts_cross(const GuardedMotion& m, const std::uint8_t* scripted, const Vec4i& q) {
  Pair pair = m.pair<Pair>(q);
  if (!keep_scripted(scripted, q, pair)) return false;
  const Real thickness = m.thickness<Pair>(q, distance_at(m.pair<Pair>(q), Real(0)));
  const Real free = distance_at(pair, Real(0)) - thickness;
  if (!(free > m.touching())) return true;
  const Real kept = m.kept(free);
  return !stays_apart(pair, kept, kSafe, thickness) && additive::toi(pair, kept, kSafe, thickness) < kSafe;
}

/// `motion`, as far as scripts allow it to keep this pair, which crosses: if they cross, without thickness.
template <class Pair>
SS_HD inline GuardedMotion beside_scripts(GuardedMotion motion, const std::uint8_t* scripted,
                                          const Vec4i& q) {
  if (motion.radius != nullptr && scripts_cross<Pair>(motion, scripted, q)) motion.radius = nullptr;
  return motion;
}

/// time_of_impact of a pair as far as scripts allow it; kUnguarded if they cross even its midsurfaces.
template <class Pair>
SS_HD inline Real time_beside_scripts(const GuardedMotion& m, const std::uint8_t* scripted, const Vec4i& q) {
  const Real time = time_of_impact<Pair>(m, q);
  if (!(time < kSafe)) return time;
  const GuardedMotion allowed = beside_scripts<Pair>(m, scripted, q);
  if (allowed.radius == nullptr && scripts_cross<Pair>(allowed, scripted, q)) return kUnguarded;
  return allowed.radius == m.radius ? time : time_of_impact<Pair>(allowed, q);
}

}  // namespace stickslip
