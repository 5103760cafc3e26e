// Meshes with distance fields: points of each surface in the field of the other [Course Alg.2], and where
// the inside of a triangle or an edge comes nearer than its corners [Course Eq.110; Macklin20].
//
// Gaps found in a field carry the error of its trilinear values, of the order of spacing^2 over the radius
// of curvature, and up to half a spacing at sharp edges. Work grows with the number of vertices and
// triangles.
#pragma once

#include "gpu/geometry/collide_sphere.h"

namespace stickslip {

/// The contacts of two shapes of which one may be a mesh, by direction.
struct ManyManifolds {
  static constexpr int kMost = 6;
  int count;
  Manifold parts[kMost];
};

namespace narrow {

struct PlacedMesh {
  const MeshShapeView* mesh;
  Mat<double, 3> r;
  V3 x;

  SS_HD V3 vertex(std::int32_t i) const { return x + r * mesh->vertices[i]; }
  /// The field at a point of the world, the normal in the world's axes.
  SS_HD SurfaceDistance field(const V3& p) const {
    const SurfaceDistance at = field_distance(mesh->field, transposed_times(r, p - x));
    return {at.distance, r * at.normal};
  }
  /// [m] At most the distance of p from the box of the grid.
  SS_HD double beyond_grid(const V3& p) const {
    const V3 q = transposed_times(r, p - x) - mesh->field.origin;
    double most = -1e300;
    for (int k = 0; k < 3; ++k) {
      const double high = q[k] - mesh->field.spacing * (mesh->field.nodes[k] - 1);
      const double d = high > -q[k] ? high : -q[k];
      most = d > most ? d : most;
    }
    return most;
  }
};

SS_HD inline PlacedMesh place_mesh(const Shape& s, const Pose& body, const V3& origin,
                                   const ShapeLibrary& library) {
  const Pose at = body * s.pose;
  return {library.meshes + s.data, at.q.matrix(), at.x - origin};
}

/// Points sorted by the direction of their normals (within 25 degrees of the first one), which within a part
/// become one: their mean, the nearer the weightier.
struct DirectionParts {
  double margin;
  double near;  // [m] of two points of a part nearer to each other than this one is enough
  int count;
  PointsOf<16> lists[ManyManifolds::kMost];
  V3 sum[ManyManifolds::kMost];
  double least[ManyManifolds::kMost];

  /// A point of a or b; `normal` from b to a. Where all parts are taken, a deeper point takes the
  /// shallowest.
  SS_HD void add(const V3& point, const V3& normal, double gap, std::uint32_t feature) {
    if (gap > margin) return;
    int k = 0;
    while (k < count && dot(lists[k].normal, normal) < 0.9) ++k;
    if (k == ManyManifolds::kMost) {
      k = 0;
      for (int i = 1; i < count; ++i)
        if (least[i] > least[k]) k = i;
      if (gap >= least[k]) return;
      start(k, normal);
    } else if (k == count) {
      ++count;
      start(k, normal);
    }
    if (!replaces(lists[k], point, gap)) lists[k].add(point, gap, feature);
    sum[k] += (margin - gap + 1e-3 * margin + 1e-12) * normal;
    least[k] = gap < least[k] ? gap : least[k];
  }
  /// Whether the list has a point there; it keeps its name and becomes the deeper of the two.
  SS_HD bool replaces(PointsOf<16>& list, const V3& point, double gap) const {
    for (int i = 0; i < list.count; ++i) {
      ManifoldPoint& p = list.points[i];
      if (norm2(p.point - point) > near * near) continue;
      if (gap < p.gap) p.gap = gap, p.point = point;
      return true;
    }
    return false;
  }
  SS_HD void start(int k, const V3& normal) {
    lists[k].normal = normal;
    lists[k].count = 0;
    sum[k] = {0, 0, 0};
    least[k] = 1e300;
  }
  SS_HD void finish(ManyManifolds& out) {
    out.count = count;
    for (int k = 0; k < count; ++k) {
      const V3 mean = normalized(sum[k]);
      if (norm2(mean) > 0.5) lists[k].normal = mean;
      out.parts[k] = to_manifold(lists[k]);
    }
  }
};

/// The side of a surface's points: whether their normals point to a or to b, and the start of their names.
struct FieldSide {
  const PlacedMesh* mesh;
  double sign;  // 1: the mesh is b, its outward normals point to a; -1: the mesh is a
  std::uint32_t name;

