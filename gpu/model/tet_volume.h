// Signed volume of a tetrahedron, on the host.
#pragma once

#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

/// [m^3] of the tet over `nodes`; negative when it is inside out.
inline double tet_volume(const std::vector<Vec<double, 3>>& nodes, const Vec4i& t) {
  return dot(nodes[t[1]] - nodes[t[0]], cross(nodes[t[2]] - nodes[t[0]], nodes[t[3]] - nodes[t[0]])) / 6;
}

}  // namespace stickslip
