#include "gpu/energy/cloth_rest.h"

#include <algorithm>

#include "gpu/energy/hinge.h"
#include "gpu/energy/sheet.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

const Vec3d kPatternWarp{1, 0, 0};  // see FlatStencil

/// D^-1 [1/(J)] for (K_xx, K_yy, 2 K_xy): the compliance of the sheet at a twelfth of its thickness cubed.
Mat<double, 3> bend_compliance(const Material& material, double thickness) {
  double warp = material.young, weft = material.young_weft, shear = material.shear;
  sheet_constants(warp, weft, material.poisson, shear);
  auto d = Mat<double, 3>::zero();
  d(0, 0) = 1 / warp;
  d(1, 1) = 1 / weft;
  d(0, 1) = d(1, 0) = -material.poisson / std::sqrt(warp * weft);
  d(2, 2) = 1 / shear;
  return (12 / (material.bending * thickness * thickness * thickness)) * d;
}

}  // namespace

ClothAxes cloth_axes(const Vec3d& x0, const Vec3d& x1, const Vec3d& x2, const Vec3d& warp) {
  const Vec3d normal = normalized(cross(x1 - x0, x2 - x0));
  Vec3d along = normalized(warp);
  along -= dot(along, normal) * normal;
  if (norm(along) < 1e-6) along = x1 - x0;
  along = normalized(along);
  return {along, cross(normal, along)};
}

MembraneRest membrane_rest(const Vec4i& triangle, std::span<const Vec3d> rest, const Vec3d& warp,
                           const FlatStencil& flat) {
  const auto at = [&](int c) { return flat.is_given ? flat.corners[c] : rest[triangle[c]]; };
  const Vec3d x0 = at(0), x1 = at(1), x2 = at(2);
  const ClothAxes axes = cloth_axes(x0, x1, x2, flat.is_given ? kPatternWarp : warp);
  return {axes(x1 - x0), axes(x2 - x0)};
}

BendRest bend_rest(const BendPatch& patch, std::span<const Vec3d> rest, const Vec3d& warp,
                   std::span<const FlatStencil> flat) {
  BendRest out;
  out.count = patch.count;
  out.rows = Mat<double, 3>::zero();
  for (int i = 0; i < 3; ++i) {
    out.area2[i] = {0, 0};
    out.angle[i] = 0;
  }
  for (int i = 0; i < patch.count; ++i) {
    const FlatStencil* laid = flat.empty() || !flat[i].is_given ? nullptr : &flat[i];
    const auto placed = [&](int k) { return rest[patch.hinges[i][k]]; };
    const auto at = [&](int k) { return laid != nullptr ? laid->corners[k] : placed(k); };
    const Vec3d a = at(0), b = at(1), c = at(2), o = at(3);
    const ClothAxes axes = cloth_axes(a, b, c, laid != nullptr ? kPatternWarp : warp);
    const Vec3d e = c - b;
    const double length = norm(e), area_a = norm(cross(b - a, c - a)), area_o = norm(cross(c - o, b - o));
    out.area = area_a / 2;
    out.area2[i] = {area_a, area_o};
    if (laid == nullptr || laid->keeps_angle)
      out.angle[i] =
          static_cast<double>(hinge_angle(placed(0).cast<Real>(), placed(1).cast<Real>(),
                                          placed(2).cast<Real>(), placed(3).cast<Real>(), {Real(1), Real(1)})
                                  .angle);
    const Vec<double, 2> heights{area_a / length, area_o / length};
    const Vec<double, 2> feet{dot(a - b, e) / length, dot(o - b, e) / length};
    const Vec<double, 3> row = hinge_row(axes(b), axes(c), heights, feet);
    for (int k = 0; k < 3; ++k) out.rows(i, k) = row[k];
  }
  return out;
}

Mat<double, 3> bend_stiffness(const BendRest& patch, const Material& material, double thickness) {
  auto stiffness = Mat<double, 3>::zero();
  if (!(material.bending > 0)) return stiffness;
  Mat<double, 3> q = patch.rows * bend_compliance(material, thickness) * patch.rows.transposed();
  double scale = 0;
  for (int i = 0; i < patch.count; ++i) scale = std::max(scale, q(i, i));
  for (int i = patch.count; i < 3; ++i) q(i, i) = scale;  // of no hinge
  const SymmetricEigen<double, 3> eigen = symmetric_eigen(q);
  for (int k = 0; k < 3; ++k) {
    const Vec<double, 3> v = eigen.vectors.column(k);
    stiffness += (patch.area / std::max(eigen.values[k], 0.01 * eigen.values[2])) * outer(v, v);
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (i >= patch.count || j >= patch.count) stiffness(i, j) = 0;
  return stiffness;
}

}  // namespace stickslip
