// The input of one lane of a pack, and the mass data of a body for conjugate directions.
#pragma once

#include <limits>

#include "gpu/law/projection.h"
#include "gpu/math/mat.h"
#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/contact_rows.h"
#include "gpu/rigid/manifold/manifold_layout.h"
#include "gpu/rigid/manifold/manifold_packs.h"
#include "gpu/rigid/manifold/manifold_problem.h"

namespace stickslip {
namespace manifold_detail {

using V3 = Vec<double, 3>;

/// If mu |W_NT| / W_NN of a contact exceeds this, sweeps that alternate normal and friction hardly converge:
/// while it slides, a change of the normal impulse is multiplied by that ratio from one round to the next
/// [Course §3.4]. Painleve's paradox starts at a ratio of 1.
inline constexpr double kMostJam = 0.95;

/// Sums over the points of a lane.
struct LaneSums {
  double free2 = 0;  // |u|^2 before any impulse, for each point at most `most2`
  double jam = 0;    // the largest mu |W_NT| / W_NN
};

/// One point of a manifold.
struct LanePoint {
  const BodyInverse &a, &b;
  const ContactFrame& frame;
  V3 arm, arm_b;  // [m] from the centres of a and b
  double mu;
  V3 start;  // [N s] impulse to start from, in the frame
  V3 free;   // [m/s] of a relative to b at the point before any impulse, world axes
};

SS_HD inline void leave_out(int p, const PackCell<double>& cell, const PackCell<double>& impulse) {
  for (int f = point_at(p); f < point_at(p + 1); ++f) cell.write(f, 0.0);
  impulse.set3(3 * p, V3{0, 0, 0});
}

/// Writes point p of a lane: w_N = speed [m/s], E_NN = softness(W_NN). Points between immovable bodies are
/// left out, except for their impulses. `most2`: see LaneSums.
template <class Softness>
SS_HD void put_point(const LanePoint& point, int p, double speed, Softness softness_at, double most2,
                     const PackCell<double>& cell, const PackCell<double>& impulse, LaneSums& sums) {
  const BodyInverse &a = point.a, &b = point.b;
  const ContactFrame& frame = point.frame;
  const V3 &arm = point.arm, &arm_b = point.arm_b, &start = point.start, &free = point.free;
  const double mu = point.mu;
  const auto mobility = [&](const V3& d) {
    const V3 x = cross(arm, d), y = cross(arm_b, d);
    return a.mass + b.mass + dot(x, a.turn(x)) + dot(y, b.turn(y));
  };
  // W d for d along a tangent, times the normal: the translational masses do not couple the two.
  const V3 turn_a = a.turn(cross(arm, frame.n)), turn_b = b.turn(cross(arm_b, frame.n));
  const auto coupling = [&](const V3& t) {
    return dot(turn_a, cross(arm, t)) + dot(turn_b, cross(arm_b, t));
  };
  const double normal = mobility(frame.n), tangents = mobility(frame.t1) + mobility(frame.t2);
  if (!(normal > 0) || !(tangents > 0)) {
    leave_out(p, cell, impulse);
    impulse.set3(3 * p, start);  // sleeping bodies keep the impulses that held them
    return;
  }
  const double softness = softness_at(normal);
  const int f = point_at(p);
  cell.set3(f + point_field::arm, arm);
  cell.write(f + point_field::speed, speed);
  cell.write(f + point_field::softness, softness);
  cell.write(f + point_field::r_normal, 1 / (normal + softness));
  cell.write(f + point_field::r_tangent, 2 / tangents);
  const double n1 = coupling(frame.t1), n2 = coupling(frame.t2);
  cell.write(f + point_field::lever, n1);
  cell.write(f + point_field::lever + 1, n2);
  impulse.set3(3 * p, start);
  const V3 u{dot(frame.n, free) + speed, dot(frame.t1, free), dot(frame.t2, free)};
  const double u2 = norm2(u);
  sums.free2 += u2 > most2 ? most2 : u2;
  sums.jam = larger(sums.jam, mu * std::sqrt(n1 * n1 + n2 * n2) / normal);
}

/// Writes the data that all points of a lane share.
SS_HD inline void put_pair(const BodyInverse& a, const BodyInverse& b, const ContactFrame& frame,
                           const V3& apart, double mu, const PackCell<double>& cell) {
  cell.set3(manifold_field::normal, frame.n);
  cell.set3(manifold_field::tangent, frame.t1);
  cell.set3(manifold_field::apart, apart);
  cell.write(manifold_field::mu, mu);
  cell.write(manifold_field::mass_a, a.mass);
  cell.write(manifold_field::mass_b, b.mass);
  for (int i = 0; i < 6; ++i) {
    cell.write(manifold_field::inertia_a + i, a.inertia[i]);
    cell.write(manifold_field::inertia_b + i, b.inertia[i]);
  }
}

/// Velocity of a body's point before any impulse [m/s]. `free`: 6 numbers per body.
SS_HD inline V3 free_velocity(const double* free, std::int32_t b, const V3& arm) {
  if (b < 0) return {0, 0, 0};
  const double* v = free + 6 * static_cast<std::size_t>(b);
  return V3{v[0], v[1], v[2]} + cross(V3{v[3], v[4], v[5]}, arm);
}

/// Fills lanes from the contacts of a step.
struct LaneFiller {
  const RigidContact* contacts;
  const ManifoldRange* ranges;
  BodiesView at;
  SurfaceTable table;
  ContactRowOptions options;
  const double* free;
  const Vec<double, 4>* before;  // null: start from zero impulses
  std::size_t before_count;
  double most2;  // [m^2/s^2] cap on |u|^2 of a point