  /// A point of the other surface.
  SS_HD void add(const V3& p, const SurfaceDistance& at, std::uint32_t id, DirectionParts& parts) const {
    parts.add(p - (0.5 * at.distance) * at.normal, sign * at.normal, at.distance, mix(name, id));
  }
};

/// The point between p and q where the field is least, when that is below both ends: a bracketed search.
SS_HD_LARGE inline void search_edge(const FieldSide& side, V3 p, V3 q, std::uint32_t id,
                                    DirectionParts& parts) {
  const double ends[2] = {side.mesh->field(p).distance, side.mesh->field(q).distance};
  const double length = norm(q - p), low = ends[0] < ends[1] ? ends[0] : ends[1];
  // The field falls at most as fast as one goes, and beyond the grid is known to a tenth.
  if (0.5 * (0.9 * (ends[0] + ends[1]) - length) > parts.margin) return;
  for (int round = 0; round < 24 && norm2(q - p) > 1e-12 * length * length; ++round) {
    const V3 s = p + (1.0 / 3) * (q - p), t = q + (1.0 / 3) * (p - q);
    if (side.mesh->field(s).distance < side.mesh->field(t).distance) q = t;
    else p = s;
  }
  const V3 m = 0.5 * (p + q);
  const SurfaceDistance at = side.mesh->field(m);
  if (at.distance < low - 1e-3 * length) side.add(m, at, id, parts);
}

/// Weights >= 0 of sum 1, nearest to w.
SS_HD inline V3 onto_triangle(V3 w) {
  // Michelot: take off the mean excess, drop what became negative, again.
  bool free[3] = {true, true, true};
  for (int round = 0; round < 3; ++round) {
    double excess = -1;
    int count = 0;
    for (int k = 0; k < 3; ++k)
      if (free[k]) excess += w[k], ++count;
    bool done = true;
    for (int k = 0; k < 3; ++k) {
      if (!free[k]) continue;
      w[k] -= excess / count;
      if (w[k] < 0) free[k] = false, w[k] = 0, done = false;
    }
    if (done) break;
  }
  return w;
}

/// The point of a triangle where the field is least, by projected gradients [Course Eq.110], when it lies
/// below the corners; these are tested elsewhere.
SS_HD_LARGE inline void search_triangle(const FieldSide& side, const V3 (&t)[3], std::uint32_t id,
                                        DirectionParts& parts) {
  const V3 center = (1.0 / 3) * (t[0] + t[1] + t[2]);
  double span = 0;
  for (const V3& p : t) span = larger(span, norm(p - center));
  const double beyond = side.mesh->beyond_grid(center), near = span + parts.margin;
  SurfaceDistance at = side.mesh->field(center);
  if (beyond > near || (beyond <= 0 && at.distance > near)) return;
  // Where the field is that of a plane, a corner is lowest; how much lower it can be follows from its bend.
  double corners = 1e300, bend = 0;
  for (const V3& q : t) {
    const double d = side.mesh->field(q).distance;
    corners = smaller(corners, d);
    bend = larger(bend, std::abs(d - at.distance - dot(at.normal, q - center)));
  }
  if (bend < 2e-3 * span || corners - 4 * bend > parts.margin) return;
  V3 w{1.0 / 3, 1.0 / 3, 1.0 / 3}, p = center;
  double step = 1 / span;
  for (int round = 0; round < 12 && step * span > 1e-3; ++round) {
    const V3 slope{dot(at.normal, t[0] - center), dot(at.normal, t[1] - center),
                   dot(at.normal, t[2] - center)};
    const V3 next = onto_triangle(w - (step / span) * slope);
    const V3 q = next[0] * t[0] + next[1] * t[1] + next[2] * t[2];
    const SurfaceDistance there = side.mesh->field(q);
    if (there.distance < at.distance) {
      w = next, p = q, at = there;
    } else {
      step *= 0.5;
    }
  }
  if (at.distance < corners - 1e-3 * span) side.add(p, at, id, parts);
}

/// All vertices of one mesh, and the insides of its triangles, in the field of the other.
SS_HD_LARGE inline void mesh_in_field(const PlacedMesh& mesh, const FieldSide& side, DirectionParts& parts) {
  const MeshShapeView& m = *mesh.mesh;
  for (std::int32_t i = 0; i < m.vertex_count; ++i) {
    const V3 p = mesh.vertex(i);
    if (side.mesh->beyond_grid(p) > parts.margin) continue;
    side.add(p, side.mesh->field(p), static_cast<std::uint32_t>(i), parts);
  }
  for (std::int32_t i = 0; i < m.triangle_count; ++i) {
    const Vec<std::int32_t, 3> c = m.triangles[i];
    const V3 t[3] = {mesh.vertex(c[0]), mesh.vertex(c[1]), mesh.vertex(c[2])};
    search_triangle(side, t, 0x40000000u + static_cast<std::uint32_t>(i), parts);
  }
}

/// The convex shape's whole surface, not its core's, farthest along d.
SS_HD inline V3 surface_support(const Convex& c, const V3& d) {
  const V3 p = support(c, d);
  return c.radius > 0 ? p + c.radius * normalized(d) : p;
}

/// From p on, always the point of the shape that lies farthest down the field: a minimum of the field on the
/// shape where the field is a plane's. Its name is that of the start.
SS_HD_LARGE inline void search_support(const Convex& c, const FieldSide& side, V3 p, std::uint32_t id,
                                       DirectionParts& parts) {
  SurfaceDistance at = side.mesh->field(p);
  for (int round = 0; round < 8; ++round) {
    const V3 q = surface_support(c, -at.normal);
    const SurfaceDistance there = side.mesh->field(q);
    if (!(there.distance < at.distance - 1e-9 * side.mesh->mesh->field.spacing)) break;
    p = q, at = there;
  }
  side.add(p, at, id, parts);
}

/// The lowest point of a sphere, capsule or cylinder, eight on each rim of a cylinder, and what is lowest
/// about the ends and the middle of a capsule in six directions.
SS_HD_LARGE inline void round_shape_in_field(const Convex& c, const FieldSide& side, DirectionParts& parts) {
  const V3 first = side.mesh->field(c.x).normal;
  search_support(c, side, surface_support(c, -first), 0, parts);
  if (c.kind == ShapeKind::cylinder) {
    for (std::int32_t cap = 0; cap < 2; ++cap) {
      Polygon rim;
      rim_polygon(c, cap, face_normal(c, cap), kRimCorners, 0, rim);
      for (int k = 0; k < rim.count; ++k)
        side.add(rim.corners[k].p, side.mesh->field(rim.corners[k].p),
                 static_cast<std::uint32_t>(1 + kRimCorners * cap + k), parts);
    }
    return;
  }
  const int places = c.kind == ShapeKind::sphere ? 1 : 3;
  for (int k = 0; k < places; ++k) {
    Convex ball = c;
    ball.kind = ShapeKind::sphere;
    if (places > 1) ball.x += ((k - 1) * c.size[1]) * c.r.column(1);
    for (std::int32_t d = 0; d < 6; ++d) {
      const V3 along = (d & 1 ? -1.0 : 1.0) * side.mesh->r.column(d / 2);
      search_support(ball, side, ball.x + ball.radius * along, static_cast<std::uint32_t>(100 + 6 * k + d),
                     parts);
    }
  }
}

SS_HD inline V3 box_corner(const Convex& c, int i) {
  return c.x + c.r * V3{i & 1 ? -c.size[0] : c.size[0], i & 2 ? -c.size[1] : c.size[1],
                        i & 4 ? -c.size[2] : c.size[2]};
}

/// Corners and edges of a box or hull.
SS_HD_LARGE inline void polyhedron_in_field(const Convex& c, const FieldSide& side, DirectionParts& parts) {
  const bool box = c.kind == ShapeKind::box;
  const std::int32_t corners = box ? 8 : c.hull->vertex_count, edges = box ? 12 : c.hull->edge_count;
  for (std::int32_t i = 0; i < corners; ++i) {
    const V3 p = box ? box_corner(c, i) : c.x + c.r * c.hull->vertices[i];
    side.add(p, side.mesh->field(p), static_cast<std::uint32_t>(i), parts);
  }
  for (std::int32_t e = 0; e < edges; ++e) {
    V3 p, q;
    if (box) {
      // Edge e runs along axis e / 4 from the corner whose other two bits are those of e.
      const int axis = e / 4, u = (axis + 1) % 3, v = (axis + 2) % 3;
      const int corner = (e & 1) << u | (e >> 1 & 1) << v;
      p = box_corner(c, corner), q = box_corner(c, corner | 1 << axis);
    } else {
      p = c.x + c.r * c.hull->vertices[c.hull->edges[e][0]];
      q = c.x + c.r * c.hull->vertices[c.hull->edges[e][1]];
    }
    search_edge(side, p, q, 0x40000000u + static_cast<std::uint32_t>(e), parts);
  }
}

/// The signed distance of p from a convex shape. Of a hull outside: from the plane of the face that p is
/// farthest outside of, which near its edges is less than the distance.
SS_HD inline SurfaceDistance convex_distance(const Convex& c, const V3& p) {
  if (c.kind == ShapeKind::sphere || c.kind == ShapeKind::capsule) {
    const V3 apart = p - nearest_on_core(c, p);
    const double d = norm(apart);
    return {d - c.radius, d > 0 ? apart / d : c.r.column(0)};
  }
  const V3 l = transposed_times(c.r, p - c.x);
  SurfaceDistance at{-1e300, {0, 1, 0}};
  if (c.kind == ShapeKind::box) {
    at = box_distance(l, c.size);
  } else if (c.kind == ShapeKind::cylinder) {
    at = cylinder_distance(l, c.size);
  } else {
    for (std::int32_t f = 0; f < c.hull->face_count; ++f) {
      const double d = dot(c.hull->normals[f], l) - c.hull->offsets[f];
      if (d > at.distance) at = {d, c.hull->normals[f]};
    }
  }
  return {at.distance, c.r * at.normal};
}

/// Vertices of mesh b in the distance of convex a.
SS_HD_LARGE inline void mesh_in_convex(const PlacedMesh& mesh, const Convex& c, DirectionParts& parts) {
  const double far = reach(c) + c.radius + parts.margin;
  for (std::int32_t i = 0; i < mesh.mesh->vertex_count; ++i) {
    const V3 p = mesh.vertex(i);
    if (norm2(p - c.x) > far * far) continue;
    const SurfaceDistance at = convex_distance(c, p);
    parts.add(p - (0.5 * at.distance) * at.normal, -at.normal, at.distance,
              mix(1, static_cast<std::uint32_t>(i)));
  }
}

}  // namespace narrow

/// As `collide`, for a mesh `b` and any `a`: a manifold for each direction in which they touch.
SS_HD_LARGE inline ManyManifolds collide_mesh(const Shape& a, const Pose& pa, const Shape& b, const Pose& pb,
                                              const ShapeLibrary& library, double margin) {
  const Vec<double, 3> origin = pb.x;
  narrow::DirectionParts parts;
  parts.margin = margin;
  parts.near = 0.02 * narrow::smaller(narrow::smallest(a.size), narrow::smallest(b.size));
  parts.count = 0;
  const narrow::PlacedMesh mesh = narrow::place_mesh(b, pb, origin, library);
  const narrow::FieldSide in_b{&mesh, 1, 2};
  if (a.kind == ShapeKind::mesh) {
    const narrow::PlacedMesh other = narrow::place_mesh(a, pa, origin, library);
    const narrow::FieldSide in_a{&other, -1, 3};
    narrow::mesh_in_field(other, in_b, parts);
    narrow::mesh_in_field(mesh, in_a, parts);
  } else {
    const narrow::Convex c = narrow::make_convex(a, pa, origin, library);
    narrow::mesh_in_convex(mesh, c, parts);
    if (a.kind == ShapeKind::box || a.kind == ShapeKind::hull) narrow::polyhedron_in_field(c, in_b, parts);
    else narrow::round_shape_in_field(c, in_b, parts);
  }
  ManyManifolds out;
  parts.finish(out);
  for (int k = 0; k < out.count; ++k)
    for (int i = 0; i < out.parts[k].count; ++i) out.parts[k].points[i].point += origin;
  return out;
}

}  // namespace stickslip
