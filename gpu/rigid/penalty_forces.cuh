// Penalty contact [Course §5.1]: springs, dampers and regularised friction instead of a contact problem,
// as the classical baseline.
#pragma once

#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/body_gather.cuh"
#include "gpu/rigid/contact_rows.h"

namespace stickslip {

struct PenaltyOptions {
  double dt;         // [s]
  double stiffness;  // k [N/m]
  double damping;    // b [N s/m]
  double slip;       // [m/s] below which friction is viscous
  double gravity;    // [m/s^2] magnitude
};

inline PenaltyOptions penalty_options(const Params& params) {
  return {params.dt, params.penalty_stiffness, params.penalty_damping, params.penalty_slip,
          std::fabs(params.gravity)};
}

/// r_N = dt max(0, -k gap - b u_N) on overlaps only: contacts never pull. In steps too large for the stiff
/// spring, r_N is limited so that it does no more than reverse the approach or remove the whole overlap
/// within the step. Where dt^2 k and dt b are small against the mass, the limit is inactive.
SS_HD inline double penalty_normal_impulse(const PenaltyOptions& o, double gap, double u, double mobility) {
  if (!(gap < 0) || !(mobility > 0)) return 0;
  const double force = -o.stiffness * gap - o.damping * u;
  if (!(force > 0)) return 0;
  const double approach = u < 0 ? -u : 0, leave = -gap / o.dt;
  const double most = (approach + (approach > leave ? approach : leave)) / mobility;
  const double r = o.dt * force;
  return r < most ? r : most;
}

/// Impulse of a contact for velocities u = H v at the start of the step (without w):
///   r_i = -r_N mu_i^2 u_i / max(|mu u|, mu slip)
/// along the tangents, which is [Course Eq.288] for one mu: Coulomb's force above the slip speed, viscous
/// below, always inside the cone. It is limited so that it does not reverse the sliding. Explicit:
/// independent of the other contacts in the step.
template <int D>
SS_HD inline Vec<double, D> penalty_impulse(const PenaltyOptions& o, const ConstraintBlock<D>& block,
                                            double gap, const Vec<double, D>& u, const BodyInverse& a,
                                            const BodyInverse& b) {
  using rigid_detail::row_mobility;
  Vec<double, D> r = Vec<double, D>::zero();
  r[0] = penalty_normal_impulse(o, gap, u[0], row_mobility(block, 0, a, b));
  if (r[0] == 0) return r;
  double sum = 0, most = 0, mobility = 0;
  for (int i = 1; i < D; ++i) {
    const double mu = block.law.mu[i - 1], m = row_mobility(block, i, a, b);
    sum += mu * mu * u[i] * u[i];
    most = mu > most ? mu : most;
    mobility = m > mobility ? m : mobility;
  }
  if (!(sum > 0)) return r;
  const double speed = std::sqrt(sum) > most * o.slip ? std::sqrt(sum) : most * o.slip;
  for (int i = 1; i < D; ++i) {
    const double mu2 = block.law.mu[i - 1] * block.law.mu[i - 1], viscous = r[0] * mu2 / speed;
    r[i] = -(viscous * mobility < 1 ? viscous : 1 / mobility) * u[i];
  }
  return r;
}

/// The same forces at the end of the step, as compliances of the contact's rows. With E_N = 1 / (dt^2 k + dt
/// b) and w_N = dt k / (dt k + b) gap / dt (gap / dt where the gap is open) the law u_N >= 0, r_N >= 0 is the
/// implicit spring and damper [Course Eq.59]. With E_T = slip / (mu r) the inside of the cone is viscous
/// friction that reaches its bound at the slip speed, if r is the normal impulse: that of the spring at the
/// start of the step, or of the weight that the contact moves if this is larger. Any exact solver of the
/// contact problem then finds these forces, and no step is too large. The damper replaces restitution.
template <int D>
SS_HD inline void soften_by_penalty(const PenaltyOptions& o, double gap, const BodyInverse& a,
                                    const BodyInverse& b, ConstraintBlock<D>& block) {
  using rigid_detail::row_mobility;
  const double mobility = row_mobility(block, 0, a, b);
  if (!(mobility > 0)) return;
  block.compliance[0] = 1 / (o.dt * (o.dt * o.stiffness + o.damping));
  block.w[0] = gap / o.dt * (gap < 0 ? o.dt * o.stiffness / (o.dt * o.stiffness + o.damping) : 1.0);
  const double spring = -o.dt * o.stiffness * gap, weight = o.dt * o.gravity / mobility;
  const double r = spring > weight ? spring : weight;
  for (int i = 1; i < D; ++i) {
    const double mu = block.law.mu[i - 1];
    if (mu > 0 && r > 0) block.compliance[i] = o.slip / (mu * r);
  }
}

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Explicit penalty impulses of contacts. Joints are not penalties: their blocks are solved after the
/// contacts' effect is in `free`.
template <int D>
class PenaltyForces {
 public:
  /// Impulses of `count` contacts and their blocks, from velocities at the start of the step; adds A^-1 H' r
  /// to the velocities `free` (6 numbers per body). No host reads.
  void push(Context& ctx, const ConstraintBlock<D>* blocks, const RigidContact* contacts, std::size_t count,
            const BodiesView& bodies, std::size_t body_count, const PenaltyOptions& options, double* free);

  /// One per contact of the last push. Backend memory.
  const Vec<double, D>* impulses() const { return r_.data(); }

 private:
  Buffer<Vec<double, D>> r_;
  BodyGather gather_;
};

extern template class PenaltyForces<3>;
extern template class PenaltyForces<4>;

}  // namespace stickslip::STICKSLIP_BACKEND
