#include "bench/laplacian.cuh"

#include "bench/lattice.h"
#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {

void set_laplacian(Context& ctx, std::int32_t side, SplitMatrix& matrix) {
  const auto n = static_cast<std::size_t>(side);
  matrix.set_pattern(ctx, n * n * n, lattice_tets(side));
  matrix.assemble_from(ctx, [=] SS_LAMBDA(std::size_t i) {
    const int k = static_cast<int>(i % kCornerBlocks);
    const bool on_diagonal = k == 0 || k == 2 || k == 5 || k == 9;
    return Mat3::identity() * (on_diagonal ? Real(3) : Real(-1));
  });
  Buffer<Real> mass(ctx, matrix.node_count());
  fill(ctx, mass.data(), mass.size(), kLaplacianMass);
  matrix.add_diagonal(ctx, mass.data());
}

void add_springs(Context& ctx, std::size_t count, SplitMatrix& matrix) {
  const auto n = static_cast<std::int32_t>(matrix.node_count());
  Buffer<Vec4i> nodes(ctx, count);
  Buffer<Mat3> blocks(ctx, kCornerBlocks * count);
  Vec4i* node = nodes.data();
  Mat3* block = blocks.data();
  launch(ctx, count, [=] SS_LAMBDA(std::size_t s) {
    const auto first = static_cast<std::int32_t>(3 * s % static_cast<std::size_t>(n / 2 - 1));
    node[s] = {first, first + 1, first + n / 2, first + n / 2 + 1};
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b <= a; ++b)
        block[kCornerBlocks * s + corner_block(a, b)] =
            Mat3::identity() * (a / 2 == b / 2 ? Real(1) : Real(-1));
  });
  matrix.set_stencils(ctx, nodes.data(), count, blocks.data());
}

void fill_right_hand_side(Context& ctx, Buffer<Vec3>& b) {
  Vec3* values = b.data();
  launch(ctx, b.size(), [=] SS_LAMBDA(std::size_t i) {
    const Real t = static_cast<Real>(i % 1009);
    values[i] = {t, Real(1) - t, Real(0.5) * t};
  });
}

double product_bytes(const SplitMatrix& matrix) {
  const double nodes = static_cast<double>(matrix.node_count()),
               pairs = static_cast<double>(matrix.pair_count());
  const double stencils = static_cast<double>(matrix.stencil_count());
  return nodes * (sizeof(Mat3) + 2 * sizeof(Vec3) + sizeof(std::int32_t)) +
         pairs * (sizeof(Mat3) + sizeof(std::int32_t)) + stencils * (6 * sizeof(Mat3) + sizeof(Vec4i));
}

LaplacianVectors::LaplacianVectors(Context& ctx, std::size_t n) : b(ctx, n), x(ctx, n) {
  fill_right_hand_side(ctx, b);
}

}  // namespace stickslip::STICKSLIP_BACKEND
