// BodyProblem: builds a ContactProblem from rigid bodies, contact points and joints. Host only.
#pragma once

#include <cstddef>

#include "gpu/dfcp/problem/contact_problem.h"
#include "gpu/math/mat.h"

namespace stickslip {

using Vec3d = Vec<double, 3>;
using Mat3d = Mat<double, 3>;

inline constexpr std::int32_t kWorld = -1;  // in place of a body index: the immovable world

struct RigidBody {
  double mass = 1;                         // [kg]
  Mat3d inertia = Mat3d::identity();       // about the centre, world axes [kg m^2]
  Vec3d position{0, 0, 0};                 // of the centre [m]
  Vec3d velocity{0, 0, 0}, spin{0, 0, 0};  // at the start of the step [m/s, rad/s]
};

/// A box with half sizes h turned by `rotation`; a ball. Uniform density, at rest at the origin.
RigidBody solid_box(double mass, const Vec3d& h, const Mat3d& rotation = Mat3d::identity());
RigidBody solid_ball(double mass, double radius);

/// A contact pushes body a along `normal` (unit, from b to a) and body b the other way.
struct ContactPoint {
  std::int32_t a = 0, b = kWorld;
  Vec3d point{0, 0, 0}, normal{0, 1, 0};
  double mu = 0.5;
  double rolling = 0;      // [m]: the rolling moment is at most this times the normal force; see BodyProblem
  double gap = 0;          // [m]: a gap opens by gap / dt; a fifth of an overlap is removed per step
  double restitution = 0;  // u_N = v_N + restitution * v_N at the start, for approaching bodies
  double drive = 0;        // [m/s] additional speed at which the two bodies are driven together
};

/// The velocity v after the step solves A v = f + H' r with f = A v_0 + dt A g. Velocities (linear, angular)
/// in world axes about the centre; frames (n, t1, t2) right-handed.
class BodyProblem {
 public:
  /// What resists at contacts. `rolling`: blocks of five rows, the last two t1 . and t2 . (omega_a - omega_b)
  /// [rad/s], with moments as impulses [N m s].
  enum class Resistance : std::uint8_t { sliding, rolling };

  explicit BodyProblem(double dt = 0.01, const Vec3d& gravity = {0, -9.81, 0},
                       Resistance resistance = Resistance::sliding);

  void reserve(std::size_t bodies, std::size_t blocks);
  std::int32_t add(const RigidBody& body);
  void add(const ContactPoint& contact);
  /// Joins the two bodies at `point` along the first `rows` (1 to 3) of the axes x, y, z.
  void add_joint(std::int32_t a, std::int32_t b, const Vec3d& point, int rows = 3);

  std::size_t bodies() const { return positions_.size(); }
  std::size_t blocks() const { return problem_.laws.size(); }
  double dt() const { return dt_; }

  ContactProblem take(std::string title, std::string description);

 private:
  void add_rows(std::int32_t body, const Vec3d& point, const Mat3d& frame, int rows, double sign);
  bool rolls() const { return problem_.dim == kRollingRows; }
  void add_rolling_rows(const ContactPoint& contact, const Mat3d& frame);
  double approach(const ContactPoint& contact) const;

  double dt_;
  Vec3d gravity_;
  ContactProblem problem_;
  std::vector<Vec3d> positions_, velocities_, spins_;
};

}  // namespace stickslip
