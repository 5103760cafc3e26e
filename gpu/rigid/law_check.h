// Violation of Coulomb's law by one contact at the end of a step: pure functions, independent of the solvers.
#pragma once

#include <cmath>

#include "gpu/math/vec.h"
#include "gpu/model/report.h"

namespace stickslip {

/// A contact at the end of a step, in world axes.
struct ContactOutcome {
  Vec<double, 3> n, t1, t2;  // unit; n from b to a
  double mu1, mu2;           // along t1 and t2
  Vec<double, 3> impulse;    // on a [N s]
  Vec<double, 3> velocity;   // of a relative to b at the contact [m/s]
  double offset;             // [m/s] of u_N = n . velocity + offset: gap, restitution, softness
  double twist = 0;          // [N s] torsional impulse, in units of its row: see contact_block
  double spin = 0;           // [m/s] velocity of that row
  double mu_twist = 0;       // its coefficient; 0: no torsional row
};

namespace law_check_detail {

SS_HD inline double larger(double a, double b) { return a < b || std::isnan(b) ? b : a; }
SS_HD inline double positive(double x) { return x > 0 || std::isnan(x) ? x : 0.0; }

}  // namespace law_check_detail

/// The terms of one contact [Course Eq.1.30 to 1.33]: with f = sqrt(sum (r_i / mu_i)^2) and the support
/// sigma(u_T) = sqrt(sum (mu_i u_i)^2) of the elliptic section, the law reads
///   u_N >= 0, r_N >= 0, u_N r_N = 0, f <= r_N, r_N sigma(u_T) + r_T . u_T = 0.
SS_HD inline LawCheck law_terms(const ContactOutcome& c) {
  using law_check_detail::positive;
  const double rn = dot(c.n, c.impulse), un = dot(c.n, c.velocity) + c.offset;
  const double r[3] = {dot(c.t1, c.impulse), dot(c.t2, c.impulse), c.twist},
               u[3] = {dot(c.t1, c.velocity), dot(c.t2, c.velocity), c.spin},
               mu[3] = {c.mu1, c.mu2, c.mu_twist};
  double reach2 = 0, outside2 = 0, support2 = 0, work = 0, largest_mu = 0;
  for (int i = 0; i < 3; ++i) {
    if (mu[i] > 0) reach2 += r[i] * r[i] / (mu[i] * mu[i]);
    else outside2 += r[i] * r[i];  // no friction along this row
    support2 += mu[i] * u[i] * mu[i] * u[i];
    work += r[i] * u[i];
    largest_mu = mu[i] > largest_mu ? mu[i] : largest_mu;
  }
  const double load = rn > 0 ? rn : 0.0;
  LawCheck check;
  check.approach = positive(-un);
  check.pull = positive(-rn);
  check.cone = positive(largest_mu * (std::sqrt(reach2) - load)) + std::sqrt(outside2);
  check.complementarity = load * positive(un);
  check.slip = positive(load * std::sqrt(support2) + work);
  check.friction_work = work;
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

}  // namespace stickslip
