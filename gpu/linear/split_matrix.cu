#include "gpu/linear/split_matrix.cuh"

#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr int kCouplings = 6;

SS_HD constexpr int coupling_block(int k) {
  return k == 0 ? corner_block(1, 0) : k < 3 ? corner_block(2, k - 1) : corner_block(3, k - 3);
}

/// The four products of a stencil's couplings C + C'; returns x'(C + C')x.
SS_HD Real stencil_product(const Vec4i& nodes, const Mat3* couplings, const Vec3* x, Vec3* products) {
  Vec3 xs[4], ys[4];
  for (int a = 0; a < 4; ++a) {
    xs[a] = nodes[a] >= 0 ? x[nodes[a]] : Vec3::zero();
    ys[a] = Vec3::zero();
  }
  int k = 0;
  for (int a = 1; a < 4; ++a)
    for (int b = 0; b < a; ++b, ++k) {
      if (nodes[a] < 0 || nodes[b] < 0) continue;
      ys[a] += couplings[k] * xs[b];
      ys[b] += transposed_times(couplings[k], xs[a]);
    }
  Real sum = 0;
  for (int a = 0; a < 4; ++a) {
    products[a] = ys[a];
    sum += dot(xs[a], ys[a]);
  }
  return sum;
}

}  // namespace

void SplitMatrix::set_pattern(Context& ctx, std::size_t node_count, std::span<const Vec4i> tets) {
  const Pattern pattern = make_pattern(node_count, tets, LowerProduct::chunk_size(node_count));
  node_count_ = node_count;
  pair_count_ = pattern.pair_count();
  entry_count_ = pattern.entries.size();
  stencil_count_ = 0;
  lower_product_.set_pattern(ctx, pattern);
  assembly_begin_.upload(ctx, pattern.assembly_begin);
  assembly_.upload(ctx, pattern.assembly);
  const Buffer<Vec4i> corners(ctx, tets);
  tet_gather_.build(ctx, corners.data(), tets.size(), node_count);
  diagonal_.resize(ctx, node_count + 1);
  lower_.resize(ctx, entry_count_ + 1);
  fill(ctx, diagonal_.data(), diagonal_.size(), Mat3::zero());
  fill(ctx, lower_.data(), lower_.size(), Mat3::zero());
  dots_.resize(ctx, 2);
}

void SplitMatrix::assemble(Context& ctx, const Mat3* tet_blocks) {
  assemble_from(ctx, [=] SS_LAMBDA(std::size_t i) { return tet_blocks[i]; });
}

void SplitMatrix::add_diagonal(Context& ctx, const Real* per_node) {
  Mat3* diagonal = diagonal_.data();
  launch(ctx, node_count_, [=] SS_LAMBDA(std::size_t i) {
    for (int r = 0; r < 3; ++r) diagonal[i](r, r) += per_node[i];
  });
}

void SplitMatrix::add_diagonal(Context& ctx, const Mat3* per_node) {
  Mat3* diagonal = diagonal_.data();
  launch(ctx, node_count_, [=] SS_LAMBDA(std::size_t i) { diagonal[i] += per_node[i]; });
}

void SplitMatrix::set_stencils(Context& ctx, const Vec4i* nodes, std::size_t n, const Mat3* blocks) {
  stencil_count_ = n;
  stencil_gather_.build(ctx, nodes, n, node_count_);
  stencils_.resize(ctx, n);
  couplings_.resize(ctx, kCouplings * n);
  corner_products_.resize(ctx, 4 * n);
  copy(ctx, stencils_.data(), nodes, n);
  Mat3* couplings = couplings_.data();
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t s) {
        for (int k = 0; k < kCouplings; ++k)
          couplings[kCouplings * s + k] = blocks[kCornerBlocks * s + coupling_block(k)];
      },
      kMedium);
  stencil_gather_.sum(
      ctx,
      [=] SS_LAMBDA(std::int32_t corner) {
        const int a = corner % 4;
        return blocks[static_cast<std::size_t>(corner / 4) * kCornerBlocks + corner_block(a, a)];
      },
      diagonal_.data());
}

void SplitMatrix::multiply(Context& ctx, const Vec3* x, Vec3* y, Real* x_dot_y, const std::int32_t* skip) {
  Real* dots = dots_.data();
  Real* total = x_dot_y != nullptr ? x_dot_y : dots;
  lower_product_.multiply(ctx, diagonal_.data(), lower_.data(), x, y, total, skip);
  if (stencil_count_ == 0) return;

  // C in two phases, each with one writer per result: products by stencil, then their sums by node.
  const Vec4i* stencils = stencils_.data();
  const Mat3* couplings = couplings_.data();
  Vec3* products = corner_products_.data();
  reduce_sum(
      ctx, stencil_count_,
      [=] SS_LAMBDA(std::size_t s) {
        if (skip != nullptr && *skip != 0) return Real(0);
        return stencil_product(stencils[s], couplings + kCouplings * s, x, products + 4 * s);
      },
      dots + 1, kMedium);
  stencil_gather_.sum(
      ctx, [=] SS_LAMBDA(std::int32_t corner) { return products[corner]; }, y);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *total += dots[1]; });
}

}  // namespace stickslip::STICKSLIP_BACKEND
