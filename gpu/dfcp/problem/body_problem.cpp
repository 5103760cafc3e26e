#include "gpu/dfcp/problem/body_problem.h"

#include <utility>

#include "gpu/geometry/tangent.h"

namespace stickslip {
namespace {

constexpr double kOverlapTakenBack = 0.2;  // per step: removing all of it at once would launch the bodies

Mat3d turned(const Mat3d& rotation, const Vec3d& diagonal) {
  Mat3d scaled = rotation;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) scaled(i, j) *= diagonal[j];
  return scaled * rotation.transposed();
}

}  // namespace

RigidBody solid_box(double mass, const Vec3d& h, const Mat3d& rotation) {
  const Vec3d moments{h[1] * h[1] + h[2] * h[2], h[0] * h[0] + h[2] * h[2], h[0] * h[0] + h[1] * h[1]};
  RigidBody body;
  body.mass = mass;
  body.inertia = turned(rotation, (mass / 3) * moments);
  return body;
}

RigidBody solid_ball(double mass, double radius) {
  RigidBody body;
  body.mass = mass;
  body.inertia = (0.4 * mass * radius * radius) * Mat3d::identity();
  return body;
}

BodyProblem::BodyProblem(double dt, const Vec3d& gravity, Resistance resistance)
    : dt_(dt), gravity_(gravity) {
  if (resistance == Resistance::rolling) problem_.dim = kRollingRows;
  problem_.form = ContactProblem::Form::bodies;
  problem_.block_start.push_back(0);
}

void BodyProblem::reserve(std::size_t bodies, std::size_t blocks) {
  problem_.inverse_mass.reserve(36 * bodies);
  problem_.f.reserve(6 * bodies);
  problem_.w.reserve(static_cast<std::size_t>(problem_.dim) * blocks);
  problem_.laws.reserve(blocks);
  problem_.block_start.reserve(blocks + 1);
  problem_.jacobian.reserve(2 * blocks);
}

std::int32_t BodyProblem::add(const RigidBody& body) {
  const std::size_t first = problem_.inverse_mass.size();
  problem_.inverse_mass.resize(first + 36, 0.0);
  const Mat3d inverse_inertia = inverse(body.inertia);
  for (int i = 0; i < 3; ++i) {
    problem_.inverse_mass[first + 7 * i] = 1 / body.mass;
    for (int j = 0; j < 3; ++j)
      problem_.inverse_mass[first + 6 * (i + 3) + j + 3] =
          0.5 * (inverse_inertia(i, j) + inverse_inertia(j, i));
  }
  const Vec3d linear = body.mass * (body.velocity + dt_ * gravity_), angular = body.inertia * body.spin;
  for (int i = 0; i < 3; ++i) problem_.f.push_back(linear[i]);
  for (int i = 0; i < 3; ++i) problem_.f.push_back(angular[i]);
  positions_.push_back(body.position);
  velocities_.push_back(body.velocity);
  spins_.push_back(body.spin);
  return static_cast<std::int32_t>(positions_.size()) - 1;
}

/// d . (v + omega x p) = [d, p x d] . (v, omega) for each row d of the frame.
void BodyProblem::add_rows(std::int32_t body, const Vec3d& point, const Mat3d& frame, int rows, double sign) {
  if (body == kWorld) return;
  JacobianBlock& block = problem_.jacobian.emplace_back();
  block.body = body;
  const Vec3d arm = point - positions_[body];
  for (int i = 0; i < rows; ++i) {
    const Vec3d d = sign * frame.row(i), torque = cross(arm, d);
    for (int j = 0; j < 3; ++j) {
      block.rows[6 * i + j] = d[j];
      block.rows[6 * i + 3 + j] = torque[j];
    }
  }
}

/// Rows 3 and 4 of the entries just added: t1 and t2 . omega.
void BodyProblem::add_rolling_rows(const ContactPoint& contact, const Mat3d& frame) {
  const auto first = static_cast<std::size_t>(problem_.block_start.back());
  for (std::size_t e = first; e < problem_.jacobian.size(); ++e) {
    JacobianBlock& block = problem_.jacobian[e];
    const double sign = block.body == contact.a ? 1 : -1;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j) block.rows[6 * (i + 3) + 3 + j] = sign * frame(i + 1, j);
  }
}

double BodyProblem::approach(const ContactPoint& contact) const {
  const auto speed = [&](std::int32_t body) {
    if (body == kWorld) return 0.0;
    return dot(contact.normal, velocities_[body] + cross(spins_[body], contact.point - positions_[body]));
  };
  return std::fmin(speed(contact.a) - speed(contact.b), 0.0);
}

void BodyProblem::add(const ContactPoint& contact) {
  const Vec3d& n = contact.normal;
  const Vec3d t1 = tangent_basis(n).t1, t2 = cross(n, t1);
  const Mat3d frame{{n[0], n[1], n[2], t1[0], t1[1], t1[2], t2[0], t2[1], t2[2]}};
  add_rows(contact.a, contact.point, frame, 3, 1);
  add_rows(contact.b, contact.point, frame, 3, -1);
  if (rolls()) add_rolling_rows(contact, frame);
  const double opening = (contact.gap > 0 ? 1 : kOverlapTakenBack) * contact.gap / dt_;
  const double bounce = contact.restitution > 0 ? contact.restitution * approach(contact) : 0;
  problem_.w.push_back(opening + bounce - contact.drive);
  problem_.w.resize(problem_.w.size() + static_cast<std::size_t>(problem_.dim) - 1, 0.0);
  BlockLaw& law = problem_.laws.emplace_back();
  law.mu = {contact.mu, contact.mu, 0, 0};
  if (rolls()) {
    law.set = FrictionSet::rolling;
    law.mu[2] = law.mu[3] = contact.rolling;
  }
  problem_.block_start.push_back(static_cast<std::int32_t>(problem_.jacobian.size()));
}

void BodyProblem::add_joint(std::int32_t a, std::int32_t b, const Vec3d& point, int rows) {
  add_rows(a, point, Mat3d::identity(), rows, 1);
  add_rows(b, point, Mat3d::identity(), rows, -1);
  problem_.w.insert(problem_.w.end(), static_cast<std::size_t>(problem_.dim), 0.0);
  problem_.laws.emplace_back().set = FrictionSet::bilateral;
  problem_.block_start.push_back(static_cast<std::int32_t>(problem_.jacobian.size()));
}

ContactProblem BodyProblem::take(std::string title, std::string description) {
  problem_.title = std::move(title);
  problem_.description = std::move(description);
  return std::move(problem_);
}

}  // namespace stickslip
