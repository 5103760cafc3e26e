// A moving point and an immovable plane.
#pragma once

#include "gpu/math/vec.h"

namespace stickslip {

/// The largest t in [0, t_max] at which x + t p keeps the share `kept` of its height dot(normal, x) - offset;
/// 0 for a point at or behind the plane that approaches it.
template <class T>
SS_HD constexpr T half_space_toi(const Vec<T, 3>& normal, T offset, const Vec<T, 3>& x, const Vec<T, 3>& p,
                                 T kept, T t_max) {
  const T usable = (T(1) - kept) * (dot(normal, x) - offset), approach = -dot(normal, p);
  if (!(approach > T(0))) return t_max;
  if (!(usable > T(0))) return T(0);
  return usable < t_max * approach ? usable / approach : t_max;
}

}  // namespace stickslip
