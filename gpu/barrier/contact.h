// Contact: one stencil with all data to evaluate it, and its construction from a candidate.
#pragma once

#include <cmath>

#include "gpu/broadphase/candidates.h"
#include "gpu/energy/barrier.h"
#include "gpu/energy/contact_stencil.h"
#include "gpu/geometry/distance.h"
#include "gpu/geometry/mollifier.h"
#include "gpu/model/friction_table.h"
#include "gpu/model/plane.h"

namespace stickslip {

/// Two primitives that may touch, independent of their currently closest features.
struct ContactPair {
  enum Kind : std::int32_t { point_triangle, edge_edge, half_space };
  Kind kind;
  std::int32_t plane;  // of `half_space`, else -1
  Vec4i nodes;         // p t0 t1 t2 | a0 a1 b0 b1 | p and -1

  SS_HD bool operator==(const ContactPair& other) const {
    bool same = kind == other.kind && plane == other.plane;
    for (int c = 0; c < 4; ++c) same = same && nodes[c] == other.nodes[c];
    return same;
  }
};

struct Contact {
  Vec4i nodes;  // -1: unused corner
  ContactType type;
  std::int32_t plane;          // of a half-space stencil, else -1
  Real eps_x;                  // threshold of a mollified edge pair [m^4], else 0
  Real mu;                     // of the pair
  Real multiplier;             // [N] of an augmented contact, else 0
  Real thickness = 0;          // [m] between the sides, see Proximity::thickness
  ContactResistance own = {};  // with barrier = cubic

  /// Of the barrier at distance d_hat, with stiffness sigma unless it is cubic.
  SS_HD ContactPotential potential(Real d_hat, Real sigma) const {
    ContactPotential all(d_hat, sigma, multiplier);
    all.own = own;
    return all;
  }
};

/// The values of a stencil's nodes; unused corners repeat the first.
SS_HD inline CornerVectors gather_corners(const Vec4i& nodes, const Vec3* values) {
  CornerVectors corners;
  for (int c = 0; c < 4; ++c) corners[c] = values[nodes[c] >= 0 ? nodes[c] : nodes[0]];
  return corners;
}

/// Displacements of the corners from x_t to x.
SS_HD inline CornerVectors corner_displacements(const Vec4i& nodes, const Vec3* x, const Vec3* x_t) {
  CornerVectors moved = gather_corners(nodes, x);
  const CornerVectors before = gather_corners(nodes, x_t);
  for (int c = 0; c < 4; ++c) moved[c] -= before[c];
  return moved;
}

/// Contact at x, ready to evaluate; `planes` of the scene.
SS_HD inline ContactStencil stencil_at(const Contact& contact, const Plane* planes, const Vec3* x) {
  ContactStencil stencil{};
  stencil.type = contact.type;
  const CornerVectors corners = gather_corners(contact.nodes, x);
  for (int c = 0; c < 4; ++c) stencil.x[c] = corners[c];
  stencil.eps_x = contact.eps_x;
  stencil.thickness = contact.thickness;
  if (contact.plane >= 0) stencil.plane = planes[contact.plane];
  return stencil;
}

/// A gap linearised at one configuration: normal . (sum_i weights_i y_i) - offset [m].
struct LinearGap {
  Vec4i nodes;
  Vec<Real, 4> weights;  // as in ClosestPoints; zero for unused corners
  Vec3 normal;           // unit
  Real offset;           // [m]
  Real mu;               // of the pair

  SS_HD Real gap(const Vec3* y) const {
    Vec3 reach = Vec3::zero();
    for (int c = 0; c < 4; ++c)
      if (nodes[c] >= 0) reach += weights[c] * y[nodes[c]];
    return dot(normal, reach) - offset;
  }
};

/// Of the closest points at x.
SS_HD inline LinearGap linear_gap(const Contact& contact, const Plane* planes, const Vec3* x) {
  const ContactStencil stencil = stencil_at(contact, planes, x);
  const ClosestPoints closest = closest_points(stencil);
  const Real offset = contact.plane >= 0 ? planes[contact.plane].offset : Real(0);
  return {contact.nodes, closest.weights, closest.normal, offset + contact.thickness, contact.mu};
}

/// What each node resists a contact with, see DeviceModel. Without `inertia`, the barrier is not cubic.
struct NodeResistance {
  const Real* inverse_mass = nullptr;  // [1/kg]
  const Real* compliance = nullptr;    // [m/N]
  Real inertia = 0;                    // d_hat^2 / (beta dt^2) [m^2/s^2]

