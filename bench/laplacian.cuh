// The matrix for the benches of products and PCG: a vector Laplacian on a lattice of tets.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/linear/split_matrix.cuh"

namespace stickslip {

constexpr Real kLaplacianMass = Real(1e-4);

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Over a cube of side^3 nodes, with a small mass: positive definite, and PCG converges
/// slowly enough to be timed.
void set_laplacian(Context& ctx, std::int32_t side, SplitMatrix& matrix);

/// Adds `count` stencils that couple distant parts of the mesh, like contacts.
void add_springs(Context& ctx, std::size_t count, SplitMatrix& matrix);

/// Least traffic of one product: every block and index of D, L and C once, x and y once.
double product_bytes(const SplitMatrix& matrix);

/// Fills b with a right-hand side that excites many modes.
void fill_right_hand_side(Context& ctx, Buffer<Vec3>& b);
struct LaplacianVectors {
  LaplacianVectors(Context& ctx, std::size_t n);
  Buffer<Vec3> b, x;
};

}  // namespace stickslip::STICKSLIP_BACKEND
