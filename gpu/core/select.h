// select_indices: stable compaction.
#pragma once

#include "gpu/core/chunks.h"
#include "gpu/core/launch.h"
#include "gpu/core/scan.h"
#include "gpu/core/scratch_slots.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Writes the indices i in [0, n) with pred(i), ascending, to `out` (room for n entries unless fewer are
/// known to pass), and their number to `count`. pred is called once per index. n < 2^31. Both outputs are
/// backend pointers.
template <class P>
void select_indices(Context& ctx, std::size_t n, P pred, std::int32_t* out, std::int32_t* count,
                    [[maybe_unused]] Grain grain = {}) {
#if STICKSLIP_ON_CUDA
  auto* flags = static_cast<std::int32_t*>(ctx.scratch(slot::select_flags, n * sizeof(std::int32_t)));
  auto* positions =
      static_cast<std::int32_t*>(ctx.scratch(slot::select_positions, (n + 1) * sizeof(std::int32_t)));
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { flags[i] = pred(i) ? 1 : 0; });
  exclusive_scan(ctx, n, flags, positions);
  launch(ctx, n + 1, [=] SS_LAMBDA(std::size_t i) {
    if (i == n) *count = positions[n];
    else if (flags[i] != 0) out[positions[i]] = static_cast<std::int32_t>(i);
  });
#else
  if (n <= grain.size) {
    ++ctx.counters().launches;
    std::int32_t found = 0;
    for (std::size_t i = 0; i < n; ++i)
      if (pred(i)) out[found++] = static_cast<std::int32_t>(i);
    *count = found;
    return;
  }
  // Each chunk compacts into its own place first: `out` may be shorter than n. Writing every index and
  // advancing by the result costs no mispredicted branch.
  const std::size_t chunks = detail::chunk_count(n, grain.size);
  auto* found = static_cast<std::int32_t*>(ctx.scratch(slot::select_flags, n * sizeof(std::int32_t)));
  auto* start =
      static_cast<std::int32_t*>(ctx.scratch(slot::select_positions, (chunks + 1) * sizeof(std::int32_t)));
  detail::for_chunks(ctx, n, grain.size, [=](std::size_t c, std::size_t begin, std::size_t end) {
    std::int32_t* next = found + begin;
    for (std::size_t i = begin; i < end; ++i) {
      *next = static_cast<std::int32_t>(i);
      next += pred(i) ? 1 : 0;
    }
    start[c] = static_cast<std::int32_t>(next - (found + begin));
  });
  exclusive_scan(ctx, chunks, start, start);
  detail::for_chunks(ctx, n, grain.size, [=](std::size_t c, std::size_t begin, std::size_t) {
    std::copy_n(found + begin, start[c + 1] - start[c], out + start[c]);
  });
  *count = start[chunks];
#endif
}

/// The same among i in [0, *among), a number at most `most` that only the backend needs to know. `among` and
/// `count` must differ.
template <class P>
void select_indices_counted(Context& ctx, std::size_t most, const std::int32_t* among, P pred,
                            std::int32_t* out, std::int32_t* count, Grain grain = {}) {
#if STICKSLIP_ON_CUDA
  select_indices(
      ctx, most, [=] SS_LAMBDA(std::size_t i) { return i < static_cast<std::size_t>(*among) && pred(i); },
      out, count, grain);
#else
  select_indices(ctx, most > 0 ? static_cast<std::size_t>(*among) : 0, pred, out, count, grain);
#endif
}

}  // namespace stickslip::STICKSLIP_BACKEND
