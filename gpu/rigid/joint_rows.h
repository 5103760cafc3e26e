// The rows of joints: blocks of the contact problem from two poses.
//
// Row velocities are those of a's point relative to b's, in m/s: rows about an axis are scaled by a length of
// the bodies (`joint_length`), so that all rows of a joint have about the same W_ii.
#pragma once

#include "gpu/model/body.h"
#include "gpu/rigid/joint_path.h"
#include "gpu/rigid/stabilisation.h"

namespace stickslip {

/// A joint in backend memory; see `Joint`.
struct DeviceJoint {
  JointKind kind;
  std::int32_t a, b;  // -1: the world
  Pose frame_a, frame_b;
  double low, high;
  double motor_speed, motor_limit;
  double ratio;
  Quat start_a, start_b;
  double turn_period;  // [rad] gear: its error is known modulo this; 0: unknown
  double length = 0;   // [m] if a solid holds a side: in place of joint_length; see solid_joint_length
};

/// Poses determine angles modulo 2 pi, and so angle_a - ratio angle_b modulo 2 pi / q for a ratio p / q.
/// Gears whose ratio has no such q up to 64 constrain only the rates.
inline double gear_period(double ratio) {
  constexpr int most = 64;
  for (int q = 1; q <= most; ++q)
    if (std::fabs(ratio * q - std::rint(ratio * q)) < 1e-9 * q) return 2 * std::acos(-1.0) / q;
  return 0;
}

inline DeviceJoint device_joint(const Joint& j) {
  return {j.kind,        j.a,     j.b,       j.frame_a, j.frame_b,           j.low, j.high, j.motor_speed,
          j.motor_limit, j.ratio, j.start_a, j.start_b, gear_period(j.ratio)};
}

/// The constraint of a joint's block.
enum class JointPart : std::uint8_t {
  point,   // 3 rows: the anchors coincide
  turn,    // 3 rows: the frames are parallel
  swing,   // 2 rows: the axes are parallel
  rail,    // 2 rows: a's anchor lies on b's axis
  length,  // 1 row: the free coordinate stays at `high`
  gear,    // 1 row
  low,     // unilateral
  high,    // unilateral
  motor    // a bounded impulse
};

/// The blocks of one joint, in storage order. They do not depend on poses.
struct JointParts {
  static constexpr int kMost = 5;
  int count = 0;
  JointPart part[kMost];

  SS_HD void add(JointPart p) { part[count++] = p; }
};

SS_HD inline JointParts joint_parts(const DeviceJoint& j) {
  JointParts parts;
  const bool free = j.kind == JointKind::hinge || j.kind == JointKind::slider;
  if (j.kind == JointKind::ball || j.kind == JointKind::hinge || j.kind == JointKind::fixed)
    parts.add(JointPart::point);
  if (j.kind == JointKind::slider) parts.add(JointPart::rail);
  if (j.kind == JointKind::hinge) parts.add(JointPart::swing);
  if (j.kind == JointKind::slider || j.kind == JointKind::fixed) parts.add(JointPart::turn);
  if (j.kind == JointKind::gear) parts.add(JointPart::gear);
  if (free || j.kind == JointKind::distance) {
    // A single bilateral row where the limits coincide; a length is never negative.
    if (j.low == j.high) {
      parts.add(JointPart::length);
    } else if (j.low < j.high) {
      if (free || j.low > 0) parts.add(JointPart::low);
      parts.add(JointPart::high);
    }
    if (j.motor_limit > 0) parts.add(JointPart::motor);
  }
  return parts;
}

/// Number of blocks of a joint, active or not: 0 to JointParts::kMost.
SS_HD inline int joint_block_count(const DeviceJoint& j) { return joint_parts(j).count; }

/// Scale of rotational rows [m]: with it their W_ii is about that of translational rows.
SS_HD inline double joint_length(const BodyInverse& a, const BodyInverse& b) {
  const double linear = a.mass + b.mass;
  double angular = 0;
  for (int i = 0; i < 3; ++i) angular += (a.inertia[i] + b.inertia[i]) / 3;
  return linear > 0 && angular > 0 ? std::sqrt(linear / angular) : 1.0;
}

/// The free coordinate of a hinge, slider or distance.
struct JointCoordinate {
  double value;  // [m]; [rad] modulo 2 pi, nearest to the middle of the limits
  double rate;   // [rad/s, m/s]
};

namespace rigid_detail {

/// The two frames in world axes, and their motion.
struct JointFrames {
  Pose a, b;
  V3 centre_a, centre_b;  // of the bodies
  V3 velocity_a, velocity_b, spin_a, spin_b;
  double ahead;  // [s] see ErrorFeedback

