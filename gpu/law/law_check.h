// The judge of one contact at the end of a step, and of momentum: pure functions, independent of the solvers.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "gpu/law/natural_map.h"
#include "gpu/math/vec.h"
#include "gpu/model/judgement.h"

namespace stickslip {

/// A contact at the end of a step, in world axes.
struct ContactOutcome {
  Vec<double, 3> n, t1, t2;             // unit; n from b to a
  double mu1, mu2;                      // along t1 and t2; one-sided friction: of sliding along t1 and t2
  Vec<double, 3> impulse;               // on a [N s]
  Vec<double, 3> velocity;              // of a relative to b at the contact [m/s]
  double offset;                        // [m/s] of u_N = n . velocity + offset: gap, restitution, softness
  double twist = 0;                     // [N s] torsional impulse, in units of its row: see contact_block
  double spin = 0;                      // [m/s] velocity of that row
  double mu_twist = 0;                  // its coefficient; 0: no torsional row
  double rolling = 0;                   // [m] coefficient of rolling resistance; 0: none
  Vec<double, 3> moment{0, 0, 0};       // [N m s] of rolling resistance on a
  Vec<double, 3> turn{0, 0, 0};         // [rad/s] of a relative to b
  double length = 1;                    // [m] in which rolling rows are commensurate with the others
  Vec<double, 3> slip_offset{0, 0, 0};  // [m/s] tangential: the law is that of u_T plus this
  bool is_image = false;                // the law is that of `image` in place of (r_1, r_2)
  Vec<double, 2> image{0, 0};           // [N s] see coulomb_image
  bool is_one_sided = false;            // friction against sliding along -t1 and -t2 has `back`
  Vec<double, 2> back{0, 0};            // its coefficients

