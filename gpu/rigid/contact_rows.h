// The rows of contacts between rigid bodies: one block of the contact problem per contact point.
#pragma once

#include "gpu/collide/rigid_contacts.cuh"
#include "gpu/geometry/tangent.h"
#include "gpu/law/friction_tensor.h"
#include "gpu/law/matchstick.h"
#include "gpu/rigid/stabilisation.h"

namespace stickslip {

/// A body's surface properties in a contact: parameters of its material.
struct ContactSurface {
  double restitution, torsion_radius;
  FrictionKind friction_kind;
  double mu, mu_across;
  std::int32_t texture = -1;  // into the textures of the scene; -1: none
  double cohesion = 0;        // [N]
  double compliance = 0;      // [m/N]
  // As in Material, where 0 stands for mu and for sqrt(mu mu_across).
  double mu_static = 0, mu_crossed = 0, mu_skew = 0;
  double stribeck_speed = 0;  // [m/s]
  double viscous = 0;         // [s/m]
  double tresca = 0;          // [N]
  double tangential_restitution = 0;
  bool is_half_space = false;

  SS_HD double sticking_mu() const { return mu_static > 0 ? mu_static : mu; }
  SS_HD bool has_crossed_mu() const { return friction_kind == FrictionKind::matchstick && mu_crossed > 0; }
  SS_HD double crossed_mu() const {
    if (friction_kind == FrictionKind::isotropic) return mu;
    return has_crossed_mu() ? mu_crossed : std::sqrt(mu * mu_across);
  }
  /// Friction that is isotropic and uniform over the surface, with one coefficient.
  SS_HD bool has_plain_friction() const {
    return friction_kind == FrictionKind::isotropic && texture < 0 && !(mu_static > 0) && !(viscous > 0) &&
           !(tresca > 0) && tangential_restitution == 0;
  }
};

inline ContactSurface contact_surface(const Material& m) {
  ContactSurface s{m.restitution, m.torsion_radius, m.friction_kind, m.mu, m.mu_across, -1,
                   m.cohesion,    m.compliance};
  s.mu_static = m.mu_static;
  s.mu_crossed = m.mu_crossed;
  s.mu_skew = m.mu_skew;
  s.stribeck_speed = m.stribeck_speed;
  s.viscous = m.viscous_friction;
  s.tresca = m.tresca;
  s.tangential_restitution = m.tangential_restitution;
  return s;
}

/// A half-space has mu alone; the body determines the kind of friction and everything else.
inline ContactSurface half_space_surface(double mu) {
  ContactSurface s{0, 0, FrictionKind::isotropic, mu, mu};
  s.is_half_space = true;
  return s;
}

/// The surface properties of two touching bodies.
struct SurfacePair {
  double mu;              // isotropic; the other kinds: along the grain
  double mu_across;       // of the kinds with grain
  double restitution;     // ratio of rebound to approach velocity
  double torsion_radius;  // [m]
  FrictionKind friction_kind;
  Vec<double, 3> grain_a, grain_b;  // world, of any length; zero: that surface has none
  double cohesion;                  // [N] largest pull
  double compliance;                // [m/N] along the normal
  double mu_static;                 // of a contact that sticks; mu: the same
  double stribeck_speed;            // [m/s] > 0 if mu_static differs
  double viscous;                   // [s/m]
  double tresca;                    // [N]; 0: none
  double tangential_restitution;
  double mu_crossed;  // of grains that cross at a right angle; 0: sqrt(mu mu_across)
  /// Of the tensor: along and across the grain of surfaces a and b, skew; all times `tensor_scale`.
  Vec<double, 3> tensor_a, tensor_b;
  double tensor_scale;
  double rolling = 0;  // [m] of SurfaceTable; 0: none

