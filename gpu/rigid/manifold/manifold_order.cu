#include "gpu/rigid/manifold/manifold_order.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/scan.h"
#include "gpu/rigid/manifold/manifold.h"

#if STICKSLIP_ON_CUDA
#include "gpu/core/atomics.h"
#endif

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Calls f(first, count) for every manifold of pair p. The contacts of a pair are all plain, or none is.
template <class F>
SS_HD inline void visit_manifolds(const PairedContacts& list, std::size_t p, F f) {
  const RigidContact* contact = list.contacts;
  const std::int32_t begin = list.pair_start[p], end = list.pair_start[p + 1];
  if (begin < end && !list.plain(contact[begin])) return;
  for (std::int32_t first = begin; first < end;) {
    std::int32_t next = first + 1;
    while (next < end && next - first < kManifoldPoints && contact[next].normal == contact[first].normal)
      ++next;
    f(first, next - first);
    first = next;
  }
}

/// The number of manifolds of each pair.
struct ManifoldCounter {
  PairedContacts list;
  std::int32_t* count;

  SS_HD void operator()(std::size_t p) const {
    std::int32_t found = 0;
    visit_manifolds(list, p, [&](std::int32_t, std::int32_t) { ++found; });
    count[p] = found;
  }
};

/// Writes the manifolds of each pair from `start` on.
struct ManifoldLister {
  PairedContacts list;
  const std::int32_t* start;
  ManifoldRange* ranges;

  SS_HD void operator()(std::size_t p) const {
    std::int32_t at = start[p];
    visit_manifolds(list, p, [&](std::int32_t first, std::int32_t count) { ranges[at++] = {first, count}; });
  }
};

#if STICKSLIP_ON_CUDA

/// Adds the number of manifolds of each body to `count`.
void count_touches(Context& ctx, std::size_t manifolds, const ManifoldBodies& touched, std::int32_t* count) {
  const ManifoldBodies bodies = touched;
  launch(ctx, manifolds, [=] SS_LAMBDA(std::size_t m) {
    bodies.visit(m, [&](std::int32_t b) { atomic_add(count + b, 1); });
  });
}

/// Writes the manifolds of each body, from cursor[b] on, in any order: the colours depend only on the set of
/// conflicts.
void list_touches(Context& ctx, std::size_t manifolds, const ManifoldBodies& touched, std::int32_t* cursor,
                  std::int32_t* touch) {
  const ManifoldBodies bodies = touched;
  launch(ctx, manifolds, [=] SS_LAMBDA(std::size_t m) {
    bodies.visit(m, [&](std::int32_t b) { touch[atomic_add(cursor + b, 1)] = static_cast<std::int32_t>(m); });
  });
}

/// The number of conflicts of each manifold; `start`: of the manifolds of each body.
struct TouchCounter {
  ManifoldBodies touched;
  const std::int32_t* start;
  std::int32_t* count;

  SS_HD void operator()(std::size_t m) const {
    std::int32_t found = 0;
    touched.visit(m, [&](std::int32_t b) { found += start[b + 1] - start[b]; });
    count[m] = found;
  }
};

/// Writes the conflicts of each manifold from conflict_start[m] on.
struct OrderTouchLister {
  ManifoldBodies touched;
  const std::int32_t *start, *touch, *conflict_start;
  std::int32_t* conflict;

  SS_HD void operator()(std::size_t m) const {
    std::int32_t at = conflict_start[m];
    touched.visit(m, [&](std::int32_t b) {
      for (std::int32_t k = start[b]; k < start[b + 1]; ++k) conflict[at++] = touch[k];
    });
  }
};

/// The manifolds order[0 .. count) get the slots from `first` on.
void fill_slots(Context& ctx, std::size_t count, const std::int32_t* order, std::size_t first,
                std::int32_t* slot) {
  launch(ctx, count, [=] SS_LAMBDA(std::size_t i) { slot[order[i]] = static_cast<std::int32_t>(first + i); });
}

/// Every pack is a run.
void fill_runs(Context& ctx, std::size_t packs, std::int32_t* run) {
  launch(ctx, packs + 1, [=] SS_LAMBDA(std::size_t k) { run[k] = static_cast<std::int32_t>(k); });
}

#endif

}  // namespace

void ManifoldOrder::find_manifolds(Context& ctx, const PairedContacts& list) {
  of_pair_.resize(ctx, list.pairs + 1);
  std::int32_t* of_pair = of_pair_.data();
  launch(ctx, list.pairs, ManifoldCounter{list, of_pair}, kMedium);
  exclusive_scan(ctx, list.pairs, of_pair, of_pair);
  manifolds_ = static_cast<std::size_t>(read_back(ctx, of_pair + list.pairs));
  ranges_.resize(ctx, manifolds_);
  slot_.resize(ctx, manifolds_);
  launch(ctx, list.pairs, ManifoldLister{list, of_pair, ranges_.data()}, kMedium);
}

void ManifoldOrder::build(Context& ctx, const PairedContacts& list, const BodiesView& bodies,
                          std::size_t body_count) {
  manifolds_ = packs_ = 0;
  batch_start_.assign(1, 0);
  if (list.pairs == 0) return;
  find_manifolds(ctx, list);
  if (manifolds_ == 0) return;
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
  std::int32_t* start = touch_start_.data();
  fill(ctx, start, body_count + 1, std::int32_t{0});
  count_touches(ctx, n, touched, start);
  exclusive_scan(ctx, body_count, start, start);
  copy(ctx, cursor_.data(), start, body_count);
  touch_.resize(ctx, 2 * n);
  list_touches(ctx, n, touched, cursor_.data(), touch_.data());
  conflict_start_.resize(ctx, n + 1);
  std::int32_t* conflict_start = conflict_start_.data();
  launch(ctx, n, TouchCounter{touched, start, conflict_start});
  conflict_.resize(ctx, start_neighbours(ctx, n, conflict_start, "take prox_jacobi, which needs no colours"));
  launch(ctx, n, OrderTouchLister{touched, start, touch_.data(), conflict_start, conflict_.data()});
  colouring_.build(ctx, {n, conflict_start, conflict_.data()}, {}, false);
  assign_slots(ctx);
}

/// Every colour begins with a new pack.
void ManifoldOrder::assign_slots(Context& ctx) {
  for (int k = 0; k < colouring_.colours(); ++k) {
    const std::size_t begin = colouring_.offset(k), count = colouring_.offset(k + 1) - begin;
    fill_slots(ctx, count, colouring_.order() + begin, packs_ * kPackWidth, slot_.data());
    packs_ += (count + kPackWidth - 1) / kPackWidth;
    batch_start_.push_back(packs_);
  }
  run_start_.resize(ctx, packs_ + 1);
  fill_runs(ctx, packs_, run_start_.data());
}

#else

void ManifoldOrder::lay_out(Context& ctx, const PairedContacts& list, const BodiesView& bodies,
                            std::size_t body_count) {
  constexpr Grain kOne{1};
  ManifoldLayout layout(kPackWidth, [&](std::size_t n, const std::function<void(std::size_t)>& f) {
    launch(
        ctx, n, [&f](std::size_t i) { f(i); }, kOne);
  });
  layout.cut_into_slabs(bodies.pose, bodies.inverse, body_count, slabs_for(manifolds_));
  layout.place({list.contacts, ranges_.data(), bodies.inverse}, manifolds_, slot_.data());
  packs_ = layout.packs();
  batch_start_ = layout.batches();
  run_start_.upload(ctx, layout.runs());
}

#endif

}  // namespace stickslip::STICKSLIP_BACKEND
