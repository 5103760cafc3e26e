#include "gpu/collide/narrow_phase.cuh"

#include "gpu/collide/compounds.cuh"
#include "gpu/collide/pair_contacts.h"
#include "gpu/core/launch.h"
#include "gpu/geometry/collide.h"
#include "gpu/geometry/manifold_reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Shape number `sa` of all against shape `sb`, or against the half-space. Not inlined: large, and called
/// twice.
[[gnu::noinline]] SS_HD inline Manifold collide_shapes(const NarrowInput& in, const CandidatePair& pair,
                                                       std::int32_t sa, std::int32_t sb) {
  const ShapeView& view = in.shapes;
  if (!pair.half_space())
    return collide(view.shapes[sa], pair.pose_a, view.shapes[sb], pair.pose_b, view.library, pair.margin);
  const HalfSpaceView& space = view.half_spaces[-1 - pair.b];
  return collide_half_space(view.shapes[sa], pair.pose_a, space.normal, space.offset, view.library,
                            pair.margin);
}

/// Simple pairs from beginning to end, and behind them the manifolds of the shape pairs of compounds: one
/// kernel, since `collide` is most of what there is to compile.
void collide_pairs(Context& ctx, const NarrowInput& input, const NarrowOutput& output) {
  const NarrowInput in = input;
  const NarrowOutput out = output;
  launch(
      ctx, in.room + out.shape_pair_room,
      [=] SS_LAMBDA(std::size_t i) {
        const bool part = i >= in.room;
        ShapePair shapes{static_cast<std::int32_t>(i), -1, -1};
        if (part) {
          if (i - in.room >= static_cast<std::size_t>(*out.shape_pairs_used)) return;
          shapes = out.shape_pairs[i - in.room];
          if (shapes.candidate < 0) return;  // its pair had no room
        }
        const std::uint64_t key = in.keys[shapes.candidate];
        if (key == in.pair_keys.none()) {
          keep_place(out, i, 0, 0);
          return;
        }
        const std::int32_t a = in.pair_keys.a(key), b = in.pair_keys.b(key);
        if (!part) {
          if (is_compound(in.shapes, a) || is_compound(in.shapes, b)) return;
          shapes.a = in.shapes.range[a][0];
          shapes.b = b >= 0 ? in.shapes.range[b][0] : -1;
        }
        const CandidatePair pair = candidate_pair(in, key);
        const std::int32_t begin = static_cast<std::int32_t>(i) * in.manifold_points;
        if (!pair.live) {
          const int count = copy_contacts(in, pair, out.staged + begin, in.manifold_points);
          keep_place(out, i, begin, count);
          return;
        }
        Manifold m = collide_shapes(in, pair, shapes.a, shapes.b);
        drop_distant(in, pair, m);
        if (part) {
          out.manifolds[i - in.room] = m;
          return;
        }
        reduce_manifold(m, in.manifold_points);
        write_contacts(pair, m, out.staged + begin);
        match_pair(in, pair, out.staged + begin, m.count);
        keep_place(out, i, begin, m.count);
      },
      Grain{64});
}

}  // namespace

void find_manifolds(Context& ctx, const NarrowInput& in, const NarrowOutput& out, bool compounds) {
  if (compounds) list_shape_pairs(ctx, in, out);
  collide_pairs(ctx, in, out);
  if (compounds) merge_shape_pairs(ctx, in, out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
