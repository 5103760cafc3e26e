// Tight inclusion: bisection with the box of the corner values as the inclusion function [Course Alg. 1;
// Wang21]. box_search.h has the search, its order and its rounding.
//
// One thing is added to the paper's order of splits, by the largest change of F: as long as one half of a
// box's time is certainly free of roots, the box becomes the other half. Edges that touch along their length
// have a root in every box along it. Without this the number of boxes doubles with every split.
#pragma once

#include "gpu/ccd/box_search.h"

namespace stickslip::inclusion {

struct Bisection {
  static constexpr int kMostBoxes = 2048;
  /// Relative to the size of the pair and its motion.
  template <class T>
  SS_HD static constexpr T tolerance() {
    constexpr T machine = T(64) * std::numeric_limits<T>::epsilon();
    return machine > T(1e-9) ? machine : T(1e-9);
  }
  template <class T>
  SS_HD static bool narrow(const box_search::MovingGap<T>& gap, T tolerance, box_search::Box<T>& box) {
    if (!gap.clip(box) || !gap.may_vanish(box)) return false;
    for (;;) {
      const T middle = box.low[0] + T(0.5) * (box.high[0] - box.low[0]);
      if (!(middle > box.low[0] && middle < box.high[0]) || gap.widths(box)[0] <= tolerance) return true;
      box_search::Box<T> early = box, late = box;
      early.high[0] = late.low[0] = middle;
      const bool before = gap.may_vanish(early), after = gap.may_vanish(late);
      if (before && after) return true;
      if (!before && !after) return false;
      box = before ? early : late;
    }
  }
};

/// additive::toi, contact_toi and may_touch by bisection.
template <class Pair, class T>
SS_HD inline T toi(const Pair& pair, T kept, T t_max, T thickness = T(0)) {
  return box_search::toi<Bisection>(pair, kept, t_max, thickness);
}
template <class Pair, class T>
SS_HD inline T contact_toi(const Pair& pair, T t_max) {
  return box_search::first_contact<Bisection>(pair, t_max).time;
}
template <class Pair, class T>
SS_HD inline bool may_touch(const Vec<T, 3> (&start)[4], const Vec<T, 3> (&end)[4]) {
  return box_search::may_touch<Bisection, Pair>(start, end);
}

}  // namespace stickslip::inclusion
