// Correction of position errors at the level of velocities, for contacts and joints alike.
#pragma once

#include <cmath>
#include <limits>

#include "gpu/dfcp/problem/constraint_block.h"
#include "gpu/math/quat.h"
#include "gpu/params/params.h"

namespace stickslip {

/// A body, as input of constraint rows. The world: `BodyAtStep::world()`.
struct BodyAtStep {
  Pose pose;
  Vec<double, 3> velocity, spin;  // [m/s] of the centre, [rad/s] world, at the start of the step
  BodyInverse inverse;            // zero for an immovable body

  SS_HD static BodyAtStep world() { return {Pose::identity(), {0, 0, 0}, {0, 0, 0}, {0, {}}}; }
  SS_HD Vec<double, 6> twist() const {
    return {velocity[0], velocity[1], velocity[2], spin[0], spin[1], spin[2]};
  }
};

/// The velocity row u + softness W_ii r + share error / dt = 0 of a position error [m]. A step corrects
/// `share` of it, but not faster than `fastest`.
struct ErrorFeedback {
  double dt;                                            // [s]
  double share = 0;                                     // upsilon of [Course Eq.59]
  double fastest = std::numeric_limits<double>::max();  // [m/s]
  double slop = 0;                                      // [m] overlap that is not corrected, contacts only
  double softness = 0;                                  // epsilon of [Course Eq.59] in units of W_ii
  double ahead = 0;  // [s] from where joint rows are built to the end of the step; see joint_path.h
};

/// Feedback that makes w of a row the whole error, in metres: for corrections of positions.
SS_HD inline ErrorFeedback whole_error() { return {1.0, 1.0}; }

/// The spring of frequency f and damping ratio zeta on the effective mass m = 1 / W_ii of a row has
/// k = m (2 pi f)^2 and b = 2 m zeta 2 pi f; taken implicitly [Course Eq.59]:
///   upsilon = dt k / (dt k + b),   epsilon = 1 / (dt^2 k + dt b).
inline ErrorFeedback error_feedback(const Params& params) {
  ErrorFeedback f{params.dt};
  if (params.integrator == RigidIntegrator::midpoint) f.ahead = params.dt / 2;
  if (params.stabilisation == Stabilisation::baumgarte) {
    f.share = params.baumgarte;
    f.fastest = params.baumgarte_speed;
    f.slop = params.contact_slop;
  } else if (params.stabilisation == Stabilisation::spring_damper) {
    const double angle = 2 * std::acos(-1.0) * params.spring_frequency * params.dt;  // in a step [rad]
    f.share = angle / (angle + 2 * params.spring_damping);
    f.softness = 1 / (angle * (angle + 2 * params.spring_damping));
  }
  return f;
}

namespace rigid_detail {

using V3 = Vec<double, 3>;
using V6 = Vec<double, 6>;

/// w of a bilateral error; capping the speed keeps its direction.
template <int N>
SS_HD inline Vec<double, N> error_speed(const ErrorFeedback& f, const Vec<double, N>& error) {
  const Vec<double, N> w = (f.share / f.dt) * error;
  const double speed = norm(w);
  return speed > f.fastest ? (f.fastest / speed) * w : w;
}

/// w of a gap: an open one may close within the step.
SS_HD inline double gap_speed(const ErrorFeedback& f, double gap) {
  if (gap > 0) return gap / f.dt;
  const double beyond = gap + f.slop;
  if (beyond >= 0) return 0;
  const double w = f.share * beyond / f.dt;
  return w < -f.fastest ? -f.fastest : w;
}

SS_HD inline V6 joined(const V3& linear, const V3& angular) {
  return {linear[0], linear[1], linear[2], angular[0], angular[1], angular[2]};
}

/// d . velocity of the point that is `arm` from the centre.
SS_HD inline V6 point_row(const V3& d, const V3& arm) { return joined(d, cross(arm, d)); }

/// Bilateral, all rows unused.
template <int D>
SS_HD inline ConstraintBlock<D> empty_block() {
  ConstraintBlock<D> block{};
  block.body[0] = block.body[1] = -1;
  block.compliance = Vec<double, D>::filled(1.0);
  block.law.set = FrictionSet::bilateral;
  return block;
}

/// The law of a contact without friction.
template <int D>
SS_HD inline ContactLaw<D> unilateral_law() {
  ContactLaw<D> law{};
  if constexpr (D == kRollingRows) law.set = FrictionSet::rolling;
  return law;
}

/// H_i A^-1 H_i'.
template <int D>
SS_HD inline double row_mobility(const ConstraintBlock<D>& block, int i, const BodyInverse& a,
                                 const BodyInverse& b) {
  return dot(block.jacobian[0][i], a.times(block.jacobian[0][i])) +
         dot(block.jacobian[1][i], b.times(block.jacobian[1][i]));
}

/// Sets compliances: `softness` W_ii in the used rows [first, end), and the mean W_ii of these rows in all
/// others, because the judge divides the trace of a block by its number of rows. Returns this mean.
template <int D>
SS_HD inline double finish_rows(ConstraintBlock<D>& block, int first, int end, double softness,
                                const BodyInverse& a, const BodyInverse& b) {
  double sum = 0;
  for (int i = first; i < end; ++i) {
    const double mobility = row_mobility(block, i, a, b);
    block.compliance[i] = softness * mobility;
    sum += mobility;
  }
  const double mean = sum > 0 ? sum / (end - first) : 1.0;
  for (int i = 0; i < D; ++i)
    if (i < first || i >= end || !(sum > 0)) block.compliance[i] = mean;
  return mean;
}

/// Rows of immovable bodies are zero.
template <int D>
SS_HD inline void drop_world(ConstraintBlock<D>& block) {
  for (int side = 0; side < 2; ++side)
    for (int i = 0; block.body[side] < 0 && i < D; ++i) block.jacobian[side][i] = V6::zero();
}

}  // namespace rigid_detail
}  // namespace stickslip