  /// Of a pair whose sides are the first `count_a` and the next `count_b` of v: means over each side, and
  /// both sides in series. Scripted nodes do not give way.
  SS_HD ContactResistance of_pair(const Vec4i& v, int count_a, int count_b,
                                  const std::uint8_t* scripted) const {
    Real inverse = 0, gives = 0;
    for (int c = 0; c < count_a + count_b; ++c) {
      if (scripted[v[c]]) continue;
      const Real share = Real(1) / static_cast<Real>(c < count_a ? count_a : count_b);
      inverse += share * inverse_mass[v[c]];
      gives += share * compliance[v[c]];
    }
    return {inverse > 0 ? inertia / inverse : Real(0), gives > 0 ? Real(1) / gives : Real(0)};
  }
};

/// All possible contacts: the broad phase's pairs, and every free surface node with every half-space.
struct Proximity {
  CandidateView pairs;
  const std::int32_t* surface_nodes;
  std::size_t surface_node_count;
  const Plane* planes;
  std::size_t plane_count;
  const std::uint8_t* scripted;  // per node; scripted nodes ignore half-spaces
  const Vec3* rest;
  FrictionTable friction;
  const Real* radius = nullptr;        // [m] per node, see SurfaceView
  const Real* plane_radius = nullptr;  // of pairs with half-spaces
  NodeResistance resistance = {};

