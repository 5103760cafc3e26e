#include "gpu/ccd/step_bound.cuh"

#include "gpu/ccd/cubic.h"
#include "gpu/ccd/inclusion.h"
#include "gpu/ccd/multivariate.h"
#include "gpu/ccd/pair_pack.cuh"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

struct Additive {
  template <class Pair>
  SS_HD Real operator()(const Pair& pair, Real kept, Real t_max, Real thickness) const {
    return additive::toi(pair, kept, t_max, thickness);
  }
};
struct CubicRoots {
  template <class Pair>
  SS_HD Real operator()(const Pair& pair, Real kept, Real t_max, Real thickness) const {
    return thickness > 0 ? additive::toi(pair, kept, t_max, thickness) : cubic::toi(pair, kept, t_max);
  }
};
struct Multivariate {
  template <class Pair>
  SS_HD Real operator()(const Pair& pair, Real kept, Real t_max, Real thickness) const {
    return multivariate::toi(pair, kept, t_max, thickness);
  }
};
struct Inclusion {
  template <class Pair>
  SS_HD Real operator()(const Pair& pair, Real kept, Real t_max, Real thickness) const {
    return inclusion::toi(pair, kept, t_max, thickness);
  }
};

/// What all pairs share.
struct Sweep {
  const Vec3* x;
  const Vec3* p;
  Real kept;
  const Real* limit;   // longer steps need not be told apart
  std::size_t stride;  // every stride-th pair only
  const Real* radius;
};

std::size_t sample_count(std::size_t count, std::size_t stride) { return (count + stride - 1) / stride; }

/// The way of a pack's pairs over x + t p, t in [0, limit].
SS_HD clearance::Way<PairLanes> way_of(const PairPack& pack, const Sweep& sweep, Real limit) {
  clearance::Way<PairLanes> way;
  Vec<PairLanes, 3> motion[4], origin, origin_motion;
  pack.relative(sweep.x, way.start, origin);
  pack.relative(sweep.p, motion, origin_motion);
  for (int i = 0; i < 4; ++i) way.end[i] = way.start[i] + PairLanes(limit) * motion[i];
  way.origin = clearance::larger_size(origin, PairLanes(0)) +
               PairLanes(limit) * clearance::larger_size(origin_motion, PairLanes(0));
  return way;
}

template <class Pair, class Method>
SS_HD Real time_of_impact(const Vec4i& nodes, const Sweep& sweep, const Method& toi, Real limit) {
  Pair pair;
  for (int c = 0; c < 4; ++c) {
    pair.x[c] = sweep.x[nodes[c]];
    pair.p[c] = sweep.p[nodes[c]];
  }
  const Real thickness =
      sweep.radius != nullptr ? sweep.radius[nodes[0]] + sweep.radius[nodes[Pair::kCornersOfA]] : Real(0);
  return toi(pair, sweep.kept, limit, thickness);
}

/// Most pairs keep clear of each other all the way, which a pack of them shows at once.
template <class Pair, class Method>
void bound_each(Context& ctx, const Vec4i* pairs, std::size_t count, const Sweep& sweep, Method toi,
                Real* bound) {
  launch_pair_packs(
      ctx, pairs, sample_count(count, sweep.stride), sweep.stride,
      [=] SS_LAMBDA(const PairPack& pack, std::size_t first) {
        const Real limit = *sweep.limit;
        const auto clear = clearance::keeps_clear<Pair>(way_of(pack, sweep, limit), PairLanes(sweep.kept),
                                                        pack.template thickness<Pair>(sweep.radius));
        for (std::size_t lane = 0; lane < pack.count(); ++lane)
          bound[first + lane] =
              lane_of(clear, lane) ? limit : time_of_impact<Pair>(pack.nodes(lane), sweep, toi, limit);
      });
}

/// *alpha = the smallest bound of the pairs of `sweep`, which may read *alpha as its limit.
template <class Method>
void bound_all(Context& ctx, const CandidateView& candidates, const Sweep& sweep, Method toi, Real* alpha) {
  const std::size_t n_pt = sample_count(candidates.point_triangle_count, sweep.stride);
  const std::size_t n = n_pt + sample_count(candidates.edge_edge_count, sweep.stride);
  Real* bound = static_cast<Real*>(ctx.scratch(slot::first_free, n * sizeof(Real)));
  bound_each<PointTriangle<Real>>(ctx, candidates.point_triangle, candidates.point_triangle_count, sweep, toi,
                                  bound);
  bound_each<EdgeEdge<Real>>(ctx, candidates.edge_edge, candidates.edge_edge_count, sweep, toi, bound + n_pt);
  reduce_min(
      ctx, n, [=] SS_LAMBDA(std::size_t i) { return bound[i]; }, Real(1), alpha);
}

}  // namespace

void step_bound(Context& ctx, const CandidateView& candidates, const Vec3* x, const Vec3* p,
                const CcdSettings& settings, Real* alpha) {
  fill(ctx, alpha, 1, Real(1));
  // A few pairs first: where motions are long, their bound makes most of the others trivial.
  for (const std::size_t stride : {16, 1}) {
    const Sweep sweep{x, p, Real(1) - settings.slack, alpha, stride, settings.radius};
    switch (settings.method) {
      case CcdMethod::additive:
        bound_all(ctx, candidates, sweep, Additive{}, alpha);
        break;
      case CcdMethod::cubic:
        bound_all(ctx, candidates, sweep, CubicRoots{}, alpha);
        break;
      case CcdMethod::multivariate:
        bound_all(ctx, candidates, sweep, Multivariate{}, alpha);
        break;
      case CcdMethod::inclusion:
        bound_all(ctx, candidates, sweep, Inclusion{}, alpha);
        break;
    }
  }
}

}  // namespace stickslip::STICKSLIP_BACKEND