  /// True if coefficients depend on the solution: see FrictionState.
  SS_HD bool lags() const {
    return mu_static != mu || viscous > 0 || tresca > 0 || friction_kind == FrictionKind::tensor;
  }
};

namespace rigid_detail {

/// The one farther from 0; of equal sizes the positive one.
SS_HD inline double farther_from_zero(double a, double b) {
  const double x = std::fabs(a), y = std::fabs(b);
  if (x == y) return a > b ? a : b;
  return x > y ? a : b;
}

/// The tensor of a surface in its own frame: along and across the grain, skew.
SS_HD inline Vec<double, 3> own_tensor(const ContactSurface& s) {
  return {s.mu, s.friction_kind == FrictionKind::isotropic ? s.mu : s.mu_across,
          s.friction_kind == FrictionKind::tensor ? s.mu_skew : 0.0};
}

/// What friction does beside the coefficients along and across a grain.
SS_HD inline void combine_laws(const ContactSurface& a, const ContactSurface& b, SurfacePair& pair) {
  pair.tangential_restitution = farther_from_zero(a.tangential_restitution, b.tangential_restitution);
  pair.viscous = a.viscous > b.viscous ? a.viscous : b.viscous;
  pair.tresca = a.is_half_space ? b.tresca : b.is_half_space ? a.tresca : std::sqrt(a.tresca * b.tresca);
  pair.mu_static = pair.mu;
  const bool has_a = a.mu_static > 0, has_b = b.mu_static > 0;
  if (!has_a && !has_b) return;
  const double sliding = a.mu * b.mu, sticking = a.sticking_mu() * b.sticking_mu();
  // Without friction of sliding contacts the ratio is undefined: use the mean of those that stick.
  pair.mu_static = sliding > 0 ? pair.mu * std::sqrt(sticking / sliding) : std::sqrt(sticking);
  pair.stribeck_speed = !has_a   ? b.stribeck_speed
                        : !has_b ? a.stribeck_speed
                                 : std::sqrt(a.stribeck_speed * b.stribeck_speed);
}

}  // namespace rigid_detail

/// `mu` is the pair's coefficient (FrictionTable: set for the pair, or the geometric mean of both). The
/// ratios of mu_across, mu_crossed and mu_static to mu are those of their geometric means. A pair with a
/// friction tensor has L = kappa (Q_A + R Q_B R') [Course Eq.320], with the tensors of both surfaces, which
/// for isotropic surfaces are mu I, and with kappa such that L = mu I for two of those; against a half-space
/// L = kappa Q_A. It has no torsion. Two matchstick surfaces have matchstick friction
/// [Course Alg.21]; any other pair with a grain has elliptic friction. `grain_a`, `grain_b`: of the bodies,
/// in world axes.
SS_HD inline SurfacePair surface_pair(const ContactSurface& a, const ContactSurface& b, double mu,
                                      const Vec<double, 3>& grain_a, const Vec<double, 3>& grain_b) {
  const bool has_a = a.friction_kind != FrictionKind::isotropic,
             has_b = b.friction_kind != FrictionKind::isotropic;
  SurfacePair pair{};
  pair.mu = pair.mu_across = mu;
  pair.restitution = a.restitution > b.restitution ? a.restitution : b.restitution;
  pair.torsion_radius = 0.5 * (a.torsion_radius + b.torsion_radius);
  pair.friction_kind = FrictionKind::isotropic;
  pair.cohesion = std::sqrt(a.cohesion * b.cohesion);
  pair.compliance = a.compliance + b.compliance;
  rigid_detail::combine_laws(a, b, pair);
  if (!has_a && !has_b) return pair;
  const double across = (has_a ? a.mu_across : a.mu) * (has_b ? b.mu_across : b.mu), along = a.mu * b.mu;
  // Without friction along the grain the ratio is undefined: use the mean across it.
  pair.mu_across = along > 0 ? mu * std::sqrt(across / along) : std::sqrt(across);
  pair.friction_kind =
      a.friction_kind == FrictionKind::matchstick && b.friction_kind == FrictionKind::matchstick
          ? FrictionKind::matchstick
          : FrictionKind::elliptic;
  if (has_a) pair.grain_a = grain_a;
  if (has_b) pair.grain_b = grain_b;
  if (a.has_crossed_mu() || b.has_crossed_mu()) {
    const double crossed = a.crossed_mu() * b.crossed_mu();
    pair.mu_crossed = along > 0 ? mu * std::sqrt(crossed / along) : std::sqrt(crossed);
  }
  if (a.friction_kind != FrictionKind::tensor && b.friction_kind != FrictionKind::tensor) return pair;
  pair.friction_kind = FrictionKind::tensor;
  pair.torsion_radius = 0;
  if (!a.is_half_space) pair.tensor_a = rigid_detail::own_tensor(a);
  if (!b.is_half_space) pair.tensor_b = rigid_detail::own_tensor(b);
  const double sum = pair.tensor_a[0] + pair.tensor_b[0];
  pair.tensor_scale = sum > 0 ? mu / sum : 0.0;
  return pair;
}

struct TextureView;  // texture_friction.h

/// Surfaces of all materials and half-spaces, in backend memory. `mu` has a row per material; a column per
/// material, then one per half-space.
struct SurfaceTable {
  const ContactSurface* surface;  // per column
  const double* mu;
  std::int32_t materials, columns;
  const TextureView* textures = nullptr;  // null: no surface has one
  const double* rolling = nullptr;        // [m] in the order of `mu`; null: no pair resists rolling

