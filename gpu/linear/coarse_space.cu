#include "gpu/linear/coarse_space.cuh"

#include <algorithm>

#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Z'A Z from the blocks of A: a(i) A_ij b(j)', for the motions a(i) = (1, d_i) of each node.
class CoarseSums {
 public:
  CoarseSums(std::span<const std::int32_t> group, std::span<const Vec3> offset)
      : group_(group), offset_(offset) {}

  std::vector<Vec2i> pairs(const HostBlocks& blocks) const {
    std::vector<Vec2i> out;
    for (const Vec2i& place : blocks.places) {
      const std::int32_t g = group_of(place[0]), h = group_of(place[1]);
      if (g >= 0 && h >= 0 && g != h) out.push_back({g, h});
    }
    return out;
  }
  /// A block on the diagonal of A counts by half, since CoarseMatrix::add adds the transpose.
  void add(const HostBlocks& blocks, CoarseMatrix& out) const {
    for (std::size_t k = 0; k < blocks.places.size(); ++k) {
      const std::int32_t i = blocks.places[k][0], j = blocks.places[k][1];
      const std::int32_t g = group_of(i), h = group_of(j);
      if (g < 0 || h < 0) continue;
      const Real a[4] = {1, offset_[i][0], offset_[i][1], offset_[i][2]};
      const Real b[4] = {1, offset_[j][0], offset_[j][1], offset_[j][2]};
      const Real weight = i == j ? Real(0.5) : Real(1);
      CoarseBlock block;
      for (int p = 0; p < 4; ++p)
        for (int r = 0; r < 3; ++r)
          for (int q = 0; q < 4; ++q)
            for (int c = 0; c < 3; ++c)
              block(3 * p + r, 3 * q + c) = weight * a[p] * b[q] * blocks.blocks[k](r, c);
      out.add(g, h, block);
    }
  }

 private:
  std::int32_t group_of(std::int32_t node) const {
    return static_cast<std::size_t>(node) < group_.size() ? group_[node] : -1;
  }

  std::span<const std::int32_t> group_;
  std::span<const Vec3> offset_;
};

}  // namespace

void CoarseSpace::set_plan(Context& ctx, std::span<const std::int32_t> group) {
  const std::int32_t last = group.empty() ? -1 : *std::ranges::max_element(group);
  motions_.load(ctx, group, static_cast<std::size_t>(last + 1));
  found_.resize(ctx, motions_.groups());
  has_plan_ = true;
}

void CoarseSpace::build(Context& ctx, const SplitMatrix& matrix, const Vec3* x, const std::uint8_t* fixed) {
  if (motions_.empty()) return;
  motions_.place(ctx, x, fixed);
#if STICKSLIP_ON_CUDA
  assemble_on_host(ctx, matrix);
#else
  if (matrix.embedding() != nullptr) assemble_on_host(ctx, matrix);
  else rows_.assemble(ctx, matrix.chunk_rows(), matrix.coupling_rows(ctx), motions_.view(), matrix_);
  matrix_.factorise(&ctx.arena());
#endif
#if STICKSLIP_ON_CUDA
  matrix_.factorise();
  const CoarseFactors factors = matrix_.factors();
  const auto n = static_cast<std::size_t>(factors.groups);
  group_.upload(ctx, std::span(factors.group, n));
  row_.upload(ctx, std::span(factors.row, n + 1));
  column_.upload(ctx, std::span(factors.column, matrix_.block_count()));
  block_.upload(ctx, std::span(factors.block, matrix_.block_count()));
  inverse_.upload(ctx, std::span(factors.inverse, n));
#endif
}

CoarseFactors CoarseSpace::factors() const {
#if STICKSLIP_ON_CUDA
  return {matrix_.groups(), group_.data(), row_.data(), column_.data(), block_.data(), inverse_.data()};
#else
  return matrix_.factors();
#endif
}

void CoarseSpace::assemble_on_host(Context& ctx, const SplitMatrix& matrix) {
  const MotionView view = motions_.view();
  std::vector<std::int32_t> group(view.nodes);
  std::vector<Vec3> offset(view.nodes);
  copy_to_host(ctx, group.data(), view.group, view.nodes);
  copy_to_host(ctx, offset.data(), view.offset, view.nodes);
  const HostBlocks blocks = matrix.download(ctx);
  const CoarseSums sums(group, offset);
  matrix_.begin(static_cast<std::int32_t>(view.groups), sums.pairs(blocks));
  sums.add(blocks, matrix_);
}

void CoarseSpace::add(Context& ctx, std::size_t nodes, const Vec3* r, Vec3* z, Real* r_dot_z,
                      const std::int32_t* skip) {
  if (motions_.empty()) return;
  motions_.sum(ctx, r, skip);
  AffineMotion* found = found_.data();
  launch(ctx, motions_.groups(), [=, sum = motions_.sums()] SS_LAMBDA(std::size_t g) {
    if (*skip == 0) found[g] = sum(g);
  });
  launch(
      ctx, 1,
      [=, factors = this->factors()] SS_LAMBDA(std::size_t) {
        if (*skip == 0) factors.solve(found);
      },
      kHeavy);
  motions_.add(ctx, found, nodes, r, z, r_dot_z, skip);
}

}  // namespace stickslip::STICKSLIP_BACKEND
