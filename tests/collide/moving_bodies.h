// Models whose bodies are moved by the test, in host memory.
#pragma once

#include <random>
#include <vector>

#include "tests/fixtures/rigid_model.h"

namespace stickslip::testing {

using Vec3d = Vec<double, 3>;

struct HostMotion {
  std::vector<Pose> pose;
  std::vector<Vec3d> velocity, spin;
  std::vector<std::uint8_t> moves, asleep;

  explicit HostMotion(const Model& model) {
    for (const Body& body : model.bodies) {
      pose.push_back(body.pose);
      velocity.push_back(body.velocity);
      spin.push_back(body.spin);
      moves.push_back(body.moves);
      asleep.push_back(0);
    }
  }
  void advance(double dt) {
    for (std::size_t b = 0; b < pose.size(); ++b) {
      pose[b].x += dt * velocity[b];
      pose[b].q = normalized(rotation_by(dt * spin[b]) * pose[b].q);
    }
  }
};

inline Vec3d random_vector(std::mt19937& rng, double size) {
  std::uniform_real_distribution<double> u(-size, size);
  return {u(rng), u(rng), u(rng)};
}

/// An octahedron with unequal half axes.
inline ConvexHull octahedron(const Vec3d& half) {
  ConvexHull hull;
  for (int axis = 0; axis < 3; ++axis)
    for (const double side : {1.0, -1.0}) {
      Vec3d v{0, 0, 0};
      v[axis] = side * half[axis];
      hull.vertices.push_back(v);
    }
  for (int i = 0; i < 8; ++i) {
    const std::int32_t x = i & 1, y = 2 + (i >> 1 & 1), z = 4 + (i >> 2);
    const bool mirrored = ((i & 1) + (i >> 1 & 1) + (i >> 2)) % 2 != 0;
    hull.face_vertices.insert(hull.face_vertices.end(), {x, mirrored ? z : y, mirrored ? y : z});
    hull.face_start.push_back(3 * (i + 1));
  }
  return hull;
}

/// Bodies of all convex kinds and compounds of two, in a cube of side `room`. Every tenth is fixed; there are
/// a floor, a tilted wall, and joints between some neighbours.
inline Model random_bodies(int count, double room, unsigned seed) {
  using namespace stickslip::fixtures;
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> size(0.04, 0.12);
  Model model;
  const Vec3d half{0.1, 0.07, 0.13};
  model.hulls.push_back(octahedron(half));
  for (int i = 0; i < count; ++i) {
    Vec3d at = random_vector(rng, room / 2);
    at[1] += room / 2;
    const Pose pose = pose_at(at, random_vector(rng, 2));
    const double a = size(rng), b = size(rng), c = size(rng);
    const Shape hull{ShapeKind::hull, half, 0, Pose::identity()};
    const Shape shapes[] = {sphere_shape(a), box_shape({a, b, c}), capsule_shape(a / 2, b),
                            cylinder_shape(a, b), hull};
    const Shape& first = shapes[i % 5];
    if (i % 7 == 3) {
      Shape second = shapes[(i / 5) % 5];
      second.pose = pose_at({0.1, 0.02, 0}, random_vector(rng, 1));
      add_rigid(model, {first, second}, pose, i % 10 != 0);
    } else {
      add_rigid(model, {first}, pose, i % 10 != 0);
    }
    model.bodies.back().velocity = random_vector(rng, 2);
    model.bodies.back().spin = random_vector(rng, 5);
    if (i % 10 == 0 && i % 20 != 0) model.bodies.back().velocity = model.bodies.back().spin = {0, 0, 0};
  }
  add_floor(model);
  model.half_spaces.push_back({normalized(Vec3d{1, 0.2, 0}), -0.4 * room});
  return model;
}

}  // namespace stickslip::testing
