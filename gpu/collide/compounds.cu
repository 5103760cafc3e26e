#include "gpu/collide/compounds.cuh"

#include "gpu/collide/merged_manifold.h"
#include "gpu/collide/pair_class.h"
#include "gpu/collide/pair_contacts.h"
#include "gpu/core/atomics.h"
#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Calls emit(shape of a, shape of b, slots) for all shape pairs whose spheres are near; for a
/// half-space once per shape of a.
template <class Emit>
SS_HD void each_shape_pair(const NarrowInput& in, const CandidatePair& pair, Emit&& emit) {
  const ShapeView& view = in.shapes;
  const Vec<std::int32_t, 2> of_a = view.range[pair.a];
  for (std::int32_t sa = of_a[0]; sa < of_a[1]; ++sa) {
    if (pair.half_space()) {
      emit(sa, -1, 1);
      continue;
    }
    const Vec<double, 3> center = pair.pose_a.apply(view.shapes[sa].pose.x);
    const Vec<std::int32_t, 2> of_b = view.range[pair.b];
    for (std::int32_t sb = of_b[0]; sb < of_b[1]; ++sb) {
      const double near = view.shape_radius[sa] + view.shape_radius[sb] + pair.margin;
      if (norm2(center - pair.pose_b.apply(view.shapes[sb].pose.x)) > near * near) continue;
      const PairClass kind = pair_class(view.shapes[sa].kind, view.shapes[sb].kind);
      emit(sa, sb, kind == PairClass::mesh ? ManyManifolds::kMost : 1);
    }
  }
}

/// Sets `pair` to the candidate's pair; false if neither body has many parts.
SS_HD bool candidate_of_parts(const NarrowInput& in, std::size_t i, CandidatePair& pair) {
  const std::uint64_t key = in.keys[i];
  if (key == in.pair_keys.none()) return false;
  if (!has_many_parts(in.shapes, in.pair_keys.a(key)) && !has_many_parts(in.shapes, in.pair_keys.b(key)))
    return false;
  pair = candidate_pair(in, key);
  return true;
}

/// Merges the manifolds of the shape pairs [begin, begin + count).
SS_HD void merge_parts(const NarrowInput& in, const NarrowOutput& out, const CandidatePair& pair,
                       const Vec<std::int32_t, 2>& parts, MergedManifold& merged) {
  const std::int32_t first_a = in.shapes.range[pair.a][0];
  const std::int32_t first_b = pair.half_space() ? -1 : in.shapes.range[pair.b][0];
  for (std::int32_t k = parts[0]; k < parts[0] + parts[1]; ++k) {
    Manifold m = out.manifolds[k];
    const ShapePair& shapes = out.shape_pairs[k];
    for (int p = 0; p < m.count; ++p)
      m.points[p].feature = compound_feature(m.points[p].feature, shapes.a - first_a, shapes.b - first_b);
    merged.add(m);
  }
  merged.reduce(in.manifold_points);
}

}  // namespace

void list_shape_pairs(Context& ctx, const NarrowInput& input, const NarrowOutput& output) {
  const NarrowInput in = input;
  const NarrowOutput out = output;
  launch(
      ctx, in.room,
      [=] SS_LAMBDA(std::size_t i) {
        CandidatePair pair;
        if (!candidate_of_parts(in, i, pair)) return;
        out.stage[i] = {0, 0};
        if (!pair.live) return;
        std::int32_t count = 0;
        each_shape_pair(in, pair, [&](std::int32_t, std::int32_t, int places) { count += places; });
        const std::int32_t begin = atomic_add(out.shape_pairs_used, count);
        const auto first = static_cast<std::size_t>(begin), end = first + static_cast<std::size_t>(count);
        if (end > out.shape_pair_room) {
          for (std::size_t k = first; k < out.shape_pair_room; ++k) out.shape_pairs[k] = {-1, 0, 0};
          return;
        }
        out.stage[i] = {begin, count};
        ShapePair* next = out.shape_pairs + begin;
        ShapePair* const last = next + count;
        // Rounding may let this loop find other pairs than the one that counted: both are compiled apart.
        each_shape_pair(in, pair, [&](std::int32_t sa, std::int32_t sb, int places) {
          if (last - next < places) return;
          for (int k = 0; k < places; ++k) *next++ = {k == 0 ? static_cast<std::int32_t>(i) : -1, sa, sb};
        });
        for (; next != last; ++next) {
          *next = {-1, 0, 0};
          out.manifolds[next - out.shape_pairs].count = 0;  // which no later stage writes
        }
      },
      kMedium);
}

void merge_shape_pairs(Context& ctx, const NarrowInput& input, const NarrowOutput& output) {
  const NarrowInput in = input;
  const NarrowOutput out = output;
  launch(
      ctx, in.room,
      [=] SS_LAMBDA(std::size_t i) {
        CandidatePair pair;
        if (!candidate_of_parts(in, i, pair)) return;
        MergedManifold merged;
        int count = 0;
        if (pair.live) {
          merge_parts(in, out, pair, out.stage[i], merged);
          for (int k = 0; k < merged.count; ++k) count += merged.parts[k].count;
        } else if (pair.seen >= 0) {
          count = in.before.pair_start[pair.seen + 1] - in.before.pair_start[pair.seen];
        }
        keep_place(out, i, 0, 0);
        if (count == 0) return;
        const std::int32_t at = atomic_add(out.contacts_used, count);
        if (static_cast<std::size_t>(at) + static_cast<std::size_t>(count) > out.contact_room) return;
        const std::int32_t begin = static_cast<std::int32_t>(in.room) * in.manifold_points + at;
        RigidContact* to = out.staged + begin;
        if (pair.live) {
          for (int k = 0; k < merged.count; ++k) to += write_contacts(pair, merged.parts[k], to);
          match_pair(in, pair, out.staged + begin, count);
        } else {
          copy_contacts(in, pair, to, count);
        }
        keep_place(out, i, begin, count);
      },
      Grain{64});
}

}  // namespace stickslip::STICKSLIP_BACKEND
