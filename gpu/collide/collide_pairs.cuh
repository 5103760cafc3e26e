// The kernel of the narrow phase, for the pair tests of one class.
#pragma once

#include "gpu/collide/pair_class.h"
#include "gpu/collide/pair_contacts.h"
#include "gpu/core/launch.h"
#include "gpu/geometry/manifold_reduce.h"

namespace stickslip {

/// Sets the manifold of shape `sa` (index among all shapes) and shape `sb`, or the half-space.
template <PairClass C>
SS_HD_LARGE inline void collide_shapes(const NarrowInput& in, const CandidatePair& pair, std::int32_t sa,
                                       std::int32_t sb, Manifold& m) {
  const ShapeView& view = in.shapes;
  if constexpr (C == PairClass::formula) {
    if (pair.half_space()) {
      const HalfSpaceView& space = view.half_spaces[-1 - pair.b];
      m = collide_half_space(view.shapes[sa], pair.pose_a, space.normal, space.offset, view.library,
                             pair.margin);
      return;
    }
  }
  collide_class<C>(view.shapes[sa], pair.pose_a, view.shapes[sb], pair.pose_b, view.library, pair.margin, m);
}

/// The work of one thread: candidate i from beginning to end; threads beyond the candidates each process the
/// manifold of a shape pair.
template <PairClass C>
struct PairCollider {
  NarrowInput in;
  NarrowOutput out;

  SS_HD void operator()(std::size_t i) const {
    if (i < in.room) collide_simple(i);
    else collide_part(i - in.room);
  }

  SS_HD void collide_simple(std::size_t i) const {
    const std::uint64_t key = in.keys[i];
    if (key == in.pair_keys.none()) {
      if (C == PairClass::formula) keep_place(out, i, 0, 0);
      return;
    }
    const std::int32_t a = in.pair_keys.a(key), b = in.pair_keys.b(key);
    if (has_many_parts(in.shapes, a) || has_many_parts(in.shapes, b)) return;
    const PairClass kind = b < 0 ? PairClass::formula
                                 : pair_class(static_cast<ShapeKind>(in.shapes.kind[a]),
                                              static_cast<ShapeKind>(in.shapes.kind[b]));
    if (kind != C) return;
    const CandidatePair pair = candidate_pair(in, key);
    const std::int32_t begin = static_cast<std::int32_t>(i) * in.manifold_points;
    RigidContact* to = out.staged + begin;
    if (!pair.live) return keep_place(out, i, begin, copy_contacts(in, pair, to, in.manifold_points));
    Manifold m;
    collide_shapes<C>(in, pair, in.shapes.range[a][0], b >= 0 ? in.shapes.range[b][0] : -1, m);
    drop_distant(in, pair, m);
    reduce_manifold(m, in.manifold_points);
    write_contacts(pair, m, to);
    match_pair(in, pair, to, m.count);
    keep_place(out, i, begin, m.count);
  }

  SS_HD void collide_part(std::size_t k) const {
    if (k >= static_cast<std::size_t>(*out.shape_pairs_used)) return;
    const ShapePair shapes = out.shape_pairs[k];
    if (shapes.candidate < 0) return;
    const PairClass kind = shapes.b < 0
                               ? PairClass::formula
                               : pair_class(in.shapes.shapes[shapes.a].kind, in.shapes.shapes[shapes.b].kind);
    if (kind != C) return;
    const CandidatePair pair = candidate_pair(in, in.keys[shapes.candidate]);
    Manifold& m = out.manifolds[k];
    collide_shapes<C>(in, pair, shapes.a, shapes.b, m);
    drop_distant(in, pair, m);
  }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// All pairs of class C, see PairCollider.
template <PairClass C>
void collide_pairs(Context& ctx, const NarrowInput& in, const NarrowOutput& out) {
  launch(ctx, in.room + out.shape_pair_room, PairCollider<C>{in, out}, Grain{64});
}

}  // namespace stickslip::STICKSLIP_BACKEND
