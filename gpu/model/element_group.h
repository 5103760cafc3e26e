// Elements of the deformable parts of a model: groups of one kind and material, as stencils of one to four
// nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/model/cloth_pattern.h"
#include "gpu/model/model.h"
#include "gpu/model/tet10.h"

namespace stickslip {

/// Each kind has one term of the potential, see gpu/energy/energy_terms.cu.
enum class ElementKind {
  tet,          // a linear tetrahedron of a deformable solid
  tet10,        // a ten-node tetrahedron of such a solid, as nine stencils: see tet10.h
  bone,         // the part of a solid that two frames move, as six stencils: see frames.h
  skin,         // a triangle of the surface of a body of frames, in the air
  rod_segment,  // a segment of a rod and its ghost: x0, x1, y
  rod_vertex,   // a vertex between two segments, as three stencils: see rod.h
  membrane,     // a triangle of cloth
  bend,         // a triangle of cloth and its neighbours, as up to four stencils: see bend_patch.h
  spring,       // a spring between two points, as one or more stencils: see spring.h; of no object
  control_tet   // the four control nodes of an affine body; one per group
};

struct ElementGroup {
  ElementKind kind;
  std::int32_t object;  // -1: of none
  std::int32_t material;
  double volume;     // [m^3] of the object
  double thickness;  // [m] of a thin object, else 0
  double aspect;     // of rods, see Object
  /// [J] for a body that stands for a rigid one: replaces volume times shear modulus in its orthogonality
  /// energy, at a strain bound of 1 (see body_stiffness in barrier_model.h); 0: those of object and material.
  double stiffness;
  Vec<double, 3> warp;               // of cloth, see Object
  std::vector<Vec4i> stencils;       // nodes; -1 in corners that a kind does not use, behind the others
  std::vector<double> shares{};      // per tet of a lattice, see Lattice; empty: 1 each
  std::vector<FlatStencil> flat{};   // per stencil of sewn cloth; empty: the rest positions of its nodes
  std::vector<FramePoint> points{};  // of bones, which count from the first of the group
};

/// The groups of all elastic objects, in the order of the objects; behind them one of all springs, if there
/// are any.
std::vector<ElementGroup> element_groups(const Model& model);

/// The tets and the triangles of one object.
std::span<const Vec4i> tets_of(const Model& model, const Object& object);
std::span<const Vec3i> triangles_of(const Model& model, const Object& object);
/// The segments of one object: of rods, or of a collider of points.
std::span<const Vec2i> segments_of(const Model& model, const Object& object);

struct RodCount {
  std::size_t strands = 0, segments = 0;
};
RodCount count_rods(const Model& model, const Object& rods);

/// The nodes of each strand of all rods, x0, y0, x1, y1, ...: elements couple each to the four before and
/// after it only. The chain of a closed rod leaves out two nodes and the ghost between them.
std::vector<std::vector<std::int32_t>> rod_chains(const Model& model);

/// Whether the elastic objects are rods, at least one, no rod is closed, and there are no springs: each pair
/// of nodes that elements couple is then in one of `rod_chains`, and at most four apart there.
bool has_open_rods_alone(const Model& model);

/// The ghost of a segment (an index into Model::segments) of rods.
inline std::int32_t rod_ghost(const Object& rods, std::int32_t segment) {
  return rods.node_begin + segment - rods.segment_begin;
}

/// The ten-node tets of an object that has such.
std::vector<Tet10> ten_node_tets_of(const Model& model, const Object& object);

/// Elements of solids: linear tets and ten-node tets.
struct TetCount {
  std::size_t linear = 0, ten_node = 0;
  std::size_t all() const { return linear + ten_node; }
};
TetCount count_tets(const Model& model);

/// Part of an element's volume that a node carries.
struct NodeVolume {
  std::int32_t node;
  double volume;  // [m^3]
};
/// Of each element of the object at rest, as masses are lumped: a quarter of a linear tet per node, the
/// shares of tet10.h, a third of a triangle of cloth (area times thickness; of sewn cloth, the area of the
/// pattern), half of a segment of a rod (length times the area of a circle) less the share of its ghost
/// (rod.h), which is small with quasistatic twist. Of a solid in a lattice: the volumes of its lattice nodes.
std::vector<NodeVolume> lumped_volumes(const Model& model, const Object& object);
/// [m^3] the same by nodes of the object.
std::vector<double> node_volumes(const Model& model, const Object& object);
/// Per tet of the object: the part of its volume that is elastic, which is 1 except in lattices.
std::vector<double> tet_shares(const Model& model, const Object& object);
/// [m^3] of the object at rest: of its tets, of the solid in its lattice, or of all elements of a thin
/// object.
double solid_volume(const Model& model, const Object& object);

}  // namespace stickslip
