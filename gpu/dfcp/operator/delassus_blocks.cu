// The factored form from blocks in backend memory, as a running scene writes them.
#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/sort.h"
#include "gpu/dfcp/operator/delassus.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Entries in the order of the problem, each with its body as key; immovable bodies get `none`.
void key_entries(Context& ctx, std::size_t entries, const std::int32_t* body, std::uint32_t none,
                 std::uint32_t* keys, std::int32_t* entry) {
  launch(ctx, entries, [=] SS_LAMBDA(std::size_t e) {
    keys[e] = body[e] < 0 ? none : static_cast<std::uint32_t>(body[e]);
    entry[e] = static_cast<std::int32_t>(e);
  });
}

/// Where the sorted keys step from a to b, the lists of a + 1 .. b begin.
void start_lists(Context& ctx, std::size_t entries, const std::uint32_t* keys, std::uint32_t none,
                 std::int32_t* start) {
  launch(ctx, entries + 1, [=] SS_LAMBDA(std::size_t e) {
    const std::uint32_t from = e == 0 ? 0 : keys[e - 1] + 1, to = e == entries ? none : keys[e];
    for (std::uint32_t b = from; b <= to && b <= none; ++b) start[b] = static_cast<std::int32_t>(e);
  });
}

/// The terms of |q|^2, at most `most2` each, and the scales.
template <int D>
struct BlockSums {
  const Vec<double, D>* q;
  const double* scale;
  double most2;  // [m^2/s^2]

  SS_HD Vec<double, 2> operator()(std::size_t c) const {
    const double q2 = norm2(q[c]);
    return {q2 > most2 ? most2 : q2, scale[c]};
  }
};

/// Immovable blocks get the scale `mean`.
void fill_scales(Context& ctx, std::size_t blocks, double mean, double* scale) {
  launch(ctx, blocks, [=] SS_LAMBDA(std::size_t c) {
    if (!(scale[c] > 0)) scale[c] = mean;
  });
}

}  // namespace

template <int D>
BlockWriter<D> Delassus<D>::begin(Context& ctx, std::size_t count, const BodyInverse* inverse,
                                  const double* free, std::size_t bodies) {
  begin_build(count);
  bodies_ = bodies;
  dofs_ = 6;
  factored_ = from_blocks_ = true;
  host_start_.clear();
  host_column_.clear();
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
  return {inverse_.data(),  free,         column_.data(), jacobian_.data(), q_.data(), compliance_.data(),
          diagonal_.data(), scale_.data()};
}

template <int D>
void Delassus<D>::finish(Context& ctx) {
  std::int32_t *start = start_.data(), *block_of = entry_block_.data();
  const std::size_t count = blocks_;
  launch(ctx, count + 1, [=] SS_LAMBDA(std::size_t c) {
    start[c] = static_cast<std::int32_t>(2 * c);
    if (c < count) block_of[2 * c] = block_of[2 * c + 1] = static_cast<std::int32_t>(c);
  });
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
  std::int32_t* entry = gather_entry_.data();
  const auto none = static_cast<std::uint32_t>(bodies_);
  key_entries(ctx, entries, column_.data(), none, keys, entry);
  int bits = 1;
  while (bits < 31 && (none >> bits) != 0) ++bits;
  sort_pairs(ctx, entries, keys, entry, bits);
  start_lists(ctx, entries, keys, none, gather_start_.data());
}

/// Reads the values that the host needs, and sets the scales of immovable blocks.
template <int D>
void Delassus<D>::sum_up_blocks(Context& ctx) {
  sums_.resize(ctx, 1);
  reduce_sum(ctx, blocks_, BlockSums<D>{q_.data(), scale_.data(), most_speed_ * most_speed_}, sums_.data(),
             kMedium);
  const Vec<double, 2> total = read_back(ctx, sums_.data());
  norm_q_ = std::sqrt(total[0]);
  mean_diagonal_ = blocks_ == 0 || !(total[1] > 0) ? 1.0 : total[1] / static_cast<double>(blocks_);
  fill_scales(ctx, blocks_, mean_diagonal_, scale_.data());
}

template <int D>
void Delassus<D>::move_free(Context& ctx, const double* change) {
  const BodyRows<D> h = body_rows();
  Vec<double, D>* q = q_.data();
  launch(
      ctx, blocks_, [=] SS_LAMBDA(std::size_t c) { q[c] += h.times(c, change); }, kMedium);
}

#define STICKSLIP_DELASSUS_BLOCKS(D)                                                                   \
  template BlockWriter<D> Delassus<D>::begin(Context&, std::size_t, const BodyInverse*, const double*, \
                                             std::size_t);                                             \
  template void Delassus<D>::move_free(Context&, const double*);                                       \
  template void Delassus<D>::finish(Context&);                                                         \
  template void Delassus<D>::gather_entries(Context&, std::size_t);                                    \
  template void Delassus<D>::sum_up_blocks(Context&);
STICKSLIP_DELASSUS_BLOCKS(3)
STICKSLIP_DELASSUS_BLOCKS(4)
STICKSLIP_DELASSUS_BLOCKS(5)
#undef STICKSLIP_DELASSUS_BLOCKS

}  // namespace stickslip::STICKSLIP_BACKEND
