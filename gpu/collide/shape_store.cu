#include "gpu/collide/shape_store.cuh"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

#include "gpu/collide/pair_class.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

double farthest(const std::vector<Vec3d>& points, const Pose& pose) {
  double most2 = 0;
  for (const Vec3d& p : points) most2 = std::max(most2, norm2(pose.apply(p)));
  return std::sqrt(most2);
}

/// [m] Largest distance of the shape from the origin of the frame that `pose` maps it to.
double reach_of(const Model& model, const Shape& shape, const Pose& pose) {
  const Vec3d& s = shape.size;
  switch (shape.kind) {
    case ShapeKind::sphere:
      return norm(pose.x) + s[0];
    case ShapeKind::capsule:
      return farthest({{0, s[1], 0}, {0, -s[1], 0}}, pose) + s[0];
    case ShapeKind::hull:
      return farthest(model.hulls[shape.data].vertices, pose);
    case ShapeKind::mesh:
      return farthest(model.shape_meshes[shape.data].vertices, pose);
    case ShapeKind::cylinder: {
      // Of the points c + s (u cos t + v sin t) of a rim, u and v unit and across its axis, the one farthest
      // from the origin is in the direction of the part of c across the axis.
      double most = 0;
      const Vec3d axis = pose.q.rotate({0, 1, 0});
      for (const double end : {s[1], -s[1]}) {
        const Vec3d c = pose.x + end * axis;
        const double along = dot(c, axis), across = norm(c - along * axis) + s[0];
        most = std::max(most, std::hypot(along, across));
      }
      return most;
    }
    default: {
      std::vector<Vec3d> corners(8);
      for (std::size_t i = 0; i < corners.size(); ++i)
        corners[i] = {i & 1 ? s[0] : -s[0], i & 2 ? s[1] : -s[1], i & 4 ? s[2] : -s[2]};
      return farthest(corners, pose);
    }
  }
}

/// Edges of all faces, each once, smaller vertex first.
std::vector<Vec2i> edges_of(const ConvexHull& hull) {
  std::vector<Vec2i> edges;
  for (std::size_t f = 0; f + 1 < hull.face_start.size(); ++f) {
    const std::int32_t begin = hull.face_start[f], end = hull.face_start[f + 1];
    for (std::int32_t k = begin; k < end; ++k) {
      const std::int32_t a = hull.face_vertices[k];
      const std::int32_t b = hull.face_vertices[k + 1 < end ? k + 1 : begin];
      edges.push_back({std::min(a, b), std::max(a, b)});
    }
  }
  const auto less = [](const Vec2i& a, const Vec2i& b) { return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1]; };
  std::sort(edges.begin(), edges.end(), less);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

/// Newell's normal: accurate for polygons that are flat only up to rounding.
Vec3d face_normal(const ConvexHull& hull, std::int32_t begin, std::int32_t end) {
  Vec3d n{0, 0, 0};
  const Vec3d origin = hull.vertices[hull.face_vertices[begin]];
  for (std::int32_t k = begin + 1; k + 1 < end; ++k)
    n += cross(hull.vertices[hull.face_vertices[k]] - origin,
               hull.vertices[hull.face_vertices[k + 1]] - origin);
  return normalized(n);
}

void check_shapes(const Model& model) {
  const auto count = static_cast<std::int32_t>(model.shapes.size());
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (body.shape_begin < 0 || body.shape_begin > body.shape_end || body.shape_end > count)
      throw std::invalid_argument("body " + std::to_string(b) + ": shapes [" +
                                  std::to_string(body.shape_begin) + ", " + std::to_string(body.shape_end) +
                                  ") of " + std::to_string(count));
  }
  for (std::size_t s = 0; s < model.shapes.size(); ++s) {
    const Shape& shape = model.shapes[s];
    const std::size_t have = shape.kind == ShapeKind::hull   ? model.hulls.size()
                             : shape.kind == ShapeKind::mesh ? model.shape_meshes.size()
                                                             : 0;
    const bool needs = shape.kind == ShapeKind::hull || shape.kind == ShapeKind::mesh;
    if (needs && (shape.data < 0 || static_cast<std::size_t>(shape.data) >= have))
      throw std::invalid_argument("shape " + std::to_string(s) + ": data " + std::to_string(shape.data) +
                                  " of " + std::to_string(have) + " hulls or meshes");
  }
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& part) {
  all.insert(all.end(), part.begin(), part.end());
}

}  // namespace

void ShapeStore::load(Context& ctx, const Model& model) {
  check_shapes(model);
  std::vector<double> shape_radius, radius;
  std::vector<Vec2i> range;
  for (const Shape& shape : model.shapes) shape_radius.push_back(reach_of(model, shape, Pose::identity()));
  for (const Body& body : model.bodies) {
    double most = 0;
    for (std::int32_t s = body.shape_begin; s < body.shape_end; ++s)
      most = std::max(most, reach_of(model, model.shapes[s], model.shapes[s].pose));
    radius.push_back(most);
    range.push_back({body.shape_begin, body.shape_end});
  }
  std::vector<HalfSpaceView> half_spaces;
  for (const HalfSpace& h : model.half_spaces) half_spaces.push_back({h.normal, h.offset});
  shapes_.upload(ctx, model.shapes);
  shape_radius_.upload(ctx, shape_radius);
  radius_.upload(ctx, radius);
  range_.upload(ctx, range);
  half_spaces_.upload(ctx, half_spaces);
  classify(ctx, model);
  load_hulls(ctx, model);
  load_meshes(ctx, model);
}

