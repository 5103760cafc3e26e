#include "gpu/collide/merged_manifold.h"
#include "gpu/collide/pair_contacts.h"
#include "gpu/core/atomics.h"
#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// The manifolds of all shape pairs whose spheres come near.
SS_HD void merge_shapes(const NarrowInput& in, const CandidatePair& pair, MergedManifold& merged) {
  const ShapeView& view = in.shapes;
  const Vec<std::int32_t, 2> of_a = view.range[pair.a];
  const Vec<std::int32_t, 2> of_b = pair.half_space() ? Vec<std::int32_t, 2>{0, 1} : view.range[pair.b];
  for (std::int32_t sa = of_a[0]; sa < of_a[1]; ++sa) {
    const Vec<double, 3> center = pair.pose_a.apply(view.shapes[sa].pose.x);
    for (std::int32_t sb = of_b[0]; sb < of_b[1]; ++sb) {
      if (!pair.half_space()) {
        const double near = view.shape_radius[sa] + view.shape_radius[sb] + pair.margin;
        if (norm2(center - pair.pose_b.apply(view.shapes[sb].pose.x)) > near * near) continue;
      }
      Manifold m = collide_shapes(in, pair, sa, sb);
      drop_distant(in, pair, m);
      for (int k = 0; k < m.count; ++k)
        m.points[k].feature = compound_feature(m.points[k].feature, sa - of_a[0], sb - of_b[0]);
      merged.add(m);
    }
  }
}

}  // namespace

void find_compound_contacts(Context& ctx, const NarrowInput& input, const NarrowOutput& output) {
  const NarrowInput in = input;
  const NarrowOutput out = output;
  launch(
      ctx, in.room,
      [=] SS_LAMBDA(std::size_t i) {
        const std::uint64_t key = in.keys[i];
        if (key == in.pair_keys.none()) return;
        const std::int32_t a = in.pair_keys.a(key), b = in.pair_keys.b(key);
        if (!is_compound(in.shapes, a) && !is_compound(in.shapes, b)) return;
        const CandidatePair pair = candidate_pair(in, key);
        MergedManifold merged;
        int count = 0;
        if (pair.live) {
          merge_shapes(in, pair, merged);
          merged.reduce(in.manifold_points);
          for (int k = 0; k < merged.count; ++k) count += merged.parts[k].count;
        } else if (pair.seen >= 0) {
          count = in.before.pair_start[pair.seen + 1] - in.before.pair_start[pair.seen];
        }
        if (count == 0) return;
        const std::int32_t at = atomic_add(out.compound_used, count);
        if (static_cast<std::size_t>(at) + static_cast<std::size_t>(count) > out.compound_room) return;
        const std::int32_t begin = static_cast<std::int32_t>(in.room) * in.manifold_points + at;
        RigidContact* to = out.staged + begin;
        if (pair.live) {
          int written = 0;
          for (int k = 0; k < merged.count; ++k)
            written += write_contacts(pair, merged.parts[k], to + written);
          match_pair(in, pair, to, count);
        } else {
          copy_contacts(in, pair, to, count);
        }
        out.stage[i] = {begin, count};
        out.tally[i] = tally_of(count);
      },
      kHeavy);
}

}  // namespace stickslip::STICKSLIP_BACKEND
