#include "gpu/model/tet10.h"

namespace stickslip {
namespace {

constexpr int count_of_owned_by_tet10() {
  int count = 0;
  for (int s = 0; s < kTet10Stencils; ++s)
    for (int row = 0; row < 4; ++row)
      for (int column = 0; column <= row; ++column) count += tet10_owns(s, row, column) ? 1 : 0;
  return count;
}
static_assert(count_of_owned_by_tet10() == kTet10Nodes * (kTet10Nodes + 1) / 2,
              "every pair of nodes needs one stencil");

}  // namespace

Tet10 tet10_of_parts(std::span<const Vec4i, kTet10Parts> parts) {
  Tet10 tet{};
  for (int p = 0; p < kTet10Parts; ++p)
    for (int c = 0; c < 4; ++c) tet.v[tet10_part(p, c)] = parts[static_cast<std::size_t>(p)][c];
  return tet;
}

Tet10 tet10_of_stencils(std::span<const Vec4i, kTet10Stencils> stencils) {
  Tet10 tet{};
  for (int s = 0; s < kTet10Stencils; ++s)
    for (int c = 0; c < 4; ++c) tet.v[tet10_stencil(s, c)] = stencils[static_cast<std::size_t>(s)][c];
  return tet;
}

}  // namespace stickslip
