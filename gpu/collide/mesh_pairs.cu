#include "gpu/collide/pair_class.h"
#include "gpu/collide/pair_contacts.h"
#include "gpu/collide/searched_pairs.cuh"
#include "gpu/core/team.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// What the lanes of a team share while they process a pair.
struct MeshPairScratch {
  // Points that wait for their place in `parts`; on the CPU each gets it at once.
  static constexpr int kBatch = STICKSLIP_ON_CUDA ? 128 : 1;
  narrow::DirectionParts parts;
  narrow::FieldPoint found[kBatch];
  bool any[kBatch];
};

/// Collects points in the order of their numbers, as DirectionParts does, while many lanes look for them.
struct TeamPoints {
  Team team;
  MeshPairScratch& scratch;
  double margin;

  template <class Sample>
  SS_HD void each(std::int32_t n, const Sample& sample) {
    MeshPairScratch& s = scratch;
    const double most = margin;
    for (std::int32_t begin = 0; begin < n; begin += MeshPairScratch::kBatch) {
      const int count = n - begin < MeshPairScratch::kBatch ? n - begin : MeshPairScratch::kBatch;
      team.each(count, [&](int k) {
        narrow::FieldPoint found;
        s.any[k] = sample(begin + k, found) && !(found.gap > most);
        if (s.any[k]) s.found[k] = found;
      });
      team.each(1, [&](int) {
        for (int k = 0; k < count; ++k)
          if (s.any[k]) s.parts.add(s.found[k]);
      });
    }
  }
};

/// A team per pair of shapes: a mesh has many vertices and triangles.
struct MeshPairCollider {
  NarrowInput in;
  NarrowOutput out;
  std::size_t teams;

  SS_HD void operator()(std::size_t t, const Team& team, MeshPairScratch& scratch) const {
    const auto used = static_cast<std::size_t>(*out.shape_pairs_used);
    const std::size_t end = used < out.shape_pair_room ? used : out.shape_pair_room;
    for (std::size_t k = t; k < end; k += teams) {
      const ShapePair shapes = out.shape_pairs[k];
      if (shapes.candidate < 0 || shapes.b < 0) continue;
      if (pair_class(in.shapes.shapes[shapes.a].kind, in.shapes.shapes[shapes.b].kind) == PairClass::mesh)
        collide(k, shapes, team, scratch);
    }
  }

  SS_HD void collide(std::size_t k, const ShapePair& shapes, const Team& team,
                     MeshPairScratch& scratch) const {
    const Shape &a = in.shapes.shapes[shapes.a], &b = in.shapes.shapes[shapes.b];
    const CandidatePair pair = candidate_pair(in, in.keys[shapes.candidate]);
    const bool turned = a.kind == ShapeKind::mesh && b.kind != ShapeKind::mesh;
    narrow::DirectionParts& parts = scratch.parts;
    team.each(1, [&](int) {
      parts.begin(pair.margin, narrow::smaller(narrow::smallest(a.size), narrow::smallest(b.size)));
    });
    TeamPoints points{team, scratch, pair.margin};
    if (turned) narrow::find_mesh_points(b, pair.pose_b, a, pair.pose_a, in.shapes.library, points);
    else narrow::find_mesh_points(a, pair.pose_a, b, pair.pose_b, in.shapes.library, points);
    team.each(ManyManifolds::kMost, [&](int part) {
      Manifold& m = out.manifolds[k + static_cast<std::size_t>(part)];
      if (part >= parts.count) {
        m = Manifold{};
        return;
      }
      m = parts.finish(part, turned ? pair.pose_a.x : pair.pose_b.x);
      if (turned) m.normal = -m.normal;
      drop_distant(in, pair, m);
    });
  }
};

}  // namespace

void collide_mesh_pairs(Context& ctx, const NarrowInput& in, const NarrowOutput& out) {
  // Most shape pairs of a scene may be of other classes: few teams pass over those quickly.
  const std::size_t most = 1024, teams = out.shape_pair_room < most ? out.shape_pair_room : most;
  launch_teams<MeshPairScratch>(ctx, teams, MeshPairCollider{in, out, teams}, Grain{1});
}

}  // namespace stickslip::STICKSLIP_BACKEND
