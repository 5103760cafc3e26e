// Solids embedded in a lattice: tets that do not conform to the surface carry the elasticity, and each node
// of the surface follows the four nodes of the tet that contains it at rest,
//   x_s = sum_k w_sk c_k,   sum_k w_sk = 1   [Daviet20].
// Lattice nodes carry the mass, surface nodes none; contacts act on surface nodes.
#pragma once

#include "gpu/model/model.h"

namespace stickslip {

struct EmbeddedSolid {
  std::vector<Vec<double, 3>> nodes;  // [m] of the lattice, then of the surface
  std::vector<Vec4i> tets;            // positive volume
  std::vector<Vec3i> triangles;       // outward
  Lattice lattice;
};

/// Embeds a closed surface in the tets of a mesh that covers it, which may have either orientation. Tets that
/// neither overlap the solid nor contain a node of its surface are left out. A tet is elastic to the part of
/// its volume inside the solid, found by subdivision to 1/512, but at least to kLeastShare. The volumes of
/// the lattice nodes have the solid's volume and centre; like any lumped mass they exceed its second moments
/// by O(edge^2). Throws std::invalid_argument when the surface is not closed, a node of it is in no tet, or
/// the tets are too large for positive volumes.
EmbeddedSolid embed(const std::vector<Vec<double, 3>>& surface, const std::vector<Vec3i>& triangles,
                    const std::vector<Vec<double, 3>>& nodes, const std::vector<Vec4i>& tets);

/// The least part of a tet's volume that is elastic and has mass: nodes of tets that the solid hardly
/// overlaps would be almost free otherwise.
inline constexpr double kLeastShare = 0.05;

/// Appends such a solid with its nodes moved to `nodes` by an affine map.
Object& add_embedded(Model& model, std::string name, const EmbeddedSolid& solid,
                     const std::vector<Vec<double, 3>>& nodes, std::int32_t material);

/// A node of a surface, and the lattice nodes that it follows.
struct LatticeFollower {
  std::int32_t node;
  Leaders controls;
  LeaderWeights weights;
};
/// How many nodes `leaders` names.
SS_HD inline int leader_count(const Leaders& leaders) {
  int count = 0;
  while (count < kMostLeaders && leaders[count] >= 0) ++count;
  return count;
}
/// A list of eight with those of a tet.
SS_HD inline Leaders leaders_of(const Vec4i& nodes) {
  return {nodes[0], nodes[1], nodes[2], nodes[3], -1, -1, -1, -1};
}
std::vector<LatticeFollower> followers(const Model& model, const Object& object);

inline const Lattice& lattice_of(const Model& model, const Object& object) {
  return model.lattices[static_cast<std::size_t>(object.lattice)];
}

/// Gives the surface nodes of all lattices the places and velocities that follow from their lattice nodes. A
/// stage of `finalize`, after check_lattices.
void follow_lattices(Model& model);
/// Throws std::invalid_argument naming the object whose lattice does not fit it.
void check_lattices(const Model& model);

}  // namespace stickslip