void ShapeStore::classify(Context& ctx, const Model& model) {
  std::vector<std::uint8_t> kind;
  std::set<ShapeKind> present;
  for (const Body& body : model.bodies) {
    for (std::int32_t s = body.shape_begin; s < body.shape_end; ++s) present.insert(model.shapes[s].kind);
    const bool single = body.shape_end - body.shape_begin == 1;
    const bool convex = single && model.shapes[body.shape_begin].kind != ShapeKind::mesh;
    kind.push_back(convex ? static_cast<std::uint8_t>(model.shapes[body.shape_begin].kind) : kManyParts);
  }
  has_many_parts_ = std::find(kind.begin(), kind.end(), kManyParts) != kind.end();
  has_search_ = false;
  for (const ShapeKind a : present)
    for (const ShapeKind b : present) has_search_ |= pair_class(a, b) == PairClass::search;
  kind_.upload(ctx, kind);
}

void ShapeStore::load_hulls(Context& ctx, const Model& model) {
  std::vector<Vec3d> vertices, normals;
  std::vector<double> offsets;
  std::vector<std::int32_t> starts, corners;
  std::vector<Vec2i> edges;
  struct First {
    std::size_t vertex, face, start, corner, edge;
  };
  std::vector<First> first;
  for (const ConvexHull& hull : model.hulls) {
    first.push_back({vertices.size(), normals.size(), starts.size(), corners.size(), edges.size()});
    for (std::size_t f = 0; f + 1 < hull.face_start.size(); ++f) {
      const Vec3d n = face_normal(hull, hull.face_start[f], hull.face_start[f + 1]);
      double offset = 0;
      for (std::int32_t k = hull.face_start[f]; k < hull.face_start[f + 1]; ++k)
        offset += dot(n, hull.vertices[hull.face_vertices[k]]);
      normals.push_back(n);
      offsets.push_back(offset / (hull.face_start[f + 1] - hull.face_start[f]));
    }
    append(vertices, hull.vertices);
    append(starts, hull.face_start);
    append(corners, hull.face_vertices);
    append(edges, edges_of(hull));
  }
  first.push_back({vertices.size(), normals.size(), starts.size(), corners.size(), edges.size()});
  hull_vertices_.upload(ctx, vertices);
  hull_normals_.upload(ctx, normals);
  hull_offsets_.upload(ctx, offsets);
  face_start_.upload(ctx, starts);
  face_vertices_.upload(ctx, corners);
  hull_edges_.upload(ctx, edges);
  std::vector<HullView> views;
  const auto between = [](std::size_t begin, std::size_t end) {
    return static_cast<std::int32_t>(end - begin);
  };
  for (std::size_t h = 0; h < model.hulls.size(); ++h) {
    const First &at = first[h], &next = first[h + 1];
    views.push_back({hull_vertices_.data() + at.vertex, between(at.vertex, next.vertex),
                     hull_normals_.data() + at.face, hull_offsets_.data() + at.face,
                     face_start_.data() + at.start, face_vertices_.data() + at.corner,
                     between(at.face, next.face), hull_edges_.data() + at.edge, between(at.edge, next.edge)});
  }
  hulls_.upload(ctx, views);
}

void ShapeStore::load_meshes(Context& ctx, const Model& model) {
  std::vector<Vec3d> vertices;
  std::vector<Vec3i> triangles;
  std::vector<float> distances;
  std::vector<std::int32_t> trees;
  for (const ShapeMesh& mesh : model.shape_meshes) {
    append(vertices, mesh.vertices);
    append(triangles, mesh.triangles);
    append(distances, mesh.distance);
    append(trees, mesh.tree);
  }
  mesh_vertices_.upload(ctx, vertices);
  mesh_triangles_.upload(ctx, triangles);
  distances_.upload(ctx, distances);
  trees_.upload(ctx, trees);
  std::vector<MeshShapeView> views;
  const Vec3d* vertex = mesh_vertices_.data();
  const Vec3i* triangle = mesh_triangles_.data();
  const float* distance = distances_.data();
  const std::int32_t* tree = trees_.data();
  for (const ShapeMesh& mesh : model.shape_meshes) {
    views.push_back({vertex,
                     triangle,
                     static_cast<std::int32_t>(mesh.vertices.size()),
                     static_cast<std::int32_t>(mesh.triangles.size()),
                     {mesh.grid_origin, mesh.grid_spacing, mesh.grid_nodes, distance,
                      mesh.tree.empty() ? nullptr : tree, mesh.levels}});
    vertex += mesh.vertices.size();
    triangle += mesh.triangles.size();
    distance += mesh.distance.size();
    tree += mesh.tree.size();
  }
  meshes_.upload(ctx, views);
}

ShapeView ShapeStore::view() const {
  return {shapes_.data(),
          shape_radius_.data(),
          range_.data(),
          radius_.data(),
          kind_.data(),
          half_spaces_.data(),
          static_cast<std::int32_t>(range_.size()),
          static_cast<std::int32_t>(half_spaces_.size()),
          {hulls_.data(), meshes_.data()}};
}

}  // namespace stickslip::STICKSLIP_BACKEND
