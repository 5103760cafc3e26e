#include "gpu/collide/pair_contacts.h"
#include "gpu/core/launch.h"
#include "gpu/geometry/manifold_reduce.h"

namespace stickslip::STICKSLIP_BACKEND {

void find_simple_contacts(Context& ctx, const NarrowInput& input, const NarrowOutput& output) {
  const NarrowInput in = input;
  const NarrowOutput out = output;
  launch(
      ctx, in.room,
      [=] SS_LAMBDA(std::size_t i) {
        out.tally[i] = 0;
        out.stage[i] = {static_cast<std::int32_t>(i) * in.manifold_points, 0};
        const std::uint64_t key = in.keys[i];
        if (key == in.pair_keys.none()) return;
        const std::int32_t a = in.pair_keys.a(key), b = in.pair_keys.b(key);
        if (is_compound(in.shapes, a) || is_compound(in.shapes, b)) return;
        const CandidatePair pair = candidate_pair(in, key);
        RigidContact* to = out.staged + out.stage[i][0];
        int count = 0;
        if (!pair.live) {
          count = copy_contacts(in, pair, to, in.manifold_points);
        } else {
          Manifold m = collide_shapes(in, pair, in.shapes.range[a][0], b >= 0 ? in.shapes.range[b][0] : -1);
          drop_distant(in, pair, m);
          reduce_manifold(m, in.manifold_points);
          count = write_contacts(pair, m, to);
          match_pair(in, pair, to, count);
        }
        out.stage[i][1] = count;
        out.tally[i] = tally_of(count);
      },
      Grain{64});
}

}  // namespace stickslip::STICKSLIP_BACKEND
