// Sparse Cholesky factorisation on the host, where the build found Eigen: for reference.
#pragma once

#include <span>

#include "gpu/linear/host_blocks.h"

namespace stickslip {

/// Beyond this, fill-in takes gigabytes and minutes per solve.
inline constexpr std::size_t kMostCholeskyNodes = 20000;

/// Whether this build has it.
bool has_cholesky();

/// Solves A x = b for the nodes with fixed[i] == 0; the others get zero (`fixed` may be empty). Throws
/// SimulationError when this build has no Eigen, there are more than kMostCholeskyNodes nodes, or A is not
/// positive definite.
std::vector<Vec3> solve_cholesky(const HostBlocks& a, std::span<const Vec3> b,
                                 std::span<const std::uint8_t> fixed);

}  // namespace stickslip
