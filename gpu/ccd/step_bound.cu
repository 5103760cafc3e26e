#include "gpu/ccd/step_bound.cuh"

#include "gpu/ccd/cubic.h"
#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

struct Additive {
  template <class Pair>
  SS_HD Real operator()(const Pair& pair, Real kept) const {
    return additive::toi(pair, kept, Real(1));
  }
};
struct CubicRoots {
  template <class Pair>
  SS_HD Real operator()(const Pair& pair, Real kept) const {
    return cubic::toi(pair, kept, Real(1));
  }
};

/// bound[i] for quadruple i.
template <class Pair, class Method>
void bound_each(Context& ctx, const Vec4i* pairs, std::size_t count, const Vec3* x, const Vec3* p, Real kept,
                Method toi, Real* bound) {
  launch(
      ctx, count,
      [=] SS_LAMBDA(std::size_t i) {
        Pair pair;
        for (int c = 0; c < 4; ++c) {
          pair.x[c] = x[pairs[i][c]];
          pair.p[c] = p[pairs[i][c]];
        }
        bound[i] = stays_apart(pair, kept, Real(1)) ? Real(1) : toi(pair, kept);
      },
      kMedium);
}

template <class Method>
void bound_all(Context& ctx, const CandidateView& candidates, const Vec3* x, const Vec3* p, Real kept,
               Method toi, Real* bound) {
  bound_each<PointTriangle<Real>>(ctx, candidates.point_triangle, candidates.point_triangle_count, x, p, kept,
                                  toi, bound);
  bound_each<EdgeEdge<Real>>(ctx, candidates.edge_edge, candidates.edge_edge_count, x, p, kept, toi,
                             bound + candidates.point_triangle_count);
}

}  // namespace

void step_bound(Context& ctx, const CandidateView& candidates, const Vec3* x, const Vec3* p,
                const CcdSettings& settings, Real* alpha) {
  const std::size_t count = candidates.point_triangle_count + candidates.edge_edge_count;
  Real* bound = static_cast<Real*>(ctx.scratch(slot::first_free, count * sizeof(Real)));
  const Real kept = Real(1) - settings.slack;
  if (settings.method == CcdMethod::additive) bound_all(ctx, candidates, x, p, kept, Additive{}, bound);
  else bound_all(ctx, candidates, x, p, kept, CubicRoots{}, bound);
  reduce_min(
      ctx, count, [=] SS_LAMBDA(std::size_t i) { return bound[i]; }, Real(1), alpha);
}

}  // namespace stickslip::STICKSLIP_BACKEND