  SS_HD SurfacePair surfaces(const RigidContact& c) const {
    const std::int32_t material = at.material[c.a], other = c.b >= 0 ? at.material[c.b] : 0;
    const std::int32_t column = table.column(other, c.b);
    return surface_pair(table.surface[material], table.surface[column],
                        table.mu[material * table.columns + column], {0, 0, 0}, {0, 0, 0});
  }
  /// The impulse of the last step, in this step's frame and cone.
  SS_HD V3 start(const RigidContact& c, const ContactFrame& frame, double mu) const {
    if (before == nullptr || c.previous < 0 || static_cast<std::size_t>(c.previous) >= before_count)
      return {0, 0, 0};
    const Vec<double, 4> f = before[c.previous];
    const V3 force{f[0], f[1], f[2]};
    const ContactLaw<3> law{{mu, mu}, FrictionSet::ellipsoid, FlowRule::exact};
    return project(law, V3{dot(force, frame.n), dot(force, frame.t1), dot(force, frame.t2)});
  }

  /// Writes the lane.
  SS_HD LaneSums fill(std::size_t m, const PackCell<double>& cell, const PackCell<double>& impulse) const {
    const ManifoldRange range = ranges[m];
    const RigidContact& first = contacts[range.first];
    const BodyAtStep a = at.at_step(first.a), b = at.at_step(first.b);
    const SurfacePair pair = surfaces(first);
    const ContactFrame frame = contact_frame(first.normal);
    put_pair(a.inverse, b.inverse, frame, a.pose.x - b.pose.x, pair.mu, cell);
    LaneSums sums;
    for (int p = 0; p < kManifoldPoints; ++p)
      if (p < range.count) fill_point(contacts[range.first + p], p, a, b, frame, pair, cell, impulse, sums);
      else leave_out(p, cell, impulse);
    return sums;
  }

  SS_HD void fill_point(const RigidContact& c, int p, const BodyAtStep& a, const BodyAtStep& b,
                        const ContactFrame& frame, const SurfacePair& pair, const PackCell<double>& cell,
                        const PackCell<double>& impulse, LaneSums& sums) const {
    const V3 arm = c.point - a.pose.x, arm_b = c.point - b.pose.x;
    const V3 now = a.velocity + cross(a.spin, arm) - b.velocity - cross(b.spin, arm_b);
    const double w = rigid_detail::contact_speed(options, c.gap, dot(frame.n, now), pair.restitution);
    const LanePoint point{a.inverse,
                          b.inverse,
                          frame,
                          arm,
                          arm_b,
                          pair.mu,
                          start(c, frame, pair.mu),
                          free_velocity(free, c.a, arm) - free_velocity(free, c.b, arm_b)};
    const double share = options.feedback.softness;
    put_point(
        point, p, w, [share](double normal) { return share * normal; }, most2, cell, impulse, sums);
  }
};

/// Fills lanes from a problem of the lab; all arrays of ManifoldProblem, and `ranges`, in backend memory.
struct ProblemLaneFiller {
  const RigidContact* contacts;
  const ManifoldRange* ranges;
  const ProblemPoint* points;
  const BodyInverse* inverse;
  const double* free;

