// The largest overlap and the smallest gap of a list of contacts, as a reduction.
#pragma once

#include <limits>

#include "gpu/collide/rigid_contact.h"

namespace stickslip {

struct GapExtremes {
  double penetration = 0;                           // [m] largest overlap
  double gap = std::numeric_limits<double>::max();  // [m] smallest gap; negative where contacts overlap
};

/// With penetration_guard, contacts of solids store their gaps less the distance that they keep. They follow
/// the first `first` contacts.
struct KeptGaps {
  double keep = 0;  // [m]
  std::int32_t first = 0;

  SS_HD double of(std::size_t c) const { return static_cast<std::int32_t>(c) >= first ? keep : 0.0; }
};

/// The extremes of contact c.
struct GapOf {
  const RigidContact* contact;
  KeptGaps kept;
  SS_HD GapExtremes operator()(std::size_t c) const {
    const double gap = contact[c].gap + kept.of(c);
    return {gap < 0 ? -gap : 0.0, gap};
  }
};

struct WiderExtremes {
  SS_HD GapExtremes operator()(const GapExtremes& a, const GapExtremes& b) const {
    return {a.penetration > b.penetration ? a.penetration : b.penetration, a.gap < b.gap ? a.gap : b.gap};
  }
};

}  // namespace stickslip
