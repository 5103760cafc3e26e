#include "gpu/rigid/manifold/manifold_order.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/scan.h"
#include "gpu/rigid/manifold/manifold.h"

#if STICKSLIP_ON_CUDA
#include <limits>

#include "gpu/core/atomics.h"
#include "gpu/core/reduce.h"
#include "gpu/model/report.h"
#endif

namespace stickslip::STICKSLIP_BACKEND {

/// Calls f(first, count) for every manifold of a pair's contacts [begin, end).
template <class F>
SS_HD inline void visit_manifolds(const RigidContact* contact, std::int32_t begin, std::int32_t end, F f) {
  for (std::int32_t first = begin; first < end;) {
    std::int32_t next = first + 1;
    while (next < end && next - first < kManifoldPoints && contact[next].normal == contact[first].normal)
      ++next;
    f(first, next - first);
    first = next;
  }
}

void ManifoldOrder::find_manifolds(Context& ctx, const PairedContacts& list) {
  of_pair_.resize(ctx, list.pairs + 1);
  std::int32_t* of_pair = of_pair_.data();
  const RigidContact* contact = list.contacts;
  const std::int32_t* start = list.pair_start;
  launch(
      ctx, list.pairs,
      [=] SS_LAMBDA(std::size_t p) {
        std::int32_t count = 0;
        visit_manifolds(contact, start[p], start[p + 1], [&](std::int32_t, std::int32_t) { ++count; });
        of_pair[p] = count;
      },
      kMedium);
  exclusive_scan(ctx, list.pairs, of_pair, of_pair);
  manifolds_ = static_cast<std::size_t>(read_back(ctx, of_pair + list.pairs));
  ranges_.resize(ctx, manifolds_);
  slot_.resize(ctx, manifolds_);
  ManifoldRange* ranges = ranges_.data();
  launch(
      ctx, list.pairs,
      [=] SS_LAMBDA(std::size_t p) {
        std::int32_t at = of_pair[p];
        visit_manifolds(contact, start[p], start[p + 1], [&](std::int32_t first, std::int32_t count) {
          ranges[at++] = {first, count};
        });
      },
      kMedium);
}

void ManifoldOrder::build(Context& ctx, const PairedContacts& list, const BodiesView& bodies,
                          std::size_t body_count) {
  manifolds_ = packs_ = 0;
  batch_start_.assign(1, 0);
  if (list.pairs == 0) return;
  find_manifolds(ctx, list);
#if STICKSLIP_ON_CUDA
  colour_manifolds(ctx, list, bodies, body_count);
#else
  lay_out(ctx, list, bodies, body_count);
#endif
}

#if STICKSLIP_ON_CUDA

/// Two manifolds conflict where they share a movable body: lists by body, then by manifold.
void ManifoldOrder::colour_manifolds(Context& ctx, const PairedContacts& list, const BodiesView& bodies,
                                     std::size_t body_count) {
  const std::size_t n = manifolds_;
  const ManifoldBodies touched{list.contacts, ranges_.data(), bodies.inverse};
  touch_start_.resize(ctx, body_count + 1);
  cursor_.resize(ctx, body_count);
  std::int32_t *start = touch_start_.data(), *cursor = cursor_.data();
  fill(ctx, start, body_count + 1, std::int32_t{0});
  launch(ctx, n, [=] SS_LAMBDA(std::size_t m) {
    touched.visit(m, [&](std::int32_t b) { atomic_add(start + b, 1); });
  });
  exclusive_scan(ctx, body_count, start, start);
  copy(ctx, cursor, start, body_count);
  touch_.resize(ctx, 2 * n);
  std::int32_t* touch = touch_.data();
  // In any order: the colours depend only on the set of conflicts.
  launch(ctx, n, [=] SS_LAMBDA(std::size_t m) {
    touched.visit(m,
                  [&](std::int32_t b) { touch[atomic_add(cursor + b, 1)] = static_cast<std::int32_t>(m); });
  });
  conflict_start_.resize(ctx, n + 1);
  std::int32_t* conflict_start = conflict_start_.data();
  launch(ctx, n, [=] SS_LAMBDA(std::size_t m) {
    std::int32_t count = 0;
    touched.visit(m, [&](std::int32_t b) { count += start[b + 1] - start[b]; });
    conflict_start[m] = count;
  });
  // The number of conflicts grows with the square of the number of manifolds on one body.
  conflict_count_.resize(ctx, 1);
  reduce_sum(
      ctx, n, [=] SS_LAMBDA(std::size_t m) { return static_cast<std::int64_t>(conflict_start[m]); },
      conflict_count_.data());
  exclusive_scan(ctx, n, conflict_start, conflict_start);
  const std::int64_t conflicts = read_back(ctx, conflict_count_.data());
  if (conflicts > std::numeric_limits<std::int32_t>::max())
    throw SimulationError("manifold_gs: a body has too many contacts to colour them; take nsgs");
  conflict_.resize(ctx, static_cast<std::size_t>(conflicts));
  std::int32_t* conflict = conflict_.data();
  launch(ctx, n, [=] SS_LAMBDA(std::size_t m) {
    std::int32_t at = conflict_start[m];
    touched.visit(m, [&](std::int32_t b) {
      for (std::int32_t k = start[b]; k < start[b + 1]; ++k) conflict[at++] = touch[k];
    });
  });
  colouring_.build(ctx, {n, conflict_start, conflict}, {}, false);

  // Every colour begins with a new pack.
  const std::int32_t* order = colouring_.order();
  std::int32_t* slot = slot_.data();
  for (int k = 0; k < colouring_.colours(); ++k) {
    const std::size_t begin = colouring_.offset(k), count = colouring_.offset(k + 1) - begin;
    const std::size_t first = packs_ * kPackWidth;
    launch(ctx, count,
           [=] SS_LAMBDA(std::size_t i) { slot[order[begin + i]] = static_cast<std::int32_t>(first + i); });
    packs_ += (count + kPackWidth - 1) / kPackWidth;
    batch_start_.push_back(packs_);
  }
  run_start_.resize(ctx, packs_ + 1);
  std::int32_t* run = run_start_.data();
  launch(ctx, packs_ + 1, [=] SS_LAMBDA(std::size_t k) { run[k] = static_cast<std::int32_t>(k); });
}

#else

void ManifoldOrder::lay_out(Context& ctx, const PairedContacts& list, const BodiesView& bodies,
                            std::size_t body_count) {
  ManifoldLayout layout(kPackWidth);
  layout.cut_into_slabs(bodies.pose, bodies.inverse, body_count, slabs_for(manifolds_));
  layout.place({list.contacts, ranges_.data(), bodies.inverse}, manifolds_, slot_.data());
  packs_ = layout.packs();
  batch_start_ = layout.batches();
  run_start_.upload(ctx, layout.runs());
}

#endif

}  // namespace stickslip::STICKSLIP_BACKEND
