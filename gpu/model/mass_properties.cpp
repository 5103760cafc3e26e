#include "gpu/model/mass_properties.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Mat3d = Mat<double, 3>;
using std::numbers::pi;

// Off-diagonal moments below this share of the trace are rounding.
constexpr double kDiagonal = 1e-10;

Mat3d diagonal(double x, double y, double z) { return {{x, 0, 0, 0, y, 0, 0, 0, z}}; }

/// What moves with the centre: |d|^2 I - d d'.
Mat3d about_axis(const Vec3d& d) { return norm2(d) * Mat3d::identity() - outer(d, d); }

MassProperties mass_of_capsule(double r, double half) {
  const double tube = 2 * half * pi * r * r, ball = 4.0 / 3 * pi * r * r * r;
  // Each half ball about the capsule's centre: its own centre lies 3/8 r beyond the tube's end.
  const double end = half + 0.375 * r;
  const double ball_across = ball * ((0.4 - 0.375 * 0.375) * r * r + end * end);
  const double across = tube * (r * r / 4 + half * half / 3) + ball_across;
  return {tube + ball, Vec3d::zero(), diagonal(across, tube * r * r / 2 + ball * 0.4 * r * r, across)};
}

}  // namespace

MassProperties mass_of_shape(ShapeKind kind, const Vec3d& size) {
  const double r = size[0], half = size[1];
  switch (kind) {
    case ShapeKind::sphere: {
      const double volume = 4.0 / 3 * pi * r * r * r, moment = 0.4 * volume * r * r;
      return {volume, Vec3d::zero(), diagonal(moment, moment, moment)};
    }
    case ShapeKind::capsule:
      return mass_of_capsule(r, half);
    case ShapeKind::box: {
      const double volume = 8 * size[0] * size[1] * size[2];
      const double xx = size[0] * size[0] / 3, yy = size[1] * size[1] / 3, zz = size[2] * size[2] / 3;
      return {volume, Vec3d::zero(), volume * diagonal(yy + zz, zz + xx, xx + yy)};
    }
    case ShapeKind::cylinder: {
      const double volume = 2 * half * pi * r * r, across = volume * (r * r / 4 + half * half / 3);
      return {volume, Vec3d::zero(), diagonal(across, volume * r * r / 2, across)};
    }
    case ShapeKind::hull:
    case ShapeKind::mesh:
      break;
  }
  throw std::invalid_argument("the mass of a hull or a mesh is that of its surface");
}

MassProperties mass_of_surface(const std::vector<Vec3d>& nodes, const std::vector<Vec3i>& triangles) {
  // Moments about a point among the nodes: far from the origin those about it would cancel.
  Vec3d origin = Vec3d::zero();
  for (const Vec3d& p : nodes) origin += p / static_cast<double>(nodes.size());
  double volume = 0;
  Vec3d first = Vec3d::zero();
  Mat3d second = Mat3d::zero();
  for (const Vec3i& t : triangles) {
    const Vec3d a = nodes[t[0]] - origin, b = nodes[t[1]] - origin, c = nodes[t[2]] - origin;
    // Over a tet with corners v_k: the mean of x is sum v_k / 4, that of x x' is (sum v_k v_k' + s s') / 20
    // with s = sum v_k; one corner is 0 here.
    const double tet = dot(a, cross(b, c)) / 6;
    const Vec3d sum = a + b + c;
    volume += tet;
    first += (tet / 4) * sum;
    second += (tet / 20) * (outer(a, a) + outer(b, b) + outer(c, c) + outer(sum, sum));
  }
  const Vec3d center = volume != 0 ? first / volume : Vec3d::zero();
  const Mat3d covariance = second - volume * outer(center, center);
  return {volume, origin + center, trace(covariance) * Mat3d::identity() - covariance};
}

MassProperties moved(const MassProperties& part, const Pose& pose) {
  const Mat3d r = pose.q.matrix();
  return {part.volume, pose.apply(part.center), r * part.inertia * r.transposed()};
}

MassProperties scaled(const MassProperties& part, double factor) {
  return {factor * part.volume, part.center, factor * part.inertia};
}

MassProperties united(std::span<const MassProperties> parts) {
  if (parts.size() == 1) return parts[0];
  MassProperties all;
  for (const MassProperties& part : parts) all.volume += part.volume;
  for (const MassProperties& part : parts) all.center += (part.volume / all.volume) * part.center;
  for (const MassProperties& part : parts)
    all.inertia += part.inertia + part.volume * about_axis(part.center - all.center);
  return all;
}

PrincipalAxes principal_axes(const Mat3d& inertia) {
  Mat3d a = inertia, axes = Mat3d::identity();
  const double small = kDiagonal * std::abs(trace(inertia));
  for (int sweep = 0; sweep < 50; ++sweep) {
    int p = 0, q = 1;
    for (const auto& [i, j] : {std::pair{0, 2}, std::pair{1, 2}})
      if (std::abs(a(i, j)) > std::abs(a(p, q))) p = i, q = j;
    if (!(std::abs(a(p, q)) > small)) break;
    // The smaller of the two turns that make a_pq vanish [Golub & Van Loan, §8.5.2].
    const double tau = (a(q, q) - a(p, p)) / (2 * a(p, q));
    const double t = (tau >= 0 ? 1 : -1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
    const double c = 1 / std::sqrt(1 + t * t), s = t * c;
    Mat3d turn = Mat3d::identity();
    turn(p, p) = turn(q, q) = c;
    turn(p, q) = s;
    turn(q, p) = -s;
    a = turn.transposed() * a * turn;
    axes = axes * turn;
  }
  return {{a(0, 0), a(1, 1), a(2, 2)}, quaternion_of(axes)};
}

}  // namespace stickslip