  /// The coefficient along tangent i that bounds a friction impulse of this sign.
  SS_HD double mu_of_impulse(int i, double r) const {
    return is_one_sided && r > 0 ? back[i] : i == 0 ? mu1 : mu2;
  }
  /// The law in the quadrant of tangential impulses with the signs of r.
  template <int D>
  SS_HD ContactLaw<D> quadrant(const Vec<double, D>& r) const {
    ContactLaw<D> law{};
    for (int i = 0; i < 2; ++i) law.mu[i] = mu_of_impulse(i, r[1 + i]);
    if constexpr (D == 4) law.mu[2] = mu_twist;
    return law;
  }
  SS_HD double tangential_impulse(int i) const {
    return is_image ? image[i] : dot(i == 0 ? t1 : t2, impulse);
  }
  SS_HD double tangential_velocity(int i) const { return dot(i == 0 ? t1 : t2, velocity + slip_offset); }
  SS_HD double rolling_impulse(int i) const { return dot(i == 0 ? t1 : t2, moment); }  // [N m s]
  SS_HD double rolling_velocity(int i) const { return dot(i == 0 ? t1 : t2, turn); }   // [rad/s]
};

namespace law_check_detail {

SS_HD inline double larger(double a, double b) { return a < b || std::isnan(b) ? b : a; }
SS_HD inline double positive(double x) { return x > 0 || std::isnan(x) ? x : 0.0; }

}  // namespace law_check_detail

/// The terms of one contact [Course Eq.1.30 to 1.33]: with f = sqrt(sum (r_i / mu_i)^2) and the support
/// sigma(u_T) = sqrt(sum (mu_i u_i)^2) of the elliptic section, the law reads
///   u_N >= 0, r_N >= 0, u_N r_N = 0, f <= r_N, r_N sigma(u_T) + r_T . u_T = 0.
/// The section of one-sided friction has a quarter of an ellipse in each quadrant: f has the coefficients of
/// the quadrant of r_T, and sigma those of the quadrant of -u_T.
/// With rolling resistance also |r_R| <= mu_r r_N, and both discs have their term in the last equation.
SS_HD inline LawCheck law_terms(const ContactOutcome& c) {
  using law_check_detail::positive;
  const double rn = dot(c.n, c.impulse), un = dot(c.n, c.velocity) + c.offset;
  const double r[3] = {c.tangential_impulse(0), c.tangential_impulse(1), c.twist},
               u[3] = {c.tangential_velocity(0), c.tangential_velocity(1), c.spin};
  const double mu[3] = {c.mu_of_impulse(0, r[0]), c.mu_of_impulse(1, r[1]), c.mu_twist},
               opposing[3] = {c.mu_of_impulse(0, -u[0]), c.mu_of_impulse(1, -u[1]), c.mu_twist};
  double reach2 = 0, outside2 = 0, support2 = 0, work = 0, largest_mu = 0;
  for (int i = 0; i < 3; ++i) {
    if (mu[i] > 0) reach2 += r[i] * r[i] / (mu[i] * mu[i]);
    else outside2 += r[i] * r[i];  // no friction along this row
    support2 += opposing[i] * u[i] * opposing[i] * u[i];
    work += r[i] * u[i];
    largest_mu = mu[i] > largest_mu ? mu[i] : largest_mu;
  }
  const double load = rn > 0 ? rn : 0.0;
  double beyond = 0, resists = 0, rolls = 0;  // [N s, J, J]
  if (c.rolling > 0) {
    const double m1 = c.rolling_impulse(0), m2 = c.rolling_impulse(1), w1 = c.rolling_velocity(0),
                 w2 = c.rolling_velocity(1);
    // No moment about the normal belongs to it.
    beyond = (positive(std::sqrt(m1 * m1 + m2 * m2) - c.rolling * load) + std::fabs(dot(c.n, c.moment))) /
             c.length;
    resists = load * c.rolling * std::sqrt(w1 * w1 + w2 * w2);
    rolls = m1 * w1 + m2 * w2;
  }
  LawCheck check;
  check.approach = positive(-un);
  check.pull = positive(-rn);
  check.cone = positive(largest_mu * (std::sqrt(reach2) - load)) + std::sqrt(outside2) + beyond;
  check.complementarity = load * positive(un);
  check.slip = positive(load * std::sqrt(support2) + work) + positive(resists + rolls);
  check.friction_work = dot(c.t1, c.impulse) * dot(c.t1, c.velocity) +
                        dot(c.t2, c.impulse) * dot(c.t2, c.velocity) + c.twist * c.spin + rolls;
  check.impulse = norm(c.impulse);
  return check;
}

/// Combines several contacts: the largest violation of each kind, and the total work.
SS_HD inline LawCheck worse(const LawCheck& a, const LawCheck& b) {
  using law_check_detail::larger;
  LawCheck out;
  out.approach = larger(a.approach, b.approach);
  out.pull = larger(a.pull, b.pull);
  out.cone = larger(a.cone, b.cone);
  out.complementarity = larger(a.complementarity, b.complementarity);
  out.slip = larger(a.slip, b.slip);
  out.impulse = larger(a.impulse, b.impulse);
  out.torque = larger(a.torque, b.torque);
  out.friction_work = a.friction_work + b.friction_work;
  return out;
}

/// What a step sums over its contacts.
struct ContactTotals {
  LawCheck law;
  double error2 = 0, scale2 = 0;  // [m^2/s^2] sums of e_c^2 and of |q_c|^2
  double error = 0;               // [m/s] largest e_c
  double contacts = 0;
  double stored = 0;  // [J] potential of the contacts
  double work = 0;    // [J] of scripts, through contacts
};

struct AddContacts {
  SS_HD ContactTotals operator()(const ContactTotals& a, const ContactTotals& b) const {
    return {worse(a.law, b.law),     a.error2 + b.error2,
            a.scale2 + b.scale2,     law_check_detail::larger(a.error, b.error),
            a.contacts + b.contacts, a.stored + b.stored,
            a.work + b.work};
  }
};

namespace law_check_detail {

/// Natural map of the quadrants: sigma(u_T) has the coefficients of the quadrant of -u_T, and P_K(z) those of
/// the quadrant of z_T, since the point of K next to z lies in the quadrant of z.
template <int D>
SS_HD inline double quadrant_error(const ContactOutcome& c, double s, const Vec<double, D>& r,
                                   const Vec<double, D>& u) {
  const Vec<double, D> sought = shifted(c.quadrant(-1.0 * u), u), z = r - (1 / s) * sought;
  return norm(sought - s * (project(c.quadrant(z), z) - z));
}

}  // namespace law_check_detail

/// e_c [m/s] of an outcome under Coulomb's exact law, with s = trace(W_cc) / D.
SS_HD inline double outcome_error(const ContactOutcome& c, double s) {
  const double rn = dot(c.n, c.impulse), r1 = c.tangential_impulse(0), r2 = c.tangential_impulse(1),
               un = dot(c.n, c.velocity) + c.offset, u1 = c.tangential_velocity(0),
               u2 = c.tangential_velocity(1);
  if (c.mu_twist > 0)
    return law_check_detail::quadrant_error(c, s, Vec<double, 4>{rn, r1, r2, c.twist},
                                            Vec<double, 4>{un, u1, u2, c.spin});
  if (c.rolling > 0) {
    const double mu = c.rolling / c.length;
    const ContactLaw<kRollingRows> law{{c.mu1, c.mu2, mu, mu}, FrictionSet::rolling};
    return block_error(law, s,
                       Vec<double, kRollingRows>{rn, r1, r2, c.rolling_impulse(0) / c.length,
                                                 c.rolling_impulse(1) / c.length},
                       Vec<double, kRollingRows>{un, u1, u2, c.length * c.rolling_velocity(0),
                                                 c.length * c.rolling_velocity(1)});
  }
  return law_check_detail::quadrant_error(c, s, Vec<double, 3>{rn, r1, r2}, Vec<double, 3>{un, u1, u2});
}

/// One contact with s = trace(W_cc) / D and q2 = |q_c|^2, of which at most `most_speed`^2 counts.
SS_HD inline ContactTotals judge_contact(const ContactOutcome& c, double s, double q2, double most_speed) {
  ContactTotals totals;
  totals.law = law_terms(c);
  totals.error = outcome_error(c, s);
  totals.error2 = totals.error * totals.error;
  totals.scale2 = q2 < most_speed * most_speed ? q2 : most_speed * most_speed;
  totals.contacts = 1;
  return totals;
}

/// Momentum, linear and angular about the origin, summed twice: with equal signs, and with a pseudo-random
/// sign for each body, so that two errors cancel only by chance.
using MomentumSums = Vec<double, 12>;

struct BodyMomentum {
  MomentumSums gained = MomentumSums::zero();
  double size = 0;  // m |v|
  double work = 0;  // [J] of forces on bodies beside gravity and contacts
};

struct AddMomentum {
  SS_HD BodyMomentum operator()(const BodyMomentum& a, const BodyMomentum& b) const {
    return {a.gained + b.gained, a.size + b.size, a.work + b.work};
  }
};

/// +1 or -1, pseudo-random, the same in every run.
SS_HD inline double momentum_sign(std::int32_t body) {
  std::uint32_t x = static_cast<std::uint32_t>(body) * 2654435761u;
  x ^= x >> 15;
  x *= 2246822519u;
  return ((x >> 16) & 1u) != 0 ? 1.0 : -1.0;
}

SS_HD inline MomentumSums momentum_sums(const Vec<double, 3>& linear, const Vec<double, 3>& angular,
                                        double plain, double with_sign) {
  MomentumSums out;
  for (int i = 0; i < 3; ++i) {
    out[i] = plain * linear[i];
    out[3 + i] = plain * angular[i];
    out[6 + i] = with_sign * linear[i];
    out[9 + i] = with_sign * angular[i];
  }
  return out;
}

/// All that the judge sums over a step.
struct JudgeSums {
  ContactTotals contacts;
  double work = 0;  // [J] of forces on bodies beside gravity and contacts
};

/// `contacts` with the momentum that bodies gained and contacts did not give them.
SS_HD inline JudgeSums judge_sums(const ContactTotals& contacts, const BodyMomentum& bodies,
                                  const MomentumSums& pushed) {
  JudgeSums sums{contacts, bodies.work};
  for (int k = 0; k < 2; ++k) {
    Vec<double, 3> linear, angular;
    for (int i = 0; i < 3; ++i) {
      linear[i] = bodies.gained[6 * k + i] - pushed[6 * k + i];
      angular[i] = bodies.gained[6 * k + 3 + i] - pushed[6 * k + 3 + i];
    }
    LawCheck& law = sums.contacts.law;
    law.momentum = law_check_detail::larger(law.momentum, norm(linear));
    law.angular_momentum = law_check_detail::larger(law.angular_momentum, norm(angular));
  }
  sums.contacts.law.momentum_size = bodies.size;
  return sums;
}

/// Bounds on |q|, which residuals are relative to [m/s]. `least`, of the mean per contact: a thousandth of
/// the velocity that gravity adds in the step, or a micrometre a second. Where resting bodies fall together,
/// q is rounding. `most`, of each contact: thirty times that velocity. A fast body, or a gap that could not
/// close in a thousand steps, would otherwise hide the errors of all resting bodies.
struct SpeedBounds {
  double least, most;
};
inline SpeedBounds speed_bounds(double gravity, double dt) {
  constexpr double kShareOfFall = 1e-3, kLeast = 1e-6, kFalls = 30;
  const double fall = std::fabs(gravity) * dt, least = kShareOfFall * fall;
  return {least > kLeast ? least : kLeast,
          fall > 0 ? kFalls * fall : std::numeric_limits<double>::infinity()};
}

/// The judgement of a step without its energies and its penetration.
inline StepJudgement judgement_of(const JudgeSums& sums, const SpeedBounds& bounds) {
  StepJudgement out;
  const ContactTotals& totals = sums.contacts;
  const double scale = std::sqrt(totals.scale2), least = bounds.least * std::sqrt(totals.contacts);
  out.scale = scale > least ? scale : least;
  out.residual = totals.contacts > 0 ? std::sqrt(totals.error2) / out.scale : 0;
  out.error = totals.error;
  out.contacts = static_cast<int>(totals.contacts);
  out.law = totals.law;
  return out;
}

}  // namespace stickslip
