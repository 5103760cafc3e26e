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

/// A place where two surfaces are near each other.
struct FieldPoint {
  V3 point;    // half-way between the surfaces
  V3 normal;   // from b to a
  double gap;  // [m]
  std::uint32_t feature;
};

/// Points sorted by the direction of their normals (within 25 degrees of the first one), which within a part
/// become one: their mean, the nearer the weightier.
struct DirectionParts {
  double margin;
  double near;  // [m] of two points of a part nearer to each other than this one is enough
  int count;
  PointsOf<16> lists[ManyManifolds::kMost];
  V3 sum[ManyManifolds::kMost];
  double least[ManyManifolds::kMost];

  /// Without points. `size`: [m] the smaller of the two shapes' smallest half sizes.
  SS_HD void begin(double most, double size) {
    margin = most;
    near = 0.02 * size;
    count = 0;
  }
  /// Adds what sample(i, found) finds for i in [0, n), in this order; it returns whether it found a point.
  template <class Sample>
  SS_HD void each(std::int32_t n, const Sample& sample) {
    for (std::int32_t i = 0; i < n; ++i) {
      FieldPoint found;
      if (sample(i, found)) add(found);
    }
  }
  /// Where all parts are taken, a deeper point takes the shallowest.
  SS_HD void add(const FieldPoint& found) {
    const V3 &point = found.point, &normal = found.normal;
    const double gap = found.gap;
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
    if (!replaces(lists[k], point, gap)) lists[k].add(point, gap, found.feature);
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
  /// The manifold of part k, with its points moved by `origin`. To be called once.
  SS_HD Manifold finish(int k, const V3& origin) {
    const V3 mean = normalized(sum[k]);
    if (norm2(mean) > 0.5) lists[k].normal = mean;
    Manifold m = to_manifold(lists[k]);
    for (int i = 0; i < m.count; ++i) m.points[i].point += origin;
    return m;
  }
};

/// The side of a surface's points: whether their normals point to a or to b, and the start of their names.
struct FieldSide {
  const PlacedMesh* mesh;
  double sign;  // 1: the mesh is b, its outward normals point to a; -1: the mesh is a
  std::uint32_t name;