  SS_HD BodyInverse inverse_of(std::int32_t b) const { return b < 0 ? BodyInverse{0, {}} : inverse[b]; }
  SS_HD LaneSums fill(std::size_t m, const PackCell<double>& cell, const PackCell<double>& impulse) const {
    const ManifoldRange range = ranges[m];
    const RigidContact& c = contacts[range.first];
    const ProblemPoint& first = points[range.first];
    const BodyInverse a = inverse_of(c.a), b = inverse_of(c.b);
    const ContactFrame frame{c.normal, first.tangent, cross(c.normal, first.tangent)};
    const V3 apart = first.arm_b - first.arm;
    put_pair(a, b, frame, apart, first.mu, cell);
    LaneSums sums;
    for (int p = 0; p < kManifoldPoints; ++p) {
      if (p >= range.count) {
        leave_out(p, cell, impulse);
        continue;
      }
      const ProblemPoint& at = points[range.first + p];
      const V3 arm_b = at.arm + apart;
      const ContactLaw<3> law{{at.mu, at.mu}, FrictionSet::ellipsoid, FlowRule::exact};
      const LanePoint point{a,
                            b,
                            frame,
                            at.arm,
                            arm_b,
                            at.mu,
                            project(law, at.start),
                            free_velocity(free, c.a, at.arm) - free_velocity(free, c.b, arm_b)};
      const double softness = at.softness;
      put_point(
          point, p, at.speed, [softness](double) { return softness; },
          std::numeric_limits<double>::infinity(), cell, impulse, sums);
    }
    return sums;
  }
};

/// Clears a lane without a manifold.
SS_HD inline void leave_empty(const PackCell<double>& cell, const PackCell<double>& impulse) {
  for (int f = 0; f < kManifoldFields; ++f) cell.write(f, 0.0);
  for (int f = 0; f < kImpulseFields; ++f) impulse.write(f, 0.0);
}

/// M of a body: m, and I in the format of I^-1 in BodyInverse.
SS_HD inline void put_mass(const BodyInverse& inverse, double* mass) {
  for (int i = 0; i < kMotionFields; ++i) mass[i] = 0;
  if (!(inverse.mass > 0)) return;
  mass[0] = 1 / inverse.mass;
  if (!(inverse.inertia[0] > 0)) return;  // does not turn
  const Mat<double, 3> inertia = stickslip::inverse(inverse.inertia_matrix());
  for (int i = 0; i < 3; ++i) mass[1 + i] = inertia(i, i);
  mass[4] = inertia(0, 1);
  mass[5] = inertia(0, 2);
  mass[6] = inertia(1, 2);
}

/// <x, M y> of one body.
SS_HD inline double mass_product(const double* m, const double* x, const double* y) {
  return m[0] * (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) + x[4] * (m[1] * y[4] + m[4] * y[5] + m[5] * y[6]) +
         x[5] * (m[4] * y[4] + m[2] * y[5] + m[6] * y[6]) + x[6] * (m[5] * y[4] + m[6] * y[5] + m[3] * y[6]);
}

/// The block of point p, equal to that of ContactBlocks.
template <int D>
SS_HD inline ConstraintBlock<D> block_of(const PackCell<const double>& cell, int p, std::int32_t a,
                                         std::int32_t b) {
  const int f = point_at(p);
  const V3 n = cell.get3<double>(manifold_field::normal), t = cell.get3<double>(manifold_field::tangent);
  const V3 arm = cell.get3<double>(f + point_field::arm), apart = cell.get3<double>(manifold_field::apart);
  const V3 direction[3] = {n, t, cross(n, t)};
  const double mu = cell.get<double>(manifold_field::mu);
  ConstraintBlock<D> block = rigid_detail::empty_block<D>();
  block.body[0] = a;
  block.body[1] = b;
  for (int i = 0; i < 3; ++i) {
    block.jacobian[0][i] = rigid_detail::point_row(direction[i], arm);
    block.jacobian[1][i] = -rigid_detail::point_row(direction[i], arm + apart);
  }
  rigid_detail::drop_world(block);
  block.w[0] = cell.get<double>(f + point_field::speed);
  block.compliance[0] = cell.get<double>(f + point_field::softness);
  block.compliance[1] = block.compliance[2] = 0;
  // Of the unused row: the mean of the others, so that s of the natural map stays that of three rows.
  const double r_normal = cell.get<double>(f + point_field::r_normal),
               r_tangent = cell.get<double>(f + point_field::r_tangent);
  if (D > 3 && r_normal > 0) block.compliance[D - 1] = (1 / r_normal + 2 / r_tangent) / 3;
  block.law = ContactLaw<D>{};
  block.law.mu[0] = block.law.mu[1] = mu;
  return block;
}

}  // namespace manifold_detail
}  // namespace stickslip