  /// Column of side b; `material_b` is its material if it is a body.
  SS_HD std::int32_t column(std::int32_t material_b, std::int32_t b) const {
    return b >= 0 ? material_b : materials - 1 - b;
  }
};

struct ContactRowOptions {
  ErrorFeedback feedback;
  double restitution_speed;   // [m/s] approach below which nothing bounces
  double cohesion_range = 0;  // [m] gap at which cohesion ends
};

inline ContactRowOptions contact_row_options(const Params& params) {
  return {error_feedback(params), params.restitution_speed, params.cohesion_range};
}

/// The pull of a contact with this gap in a step [N s], the shift xi of its cone: r + xi n is in it
/// [Daviet20 §6.3.1]. It falls linearly from a gap of zero to `cohesion_range`.
SS_HD inline double cohesive_impulse(const ContactRowOptions& o, const SurfacePair& pair, double gap) {
  if (!(pair.cohesion > 0)) return 0;
  const double share = gap > 0 ? 1 - gap / o.cohesion_range : 1.0;
  return share > 0 ? o.feedback.dt * share * pair.cohesion : 0.0;
}

/// (normal, t1, t2), right-handed: the frame of a contact without grain. It varies continuously with the
/// normal except where the normal points 30 degrees below the horizon: normals of floors and walls are far
/// from there, for either order of the bodies.
struct ContactFrame {
  Vec<double, 3> n, t1, t2;
};
SS_HD inline ContactFrame contact_frame(const Vec<double, 3>& normal) {
  const Vec<double, 3> t1 = tangent_basis(normal[1] < -0.5 ? -normal : normal).t1;
  return {normal, t1, cross(normal, t1)};
}

/// The frame of a contact and its coefficients along t1 and t2.
struct FrictionFrame {
  ContactFrame frame;
  double mu1, mu2;
  bool is_tensor = false;
  Mat2d tensor = Mat2d::zero();  // L in (t1, t2); the coefficients are then those of [Course Eq.324]
  /// Coefficients for sliding along t_i (`forth`) and along -t_i (`back`) differ [Course Eq.337]. mu1 and mu2
  /// are then those of the quadrant that a solver takes.
  bool is_one_sided = false;
  Vec<double, 2> forth{0, 0}, back{0, 0};

  /// Of a torsional row. That of one-sided friction has the means of both directions, so that the admissible
  /// set, a part of an ellipsoid per quadrant, is convex.
  SS_HD double torsional_mu() const {
    return is_one_sided ? 0.5 * std::sqrt((forth[0] + back[0]) * (forth[1] + back[1])) : std::sqrt(mu1 * mu2);
  }
  /// One-sided: takes the coefficient for sliding along t_axis (`way` > 0) or against it (< 0).
  SS_HD void take_way(int axis, double way) {
    if (way != 0) (axis == 0 ? mu1 : mu2) = way > 0 ? forth[axis] : back[axis];
  }
};

namespace rigid_detail {

/// Adds the tensor of one surface in the tangents of `f`; its skew part is about `outward` times the normal.
SS_HD inline void add_tensor(const Vec<double, 3>& tensor, double scale, const Vec<double, 3>& grain,
                             double outward, FrictionFrame& f) {
  const Vec<double, 3> g = law_detail::in_plane(grain, f.frame.n);
  const bool directed = norm2(g) > 0;
  const double mean = std::sqrt(tensor[0] * tensor[1]), along = directed ? tensor[0] : mean,
               across = directed ? tensor[1] : mean, cosine = directed ? dot(g, f.frame.t1) : 1.0,
               sine = directed ? dot(g, f.frame.t2) : 0.0;
  const Mat2d q = surface_tensor(scale * along, scale * across, scale * outward * tensor[2], cosine, sine);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) f.tensor(i, j) += q(i, j);
}

/// Turns the tangents to the axes of an ellipse given in them, and L with them.
SS_HD inline void turn_to_ellipse(const FrictionEllipse& e, FrictionFrame& f) {
  f.mu1 = e.mu1;
  f.mu2 = e.mu2;
  const Vec<double, 3> t1 = e.cosine * f.frame.t1 + e.sine * f.frame.t2;
  f.frame.t2 = e.cosine * f.frame.t2 - e.sine * f.frame.t1;
  f.frame.t1 = t1;
  Mat2d turn;
  turn(0, 0) = turn(1, 1) = e.cosine;
  turn(0, 1) = e.sine;
  turn(1, 0) = -e.sine;
  f.tensor = turn * f.tensor * turn.transposed();
}

/// Along the grain of a, or of b if a has none; with the normal of the contact from b to a, the outward
/// normal of a is -n.
SS_HD inline FrictionFrame tensor_frame(const Vec<double, 3>& normal, const SurfacePair& pair) {
  FrictionFrame f{contact_frame(normal), 0, 0, true};
  Vec<double, 3> t1 = law_detail::in_plane(pair.grain_a, normal);
  if (!(norm2(t1) > 0)) t1 = law_detail::in_plane(pair.grain_b, normal);
  if (norm2(t1) > 0) f.frame = {normal, t1, cross(normal, t1)};
  add_tensor(pair.tensor_a, pair.tensor_scale, pair.grain_a, -1, f);
  add_tensor(pair.tensor_b, pair.tensor_scale, pair.grain_b, 1, f);
  if (tensor_determinant(f.tensor) > 0) turn_to_ellipse(ellipse_of(sticking_ellipse(f.tensor)), f);
  else f.is_tensor = false;  // a pair without friction
  return f;
}

}  // namespace rigid_detail

