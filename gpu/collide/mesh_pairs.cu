#include "gpu/collide/pair_class.h"
#include "gpu/collide/pair_contacts.h"
#include "gpu/collide/searched_pairs.cuh"
#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {

void collide_mesh_pairs(Context& ctx, const NarrowInput& input, const NarrowOutput& output) {
  const NarrowInput in = input;
  const NarrowOutput out = output;
  launch(
      ctx, out.shape_pair_room,
      [=] SS_LAMBDA(std::size_t k) {
        if (k >= static_cast<std::size_t>(*out.shape_pairs_used)) return;
        const ShapePair shapes = out.shape_pairs[k];
        if (shapes.candidate < 0 || shapes.b < 0) return;
        const Shape &a = in.shapes.shapes[shapes.a], &b = in.shapes.shapes[shapes.b];
        if (pair_class(a.kind, b.kind) != PairClass::mesh) return;
        const CandidatePair pair = candidate_pair(in, in.keys[shapes.candidate]);
        const bool turned = a.kind == ShapeKind::mesh && b.kind != ShapeKind::mesh;
        const ManyManifolds many =
            turned ? collide_mesh(b, pair.pose_b, a, pair.pose_a, in.shapes.library, pair.margin)
                   : collide_mesh(a, pair.pose_a, b, pair.pose_b, in.shapes.library, pair.margin);
        for (int part = 0; part < ManyManifolds::kMost; ++part) {
          Manifold m{};
          if (part < many.count) m = turned ? narrow::exchanged(many.parts[part]) : many.parts[part];
          drop_distant(in, pair, m);
          out.manifolds[k + static_cast<std::size_t>(part)] = m;
        }
      },
      Grain{1});
}

}  // namespace stickslip::STICKSLIP_BACKEND
