// One block with an ellipsoidal cone under the associated rule: min r'Wr/2 + q'r over K.
#pragma once

#include "gpu/law/local_polish.h"
#include "gpu/law/projection.h"

namespace stickslip::law_detail {

template <int D>
SS_HD inline Vec<double, D> solve_convex(const LocalData<D>& data, const Vec<double, D>& q) {
  ContactLaw<D> cone;
  cone.mu = data.values;
  const Vec<double, D> x = -transposed_times(data.basis, q);
  const ConeMultiplier at = cone_multiplier(cone, x);
  if (at.region == ConeMultiplier::Region::polar) return Vec<double, D>::zero();
  Vec<double, D> scaled_q = q;
  for (int i = 1; i < D; ++i) scaled_q[i] *= data.mu[i - 1];
  Vec<double, D> r = data.basis * project_ellipsoid(cone, x);
  for (int i = 1; i < D; ++i) r[i] = data.mu[i - 1] > 0 ? r[i] / data.mu[i - 1] : 0.0;
  if (at.region == ConeMultiplier::Region::inside) {
    const Vec<double, D> stopped = solve_dense(data.scaled, -scaled_q);
    if (norm(tangential(stopped)) <= stopped[0]) r = stopped;
    const double slip = norm(tangential(r));
    r[0] = r[0] > slip ? r[0] : slip;
  } else {
    r = polish_sliding(data.scaled, FlowRule::associated, scaled_q, r);
  }
  for (int i = 1; i < D; ++i) r[i] *= data.mu[i - 1];
  return r;
}

}  // namespace stickslip::law_detail