  /// Of a point of the other surface.
  SS_HD FieldPoint point(const V3& p, const SurfaceDistance& at, std::uint32_t id) const {
    return {p - (0.5 * at.distance) * at.normal, sign * at.normal, at.distance, mix(name, id)};
  }
};

/// The point between p and q where the field is least, when that is below both ends: a bracketed search.
SS_HD_LARGE inline bool search_edge(const FieldSide& side, V3 p, V3 q, std::uint32_t id, double margin,
                                    FieldPoint& found) {
  const double ends[2] = {side.mesh->field(p).distance, side.mesh->field(q).distance};
  const double length = norm(q - p), low = ends[0] < ends[1] ? ends[0] : ends[1];
  // The field falls at most as fast as one goes, and beyond the grid is known to a tenth.
  if (0.5 * (0.9 * (ends[0] + ends[1]) - length) > margin) return false;
  for (int round = 0; round < 24 && norm2(q - p) > 1e-12 * length * length; ++round) {
    const V3 s = p + (1.0 / 3) * (q - p), t = q + (1.0 / 3) * (p - q);
    if (side.mesh->field(s).distance < side.mesh->field(t).distance) q = t;
    else p = s;
  }
  const V3 m = 0.5 * (p + q);
  const SurfaceDistance at = side.mesh->field(m);
  found = side.point(m, at, id);
  return at.distance < low - 1e-3 * length;
}

/// Weights of corners that change by less count as settled.
inline constexpr double kSettledWeight = 1e-7;

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

/// A point of a triangle: its weights and place, and the distance there.
struct TrianglePoint {
  V3 w, p;
  SurfaceDistance at;
};

/// How descend_in_triangle goes: `adapts`: with the step lengths of Barzilai and Borwein. On smooth surfaces
/// four rounds are then enough, but for one triangle in a thousand. Near kinks, as of boxes and of fields on
/// grids, they would jump between places that are almost equally near, so that a step's contacts depended on
/// rounding: there the first length is kept, but for halving.
struct TriangleDescent {
  int rounds;
  bool adapts;
};

/// Moves `from` down the distance, by projected gradients [Course Eq.110]; a step that does not descend is
/// halved. `distance(q)` is the other surface's at q; `center`: of the triangle, `span` [m]: from there to
/// the farthest corner. With steps that adapt, near a surface of radius R, the point then is where the
/// distance is least, to about 1e-6 R.
template <class Distance>
SS_HD inline TrianglePoint descend_in_triangle(const Distance& distance, const V3 (&t)[3], const V3& center,
                                               double span, const TriangleDescent& how, TrianglePoint from) {
  const auto slope_at = [&](const V3& normal) {
    return V3{dot(normal, t[0] - center), dot(normal, t[1] - center), dot(normal, t[2] - center)};
  };
  if (!(span > 0)) return from;
  V3 slope = slope_at(from.at.normal);
  double step = how.adapts ? 1 / span : 1 / span / span, halved = 1;  // [1/m]
  for (int round = 0; round < how.rounds && (how.adapts || halved > 1e-3); ++round) {
    const V3 w = onto_triangle(from.w - step * slope), moved = w - from.w;
    if (how.adapts && norm(moved) < kSettledWeight) break;
    const V3 q = w[0] * t[0] + w[1] * t[1] + w[2] * t[2];
    const SurfaceDistance there = distance(q);
    if (!(there.distance < from.at.distance)) {
      step *= 0.5;
      halved *= 0.5;
      continue;
    }
    const V3 next = slope_at(there.normal);
    const double bend = dot(moved, next - slope);
    if (how.adapts && bend > 0) step = dot(moved, moved) / bend;
    from = {w, q, there};
    slope = next;
  }
  return from;
}

/// The point of a triangle where the field is least, when it lies below the corners; these are tested
/// elsewhere.
SS_HD_LARGE inline bool search_triangle(const FieldSide& side, const V3 (&t)[3], std::uint32_t id,
                                        double margin, FieldPoint& found) {
  const V3 center = (1.0 / 3) * (t[0] + t[1] + t[2]);
  double span = 0;
  for (const V3& p : t) span = larger(span, norm(p - center));
  const double beyond = side.mesh->beyond_grid(center), near = span + margin;
  const SurfaceDistance at = side.mesh->field(center);
  if (beyond > near || (beyond <= 0 && at.distance > near)) return false;
  // Where the field is that of a plane, a corner is lowest; how much lower it can be follows from its bend.
  double corners = 1e300, bend = 0;
  for (const V3& q : t) {
    const double d = side.mesh->field(q).distance;
    corners = smaller(corners, d);
    bend = larger(bend, std::abs(d - at.distance - dot(at.normal, q - center)));
  }
  if (bend < 2e-3 * span || corners - 4 * bend > margin) return false;
  const TrianglePoint lowest =
      descend_in_triangle([&](const V3& q) { return side.mesh->field(q); }, t, center, span, {12, false},
                          {{1.0 / 3, 1.0 / 3, 1.0 / 3}, center, at});
  found = side.point(lowest.p, lowest.at, id);
  return lowest.at.distance < corners - 1e-3 * span;
}

/// All vertices of one mesh, and the insides of its triangles, in the field of the other.
template <class Points>
SS_HD_LARGE inline void mesh_in_field(const PlacedMesh& mesh, const FieldSide& side, Points& points) {
  const MeshShapeView& m = *mesh.mesh;
  const double margin = points.margin;
  points.each(m.vertex_count, [&](std::int32_t i, FieldPoint& found) {
    const V3 p = mesh.vertex(i);
    if (side.mesh->beyond_grid(p) > margin) return false;
    found = side.point(p, side.mesh->field(p), static_cast<std::uint32_t>(i));
    return true;
  });
  points.each(m.triangle_count, [&](std::int32_t i, FieldPoint& found) {
    const Vec<std::int32_t, 3> c = m.triangles[i];
    const V3 t[3] = {mesh.vertex(c[0]), mesh.vertex(c[1]), mesh.vertex(c[2])};
    return search_triangle(side, t, 0x40000000u + static_cast<std::uint32_t>(i), margin, found);
  });
}

/// The convex shape's whole surface, not its core's, farthest along d.
SS_HD inline V3 surface_support(const Convex& c, const V3& d) {
  const V3 p = support(c, d);
  return c.radius > 0 ? p + c.radius * normalized(d) : p;
}

/// From p on, always the point of the shape that lies farthest down the field: a minimum of the field on the
/// shape where the field is a plane's. Its name is that of the start.
SS_HD_LARGE inline FieldPoint search_support(const Convex& c, const FieldSide& side, V3 p, std::uint32_t id) {
  SurfaceDistance at = side.mesh->field(p);
  for (int round = 0; round < 8; ++round) {
    const V3 q = surface_support(c, -at.normal);
    const SurfaceDistance there = side.mesh->field(q);
    if (!(there.distance < at.distance - 1e-9 * side.mesh->mesh->field.spacing)) break;
    p = q, at = there;
  }
  return side.point(p, at, id);
}

/// Eight points on each rim of a cylinder.
template <class Points>
SS_HD_LARGE inline void rims_in_field(const Convex& c, const FieldSide& side, Points& points) {
  points.each(2 * kRimCorners, [&](std::int32_t i, FieldPoint& found) {
    const std::int32_t cap = i / kRimCorners;
    RimWalk walk(c, cap, face_normal(c, cap), kRimCorners);
    for (std::int32_t k = 0; k < i % kRimCorners; ++k) walk.advance();
    const V3 p = walk.corner(c);
    found = side.point(p, side.mesh->field(p), static_cast<std::uint32_t>(1 + i));
    return true;
  });
}

/// The lowest point of a sphere, capsule or cylinder, points on the rims of a cylinder, and what is lowest
/// about the ends and the middle of a capsule in six directions.
template <class Points>
SS_HD_LARGE inline void round_shape_in_field(const Convex& c, const FieldSide& side, Points& points) {
  points.each(1, [&](std::int32_t, FieldPoint& found) {
    const V3 first = side.mesh->field(c.x).normal;
    found = search_support(c, side, surface_support(c, -first), 0);
    return true;
  });
  if (c.kind == ShapeKind::cylinder) return rims_in_field(c, side, points);
  const std::int32_t places = c.kind == ShapeKind::sphere ? 1 : 3;
  points.each(6 * places, [&](std::int32_t i, FieldPoint& found) {
    const std::int32_t k = i / 6, d = i % 6;
    Convex ball = c;
    ball.kind = ShapeKind::sphere;
    if (places > 1) ball.x += ((k - 1) * c.size[1]) * c.r.column(1);
    const V3 along = (d & 1 ? -1.0 : 1.0) * side.mesh->r.column(d / 2);
    found = search_support(ball, side, ball.x + ball.radius * along, static_cast<std::uint32_t>(100 + i));
    return true;
  });
}

SS_HD inline V3 box_corner(const Convex& c, int i) {
  return c.x + c.r * V3{i & 1 ? -c.size[0] : c.size[0], i & 2 ? -c.size[1] : c.size[1],
                        i & 4 ? -c.size[2] : c.size[2]};
}

/// The ends of edge e of a box or hull.
SS_HD inline void edge_ends(const Convex& c, std::int32_t e, V3& p, V3& q) {
  if (c.kind == ShapeKind::hull) {
    p = c.x + c.r * c.hull->vertices[c.hull->edges[e][0]];
    q = c.x + c.r * c.hull->vertices[c.hull->edges[e][1]];
    return;
  }
  // Edge e runs along axis e / 4 from the corner whose other two bits are those of e.
  const int axis = e / 4, u = (axis + 1) % 3, v = (axis + 2) % 3;
  const int corner = (e & 1) << u | (e >> 1 & 1) << v;
  p = box_corner(c, corner), q = box_corner(c, corner | 1 << axis);
}

/// Corners and edges of a box or hull.
template <class Points>
SS_HD_LARGE inline void polyhedron_in_field(const Convex& c, const FieldSide& side, Points& points) {
  const bool box = c.kind == ShapeKind::box;
  const double margin = points.margin;
  points.each(box ? 8 : c.hull->vertex_count, [&](std::int32_t i, FieldPoint& found) {
    const V3 p = box ? box_corner(c, i) : c.x + c.r * c.hull->vertices[i];
    found = side.point(p, side.mesh->field(p), static_cast<std::uint32_t>(i));
    return true;
  });
  points.each(box ? 12 : c.hull->edge_count, [&](std::int32_t e, FieldPoint& found) {
    V3 p, q;
    edge_ends(c, e, p, q);
    return search_edge(side, p, q, 0x40000000u + static_cast<std::uint32_t>(e), margin, found);
  });
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
template <class Points>
SS_HD_LARGE inline void mesh_in_convex(const PlacedMesh& mesh, const Convex& c, Points& points) {
  const double far = reach(c) + c.radius + points.margin;
  points.each(mesh.mesh->vertex_count, [&](std::int32_t i, FieldPoint& found) {
    const V3 p = mesh.vertex(i);
    if (norm2(p - c.x) > far * far) return false;
    const SurfaceDistance at = convex_distance(c, p);
    found = {p - (0.5 * at.distance) * at.normal, -at.normal, at.distance,
             mix(1, static_cast<std::uint32_t>(i))};
    return true;
  });
}

/// All points of a mesh `b` and any `a` that may touch, relative to the place of b's body. `Points` has a
/// `margin` and `each`, as DirectionParts.
template <class Points>
SS_HD_LARGE inline void find_mesh_points(const Shape& a, const Pose& pa, const Shape& b, const Pose& pb,
                                         const ShapeLibrary& library, Points& points) {
  const V3 origin = pb.x;
  const PlacedMesh mesh = place_mesh(b, pb, origin, library);
  const FieldSide in_b{&mesh, 1, 2};
  if (a.kind == ShapeKind::mesh) {
    const PlacedMesh other = place_mesh(a, pa, origin, library);
    const FieldSide in_a{&other, -1, 3};
    mesh_in_field(other, in_b, points);
    mesh_in_field(mesh, in_a, points);
    return;
  }
  const Convex c = make_convex(a, pa, origin, library);
  mesh_in_convex(mesh, c, points);
  if (a.kind == ShapeKind::box || a.kind == ShapeKind::hull) polyhedron_in_field(c, in_b, points);
  else round_shape_in_field(c, in_b, points);
}

}  // namespace narrow

/// As `collide`, for a mesh `b` and any `a`: a manifold for each direction in which they touch.
SS_HD_LARGE inline ManyManifolds collide_mesh(const Shape& a, const Pose& pa, const Shape& b, const Pose& pb,
                                              const ShapeLibrary& library, double margin) {
  narrow::DirectionParts parts;
  parts.begin(margin, narrow::smaller(narrow::smallest(a.size), narrow::smallest(b.size)));
  narrow::find_mesh_points(a, pa, b, pb, library, parts);
  ManyManifolds out;
  out.count = parts.count;
  for (int k = 0; k < out.count; ++k) out.parts[k] = parts.finish(k, pb.x);
  return out;
}

}  // namespace stickslip
