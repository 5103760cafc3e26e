// The matrix that the benches of products and PCG share: a vector Laplacian on a lattice of tets.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/linear/split_matrix.cuh"

namespace stickslip {

constexpr Real kLaplacianMass = Real(1e-4);

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Over a cube of side^3 nodes, with a little mass: positive definite, and slow enough for PCG to be timed.
void set_laplacian(Context& ctx, std::int32_t side, SplitMatrix& matrix);

/// `count` stencils that tie far parts of the mesh to each other, as contacts do.
void add_springs(Context& ctx, std::size_t count, SplitMatrix& matrix);

/// What one product must move: every block and index of D, L and C once, x and y once.
double product_bytes(const SplitMatrix& matrix);

/// A right-hand side that excites much, and room for a solution.
void fill_right_hand_side(Context& ctx, Buffer<Vec3>& b);
struct LaplacianVectors {
  LaplacianVectors(Context& ctx, std::size_t n);
  Buffer<Vec3> b, x;
};

}  // namespace stickslip::STICKSLIP_BACKEND
