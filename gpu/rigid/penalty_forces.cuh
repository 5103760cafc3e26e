// Penalty contact [Course §5.1]: springs, dampers and friction laws of their own instead of a contact
// problem, as the classical baseline.
#pragma once

#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/body_gather.cuh"
#include "gpu/rigid/contact_rows.h"
#include "gpu/rigid/penalty_springs.h"

namespace stickslip {

struct PenaltyOptions {
  double dt;         // [s]
  double stiffness;  // k [N/m]
  double damping;    // b [N s/m]
  double slip;       // [m/s] below which friction is viscous
  double gravity;    // [m/s^2] magnitude
  PenaltySpringLaw spring = {.stiffness = stiffness};
  double recede = 1;  // factor on forces while a contact separates
  PenaltyFriction friction = PenaltyFriction::regularised;
  double friction_stiffness = 0;  // k_T [N/m], anchored

  SS_HD bool anchored() const { return friction == PenaltyFriction::anchored; }
};

inline PenaltyOptions penalty_options(const Params& params) {
  return {params.dt,
          params.penalty_stiffness,
          params.penalty_damping,
          params.penalty_slip,
          std::fabs(params.gravity),
          {params.penalty_spring, params.penalty_stiffness, params.penalty_exponent, params.penalty_length,
           params.penalty_thickness, params.penalty_layers},
          params.penalty_recede,
          params.penalty_friction,
          params.penalty_friction_stiffness};
}

/// r_N = dt max(0, f(gap) - b u_N): contacts never pull. The damper acts on overlaps only (of the outermost
/// layer, with layered springs). While the contact separates, the force has the factor `recede` [Course
/// Eq.282; Eq.279 without a damper]. In steps too large for the stiff spring, r_N is limited so that it does
/// no more than reverse the approach or remove the whole overlap within the step. Where dt^2 k and dt b are
/// small against the mass, the limit is inactive.
SS_HD inline double penalty_normal_impulse(const PenaltyOptions& o, double gap, double u, double mobility) {
  if (!(gap < o.spring.reach()) || !(mobility > 0)) return 0;
  double force = penalty_force(o.spring, gap);
  if (gap < o.spring.surface()) force -= o.damping * u;
  if (u > 0) force *= o.recede;
  if (!(force > 0)) return 0;
  double overlap = o.spring.surface() - gap;
  if (o.spring.kind == PenaltySpring::exponential) overlap = (overlap > 0 ? overlap : 0) + o.spring.length;
  const double approach = u < 0 ? -u : 0, leave = overlap / o.dt;
  const double most = (approach + (approach > leave ? approach : leave)) / mobility;
  const double r = o.dt * force;
  return r < most ? r : most;
}

/// Steps of one contact's spring and damper, with the velocities of the step's end moving positions and the
/// forces of its start, decay if this is below 4: dt^2 k W + 2 dt b W.
SS_HD inline double penalty_steepness(const PenaltyOptions& o, double gap, double mobility) {
  const double b = gap < o.spring.surface() ? o.damping : 0.0;
  return o.dt * mobility * (o.dt * penalty_stiffness(o.spring, gap) + 2 * b);
}
inline constexpr double kPenaltyDecays = 4;

/// The stretch of a contact's friction springs (rows 1 to D - 1, [m]) after its anchor followed: the anchor
/// moves towards the contact until the springs' force is in the cone of the normal impulse r_N [N s] of a
/// step [Course Eq.277].
template <int D>
SS_HD inline Vec<double, D> follow_anchor(const PenaltyOptions& o, const ContactLaw<D>& law, double r_n,
                                          Vec<double, D> stretch) {
  double sum = 0;
  for (int i = 1; i < D; ++i) {
    const double mu = law.mu[i - 1];
    if (!(mu > 0) || !(r_n > 0)) stretch[i] = 0;
    else sum += stretch[i] * stretch[i] / (mu * mu);
  }
  stretch[0] = 0;
  const double share = r_n > 0 ? o.dt * o.friction_stiffness * std::sqrt(sum) / r_n : 0.0;
  if (share > 1)
    for (int i = 1; i < D; ++i) stretch[i] /= share;
  return stretch;
}

namespace penalty_detail {

/// Regularised: r_i = -r_N mu_i^2 u_i / max(|mu u|, mu slip), which is [Course Eq.288] for one mu, with k_f =
/// mu f_N / slip: Coulomb's force above the slip speed, viscous below. Kinetic: the same with a slip speed of
/// zero [Course Eq.278].
template <int D>
SS_HD inline void add_sliding_friction(const PenaltyOptions& o, const ContactLaw<D>& law,
                                       const Vec<double, D>& u, double mobility, Vec<double, D>& r) {
  double sum = 0, most = 0;
  for (int i = 1; i < D; ++i) {
    const double mu = law.mu[i - 1];
    sum += mu * mu * u[i] * u[i];
    most = mu > most ? mu : most;
  }
  if (!(sum > 0)) return;
  const double slip = o.friction == PenaltyFriction::kinetic ? 0.0 : most * o.slip;
  const double speed = std::sqrt(sum) > slip ? std::sqrt(sum) : slip;
  for (int i = 1; i < D; ++i) {
    const double viscous = r[0] * law.mu[i - 1] * law.mu[i - 1] / speed;
    r[i] = -(viscous * mobility < 1 ? viscous : 1 / mobility) * u[i];
  }
}

/// Anchored: springs and dampers from the anchor [Course Eq.276], both together inside the cone. An impulse
/// does no more than reverse the sliding or remove the stretch within the step.
template <int D>
SS_HD inline void add_anchored_friction(const PenaltyOptions& o, const ContactLaw<D>& law,
                                        const Vec<double, D>& u, const Vec<double, D>& stretch,
                                        double mobility, Vec<double, D>& r) {
  const Vec<double, D> s = follow_anchor(o, law, r[0], stretch);
  double sum = 0;
  for (int i = 1; i < D; ++i) {
    const double mu = law.mu[i - 1];
    if (!(mu > 0)) continue;
    const double wanted = -o.dt * (o.friction_stiffness * s[i] + o.damping * u[i]);
    const double slide = std::fabs(u[i]), back = std::fabs(s[i]) / o.dt;
    const double most = (slide + (slide > back ? slide : back)) / mobility;
    r[i] = wanted > most ? most : (wanted < -most ? -most : wanted);
    sum += r[i] * r[i] / (mu * mu);
  }
  const double share = std::sqrt(sum) / r[0];
  if (share > 1)
    for (int i = 1; i < D; ++i) r[i] /= share;
}

}  // namespace penalty_detail

/// Impulse of a contact for velocities u = H v at the start of the step (without w), and with the `stretch`
/// of anchored friction. Friction is always inside the cone, and limited so that it does not reverse the
/// sliding. Explicit: independent of the other contacts in the step.
template <int D>
SS_HD inline Vec<double, D> penalty_impulse(const PenaltyOptions& o, const ConstraintBlock<D>& block,
                                            double gap, const Vec<double, D>& u, const BodyInverse& a,
                                            const BodyInverse& b,
                                            const Vec<double, D>& stretch = Vec<double, D>::zero()) {
  using rigid_detail::row_mobility;
  Vec<double, D> r = Vec<double, D>::zero();
  r[0] = penalty_normal_impulse(o, gap, u[0], row_mobility(block, 0, a, b));
  if (r[0] == 0) return r;
  double mobility = 0;
  for (int i = 1; i < D; ++i) {
    const double m = row_mobility(block, i, a, b);
    mobility = m > mobility ? m : mobility;
  }
  if (o.anchored()) penalty_detail::add_anchored_friction(o, block.law, u, stretch, mobility, r);
  else penalty_detail::add_sliding_friction(o, block.law, u, mobility, r);
  return r;
}

/// The normal velocity of a contact, > 0: it separates.
struct PenaltyMotion {
  double start = 0;  // [m/s] at the start of the step
  double free = 0;   // [m/s] without impulses
};

namespace penalty_detail {

/// The gap at the end of the step of a mass 1 / mobility that moves at `free` without the contact's force,
/// with the implicit force of its spring and damper: u - free = dt mobility max(0, f(gap + dt u) - b u).
SS_HD inline double predicted_gap(const PenaltyOptions& o, double gap, double free, double mobility) {
  constexpr double kFar = 40;  // lengths L at which an exponential spring counts as zero
  constexpr int kHalvings = 60;
  const double far = o.spring.kind == PenaltySpring::exponential ? kFar * o.spring.length : o.spring.reach();
  double low = free, high = (far - gap) / o.dt;
  if (!(low < high)) return gap + o.dt * free;
  for (int k = 0; k < kHalvings; ++k) {
    const double u = 0.5 * (low + high), end = gap + o.dt * u;
    double force = penalty_force(o.spring, end);
    if (end < o.spring.surface()) force -= o.damping * u;
    if (u - free < o.dt * mobility * (force > 0 ? force : 0.0)) low = u;
    else high = u;
  }
  return gap + o.dt * 0.5 * (low + high);
}

/// A spring that is linear in the end of the step: force + slope (from - gap at the end) [N].
struct PenaltyChord {
  double from;   // [m] gap at the start, `reach` of the spring at most
  double force;  // [N] there
  double slope;  // [N/m]
};

/// Chord of the spring from the start of the step to its predicted end. It is exact for a contact at rest,
/// and for a single contact on a free mass. An open contact has a predicted end that is at least gravity's
/// way in a step inside the spring.
SS_HD inline PenaltyChord penalty_chord(const PenaltyOptions& o, double gap, double free, double mobility) {
  const PenaltySpringLaw& s = o.spring;
  if (s.kind == PenaltySpring::linear)
    return {gap < 0 ? gap : 0.0, gap < 0 ? -s.stiffness * gap : 0.0, s.stiffness};
  const bool open = !(gap < s.reach());
  const double from = open ? s.reach() : gap, force = open ? 0.0 : penalty_force(s, gap);
  double end = predicted_gap(o, gap, free, mobility);
  const double fall = o.gravity * o.dt * o.dt;
  if (open && end > from - fall) end = from - fall;
  constexpr double kNear = 1e-7, kSoftest = 1e-9;
  const double way = from - end, size = std::fabs(from) + std::fabs(end) + s.length * kNear;
  double slope =
      std::fabs(way) > kNear * size ? (penalty_force(s, end) - force) / way : penalty_stiffness(s, from);
  if (!(slope > kSoftest * s.stiffness)) slope = kSoftest * s.stiffness;
  return {from, force, slope};
}

}  // namespace penalty_detail

/// The same forces at the end of the step, as compliances of the contact's rows. With E_N = 1 / (dt^2 k + dt
/// b) and w_N = dt k / (dt k + b) gap / dt (gap / dt where the gap is open) the law u_N >= 0, r_N >= 0 is the
/// implicit spring and damper [Course Eq.59]. Springs that are not linear take their chord from the start of
/// the step to its predicted end in place of k. With E_T = slip / (mu r) the inside of the cone is viscous
/// friction that reaches its bound at the slip speed, if r is the normal impulse: that of the spring at the
/// start of the step, or of the weight that the contact moves if this is larger. Kinetic friction at the end
/// of the step is Coulomb's law, E_T = 0. Anchored friction: see `pull_to_anchor`, which sets w_T. Any exact
/// solver of the contact problem then finds these forces, and no step is too large. The damper replaces
/// restitution. `recede` applies to contacts that separate at the start of the step.
template <int D>
SS_HD inline void soften_by_penalty(const PenaltyOptions& o, double gap, const BodyInverse& a,
                                    const BodyInverse& b, ConstraintBlock<D>& block,
                                    const PenaltyMotion& motion = {}) {
  using rigid_detail::row_mobility;
  const double mobility = row_mobility(block, 0, a, b);
  if (!(mobility > 0)) return;
  const penalty_detail::PenaltyChord chord = penalty_detail::penalty_chord(o, gap, motion.free, mobility);
  const bool linear = o.spring.kind == PenaltySpring::linear;
  const double k = chord.slope, damping = linear || gap < o.spring.surface() ? o.damping : 0.0;
  constexpr double kLeastFactor = 1e-9;  // forces without any compliance bound
  double factor = 1;
  if (o.recede < 1 && motion.start > 0) factor = o.recede > kLeastFactor ? o.recede : kLeastFactor;
  block.compliance[0] = 1 / (factor * o.dt * (o.dt * k + damping));
  if (linear) block.w[0] = gap / o.dt * (gap < 0 ? o.dt * k / (o.dt * k + damping) : 1.0);
  else if (gap < o.spring.reach()) block.w[0] = -chord.force / (o.dt * k + damping);
  else block.w[0] = (gap - chord.from) / o.dt;
  if (o.anchored()) {
    for (int i = 1; i < D; ++i)
      if (block.law.mu[i - 1] > 0)
        block.compliance[i] = 1 / (o.dt * (o.dt * o.friction_stiffness + o.damping));
  }
  if (o.friction != PenaltyFriction::regularised) return;
  const double spring = o.dt * chord.force, weight = o.dt * o.gravity / mobility;
  const double r = spring > weight ? spring : weight;
  for (int i = 1; i < D; ++i) {
    const double mu = block.law.mu[i - 1];
    if (mu > 0 && r > 0) block.compliance[i] = o.slip / (mu * r);
  }
}

/// Springs and dampers of anchored friction at the end of the step, of a softened block: with E_T = 1 / (dt^2
/// k_T + dt b), w_T = dt k_T / (dt k_T + b) stretch / dt. Outside the cone the anchor follows
/// (follow_anchor).
template <int D>
SS_HD inline void pull_to_anchor(const PenaltyOptions& o, const Vec<double, D>& stretch,
                                 ConstraintBlock<D>& block) {
  const double k = o.friction_stiffness, firm = o.dt * k + o.damping;
  for (int i = 1; i < D; ++i)
    if (block.law.mu[i - 1] > 0) block.w[i] = k * stretch[i] / firm;
}

/// Components of a stretch in world axes (torsion fourth) along the rows of a contact.
template <int D>
SS_HD inline Vec<double, D> stretch_of_rows(const ConstraintBlock<D>& block, const Vec<double, 4>& world) {
  Vec<double, D> s = Vec<double, D>::zero();
  for (int i = 1; i < 3; ++i)
    for (int k = 0; k < 3; ++k) s[i] += block.jacobian[0][i][k] * world[k];
  if (D == 4) s[D - 1] = world[3];
  return s;
}
/// Its inverse.
template <int D>
SS_HD inline Vec<double, 4> stretch_in_world(const ConstraintBlock<D>& block, const Vec<double, D>& s) {
  Vec<double, 4> world = Vec<double, 4>::zero();
  for (int i = 1; i < 3; ++i)
    for (int k = 0; k < 3; ++k) world[k] += block.jacobian[0][i][k] * s[i];
  if (D == 4) world[3] = s[D - 1];
  return world;
}

/// The stretches of a step's contacts at its start. Backend memory; contacts from `count` on have none.
struct AnchorView {
  const Vec<double, 4>* stretch = nullptr;
  std::size_t count = 0;

  SS_HD Vec<double, 4> operator()(std::size_t c) const {
    return c < count ? stretch[c] : Vec<double, 4>{0, 0, 0, 0};
  }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Explicit penalty impulses of contacts. Joints are not penalties: their blocks are solved after the
/// contacts' effect is in `free`.
template <int D>
class PenaltyForces {
 public:
  /// The contacts of a step with their blocks, and the bodies at its start.
  struct Input {
    const ConstraintBlock<D>* blocks;
    const RigidContact* contacts;
    std::size_t count;
    AnchorView anchors;
    BodiesView bodies;
    std::size_t body_count;
    PenaltyOptions options;
  };
  /// Impulses from velocities at the start of the step; adds A^-1 H' r to the velocities `free` (6 numbers
  /// per body). `steepness` (backend memory) gets the largest penalty_steepness of a contact that pushes. No
  /// host reads.
  void push(Context& ctx, const Input& in, double* free, double* steepness);

  /// One per contact of the last push. Backend memory.
  const Vec<double, D>* impulses() const { return r_.data(); }

 private:
  Buffer<Vec<double, D>> r_;
  BodyGather gather_;
};

extern template class PenaltyForces<3>;
extern template class PenaltyForces<4>;
extern template class PenaltyForces<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
