// Which blocks of a matrix a product takes, by the two nodes that they couple.
#pragma once

#include "gpu/core/backend.h"

namespace stickslip {

/// A node's group, where the matrix is cut into groups.
using NodeGroup = std::uint8_t;

struct AllCoupled {
  SS_HD constexpr bool operator()(std::int32_t, std::int32_t) const { return true; }
};

struct SameGroup {
  const NodeGroup* group;
  SS_HD bool operator()(std::int32_t i, std::int32_t j) const { return group[i] == group[j]; }
};

}  // namespace stickslip