SS_HD inline FrictionFrame friction_frame(const Vec<double, 3>& normal, const SurfacePair& pair) {
  using V3 = Vec<double, 3>;
  if (pair.friction_kind == FrictionKind::isotropic) return {contact_frame(normal), pair.mu, pair.mu};
  if (pair.friction_kind == FrictionKind::tensor) return rigid_detail::tensor_frame(normal, pair);
  const bool both = pair.friction_kind == FrictionKind::matchstick;
  const double crossed = pair.mu_crossed > 0 ? pair.mu_crossed : std::sqrt(pair.mu * pair.mu_across);
  // A single grain is paired with itself, which gives the elliptic law along it. Two grains: t1 bisects their
  // angle.
  const V3 other = norm2(pair.grain_b) > 0 ? pair.grain_b : pair.grain_a;
  const V3 one = norm2(pair.grain_a) > 0 ? pair.grain_a : other;
  const MatchstickContact m = matchstick(one, other, normal, {crossed, pair.mu, pair.mu_across});
  const bool directed =
      norm2(law_detail::in_plane(one, normal)) > 0 && norm2(law_detail::in_plane(other, normal)) > 0;
  FrictionFrame f{{normal, m.t, m.b}, m.law.mu[0], m.law.mu[1]};
  if (!both && directed) {
    f.mu1 = pair.mu;
    f.mu2 = pair.mu_across;
  }
  return f;
}

namespace rigid_detail {

/// w_N. A gap that would close within the step at the approach velocity bounces in this step (Newton's law of
/// restitution); any other gap may close, and an overlap is corrected. With a `compliance` [m/N] an overlap
/// is the strain of a spring, and no error. `approach` [m/s] at the start of the step, < 0.
SS_HD inline double contact_speed(const ContactRowOptions& o, double gap, double approach, double restitution,
                                  double compliance = 0) {
  const double w = compliance > 0 ? gap / o.feedback.dt : gap_speed(o.feedback, gap);
  if (!(restitution > 0) || !(approach < -o.restitution_speed)) return w;
  if (gap + o.feedback.dt * approach > 0) return w;
  // For an overlap, both the correction and the bounce give a separating velocity: the larger one applies.
  const double bounce = restitution * approach;
  return gap > 0 || bounce < w ? bounce : w;
}

/// Offset w_T of the slip velocity [m/s]: eps_T times the slip at the start of the step where the contact
/// takes an impact [Course Eq.219b]. An impact is faster than restitution_speed and would close the gap
/// within the step. `before`: relative velocity at the start.
SS_HD inline Vec<double, 3> slip_offset(const ContactRowOptions& o, double gap, const Vec<double, 3>& n,
                                        const Vec<double, 3>& before, double tangential_restitution) {
  const double approach = dot(n, before);
  if (tangential_restitution == 0 || !(approach < -o.restitution_speed) || gap + o.feedback.dt * approach > 0)
    return {0, 0, 0};
  return tangential_restitution * (before - approach * n);
}

}  // namespace rigid_detail

