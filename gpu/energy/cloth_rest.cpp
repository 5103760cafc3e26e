#include "gpu/energy/cloth_rest.h"

#include <algorithm>

#include "gpu/energy/hinge.h"
#include "gpu/energy/sheet.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

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

BendRest bend_rest(const BendPatch& patch, std::span<const Vec3d> rest, const Vec3d& warp) {
  BendRest out;
  out.count = patch.count;
  out.rows = Mat<double, 3>::zero();
  for (int i = 0; i < 3; ++i) {
    out.area2[i] = {0, 0};
    out.angle[i] = 0;
  }
  for (int i = 0; i < patch.count; ++i) {
    const Vec3d &a = rest[patch.hinges[i][0]], &b = rest[patch.hinges[i][1]], &c = rest[patch.hinges[i][2]],
                &o = rest[patch.hinges[i][3]];
    const ClothAxes axes = cloth_axes(a, b, c, warp);
    const Vec3d e = c - b;
    const double length = norm(e), area_a = norm(cross(b - a, c - a)), area_o = norm(cross(c - o, b - o));
    out.area = area_a / 2;
    out.area2[i] = {area_a, area_o};
    out.angle[i] = static_cast<double>(
        hinge_angle(a.cast<Real>(), b.cast<Real>(), c.cast<Real>(), o.cast<Real>(), {Real(1), Real(1)})
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
