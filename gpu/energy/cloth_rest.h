// What the terms of cloth need of its rest shape. Host only.
#pragma once

#include "gpu/math/mat.h"
#include "gpu/model/bend_patch.h"
#include "gpu/model/cloth_pattern.h"
#include "gpu/params/params.h"

namespace stickslip {

/// Unit vectors along warp and weft in the plane of a triangle. Where `warp` is normal to it, its first edge
/// is the warp.
struct ClothAxes {
  Vec<double, 3> warp, weft;

  /// In coordinates of the plane.
  Vec<double, 2> operator()(const Vec<double, 3>& p) const { return {dot(warp, p), dot(weft, p)}; }
};
ClothAxes cloth_axes(const Vec<double, 3>& x0, const Vec<double, 3>& x1, const Vec<double, 3>& x2,
                     const Vec<double, 3>& warp);

/// The edges x1 - x0 and x2 - x0 [m] of a triangle at rest along warp and weft. With a `flat` that is given,
/// of the pattern.
struct MembraneRest {
  Vec<double, 2> e1, e2;

  double area2() const { return e1[0] * e2[1] - e1[1] * e2[0]; }  // [m^2] twice the area
};
MembraneRest membrane_rest(const Vec4i& triangle, std::span<const Vec<double, 3>> rest,
                           const Vec<double, 3>& warp, const FlatStencil& flat);

/// A patch at rest. Entries of hinges beyond `count` are zero.
struct BendRest {
  int count = 0;
  double area = 0;          // [m^2] of its own triangle
  Vec<double, 2> area2[3];  // [m^2] twice the areas of both triangles of a hinge
  double angle[3];
  Mat<double, 3> rows;  // [m] M: angles from curvatures along warp and weft, see hinge.h
};
/// `flat`: per hinge of the patch, of sewn cloth; empty: all of the rest positions.
BendRest bend_rest(const BendPatch& patch, std::span<const Vec<double, 3>> rest, const Vec<double, 3>& warp,
                   std::span<const FlatStencil> flat = {});

/// G [J] of a patch, see hinge.h. Eigenvalues of M D^-1 M' below a hundredth of the largest are raised to
/// that: they are those of curvatures that the neighbours hardly show.
Mat<double, 3> bend_stiffness(const BendRest& patch, const Material& material, double thickness);

}  // namespace stickslip
