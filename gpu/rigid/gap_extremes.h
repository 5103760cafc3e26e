// The largest overlap and the smallest gap of a list of contacts, as a reduction.
#pragma once

#include <limits>

#include "gpu/collide/rigid_contact.h"

namespace stickslip {

struct GapExtremes {
  double penetration = 0;                           // [m] largest overlap
  double gap = std::numeric_limits<double>::max();  // [m] smallest gap; negative where contacts overlap
};

/// The extremes of contact c.
struct GapOf {
  const RigidContact* contact;
  SS_HD GapExtremes operator()(std::size_t c) const {
    const double gap = contact[c].gap;
    return {gap < 0 ? -gap : 0.0, gap};
  }
};

struct WiderExtremes {
  SS_HD GapExtremes operator()(const GapExtremes& a, const GapExtremes& b) const {
    return {a.penetration > b.penetration ? a.penetration : b.penetration, a.gap < b.gap ? a.gap : b.gap};
  }
};

}  // namespace stickslip
