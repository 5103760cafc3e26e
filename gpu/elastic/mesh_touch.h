// Where two primitives of triangle surfaces touch: a point and a triangle, or two edges. Pure functions.
#pragma once

#include "gpu/collide/shape_view.h"
#include "gpu/elastic/surface_point.h"
#include "gpu/geometry/distance.h"

namespace stickslip {

/// Surfaces of solids, thin objects and colliders in one set of nodes. A *sheet* is cloth, a rod, or an open
/// surface of a collider: it is touched from both sides. A *wire* is an edge without triangles. Backend
/// memory, entries per node unless stated otherwise.
struct MeshSurfaceView {
  const Vec3 *x, *v, *rest;
  const Vec<double, 3>* normal;  // unit, mean of the triangles by area; zero: of no triangle
  const std::int32_t* object;
  const std::uint8_t* sheet;           // 1: on a sheet
  const std::int32_t* triangle_start;  // and one more: into `triangle_of`
  const std::int32_t* triangle_of;     // triangles of a node, ascending
  const Vec3i* triangles;
  const std::int32_t* edge_start;  // and one more: its edges to nodes with larger indices
  const Vec2i* edges;              // smaller node first, ascending
  /// Per edge: the third nodes of the triangles that traverse it forward and back; -1: none.
  const Vec2i* opposite;
  double margin, depth;  // [m] gap of the contacts, and overlap, at most
  double dt;             // [s] > 0: the margin grows by the distance that closes within dt
  const Real* radius;    // [m] from a midsurface to its surface; null: 0
  bool touches_wires;    // points are tested against wires: {p, a, b, b}
  const Vec2i* wires;    // the nodes at the other ends of a node's first two wires; -1: none
  /// Nodes of one strand of wires have the same number; -1: on no wire.
  const std::int32_t* strand;
  const std::uint8_t* scripted;  // 1: follows a script in this step

  /// [m] what the gap is smaller than the distance.
  SS_HD double thickness(std::int32_t a, std::int32_t b) const {
    return radius != nullptr ? double(radius[a]) + double(radius[b]) : 0.0;
  }
  SS_HD Vec<double, 3> at(std::int32_t node) const { return x[node].template cast<double>(); }
  SS_HD Vec<double, 3> rest_at(std::int32_t node) const { return rest[node].template cast<double>(); }
  SS_HD std::int32_t edge(std::int32_t a, std::int32_t b) const {
    const std::int32_t low = a < b ? a : b, high = a < b ? b : a;
    for (std::int32_t e = edge_start[low]; e < edge_start[low + 1]; ++e)
      if (edges[e][1] == high) return e;
    return -1;
  }
  SS_HD Vec<double, 3> sum(const SurfacePoint& p, const Vec3* of) const {
    Vec<double, 3> total{0, 0, 0};
    for (int c = 0; c < 3; ++c)
      if (p.nodes[c] >= 0) total += p.weights[c] * of[p.nodes[c]].template cast<double>();
    return total;
  }
};

/// Two points of surfaces, of midsurfaces for thin objects; the normal points from b to a.
struct MeshTouch {
  SurfacePoint a, b;
  Vec<double, 3> point, normal;  // halfway between the surfaces
  double gap;                    // [m] < 0: overlap
};

namespace mesh_touch_detail {

using V3 = Vec<double, 3>;

// A weight below this counts as zero: the nearest point is on an edge or at a vertex.
constexpr double kOnSide = 1e-6;
// A point also stands on a face if its projection is outside the face by less than this share of the side.
constexpr double kStanding = 4e-6;
// Upper bounds on the cosine between a contact's normal and the outward normal of the point that touches: at
// an open gap, at an overlap, where an object touches itself. kSteep: sine of 45 degrees (leans_over).
// kSteepSheet: of 17 degrees (leads_on). Of a wire between 2.3 and 17 degrees (wire_leans_over); the smaller
// one is more than that of kLeastSine. kTurn: the tangent by which that test may turn a normal.
constexpr double kBeside = 0.25, kOpposed = -0.1, kSelfOpposed = -0.3;
constexpr double kSteep = 0.7, kSteepSheet = 0.3, kSlopeWire = 0.04, kSteepWire = 0.3, kTurn = 0.2;
// Of the margin: surfaces this near count as touching.
constexpr double kTouching = 0.03;
// Of the distance at rest: an object overlaps with itself by less than this.
constexpr double kSelfDepth = 0.25;
// Edges: least sine of their angle, how far their normal is inside the cones of both, and the weight below
// which a point is at an end.
constexpr double kLeastSine = 0.03, kInsideCone = 0.01, kEdgeEnd = 1e-3;

SS_HD inline V3 unit_or_zero(const V3& a) {
  const double length = norm(a);
  return length > 0 ? a / length : V3{0, 0, 0};
}
SS_HD inline V3 face_normal(const MeshSurfaceView& s, const Vec3i& t) {
  return unit_or_zero(cross(s.at(t[1]) - s.at(t[0]), s.at(t[2]) - s.at(t[0])));
}

/// The part of corner - base across the edge along `along`.
SS_HD inline V3 across(const V3& corner, const V3& base, const V3& along) {
  const V3 c = corner - base;
  return c - (dot(c, along) / norm2(along)) * along;
}

/// Counts the faces at an edge or vertex that a point stands on, and chooses the one that reports the point.
/// A point at d from the feature stands on a face if its projection onto the plane of the face is within
/// `tolerance` of the feature. The face is chosen whose normal opposes the point's own normal `own` most (for
/// a zero `own`, the face over which the point is highest); among equal ones the first.
struct StandingFace {
  V3 d, own;
  double tolerance;
  double best = 1e300;
  int found = 0, chosen = -1;

