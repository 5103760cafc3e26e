// The rows of contacts between rigid bodies: one block of the contact problem from a point of contact.
#pragma once

#include "gpu/collide/rigid_contacts.cuh"
#include "gpu/geometry/tangent.h"
#include "gpu/law/matchstick.h"
#include "gpu/rigid/stabilisation.h"

namespace stickslip {

/// What one body's surface brings into a contact: the rows `rigid` of its material.
struct ContactSurface {
  double restitution, torsion_radius;
  FrictionKind friction_kind;
  double mu, mu_across;
  std::int32_t texture = -1;  // into the textures of the scene; -1: none
};

inline ContactSurface contact_surface(const Material& m) {
  return {m.restitution, m.torsion_radius, m.friction_kind, m.mu, m.mu_across};
}

/// A half-space: it has no restitution or torsion of its own, and the body's kind of friction decides.
inline ContactSurface half_space_surface(double mu) { return {0, 0, FrictionKind::isotropic, mu, mu}; }

/// Of two bodies that touch.
struct SurfacePair {
  double mu;              // isotropic; the other kinds: along the grain
  double mu_across;       // of the kinds with grain
  double restitution;     // share of the approach
  double torsion_radius;  // [m]
  FrictionKind friction_kind;
  Vec<double, 3> grain_a, grain_b;  // world, of any length; zero: that surface has none
};

/// `mu` is the pair's coefficient (FrictionTable: its own or the geometric mean); across the grain it has the
/// ratio of the geometric means. Matchstick takes two such surfaces [Course Alg.21]; any other pair with a
/// grain is elliptic along it. `grain_a`, `grain_b`: of the bodies, world.
SS_HD inline SurfacePair surface_pair(const ContactSurface& a, const ContactSurface& b, double mu,
                                      const Vec<double, 3>& grain_a, const Vec<double, 3>& grain_b) {
  const bool has_a = a.friction_kind != FrictionKind::isotropic,
             has_b = b.friction_kind != FrictionKind::isotropic;
  SurfacePair pair{};
  pair.mu = pair.mu_across = mu;
  pair.restitution = a.restitution > b.restitution ? a.restitution : b.restitution;
  pair.torsion_radius = 0.5 * (a.torsion_radius + b.torsion_radius);
  pair.friction_kind = FrictionKind::isotropic;
  if (!has_a && !has_b) return pair;
  const double across = (has_a ? a.mu_across : a.mu) * (has_b ? b.mu_across : b.mu), along = a.mu * b.mu;
  // Without a coefficient along the grain there is no ratio: the mean itself.
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

/// Surfaces of all materials and half-spaces, in backend memory. `mu` has a row per material and a column per
/// material, then one per half-space.
struct SurfaceTable {
  const ContactSurface* surface;  // per column
  const double* mu;
  std::int32_t materials, columns;
  const TextureView* textures = nullptr;  // null: no surface has one

  /// Of a contact with side b, whose material is given where it is a body.
  SS_HD std::int32_t column(std::int32_t material_b, std::int32_t b) const {
    return b >= 0 ? material_b : materials - 1 - b;
  }
};

struct ContactRowOptions {
  ErrorFeedback feedback;
  double restitution_speed;  // [m/s] approach below which nothing bounces
};

inline ContactRowOptions contact_row_options(const Params& params) {
  return {error_feedback(params), params.restitution_speed};
}

/// (normal, t1, t2), right-handed, as the rows of a contact without grain have it. It turns with the normal
/// but for jumps where that points 30 degrees below the horizon: floors and walls lie far from there,
/// whichever of the two bodies is named first.
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
  // One grain with itself is parallel: the elliptic law along it. Of two, along the line between them.
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

/// w_N: a gap that closes within the step at the speed of the approach bounces now (Newton), any other may
/// close; overlaps are taken back. `approach` [m/s] at the start of the step, < 0.
SS_HD inline double contact_speed(const ContactRowOptions& o, double gap, double approach,
                                  double restitution) {
  const double w = gap_speed(o.feedback, gap);
  if (!(restitution > 0) || !(approach < -o.restitution_speed)) return w;
  if (gap + o.feedback.dt * approach > 0) return w;
  // Off an overlap both ask to part: the faster of them.
  const double bounce = restitution * approach;
  return gap > 0 || bounce < w ? bounce : w;
}

}  // namespace rigid_detail

/// The block of a contact with rows along `f`, D = 4 with a row about the normal that is scaled by
/// the torsion radius rho: u_4 = rho n . (spin_a - spin_b), |torque| <= mu rho r_N; its coefficient is then
/// mu, and sliding and spinning share one cone. a and b are the bodies; what is not one (a half-space) is
/// BodyAtStep::world(). The spring of spring_damper acts along the normal only.
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
  block.w[0] = contact_speed(options, contact.gap, approach, pair.restitution);
  finish_rows(block, 0, end, 0.0, a.inverse, b.inverse);
  const double mobility = row_mobility(block, 0, a.inverse, b.inverse);
  if (mobility > 0) block.compliance[0] = options.feedback.softness * mobility;
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
