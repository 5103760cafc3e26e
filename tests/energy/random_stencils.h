// Random contact stencils whose closest points lie well inside the features of their type.
#pragma once

#include <cmath>

#include "gpu/energy/contact_stencil.h"
#include "tests/energy/numeric.h"

namespace stickslip::test {

inline constexpr ContactType kStencilTypes[] = {ContactType::point_point,         ContactType::point_edge,
                                                ContactType::point_triangle,      ContactType::edge_edge,
                                                ContactType::edge_edge_mollified, ContactType::half_space};

/// Two edges whose directions differ by about `angle`, moved along each other by `slide`.
inline ContactStencil nearly_parallel_edges(Random& random, Real angle, Real slide, Real distance) {
  ContactStencil s{ContactType::edge_edge_mollified, {}, Real(0), {}};
  const Mat3 r = random.rotation();
  const Vec3 shift = random.vector();
  const Real a = random.uniform(Real(0.8), Real(1.2)), b = random.uniform(Real(0.8), Real(1.2));
  const Vec3 direction{1, angle * random.uniform(-1, 1), angle};
  s.x[0] = Vec3{-a / 2, 0, 0};
  s.x[1] = Vec3{a / 2, 0, 0};
  s.x[2] = Vec3{slide, distance, random.uniform(Real(-0.2), Real(0.2)) * distance} - (b / 2) * direction;
  s.x[3] = s.x[2] + b * direction;
  if (random.index(2) == 1) std::swap(s.x[2], s.x[3]);
  for (Vec3& x : s.x) x = r * x + shift;
  s.eps_x = mollifier_threshold(s.x[0], s.x[1], s.x[2], s.x[3]);
  return s;
}

/// [m] between the features.
inline Real feature_distance(const ContactStencil& s) { return closest_points(s).gap + s.thickness; }

/// A stencil of size about one without thickness, at a distance below 0.8.
inline ContactStencil random_thin_stencil(Random& random, ContactType type) {
  for (;;) {
    ContactStencil s{type, {random.vector(), random.vector(), random.vector(), random.vector()}, Real(0), {}};
    if (type == ContactType::half_space) {
      const Vec3 normal = normalized(random.vector());
      s.plane = {normal, dot(normal, s.x[0]) - random.uniform(Real(0.1), Real(0.7))};
      return s;
    }
    if (type == ContactType::edge_edge_mollified) {
      s = nearly_parallel_edges(random, random.uniform(Real(0.005), Real(0.02)),
                                random.uniform(Real(-1.3), Real(1.3)), random.uniform(Real(0.1), Real(0.5)));
      // Beyond it, the distance may have a kink between two features within a difference step.
      if (feature_distance(s) < std::sqrt(Real(0.6))) return s;
      continue;
    }
    const ClosestPoints closest = closest_points(s);
    bool inside = closest.gap > Real(0.1) && closest.gap < Real(0.8);
    for (int i = 0; i < node_count(type); ++i) inside = inside && std::abs(closest.weights[i]) > Real(0.05);
    const Real sign[2][4] = {{1, -1, -1, -1}, {1, 1, -1, -1}};
    for (int i = 0; i < node_count(type); ++i)
      inside = inside && closest.weights[i] * sign[type == ContactType::edge_edge][i] > 0;
    if (type == ContactType::edge_edge)
      inside = inside && norm2(cross(s.x[1] - s.x[0], s.x[3] - s.x[2])) > Real(0.1);
    if (type == ContactType::point_triangle)
      inside = inside && norm2(cross(s.x[2] - s.x[1], s.x[3] - s.x[1])) > Real(0.1);
    if (type == ContactType::point_edge) inside = inside && norm2(s.x[2] - s.x[1]) > Real(0.1);
    if (inside) return s;
  }
}

/// Every other time with a thickness of up to 0.4 of its distance.
inline ContactStencil random_stencil(Random& random, ContactType type) {
  ContactStencil s = random_thin_stencil(random, type);
  if (random.index(2) == 1) s.thickness = random.uniform(Real(0), Real(0.4)) * feature_distance(s);
  return s;
}

}  // namespace stickslip::test