  /// Takes face k with unit normal n. True if the point stands on it.
  SS_HD bool add(const V3& n, int k) {
    const double height = dot(d, n);
    if (norm2(d - height * n) > tolerance * tolerance) return false;
    const double value = norm2(own) > 0 ? dot(n, own) : -height;
    if (found == 0 || value < best - 1e-9) {
      best = value;
      chosen = k;
    }
    ++found;
    return true;
  }
};

/// How a triangle reports a point whose nearest place is on its side or at its corner.
enum class SideReport { none, face, side };

/// The nearest place is on the side from t[i] to the next corner. If the point stands on a triangle at the
/// side, that triangle reports it as a face. Otherwise, if it is no nearer to the inside of either triangle,
/// the one that traverses the side forward reports it as a side, and `pseudo` becomes the sum of the normals.
SS_HD inline SideReport report_edge(const MeshSurfaceView& s, const Vec3i& t, int i, const V3& d,
                                    const V3& own, double tolerance, V3& pseudo) {
  const std::int32_t u = t[i], w = t[(i + 1) % 3], e = s.edge(u, w);
  const std::int32_t other = e < 0 ? -1 : s.opposite[e][u < w ? 1 : 0];
  const V3 others = other < 0 ? V3{0, 0, 0} : face_normal(s, {w, u, other});
  StandingFace standing{d, own, tolerance};
  const int mine = u < w ? 0 : 1;
  for (int k = 0; k < 2; ++k)
    if (k == mine || other >= 0) standing.add(k == mine ? pseudo : others, k);
  if (standing.found > 0) return standing.chosen == mine ? SideReport::face : SideReport::none;
  if (other < 0) return SideReport::side;
  if (u > w) return SideReport::none;
  const V3 base = s.at(u), inward = across(s.at(other), base, s.at(w) - base);
  if (dot(d, inward) > 0) return SideReport::none;
  pseudo += others;
  return SideReport::side;
}

/// True if a point at d from a vertex is nearer to the vertex than to any other point of its edges.
SS_HD inline bool is_nearest_vertex(const MeshSurfaceView& s, std::int32_t vertex, const V3& d) {
  const V3 base = s.at(vertex);
  for (std::int32_t k = s.triangle_start[vertex]; k < s.triangle_start[vertex + 1]; ++k)
    for (int c = 0; c < 3; ++c) {
      const std::int32_t node = s.triangles[s.triangle_of[k]][c];
      if (node == vertex) continue;
      const V3 side = s.at(node) - base;
      if (dot(d, side) > 0) return false;
    }
  return true;
}

/// As report_edge, for a nearest place at corner i. A point that stands on none of the triangles there is
/// reported by the first of them.
SS_HD inline SideReport report_vertex(const MeshSurfaceView& s, const Vec3i& t, int i, const V3& d,
                                      const V3& own, double tolerance, V3& pseudo) {
  StandingFace standing{d, own, tolerance};
  int mine = -1;
  const std::int32_t begin = s.triangle_start[t[i]], end = s.triangle_start[t[i] + 1];
  for (std::int32_t k = begin; k < end; ++k) {
    const Vec3i face = s.triangles[s.triangle_of[k]];
    if (face[0] == t[0] && face[1] == t[1] && face[2] == t[2]) mine = k - begin;
    standing.add(face_normal(s, face), k - begin);
  }
  if (standing.found > 0) return standing.chosen == mine ? SideReport::face : SideReport::none;
  if (mine != 0 || !is_nearest_vertex(s, t[i], d)) return SideReport::none;
  pseudo = s.normal[t[i]];
  return SideReport::side;
}

/// For a point p behind triangle t, at the squared distance d2: true if p is also behind a nearer triangle
/// that shares a corner with t and faces p. So a point inside a body has a contact with the nearest face
/// alone.
SS_HD_LARGE inline bool has_nearer_face(const MeshSurfaceView& s, const Vec3i& t, const V3& p, double d2,
                                        const V3& own, double most) {
  for (int c = 0; c < 3; ++c)
    for (std::int32_t k = s.triangle_start[t[c]]; k < s.triangle_start[t[c] + 1]; ++k) {
      const Vec3i f = s.triangles[s.triangle_of[k]];
      const V3 n = face_normal(s, f), corner = s.at(f[0]);
      if (dot(p - corner, n) >= 0 || (norm2(own) > 0 && !(dot(n, own) < most))) continue;
      if (point_triangle_d2(p, corner, s.at(f[1]), s.at(f[2])) < (1 - 1e-9) * d2) return true;
    }
  return false;
}

/// True if an edge from the point leads towards the other surface, by more than 45 degrees against the plane
/// of contact: then another part of the point's surface is nearer. Without this test a corner that slides
/// along a face would collide with the next face before it reaches the edge, and cloth that is pulled from
/// under a plate with the rim of the plate. The caller skips the test for surfaces that already touch.
SS_HD_LARGE inline bool leans_over(const MeshSurfaceView& s, std::int32_t node, const V3& normal,
                                   double most = kSteep) {
  const V3 base = s.at(node);
  for (std::int32_t k = s.triangle_start[node]; k < s.triangle_start[node + 1]; ++k)
    for (int c = 0; c < 3; ++c) {
      const V3 side = s.at(s.triangles[s.triangle_of[k]][c]) - base;
      if (-dot(normal, side) > most * norm(side)) return true;
    }
  return false;
}

/// True if a contact's unit normal is off that of the sheet, `own`, by more than 17 degrees. Cloth that wraps
/// around an edge or a corner leads on to both of its sides, and its normal is that of the contact.
SS_HD inline bool is_off(const V3& normal, const V3& own) {
  const double cosine = dot(normal, own);
  return 1 - cosine * cosine > kSteepSheet * kSteepSheet;
}

/// Of a node of cloth beside an edge or a corner of a body: true if the cloth leads on past it, so that
/// another part of the cloth is nearer. A contact there would hold the node beside the body within the step,
/// or take the body along, where cloth slides on under its rim.
SS_HD_LARGE inline bool leads_on(const MeshSurfaceView& s, std::int32_t node, const V3& normal) {
  return is_off(normal, s.normal[node]) && leans_over(s, node, normal, kSteepSheet);
}

/// Sets normal and gap from the vector d between the points; the gap is positive if d has a positive
/// component along `outward`. If d is too short to have a direction, the normal is `outward`.
SS_HD inline void direct(const V3& d, const V3& outward, double size, MeshTouch& out) {
  const double length = norm(d);
  const V3 up = unit_or_zero(outward);
  if (length < 1e-4 * size) {
    out.normal = up;
    out.gap = dot(d, up);
    return;
  }
  const double side = dot(d, up) >= 0 ? 1.0 : -1.0;
  out.normal = (side / length) * d;
  out.gap = side * length;
}

SS_HD inline void turn_over(MeshTouch& out) {
  out.normal = -out.normal;
  out.gap = -out.gap;
}

/// Takes the thickness from the gap. True if the gap is or may come within the margin, and an overlap is not
/// too deep. Then sets the contact's point. Parts of a cloth, or of one strand, that overlap at rest have no
/// contact.
SS_HD inline bool is_close(const MeshSurfaceView& s, bool self, MeshTouch& out) {
  const V3 u = s.sum(out.a, s.v) - s.sum(out.b, s.v);
  const double closing = -dot(out.normal, u), thickness = s.thickness(out.a.nodes[0], out.b.nodes[0]);
  out.gap -= thickness;
  if (out.gap > s.margin + (closing > 0 ? s.dt * closing : 0.0)) return false;
  double depth = s.depth > thickness ? s.depth : thickness;
  if (self && s.strand[out.a.nodes[0]] == s.strand[out.b.nodes[0]]) {
    const double rest = norm(s.sum(out.a, s.rest) - s.sum(out.b, s.rest));
    if (rest < thickness) return false;
    if (!(thickness > 0)) depth = kSelfDepth * rest < depth ? kSelfDepth * rest : depth;
  }
  if (out.gap < -depth) return false;
  out.point = 0.5 * (s.sum(out.a, s.x) + s.sum(out.b, s.x));
  if (thickness > 0)
    out.point += (0.5 * double(s.radius[out.b.nodes[0]] - s.radius[out.a.nodes[0]])) * out.normal;
  return norm2(out.normal) > 0;
}

/// The mean outward normal of an edge's triangles; zero for wires and sheets, whose sides are alike.
SS_HD inline V3 edge_outward(const MeshSurfaceView& s, std::int32_t e) {
  const Vec2i n = s.edges[e], o = s.opposite[e];
  V3 sum{0, 0, 0};
  if (s.sheet[n[0]]) return sum;
  if (o[0] >= 0) sum += face_normal(s, {n[0], n[1], o[0]});
  if (o[1] >= 0) sum += face_normal(s, {n[1], n[0], o[1]});
  return unit_or_zero(sum);
}

/// True if `out` points into the cone of normals of the edge, away from the insides of its triangles, and not
/// along its border. Where one side is `thin`, the border counts too: a flat cloth may lie on a few narrow
/// edges that none of its nodes is near. Edges of cloth pass in all directions: a sheet keeps its thickness
/// all around, and bends within a step, so a pair outside the cone at its start may be the nearest at its
/// end.
SS_HD inline bool is_in_cone(const MeshSurfaceView& s, std::int32_t e, const V3& out, bool thin) {
  const Vec2i n = s.edges[e];
  if (thin && s.sheet[n[0]] != 0) return true;
  const double most = thin ? kInsideCone : -kInsideCone;
  const V3 base = s.at(n[0]), along = s.at(n[1]) - base;
  for (int k = 0; k < 2; ++k)
    if (s.opposite[e][k] >= 0 && dot(out, unit_or_zero(across(s.at(s.opposite[e][k]), base, along))) > most)
      return false;
  return true;
}

/// The same of an edge of cloth beside one of a body; `out` points from the cloth to the body.
SS_HD inline bool edge_leads_on(const MeshSurfaceView& s, std::int32_t e, const V3& out) {
  const Vec2i n = s.edges[e], o = s.opposite[e];
  const V3 base = s.at(n[0]), along = s.at(n[1]) - base;
  V3 own{0, 0, 0};
  double slope = 0;
  for (int k = 0; k < 2; ++k) {
    if (o[k] < 0) continue;
    own += face_normal(s, k == 0 ? Vec3i{n[0], n[1], o[0]} : Vec3i{n[1], n[0], o[1]});
    const double lean = dot(out, unit_or_zero(across(s.at(o[k]), base, along)));
    if (lean > slope) slope = lean;
  }
  return slope > kSteepSheet && is_off(out, unit_or_zero(own));
}

/// Sets normal and gap where an end of edge a (nodes n, weight w of the second) touches the inside of a wire;
/// d points from the wire to the end. False if another edge reports this end, or if another point of an edge
/// at this end is nearer to the wire.
SS_HD inline bool end_on_wire(const MeshSurfaceView& s, const Vec2i& n, double w, const V3& d, double size,
                              MeshTouch& out) {
  const std::int32_t end = n[w > 0.5 ? 1 : 0];
  if (s.triangle_start[end] == s.triangle_start[end + 1]) return false;
  const Vec3i t = s.triangles[s.triangle_of[s.triangle_start[end]]];
  const std::int32_t next = t[0] == end ? t[1] : t[1] == end ? t[2] : t[0];
  if (next != n[0] && next != n[1]) return false;  // the edge after the vertex in its first triangle
  if (!is_nearest_vertex(s, end, -d)) return false;
  direct(d, s.sheet[end] ? d : -s.normal[end], size, out);
  return true;
}

/// True if an edge from a wire's node leads towards the other wire, whose direction is `other`: then another
/// part of the wire is nearer, and reports the contact. Edges that are almost parallel, and points very near
/// to a node, have contacts at nodes alone, so a small slope counts as none. Then the normal becomes that of
/// the two edges: with a slanted one a straight wire would be braked wherever its node slides past the other.
SS_HD inline bool wire_leans_over(const MeshSurfaceView& s, std::int32_t node, const V3& d, const V3& other,
                                  MeshTouch& out) {
  double steepest = 0;
  V3 along{0, 0, 0};
  for (int k = 0; k < 2; ++k) {
    if (s.wires[node][k] < 0) continue;
    const V3 side = s.at(s.wires[node][k]) - s.at(node);
    const double length = norm(side), slope = -dot(out.normal, side) / length;
    const double near = 2 * kEdgeEnd * length / norm(d), most = near > kSlopeWire ? near : kSlopeWire;
    if (slope > (most < kSteepWire ? most : kSteepWire)) return true;
    if (slope > steepest) {
      steepest = slope;
      along = side / length;
    }
  }
  const V3 beside = across(along, V3{0, 0, 0}, other);
  if (steepest > 0 && steepest < kTurn * norm(beside)) {
    out.normal = unit_or_zero(out.normal + (steepest / norm2(beside)) * beside);
    out.gap = dot(d, out.normal);
  }
  return false;
}

/// True if the wire from `end` to `far` reports a point p that is nearest to `end`: it is the first wire of
/// the node, and the point is not beside the other one.
SS_HD inline bool reports_wire_end(const MeshSurfaceView& s, std::int32_t end, std::int32_t far,
                                   const V3& p) {
  const Vec2i next = s.wires[end];
  if (next[0] != far) return false;
  return next[1] < 0 || !(dot(p - s.at(end), s.at(next[1]) - s.at(end)) > 0);
}

/// The contact of a point q[0] with the wire from q[1] to q[2].
SS_HD_LARGE inline bool touch_point_wire(const MeshSurfaceView& s, const Vec4i& q, MeshTouch& out) {
  const V3 p = s.at(q[0]), e0 = s.at(q[1]), e1 = s.at(q[2]);
  const auto near = point_edge_closest(p, e0, e1);
  out.a = {{q[0], -1, -1}, 0, {1, 0, 0}};
  out.b = {{q[1], q[2], -1}, 0, {-near.w[1], -near.w[2], 0}};
  const double reach =
      s.margin + s.thickness(q[0], q[1]) + s.dt * norm(s.sum(out.a, s.v) - s.sum(out.b, s.v));
  if (!(near.d2 <= reach * reach)) return false;
  if (near.feature == PointEdgeFeature::v0 && !reports_wire_end(s, q[1], q[2], p)) return false;
  if (near.feature == PointEdgeFeature::v1 && !reports_wire_end(s, q[2], q[1], p)) return false;
  const V3 own = s.normal[q[0]];
  const bool faces = norm2(own) > 0 && !s.sheet[q[0]];
  direct(near.r, faces ? -own : near.r, norm(e1 - e0), out);
  const bool self = s.object[q[0]] == s.object[q[1]];
  if (faces && !(dot(out.normal, own) < kBeside)) return false;
  const bool apart = out.gap - s.thickness(q[0], q[1]) > kTouching * s.margin;
  if (faces && apart && leans_over(s, q[0], out.normal)) return false;
  if (!(norm2(own) > 0) && wire_leans_over(s, q[0], near.r, e1 - e0, out)) return false;
  return is_close(s, self, out);
}

}  // namespace mesh_touch_detail

/// The contact of a point q[0] with a triangle. False if the nearest point of the triangle is not the nearest
/// of its surroundings, or if the two surfaces do not face each other. An edge or vertex is reported by one
/// of its triangles. The gap has its sign from the outward side of the triangle's surface; towards a sheet
/// the point's own normal decides.
SS_HD_LARGE inline bool touch_point_triangle(const MeshSurfaceView& s, const Vec4i& q, MeshTouch& out) {
  using namespace mesh_touch_detail;
  if (q[2] == q[3]) return touch_point_wire(s, q, out);
  const Vec3i t{q[1], q[2], q[3]};
  const V3 p = s.at(q[0]), corner[3] = {s.at(t[0]), s.at(t[1]), s.at(t[2])};
  const auto near = point_triangle_closest(p, corner[0], corner[1], corner[2]);
  out.a = {{q[0], -1, -1}, 0, {1, 0, 0}};
  out.b = {t, 0, {-near.w[1], -near.w[2], -near.w[3]}};
  const double thickness = s.thickness(q[0], q[1]);
  const double reach = s.margin + thickness + s.dt * norm(s.sum(out.a, s.v) - s.sum(out.b, s.v));
  if (!(near.d2 <= reach * reach)) return false;
  const V3 own = s.normal[q[0]];
  V3 pseudo = face_normal(s, t);
  const double size = norm(corner[1] - corner[0]);
  int inside[3] = {0, 0, 0}, count = 0;
  for (int i = 0; i < 3; ++i)
    if (out.b.weights[i] > kOnSide) inside[count++] = i;
  SideReport report = SideReport::face;
  const V3 facing = s.sheet[q[0]] || s.sheet[t[0]] ? V3{0, 0, 0} : own;
  const double flat = kStanding * size;
  if (count == 2)
    report = report_edge(s, t, inside[1] - inside[0] == 1 ? inside[0] : 2, near.r, facing, flat, pseudo);
  else if (count == 1) report = report_vertex(s, t, inside[0], near.r, facing, flat, pseudo);
  if (report == SideReport::none) return false;
  if (report == SideReport::face) {
    out.normal = pseudo;
    out.gap = dot(near.r, pseudo);
  } else {
    direct(near.r, pseudo, size, out);
  }
  if (s.sheet[t[0]]) {
    const bool sides_alike = s.sheet[q[0]] || !(norm2(own) > 0);
    if (sides_alike ? out.gap < 0 : dot(out.normal, own) > 0) turn_over(out);
  }
  const bool self = s.object[q[0]] == s.object[t[0]], faces = norm2(own) > 0 && !s.sheet[q[0]];
  const double most = self ? kSelfOpposed : out.gap < 0 ? kOpposed : kBeside;
  if (faces && !(dot(out.normal, own) < most)) return false;
  const bool beside = s.sheet[q[0]] && !s.sheet[t[0]] && report == SideReport::side && out.gap > 0;
  if (beside && norm2(own) > 0 && leads_on(s, q[0], out.normal)) return false;
  if (out.gap - thickness > kTouching * s.margin && norm2(own) > 0 && leans_over(s, q[0], out.normal))
    return false;
  if (out.gap < 0 && !s.sheet[t[0]] && has_nearer_face(s, t, p, near.d2, faces ? own : V3{0, 0, 0}, most))
    return false;
  return is_close(s, self, out);
}

/// The contact of two edges {a0, a1, b0, b1}. False unless the nearest points are inside both edges, and each
/// edge is the nearest part of its surface. Ends are tested as points against triangles, and against wires
/// here unless points are tested against these too.
SS_HD_LARGE inline bool touch_edges(const MeshSurfaceView& s, const Vec4i& q, MeshTouch& out) {
  using namespace mesh_touch_detail;
  const Vec2i a{q[0], q[1]}, b{q[2], q[3]};
  const V3 along_a = s.at(a[1]) - s.at(a[0]), along_b = s.at(b[1]) - s.at(b[0]);
  const auto near = edge_edge_closest(s.at(a[0]), s.at(a[1]), s.at(b[0]), s.at(b[1]));
  out.a = {{a[0], a[1], -1}, 0, {near.w[0], near.w[1], 0}};
  out.b = {{b[0], b[1], -1}, 0, {-near.w[2], -near.w[3], 0}};
  const double reach =
      s.margin + s.thickness(a[0], b[0]) + s.dt * norm(s.sum(out.a, s.v) - s.sum(out.b, s.v));
  if (!(near.d2 <= reach * reach)) return false;
  const std::int32_t ea = s.edge(a[0], a[1]), eb = s.edge(b[0], b[1]);
  if (ea < 0 || eb < 0) return false;
  const auto is_wire = [&](std::int32_t e) { return s.opposite[e][0] < 0 && s.opposite[e][1] < 0; };
  const auto is_end = [](double w) { return !(w > kEdgeEnd && w < 1 - kEdgeEnd); };
  const bool end_a = is_end(near.w[1]), end_b = is_end(-near.w[3]);
  const double size = norm(along_a);
  if (end_a || end_b) {
    if (s.touches_wires) return false;
    const bool found = end_a && !end_b && is_wire(eb)   ? end_on_wire(s, a, near.w[1], near.r, size, out)
                       : end_b && !end_a && is_wire(ea) ? end_on_wire(s, b, -near.w[3], -near.r, size, out)
                                                        : false;
    if (!found) return false;
    if (end_b) out.normal = -out.normal;
    return is_close(s, false, out);
  }
  const V3 c = cross(along_a, along_b);
  const double length = norm(c);
  if (!(length > kLeastSine * size * norm(along_b))) return false;
  const V3 out_a = edge_outward(s, ea), out_b = edge_outward(s, eb);
  const V3 towards = out_b - out_a, up = norm2(towards) > 0 ? towards : near.r;
  out.normal = (dot(c, up) >= 0 ? 1 / length : -1 / length) * c;
  out.gap = dot(near.r, out.normal);
  const bool thin = s.thickness(a[0], b[0]) > 0;
  if (!is_in_cone(s, ea, -out.normal, thin) || !is_in_cone(s, eb, out.normal, thin)) return false;
  if (out.gap > 0 && s.sheet[a[0]] && norm2(out_b) > 0 && edge_leads_on(s, ea, -out.normal)) return false;
  if (out.gap > 0 && s.sheet[b[0]] && norm2(out_a) > 0 && edge_leads_on(s, eb, out.normal)) return false;
  const bool self = s.object[a[0]] == s.object[b[0]];
  const double most = self ? kSelfOpposed : kBeside;
  if (norm2(out_a) > 0 && !(dot(out.normal, out_a) < most)) return false;
  if (norm2(out_b) > 0 && !(-dot(out.normal, out_b) < most)) return false;
  return is_close(s, self, out);
}

}  // namespace stickslip