  SS_HD Real plane_radius_of(std::int32_t node) const {
    return plane_radius != nullptr ? plane_radius[node] : Real(0);
  }
  /// [m] of the side of a contact to which `node` belongs.
  SS_HD Real radius_of(const Contact& contact, std::int32_t node) const {
    if (contact.plane >= 0) return plane_radius_of(node);
    return radius != nullptr ? radius[node] : Real(0);
  }
  /// [m] what the gap of a pair is smaller than the distance of its primitives: the radii of both sides.
  SS_HD Real thickness(const ContactPair& pair) const {
    if (radius == nullptr) return Real(0);
    if (pair.kind == ContactPair::half_space) return plane_radius_of(pair.nodes[0]);
    return radius[pair.nodes[0]] + radius[pair.nodes[pair.kind == ContactPair::edge_edge ? 2 : 1]];
  }
  SS_HD std::size_t size() const {
    return pairs.point_triangle_count + pairs.edge_edge_count + surface_node_count * plane_count;
  }
  SS_HD ContactPair operator[](std::size_t i) const {
    if (i < pairs.point_triangle_count) return {ContactPair::point_triangle, -1, pairs.point_triangle[i]};
    i -= pairs.point_triangle_count;
    if (i < pairs.edge_edge_count) return {ContactPair::edge_edge, -1, pairs.edge_edge[i]};
    i -= pairs.edge_edge_count;
    return {ContactPair::half_space,
            static_cast<std::int32_t>(i % plane_count),
            {surface_nodes[i / plane_count], -1, -1, -1}};
  }
};

/// The stencil of the closest features of point v[0] and triangle v[1..3].
SS_HD inline Contact point_triangle_contact(const Vec4i& v, const Vec3* x) {
  Contact contact{{v[0], -1, -1, -1}, ContactType::point_edge, -1, Real(0), Real(0), Real(0)};
  const auto two = [&](int a) {
    contact.type = ContactType::point_point;
    contact.nodes[1] = v[a];
  };
  const auto three = [&](int a, int b) {
    contact.nodes[1] = v[a];
    contact.nodes[2] = v[b];
  };
  switch (point_triangle_feature(x[v[0]], x[v[1]], x[v[2]], x[v[3]])) {
    case PointTriangleFeature::v0:
      two(1);
      break;
    case PointTriangleFeature::v1:
      two(2);
      break;
    case PointTriangleFeature::v2:
      two(3);
      break;
    case PointTriangleFeature::e01:
      three(1, 2);
      break;
    case PointTriangleFeature::e12:
      three(2, 3);
      break;
    case PointTriangleFeature::e20:
      three(3, 1);
      break;
    case PointTriangleFeature::face:
      contact.type = ContactType::point_triangle;
      contact.nodes = v;
      break;
  }
  return contact;
}

/// The stencil of the closest features of edges v[0..1] and v[2..3]. Nearly parallel edges (by `eps_x`, from
/// the rest lengths) keep all four nodes, because their stencil is mollified.
SS_HD inline Contact edge_edge_contact(const Vec4i& v, const Vec3* x, Real eps_x) {
  Contact contact{v, ContactType::edge_edge, -1, Real(0), Real(0), Real(0)};
  const Vec3 a0 = x[v[0]], a1 = x[v[1]], b0 = x[v[2]], b1 = x[v[3]];
  if (norm2(cross(a1 - a0, b1 - b0)) < eps_x) {
    contact.type = ContactType::edge_edge_mollified;
    contact.eps_x = eps_x;
    return contact;
  }
  const auto two = [&](int a, int b) {
    contact.type = ContactType::point_point;
    contact.nodes = {v[a], v[b], -1, -1};
  };
  const auto three = [&](int p, int a, int b) {
    contact.type = ContactType::point_edge;
    contact.nodes = {v[p], v[a], v[b], -1};
  };
  switch (edge_edge_feature(a0, a1, b0, b1)) {
    case EdgeEdgeFeature::a0_b0:
      two(0, 2);
      break;
    case EdgeEdgeFeature::a0_b1:
      two(0, 3);
      break;
    case EdgeEdgeFeature::a1_b0:
      two(1, 2);
      break;
    case EdgeEdgeFeature::a1_b1:
      two(1, 3);
      break;
    case EdgeEdgeFeature::a0_b:
      three(0, 2, 3);
      break;
    case EdgeEdgeFeature::a1_b:
      three(1, 2, 3);
      break;
    case EdgeEdgeFeature::a_b0:
      three(2, 0, 1);
      break;
    case EdgeEdgeFeature::a_b1:
      three(3, 0, 1);
      break;
    case EdgeEdgeFeature::interior:
      break;
  }
  return contact;
}

/// The gap of a pair at x [m]: distance less thickness; 0 for surfaces in each other and behind a half-space,
/// kNever for a pair that never acts.
constexpr Real kNever = Real(1e30);
SS_HD inline Real pair_gap(const Proximity& near, const ContactPair& pair, const Vec3* x) {
  const Vec4i& v = pair.nodes;
  Real distance = 0;
  if (pair.kind == ContactPair::half_space) {
    if (near.scripted[v[0]]) return kNever;
    distance = dot(near.planes[pair.plane].normal, x[v[0]]) - near.planes[pair.plane].offset;
  } else {
    distance = std::sqrt(pair.kind == ContactPair::point_triangle
                             ? point_triangle_d2(x[v[0]], x[v[1]], x[v[2]], x[v[3]])
                             : edge_edge_d2(x[v[0]], x[v[1]], x[v[2]], x[v[3]]));
  }
  const Real gap = distance - near.thickness(pair);
  return gap > 0 ? gap : Real(0);
}

/// A lower bound for the distance of two primitives: that of their boxes along the axis on which it is
/// largest.
SS_HD inline Real box_distance(const ContactPair& pair, const Vec3* x) {
  const Vec4i& v = pair.nodes;
  const Vec3 a0 = x[v[0]], a1 = pair.kind == ContactPair::edge_edge ? x[v[1]] : a0;
  const Vec3 b0 = x[v[2]], b1 = x[v[3]], b2 = pair.kind == ContactPair::edge_edge ? b0 : x[v[1]];
  const auto least = [](Real s, Real t) { return s < t ? s : t; };
  const auto most = [](Real s, Real t) { return s < t ? t : s; };
  Real distance = 0;
  for (int c = 0; c < 3; ++c) {
    const Real above = least(b0[c], least(b1[c], b2[c])) - most(a0[c], a1[c]);
    const Real below = least(a0[c], a1[c]) - most(b0[c], most(b1[c], b2[c]));
    distance = most(distance, most(above, below));
  }
  return distance;
}

/// The gap where it is below `reach` [m]; else any number that is not. Most pairs that may touch in a step
/// are far apart, which their boxes show.
SS_HD inline Real pair_gap_below(const Proximity& near, const ContactPair& pair, const Vec3* x, Real reach) {
  if (pair.kind != ContactPair::half_space && box_distance(pair, x) - near.thickness(pair) >= reach)
    return reach;
  return pair_gap(near, pair, x);
}

/// The stencil of the pair's closest features at x, at any distance. `near` supplies the data of nodes and
/// planes; the pair need not be in it.
/// Without `mollify`, nearly parallel edges have the stencil of their closest features, too.
SS_HD inline Contact contact_at(const Proximity& near, const ContactPair& pair, const Vec3* x,
                                bool mollify = true) {
  const Vec4i& v = pair.nodes;
  Contact contact{v, ContactType::half_space, pair.plane, Real(0), Real(0), Real(0)};
  if (pair.kind == ContactPair::point_triangle) {
    contact = point_triangle_contact(v, x);
    contact.mu = near.friction.of_nodes(v[0], v[1]);
  } else if (pair.kind == ContactPair::edge_edge) {
    const Real eps_x =
        mollify ? mollifier_threshold(near.rest[v[0]], near.rest[v[1]], near.rest[v[2]], near.rest[v[3]])
                : Real(0);
    contact = edge_edge_contact(v, x, eps_x);
    contact.mu = near.friction.of_nodes(v[0], v[2]);
  } else {
    contact.mu = near.friction.of_plane(v[0], pair.plane);
  }
  contact.thickness = near.thickness(pair);
  if (near.resistance.inertia > 0) {
    const int count_a = pair.kind == ContactPair::edge_edge ? 2 : 1;
    const int count_b = pair.kind == ContactPair::half_space ? 0 : 4 - count_a;
    contact.own = near.resistance.of_pair(v, count_a, count_b, near.scripted);
  }
  return contact;
}

}  // namespace stickslip