  SS_HD JointFrames(const DeviceJoint& j, const BodyAtStep& body_a, const BodyAtStep& body_b,
                    double to_end = 0)
      : a(body_a.pose * j.frame_a),
        b(body_b.pose * j.frame_b),
        centre_a(body_a.pose.x),
        centre_b(body_b.pose.x),
        velocity_a(body_a.velocity),
        velocity_b(body_b.velocity),
        spin_a(body_a.spin),
        spin_b(body_b.spin),
        ahead(to_end) {}

  SS_HD V3 axis_b(int i) const {
    V3 e{};
    e[i] = 1;
    return b.q.rotate(e);
  }
  SS_HD V3 apart() const { return a.x - b.x; }
  /// Velocity of a's anchor relative to the point of b at `arm_b` from its centre.
  SS_HD V3 relative_velocity(const V3& arm_b) const {
    return velocity_a + cross(spin_a, a.x - centre_a) - velocity_b - cross(spin_b, arm_b);
  }
  /// Relative acceleration of the points at `arm_a` and `arm_b` while both bodies turn at constant spin
  /// [m/s^2].
  SS_HD V3 pull(const V3& arm_a, const V3& arm_b) const {
    return cross(spin_a, cross(spin_a, arm_a)) - cross(spin_b, cross(spin_b, arm_b));
  }
  /// The correction of a row whose constraint has the second derivative `rate`; `spin`: angular velocity of a
  /// direction that turns besides the bodies.
  SS_HD Bend bend(double rate, double spin = 0) const {
    const double fastest2 = std::fmax(norm2(spin_a), norm2(spin_b));
    return bend_of_rate(ahead, rate, std::sqrt(std::fmax(fastest2, spin * spin)));
  }
};

/// A row of both bodies, and the error that it corrects: the coordinate whose rate is the row.
struct JointRow {
  V6 a, b;
  double error;
  Bend bend = {};
};

/// d . (a's anchor - b's) for a direction d that does not rotate.
SS_HD inline JointRow anchor_row(const JointFrames& f, const V3& d) {
  const V3 arm_a = f.a.x - f.centre_a, arm_b = f.b.x - f.centre_b;
  return {point_row(d, arm_a), -point_row(d, arm_b), dot(d, f.apart()), f.bend(dot(d, f.pull(arm_a, arm_b)))};
}

/// As anchor_row, for a direction d that rotates with b. b's arm ends at a's anchor, because d' = spin_b x d.
/// A point that moves at v relative to b's rotating axes has the additional term -2 spin_b x v.
SS_HD inline JointRow rail_row(const JointFrames& f, const V3& d) {
  const V3 arm_a = f.a.x - f.centre_a, arm_b = f.a.x - f.centre_b;
  const V3 behind = 2 * cross(f.spin_b, f.relative_velocity(arm_b));
  return {point_row(d, arm_a), -point_row(d, arm_b), dot(d, f.apart()),
          f.bend(dot(d, f.pull(arm_a, arm_b) - behind))};
}

SS_HD inline JointRow turn_row(const V3& axis, double length, double angle) {
  const V6 row = joined(V3::zero(), length * axis);
  return {row, -row, length * angle};
}

/// The rotation from b's frame to a's, in world axes [rad]. With the rows spin_a - spin_b its rate is exact
/// along the rotation axis, and correct to first order across it.
SS_HD inline V3 turn_error(const JointFrames& f) {
  return f.b.q.rotate(rotation_vector(f.b.q.conjugate() * f.a.q));
}

/// The smallest rotation from b's axis to a's, in world axes [rad].
SS_HD inline V3 swing_error(const JointFrames& f) {
  const V3 to = f.a.q.rotate({1, 0, 0}), from = f.axis_b(0), c = cross(from, to);
  const double sine = norm(c);
  return sine > 0 ? (std::atan2(sine, dot(from, to)) / sine) * c : c;
}

/// The angle of a relative to b about x: the twist in q = swing twist. Modulo 2 pi, nearest to `middle`.
SS_HD inline double hinge_angle(const JointFrames& f, double middle) {
  const double pi = std::acos(-1.0);
  const Quat q = f.b.q.conjugate() * f.a.q;
  const double angle = 2 * std::atan2(q.v[0], q.w);
  return angle + 2 * pi * std::rint((middle - angle) / (2 * pi));
}

/// The turn of a frame about its x since the start, modulo 2 pi.
SS_HD inline double turn_since(const Quat& start, const Quat& now) {
  const Quat q = start.conjugate() * now;
  return 2 * std::atan2(q.v[0], q.w);
}

/// A row of swing about `axis`, an axis of b perpendicular to x. It turns with b; the rotation about x
/// relative to b adds to the second derivative.
SS_HD inline JointRow swing_row(const JointFrames& f, const V3& axis, double length, double angle) {
  const V3 x = f.axis_b(0);
  JointRow row = turn_row(axis, length, angle);
  row.bend = f.bend(-length * dot(f.spin_a - f.spin_b, x) * dot(axis, cross(f.spin_b, x)));
  return row;
}

/// The angle of a minus `ratio` times that of b [rad], modulo turn_period and nearest to zero. Zero if an
/// axis deviates from its initial direction by more than about ten degrees, since the angles are then
/// undefined.
SS_HD inline double gear_error(const DeviceJoint& j, const JointFrames& f) {
  constexpr double still = 0.985;
  if (!(j.turn_period > 0) || dot(f.a.q.rotate({1, 0, 0}), j.start_a.rotate({1, 0, 0})) < still ||
      dot(f.axis_b(0), j.start_b.rotate({1, 0, 0})) < still)
    return 0;
  const double error = turn_since(j.start_a, f.a.q) - j.ratio * turn_since(j.start_b, f.b.q);
  return error - j.turn_period * std::rint(error / j.turn_period);
}

/// The free coordinate times `scale`: 1, or the joint's length for an angle.
SS_HD inline JointRow coordinate_row(const DeviceJoint& j, const JointFrames& f, double scale) {
  if (j.kind == JointKind::slider) return rail_row(f, f.axis_b(0));
  if (j.kind == JointKind::hinge)
    return turn_row(f.axis_b(0), scale, hinge_angle(f, j.low <= j.high ? 0.5 * (j.low + j.high) : 0.0));
  const V3 apart = f.apart();
  const double length = norm(apart);
  if (!(length > 1e-12)) return anchor_row(f, f.a.q.rotate({1, 0, 0}));
  const V3 d = apart / length;
  JointRow row = anchor_row(f, d);
  const V3 v = f.relative_velocity(f.b.x - f.centre_b);
  const double turn = norm(v - dot(v, d) * d) / length;
  row.bend = f.bend(dot(d, f.pull(f.a.x - f.centre_a, f.b.x - f.centre_b)) + turn * turn * length, turn);
  return row;
}

template <int D>
SS_HD inline void set_row(ConstraintBlock<D>& block, int i, const JointRow& row) {
  block.jacobian[0][i] = row.a;
  block.jacobian[1][i] = row.b;
}

/// Fills rows 0 .. N-1 with bilateral rows.
template <int N, int D>
SS_HD inline void set_equalities(ConstraintBlock<D>& block, const JointRow (&rows)[N],
                                 const ErrorFeedback& feedback) {
  Vec<double, N> error{};
  for (int i = 0; i < N; ++i) {
    set_row(block, i, rows[i]);
    error[i] = rows[i].error - rows[i].bend.offset;
  }
  const Vec<double, N> w = error_speed(feedback, error);
  for (int i = 0; i < N; ++i) block.w[i] = w[i] + rows[i].bend.speed;
}

/// Returns the number of active rows.
template <int D>
SS_HD inline int set_equality_part(ConstraintBlock<D>& block, JointPart part, const DeviceJoint& j,
                                   const JointFrames& f, double length, const ErrorFeedback& feedback) {
  if (part == JointPart::point) {
    set_equalities(block, {anchor_row(f, {1, 0, 0}), anchor_row(f, {0, 1, 0}), anchor_row(f, {0, 0, 1})},
                   feedback);
    return 3;
  }
  if (part == JointPart::turn) {
    const V3 e = turn_error(f);
    set_equalities(block,
                   {turn_row({1, 0, 0}, length, e[0]), turn_row({0, 1, 0}, length, e[1]),
                    turn_row({0, 0, 1}, length, e[2])},
                   feedback);
    return 3;
  }
  const V3 y = f.axis_b(1), z = f.axis_b(2);
  if (part == JointPart::swing) {
    const V3 e = swing_error(f);
    set_equalities(block, {swing_row(f, y, length, dot(y, e)), swing_row(f, z, length, dot(z, e))}, feedback);
    return 2;
  }
  if (part == JointPart::rail) {
    set_equalities(block, {rail_row(f, y), rail_row(f, z)}, feedback);
    return 2;
  }
  if (part == JointPart::length) {
    JointRow row = coordinate_row(j, f, length);
    row.error -= (j.kind == JointKind::hinge ? length : 1.0) * j.high;
    set_equalities(block, {row}, feedback);
    return 1;
  }
  const JointRow row{joined(V3::zero(), length * f.a.q.rotate({1, 0, 0})),
                     joined(V3::zero(), (-j.ratio * length) * f.axis_b(0)), length * gear_error(j, f)};
  set_equalities(block, {row}, feedback);
  return 1;
}

/// True if the joint may reach its limit within a step: at twice its rate, after twice the fall from rest, or
/// when it is almost there.
SS_HD inline bool limit_is_near(double gap, double rate, double length, double dt) {
  const double fall = 20.0;  // [m/s^2]
  return gap < 0.05 * length + dt * (2 * std::fabs(rate) + fall * dt);
}

}  // namespace rigid_detail

/// The free coordinate of a hinge, slider or distance.
SS_HD inline JointCoordinate joint_coordinate(const DeviceJoint& j, const BodyAtStep& a,
                                              const BodyAtStep& b) {
  const rigid_detail::JointRow row = rigid_detail::coordinate_row(j, rigid_detail::JointFrames(j, a, b), 1.0);
  return {row.error, dot(row.a, a.twist()) + dot(row.b, b.twist())};
}

/// Block i of a joint, 0 <= i < joint_block_count(j); a and b are its bodies in their present poses. Returns
/// false for an inactive block. Its rows are then empty (u = r = 0), so the caller may keep it or leave it
/// out.
///
/// Equalities are bilateral, limits frictionless contacts. A motor is Coulomb friction under a known load:
/// the normal row acts on no body and has w_N = -c limit dt with a compliance c > 0, so that r_N = limit dt.
/// The tangential row is the free coordinate with mu = 1: |r_T| <= limit dt, and it drives u_T = rate -
/// motor_speed to zero. That is exact under the exact flow rule only.
///
/// For positions alone, whole_error() makes w the error, or the gap of a limit; leave motors out then.
template <int D>
SS_HD inline bool fill_joint_block(const DeviceJoint& j, int i, const BodyAtStep& a, const BodyAtStep& b,
                                   const ErrorFeedback& feedback, ConstraintBlock<D>& block) {
  using namespace rigid_detail;
  block = empty_block<D>();
  const JointPart part = joint_parts(j).part[i];
  const JointFrames frames(j, a, b, feedback.ahead);
  const double length = j.length > 0 ? j.length : joint_length(a.inverse, b.inverse);
  int first = 0, end = 1;
  if (part == JointPart::low || part == JointPart::high || part == JointPart::motor) {
    const double scale = j.kind == JointKind::hinge ? length : 1.0;
    JointRow row = coordinate_row(j, frames, scale);
    const double rate = dot(row.a, a.twist()) + dot(row.b, b.twist());
    block.law = unilateral_law<D>();
    if (part == JointPart::motor) {
      first = 1;
      end = 2;
      block.law.mu[0] = 1;
      if constexpr (D == kRollingRows) block.law.mu[1] = 1;  // its section is a disc; that row is empty
      block.w[1] = -scale * j.motor_speed;
      set_row(block, 1, row);
    } else {
      const double sign = part == JointPart::low ? 1 : -1;
      const double limit = scale * (part == JointPart::low ? j.low : j.high);
      const double gap = sign * (row.error - row.bend.offset - limit);
      if (!limit_is_near(gap, rate, length, feedback.dt)) return false;
      row.a *= sign;
      row.b *= sign;
      block.w[0] = gap_speed(feedback, gap) + sign * row.bend.speed;
      set_row(block, 0, row);
    }
    block.body[0] = j.a;
    block.body[1] = j.b;
    const bool soft = part != JointPart::motor;
    const double mean = finish_rows(block, first, end, soft ? feedback.softness : 0.0, a.inverse, b.inverse);
    if (part == JointPart::motor) block.w[0] = -mean * j.motor_limit * feedback.dt / scale;
  } else {
    block.body[0] = j.a;
    block.body[1] = j.b;
    end = set_equality_part(block, part, j, frames, length, feedback);
    finish_rows(block, 0, end, feedback.softness, a.inverse, b.inverse);
  }
  drop_world(block);
  return true;
}

}  // namespace stickslip
