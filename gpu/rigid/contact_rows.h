// The rows of contacts between rigid bodies: one block of the contact problem per contact point.
#pragma once

#include "gpu/collide/rigid_contacts.cuh"
#include "gpu/geometry/tangent.h"
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
};

inline ContactSurface contact_surface(const Material& m) {
  return {m.restitution, m.torsion_radius, m.friction_kind, m.mu, m.mu_across, -1, m.cohesion, m.compliance};
}

/// A half-space has no restitution, torsion, cohesion or compliance of its own, and the body determines the
/// kind of friction.
inline ContactSurface half_space_surface(double mu) { return {0, 0, FrictionKind::isotropic, mu, mu}; }

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
};

/// `mu` is the pair's coefficient (FrictionTable: set for the pair, or the geometric mean of both). The ratio
/// of mu_across to mu is that of their geometric means. Two matchstick surfaces have matchstick friction
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
};

SS_HD inline FrictionFrame friction_frame(const Vec<double, 3>& normal, const SurfacePair& pair) {
  using V3 = Vec<double, 3>;
  if (pair.friction_kind == FrictionKind::isotropic) return {contact_frame(normal), pair.mu, pair.mu};
  const bool both = pair.friction_kind == FrictionKind::matchstick;
  const double crossed = std::sqrt(pair.mu * pair.mu_across);
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

}  // namespace rigid_detail

/// The block of a contact with rows along `f`. D = 4 adds a row about the normal, scaled by the torsion
/// radius rho: u_4 = rho n . (spin_a - spin_b), |torque| <= mu rho r_N. Its coefficient is then mu, and
/// sliding and spinning share one cone. a and b are the bodies; a half-space is BodyAtStep::world(). The
/// springs of spring_damper and of compliance act along the normal only: with the compliance c [m/N], the
/// overlap at the end of the step is c r_N / dt [Daviet20 §6.3.2, whose slack also yields along the
/// tangents].
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
  block.law = ContactLaw<D>{};
  block.law.mu[0] = f.mu1;
  block.law.mu[1] = f.mu2;
  int end = 3;
  if constexpr (D == 4) {
    if (pair.torsion_radius > 0) {
      block.jacobian[0][3] = joined(V3::zero(), pair.torsion_radius * f.frame.n);
      block.jacobian[1][3] = -block.jacobian[0][3];
      block.law.mu[2] = std::sqrt(f.mu1 * f.mu2);
      end = 4;
    }
  }
  const double approach = dot(block.jacobian[0][0], a.twist()) + dot(block.jacobian[1][0], b.twist());
  block.w[0] = contact_speed(options, contact.gap, approach, pair.restitution, pair.compliance);
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
