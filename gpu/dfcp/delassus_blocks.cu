// The factored form from blocks that are in backend memory already, as a running scene makes them.
#include "gpu/core/reduce.h"
#include "gpu/core/sort.h"
#include "gpu/dfcp/delassus.cuh"

namespace stickslip::STICKSLIP_BACKEND {

template <int D>
void Delassus<D>::build(Context& ctx, const ConstraintBlock<D>* blocks, std::size_t count,
                        const BodyInverse* inverse, const double* free, std::size_t bodies) {
  blocks_ = count;
  bodies_ = bodies;
  dofs_ = 6;
  factored_ = from_blocks_ = true;
  host_start_.clear();
  host_column_.clear();
  host_body_start_.clear();
  host_value_.clear();
  start_.resize(ctx, count + 1);
  column_.resize(ctx, 2 * count);
  entry_block_.resize(ctx, 2 * count);
  jacobian_.resize(ctx, 2 * count * D * 6);
  inverse_.resize(ctx, bodies);
  q_.resize(ctx, count);
  compliance_.resize(ctx, count);
  diagonal_.resize(ctx, count);
  scale_.resize(ctx, count);
  copy(ctx, inverse_.data(), inverse, bodies);

  std::int32_t *start = start_.data(), *body = column_.data(), *block_of = entry_block_.data();
  double *jacobian = jacobian_.data(), *scale = scale_.data();
  Vec<double, D>*q = q_.data(), *compliance = compliance_.data();
  Mat<double, D>* diagonal = diagonal_.data();
  launch(
      ctx, count,
      [=] SS_LAMBDA(std::size_t c) {
        const ConstraintBlock<D>& block = blocks[c];
        if (c == 0) start[count] = static_cast<std::int32_t>(2 * count);
        start[c] = static_cast<std::int32_t>(2 * c);
        Mat<double, D> w = Mat<double, D>::zero();
        Vec<double, D> u = block.w;
        for (std::size_t side = 0; side < 2; ++side) {
          const std::size_t e = 2 * c + side;
          const std::int32_t b = block.body[side];
          block_of[e] = static_cast<std::int32_t>(c);
          const bool pushed = b >= 0 && inverse[b].mass > 0;
          body[e] = pushed ? b : -1;
          for (int i = 0; i < D; ++i) {
            const Vec<double, 6>& row = block.jacobian[side][i];
            for (int j = 0; j < 6; ++j) jacobian[(e * D + static_cast<std::size_t>(i)) * 6 + j] = row[j];
            if (b < 0) continue;
            for (int j = 0; j < 6; ++j) u[i] += row[j] * free[6 * static_cast<std::size_t>(b) + j];
            if (!pushed) continue;
            const Vec<double, 6> response = inverse[b].times(row);
            for (int j = 0; j < D; ++j) w(j, i) += dot(block.jacobian[side][j], response);
          }
        }
        for (int i = 0; i < D; ++i) w(i, i) += block.compliance[i];
        for (int i = 0; i < D; ++i)
          for (int j = 0; j < i; ++j) w(i, j) = w(j, i) = 0.5 * (w(i, j) + w(j, i));
        q[c] = u;
        compliance[c] = block.compliance;
        diagonal[c] = w;
        scale[c] = trace(w) / D;
      },
      kMedium);
  gather_entries(ctx, 2 * count);
  sum_up_blocks(ctx);
}

/// Entries by body, ascending: a stable sort of their bodies.
template <int D>
void Delassus<D>::gather_entries(Context& ctx, std::size_t entries) {
  gather_start_.resize(ctx, bodies_ + 1);
  gather_entry_.resize(ctx, entries);
  gather_keys_.resize(ctx, entries);
  std::uint32_t* keys = gather_keys_.data();
  std::int32_t *entry = gather_entry_.data(), *start = gather_start_.data();
  const std::int32_t* body = column_.data();
  const auto none = static_cast<std::uint32_t>(bodies_);
  launch(ctx, entries, [=] SS_LAMBDA(std::size_t e) {
    keys[e] = body[e] < 0 ? none : static_cast<std::uint32_t>(body[e]);
    entry[e] = static_cast<std::int32_t>(e);
  });
  int bits = 1;
  while (bits < 31 && (none >> bits) != 0) ++bits;
  sort_pairs(ctx, entries, keys, entry, bits);
  // Where the keys step from a to b, the lists of a + 1 .. b begin.
  launch(ctx, entries + 1, [=] SS_LAMBDA(std::size_t e) {
    const std::uint32_t from = e == 0 ? 0 : keys[e - 1] + 1, to = e == entries ? none : keys[e];
    for (std::uint32_t b = from; b <= to && b <= none; ++b) start[b] = static_cast<std::int32_t>(e);
  });
}

/// What the host has to know, and scales of blocks that nothing can move.
template <int D>
void Delassus<D>::sum_up_blocks(Context& ctx) {
  sums_.resize(ctx, 1);
  double* scale = scale_.data();
  const Vec<double, D>* q = q_.data();
  Vec<double, 2>* sums = sums_.data();
  reduce_sum(
      ctx, blocks_,
      [=] SS_LAMBDA(std::size_t c) {
        return Vec<double, 2>{norm2(q[c]), scale[c]};
      },
      sums, kMedium);
  const Vec<double, 2> total = read_back(ctx, sums);
  norm_q_ = std::sqrt(total[0]);
  mean_diagonal_ = blocks_ == 0 || !(total[1] > 0) ? 1.0 : total[1] / static_cast<double>(blocks_);
  const double mean = mean_diagonal_;
  launch(ctx, blocks_, [=] SS_LAMBDA(std::size_t c) {
    if (!(scale[c] > 0)) scale[c] = mean;
  });
}

#define STICKSLIP_DELASSUS_BLOCKS(D)                                                                     \
  template void Delassus<D>::build(Context&, const ConstraintBlock<D>*, std::size_t, const BodyInverse*, \
                                   const double*, std::size_t);                                          \
  template void Delassus<D>::gather_entries(Context&, std::size_t);                                      \
  template void Delassus<D>::sum_up_blocks(Context&);
STICKSLIP_DELASSUS_BLOCKS(3)
STICKSLIP_DELASSUS_BLOCKS(4)
#undef STICKSLIP_DELASSUS_BLOCKS

}  // namespace stickslip::STICKSLIP_BACKEND
