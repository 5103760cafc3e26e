// Shapes of rigid bodies: plain descriptions that kernels read.
#pragma once

#include <cstdint>

#include "gpu/math/quat.h"

namespace stickslip {

enum class ShapeKind : std::uint8_t { sphere, capsule, box, cylinder, hull, mesh };

/// One convex shape, or a mesh with its distance field, in its own frame. Capsules and cylinders lie along y.
struct Shape {
  ShapeKind kind = ShapeKind::sphere;
  /// [m] sphere: (radius, -, -); capsule, cylinder: (radius, half of the straight length, radius); box: half
  /// sizes; hull, mesh: half sizes of its bounding box, which is centred at the frame's origin.
  Vec<double, 3> size{0, 0, 0};
  std::int32_t data = -1;        // hull: into the hulls, mesh: into the meshes
  Pose pose = Pose::identity();  // in the body's frame, whose origin is the centre of mass
};

/// A convex polyhedron. Faces are convex polygons, counter-clockwise from outside.
struct HullView {
  const Vec<double, 3>* vertices;
  std::int32_t vertex_count;
  const Vec<double, 3>* normals;   // per face, unit, outward
  const double* offsets;           // per face: dot(normal, x) = offset on it
  const std::int32_t* face_start;  // faces + 1, into face_vertices
  const std::int32_t* face_vertices;
  std::int32_t face_count;
  const Vec<std::int32_t, 2>* edges;  // each once
  std::int32_t edge_count;
};

/// A signed distance field on a grid, < 0 inside: value at node (i, j, k) = values[i + n0 (j + n1 k)].
///
/// With a `tree`, an adaptive one: the box of the same nodes is cut into root cells of 2^levels cells each
/// way, in the order of the nodes, and each of them into an octree. tree[c] >= 0 is the first of the eight
/// children of cell c, of which bit k tells the upper half along axis k; tree[c] < 0 is a leaf, whose corners
/// have the values from 8 (-1 - tree[c]) on, in the same order.
struct DistanceGridView {
  Vec<double, 3> origin;  // [m] of node (0, 0, 0)
  double spacing;         // [m] of the smallest cells
  Vec<std::int32_t, 3> nodes;
  const float* values;                 // [m]
  const std::int32_t* tree = nullptr;  // root cells first
  std::int32_t levels = 0;
};

/// A closed triangle mesh, outward by the right-hand rule, with its distance field.
struct MeshShapeView {
  const Vec<double, 3>* vertices;
  const Vec<std::int32_t, 3>* triangles;
  std::int32_t vertex_count, triangle_count;
  DistanceGridView field;
};

/// What `Shape::data` points into. Backend memory.
struct ShapeLibrary {
  const HullView* hulls;
  const MeshShapeView* meshes;
};

/// Where two shapes touch or nearly do. The normal points from b to a.
struct ManifoldPoint {
  Vec<double, 3> point;   // [m] world: halfway between the two surfaces
  double gap;             // [m] along the normal; < 0: overlap
  std::uint32_t feature;  // the same from step to step while the same features touch
};

struct Manifold {
  static constexpr int kMost = 8;
  Vec<double, 3> normal;  // unit, world
  int count;              // of points; 0: apart by more than the margin
  ManifoldPoint points[kMost];
};

}  // namespace stickslip
