#include "gpu/linear/affine_modes.cuh"

#include <algorithm>
#include <vector>

#include "gpu/core/chunks.h"
#include "gpu/core/launch.h"
#include "gpu/core/scratch_slots.h"
#include "gpu/math/spd.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr int kModes = 12;
// Added to the diagonal, relative to it: objects with few free nodes, or flat ones, have fewer motions.
constexpr Real kRidge = sizeof(Real) == 8 ? Real(1e-10) : Real(1e-4);

struct FindMotion {
  MotionSpace::Sums sum;
  const CoarseBlock* inverse;
  const std::int32_t* skip;  // may be null
  AffineMotion* out;

  SS_HD void operator()(std::size_t o) const {
    if (skip == nullptr || *skip == 0) out[o] = inverse[o] * sum(o);
  }
};

/// Replaces each block by its inverse; by zero if it is not positive definite.
void invert_blocks(Context& ctx, std::size_t n, CoarseBlock* e) {
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t o) {
        for (int k = 0; k < kModes; ++k) e[o](k, k) *= 1 + kRidge;
        e[o] = factor_ldl(e[o]).positive ? inverse_spd(e[o]) : CoarseBlock::zero();
      },
      kHeavy);
}

#if !STICKSLIP_ON_CUDA

constexpr std::size_t kFewGroups = 4, kNodesPerSum = 256;

/// The columns of Z at node i are s_i (x) I with s_i = (1, d_i), so that
///   Z'A Z = sum_ij (s_i s_j') (x) A_ij = F + F',   F = sum_i s_i (x) sum_j s_j (x) A_ij,
/// where the inner sum has each block of L once, and half of D.
struct ModeRows {
  ChunkView rows;
  MotionView z;
  std::int32_t group;

  bool has(std::int32_t node) const {
    return static_cast<std::size_t>(node) < z.nodes && z.group[node] == group;
  }

  /// f += the term of node i.
  void add(std::int32_t i, CoarseBlock& f) const {
    if (!has(i)) return;
    const std::int32_t slot = rows.slot_of_node[i], first = slot / rows.chunk_size * rows.chunk_size;
    Mat3 sum[4] = {Mat3::zero(), Mat3::zero(), Mat3::zero(), Mat3::zero()};
    add_block(Real(0.5), rows.diagonal[i], i, sum);
    for (std::int32_t e = rows.inner_begin[slot]; e < rows.inner_begin[slot + 1]; ++e)
      add_block(Real(1), rows.lower[e], rows.node[first + rows.column[e]], sum);
    // Between chunks a block stands in both rows.
    for (std::int32_t e = rows.outer_begin[slot]; e < rows.outer_begin[slot + 1]; ++e)
      add_block(Real(0.5), rows.lower[e], rows.node[rows.column[e]], sum);
    const Vec3& d = z.offset[i];
    const Real s[4] = {Real(1), d[0], d[1], d[2]};
    for (int a = 0; a < 4; ++a)
      for (int row = 0; row < 3; ++row)
        for (int b = 0; b < 4; ++b)
          for (int column = 0; column < 3; ++column)
            f(3 * a + row, 3 * b + column) += s[a] * sum[b](row, column);
  }

 private:
  void add_block(Real share, const Mat3& block, std::int32_t j, Mat3* sum) const {
    if (!has(j)) return;
    const Mat3 part = share * block;
    sum[0] += part;
    for (int k = 0; k < 3; ++k) sum[1 + k] += z.offset[j][k] * part;
  }
};

/// Z_o'A Z_o of one group by one pass over its rows. Sums in a fixed order.
CoarseBlock multiply_modes(Context& ctx, const ModeRows& rows) {
  const std::size_t nodes = rows.z.nodes, chunks = detail::chunk_count(nodes, kNodesPerSum);
  auto* part = static_cast<CoarseBlock*>(ctx.scratch(slot::reduce_partials, chunks * sizeof(CoarseBlock)));
  detail::for_chunks(ctx, nodes, kNodesPerSum, [=](std::size_t c, std::size_t begin, std::size_t end) {
    CoarseBlock f = CoarseBlock::zero();
    for (std::size_t i = begin; i < end; ++i) rows.add(static_cast<std::int32_t>(i), f);
    part[c] = f;
  });
  CoarseBlock f = CoarseBlock::zero();
  for (std::size_t c = 0; c < chunks; ++c) f += part[c];
  return f + f.transposed();
}

#endif

}  // namespace

void AffineModes::load(Context& ctx, std::span<const Vec2i> objects) {
  std::vector<std::int32_t> object_of(objects.empty() ? 0 : static_cast<std::size_t>(objects.back()[1]), -1);
  for (std::size_t o = 0; o < objects.size(); ++o)
    std::fill(object_of.begin() + objects[o][0], object_of.begin() + objects[o][1],
              static_cast<std::int32_t>(o));
  motions_.load(ctx, object_of, objects.size());
  found_.resize(ctx, objects.size());
  inverse_.resize(ctx, objects.size());
}

void AffineModes::build(Context& ctx, SplitMatrix& matrix, const Vec3* x, const std::uint8_t* fixed) {
  if (empty()) return;
  // Nodes after the last object have no motion here; products are of all nodes.
  const std::size_t nodes = matrix.node_count();
  column_.resize(ctx, nodes);
  product_.resize(ctx, nodes);
  motions_.place(ctx, x, fixed);
  fill(ctx, column_.data(), nodes, Vec3::zero());
  CoarseBlock* e = inverse_.data();
#if !STICKSLIP_ON_CUDA
  if (matrix.embedding() == nullptr && matrix.stencil_count() == 0 && motions_.groups() <= kFewGroups) {
    for (std::size_t o = 0; o < motions_.groups(); ++o)
      e[o] = multiply_modes(ctx, {matrix.chunk_rows(), motions_.view(), static_cast<std::int32_t>(o)});
    return invert_blocks(ctx, motions_.groups(), e);
  }
#endif
  for (int mode = 0; mode < kModes; ++mode) {
    motions_.set_column(ctx, mode, column_.data());
    matrix.multiply(ctx, column_.data(), product_.data());
    motions_.sum(ctx, product_.data(), nullptr);
    launch(ctx, motions_.groups(), [=, sum = motions_.sums()] SS_LAMBDA(std::size_t o) {
      const AffineMotion total = sum(o);
      for (int k = 0; k < kModes; ++k) e[o](k, mode) = total[k];
    });
  }
  invert_blocks(ctx, motions_.groups(), e);
}

/// found_ = (Z_o' A Z_o)^-1 Z_o' r; `skip` may be null.
void AffineModes::find_motions(Context& ctx, const Vec3* r, const std::int32_t* skip) {
  motions_.sum(ctx, r, skip);
  launch(ctx, motions_.groups(), FindMotion{motions_.sums(), inverse_.data(), skip, found_.data()}, kMedium);
}

void AffineModes::add(Context& ctx, std::size_t nodes, const Vec3* r, Vec3* z, Real* r_dot_z,
                      const std::int32_t* skip) {
  if (empty()) return;
  find_motions(ctx, r, skip);
  motions_.add(ctx, found_.data(), nodes, r, z, r_dot_z, skip);
}

void AffineModes::balance(Context& ctx, const Vec3* r, Vec3* x) {
  if (empty()) return;
  find_motions(ctx, r, nullptr);
  motions_.add(ctx, found_.data(), x);
}

}  // namespace stickslip::STICKSLIP_BACKEND