namespace rigid_detail {

/// False, and the rows stay empty, where nothing turns.
template <int D>
SS_HD inline bool add_rolling_rows(const ContactFrame& frame, double rolling, const BodyInverse& a,
                                   const BodyInverse& b, ConstraintBlock<D>& block) {
  static_assert(D == kRollingRows);
  const V3 direction[2] = {frame.t1, frame.t2};
  double slides = 0, turns = 0;
  for (int i = 0; i < 2; ++i) {
    slides += row_mobility(block, 1 + i, a, b);
    turns += dot(direction[i], a.turn(direction[i])) + dot(direction[i], b.turn(direction[i]));
  }
  if (!(turns > 0)) return false;
  const double length = std::sqrt(slides / turns);
  for (int i = 0; i < 2; ++i) {
    block.jacobian[0][3 + i] = joined(V3::zero(), length * direction[i]);
    block.jacobian[1][3 + i] = -block.jacobian[0][3 + i];
    block.law.mu[2 + i] = rolling / length;
  }
  return true;
}

}  // namespace rigid_detail

/// The block of a contact with rows along `f`. D = 4 adds a row about the normal, scaled by the torsion
/// radius rho: u_4 = rho n . (spin_a - spin_b), |torque| <= mu rho r_N. Its coefficient is then mu, and
/// sliding and spinning share one cone. D = 5 adds the rows L t_i . (spin_a - spin_b) [Acary21], scaled by
/// the length L that gives them the mean W_ii of the rows of friction (rolling_lengths), so that their
/// coefficient is mu_r / L. a and b are the bodies; a half-space is BodyAtStep::world(). The springs of
/// spring_damper and of compliance act along the normal only: with the compliance c [m/N], the overlap at the
/// end of the step is c r_N / dt [Daviet20 §6.3.2, whose slack also yields along the tangents].
template <int D>
SS_HD inline ConstraintBlock<D> contact_block(const RigidContact& contact, const BodyAtStep& a,
                                              const BodyAtStep& b, const SurfacePair& pair,
                                              const FrictionFrame& f, const ContactRowOptions& options) {
  using namespace rigid_detail;
  ConstraintBlock<D> block = empty_block<D>();
  block.body[0] = contact.a;
  block.body[1] = contact.b < 0 ? -1 : contact.b;
  const V3 direction[3] = {f.frame.n, f.frame.t1, f.frame.t2};
  for (int i = 0; i < 3; ++i) {
    block.jacobian[0][i] = point_row(direction[i], contact.point - a.pose.x);
    block.jacobian[1][i] = -point_row(direction[i], contact.point - b.pose.x);
  }
  block.law = unilateral_law<D>();
  block.law.mu[0] = f.mu1;
  block.law.mu[1] = f.mu2;
  int end = 3;
  if constexpr (D == 4) {
    if (pair.torsion_radius > 0) {
      block.jacobian[0][3] = joined(V3::zero(), pair.torsion_radius * f.frame.n);
      block.jacobian[1][3] = -block.jacobian[0][3];
      block.law.mu[2] = f.torsional_mu();
      end = 4;
    }
  }
  if constexpr (D == kRollingRows)
    if (pair.rolling > 0 && add_rolling_rows(f.frame, pair.rolling, a.inverse, b.inverse, block)) end = D;
  const double approach = dot(block.jacobian[0][0], a.twist()) + dot(block.jacobian[1][0], b.twist());
  block.w[0] = contact_speed(options, contact.gap, approach, pair.restitution, pair.compliance);
  if (pair.tangential_restitution != 0) {
    V3 before{0, 0, 0};
    for (int i = 0; i < 3; ++i)
      before += (dot(block.jacobian[0][i], a.twist()) + dot(block.jacobian[1][i], b.twist())) * direction[i];
    const V3 offset = slip_offset(options, contact.gap, f.frame.n, before, pair.tangential_restitution);
    for (int i = 1; i < 3; ++i) block.w[i] = dot(direction[i], offset);
  }
  finish_rows(block, 0, end, 0.0, a.inverse, b.inverse);
  const double mobility = row_mobility(block, 0, a.inverse, b.inverse);
  if (mobility > 0)
    block.compliance[0] = pair.compliance > 0 ? pair.compliance / (options.feedback.dt * options.feedback.dt)
                                              : options.feedback.softness * mobility;
  drop_world(block);
  return block;
}
template <int D>
SS_HD inline ConstraintBlock<D> contact_block(const RigidContact& contact, const BodyAtStep& a,
                                              const BodyAtStep& b, const SurfacePair& pair,
                                              const ContactRowOptions& options) {
  return contact_block<D>(contact, a, b, pair, friction_frame(contact.normal, pair), options);
}

}  // namespace stickslip
