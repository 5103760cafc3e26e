// Bodies of frames: solids that a few affine frames along their axes move [Martin10, Faure11; Daviet20 §7.4],
//   x(X) = sum_f w_f(X) (A_f X + t_f) = sum_fk N_fk(X) c_fk,   N_fk = w_f b_fk,
// with the hats w_f of frame_path.h. The unknowns of a frame are the places c_fk of its four points, whose
// barycentric coordinates at rest are b_fk: a node of the surface is linear in those of two frames.
//
// A body that its frames all move alike moves affinely, since sum_f w_f = 1: rigid motions cost no energy,
// and a uniform strain is exact. Bending of a straight bar at a uniform curvature is exact too, besides
// Poisson's effect across the section: a frame strains its section uniformly, so a bar bends as stiffly as a
// plate that is held sideways, by (1 - nu) / ((1 + nu) (1 - 2 nu)), while it stretches as it should.
//
// Mass: the points of a frame have a quarter of its mass each, V_f = integral of w_f, and stand where they
// have the moments of w_f. So the lumped matrix has the kinetic energy of the body in any affine motion.
#pragma once

#include <span>

#include "gpu/model/model.h"

namespace stickslip {

/// Samples per bone: the corners of a cube with the volume, the centre and the covariance of what the bone
/// moves. Those of a box are the 2 x 2 x 2 points of Gauss.
inline constexpr int kBonePoints = 8;

/// An element of a bone has six stencils: two of the four pairs of its points in each. A block of the element
/// stands in the first of them that has both nodes.
inline constexpr int kBoneStencils = 6;
SS_HD constexpr int bone_stencil(int stencil, int corner) {
  constexpr int pairs[kBoneStencils][2] = {{0, 1}, {2, 3}, {0, 2}, {0, 3}, {1, 2}, {1, 3}};
  return 2 * pairs[stencil][corner / 2] + corner % 2;
}
/// The first two stencils have the blocks of their four nodes, the others those of nodes of both of their
/// pairs.
SS_HD constexpr bool bone_owns(int stencil, int row, int column) {
  return stencil < 2 || row / 2 != column / 2;
}

/// Drag of a closed skin is spread over both sides of the body.
inline constexpr double kSkinShare = 0.5;

/// Appends a body of frames. `tets` fill it and are not kept: they give its volume and its surface. `paths`:
/// places of the frames [m], from root to tip; a place of one path that coincides with one of an earlier path
/// is the same frame. Each connected part of the mesh belongs to the path nearest to it. Throws
/// std::invalid_argument naming the object: if a frame or a bone moves no part of it, frames of a path
/// coincide, or its tets are faulty.
Object& add_frames(Model& model, std::string name, const std::vector<Vec<double, 3>>& nodes,
                   const std::vector<Vec4i>& tets, const std::vector<std::vector<Vec<double, 3>>>& paths,
                   std::int32_t material);

/// The points of the frames of a bone, by its two frames.
std::vector<Vec4i> bone_stencils(const Model& model, const Object& object);
Leaders bone_of_stencils(std::span<const Vec4i, kBoneStencils> stencils);

/// A stage of check_lattices: throws std::invalid_argument naming the object whose frames do not fit it.
void check_frames(const Model& model, const Object& object);

}  // namespace stickslip
