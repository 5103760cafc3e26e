#include "gpu/energy/thin_strain.h"

#include <algorithm>
#include <cmath>

#include "gpu/energy/hinge.h"
#include "gpu/energy/rod_element.h"
#include "gpu/energy/sheet_element.h"
#include "gpu/model/element_group.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// The larger |eigenvalue| of [xx, xy; xy, yy].
double largest_principal(double xx, double yy, double xy) {
  return std::fabs(xx + yy) / 2 + std::hypot((xx - yy) / 2, xy);
}

/// sqrt(s_xx^2 - s_xx s_yy + s_yy^2 + 3 s_xy^2) of M U / det U, see piola_in_plane.
double plane_von_mises(const SheetModuli& moduli, const SheetFrame& frame) {
  const Plane4 m = piola_in_plane(frame, sheet_stress(moduli, frame.strain()));
  const Plane3& u = frame.u;
  const double det = static_cast<double>(u.xx) * static_cast<double>(u.yy) -
                     static_cast<double>(u.xy) * static_cast<double>(u.xy);
  const double j = std::max(1e-6, std::fabs(det));
  const double xx = static_cast<double>(m.xx * u.xx + m.xy * u.xy) / j,
               yy = static_cast<double>(m.yx * u.xy + m.yy * u.yy) / j,
               xy = static_cast<double>(m.xx * u.xy + m.xy * u.yy) / j;
  return std::sqrt(std::max(0.0, xx * xx - xx * yy + yy * yy + 3 * xy * xy));
}

/// Curvatures from angles, those of the least norm where fewer than three are given. Eigenvalues are raised
/// as in bend_stiffness.
Mat<double, 3> curvature_of_angles(const BendRest& rest) {
  auto metric = Mat<double, 3>::zero();  // of K : K / 2, inverted
  metric(0, 0) = metric(1, 1) = 1;
  metric(2, 2) = 2;
  Mat<double, 3> q = rest.rows * metric * rest.rows.transposed();
  double scale = 0;
  for (int i = 0; i < rest.count; ++i) scale = std::max(scale, q(i, i));
  for (int i = rest.count; i < 3; ++i) q(i, i) = scale;
  const SymmetricEigen<double, 3> eigen = symmetric_eigen(q);
  auto inverse = Mat<double, 3>::zero();
  for (int k = 0; k < 3; ++k) {
    const Vec3d v = eigen.vectors.column(k);
    inverse += (1 / std::max(eigen.values[k], 0.01 * eigen.values[2])) * outer(v, v);
  }
  return metric * rest.rows.transposed() * inverse;
}

/// The strains of a vertex of a rod, relative to its middle node.
template <class Place>
VertexStrain strain_of(const std::int32_t* nodes, const Place& place) {
  Vec3 x[kRodVertexNodes];
  for (int k = 0; k < kRodVertexNodes; ++k) x[k] = (place(nodes[k]) - place(nodes[1])).template cast<Real>();
  return vertex_strain(rod_frame(x[0], x[1], x[3]), rod_frame(x[1], x[2], x[4]));
}

}  // namespace

ThinStrain::ThinStrain(const Model& model) : nodes_(model.node_count()) {
  std::size_t count = 0;
  for (const Object& object : model.objects)
    if (object.is_thin())
      count += static_cast<std::size_t>(object.triangle_end - object.triangle_begin) +
               static_cast<std::size_t>(object.segment_end - object.segment_begin);
  if (count > kMostElements) return;
  for (const Object& object : model.objects) {
    if (object.is_thin()) materials_ = std::max(materials_, static_cast<std::size_t>(object.material) + 1);
    if (object.is_cloth()) add_cloth(model, object);
    if (object.is_rods()) add_rods(model, object);
  }
}

void ThinStrain::add_cloth(const Model& model, const Object& object) {
  const std::span<const Vec3i> all = triangles_of(model, object);
  const std::vector<FlatStencil> flat =
      object.is_sewn() ? flat_triangles(model, object) : std::vector<FlatStencil>(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Vec3i& t = all[i];
    const MembraneRest rest =
        membrane_rest({t[0], t[1], t[2], -1}, model.rest_positions, object.warp, flat[i]);
    const Vec<double, 2>&e1 = rest.e1, &e2 = rest.e2;
    const double area2 = rest.area2();
    const auto inverse_rest = Mat<double, 2>::from_columns(
        {Vec<double, 2>{e2[1] / area2, -e1[1] / area2}, Vec<double, 2>{-e2[0] / area2, e1[0] / area2}});
    triangles_.push_back({t, inverse_rest, std::fabs(area2) / 2, object.material});
  }
  const std::vector<BendPatch> hinges = bend_patches(all);
  const std::vector<FlatStencil> laid =
      object.is_sewn() ? flat_hinges(model, object, hinges) : std::vector<FlatStencil>{};
  const std::size_t first = patches_.size();
  std::size_t stencil = 0;  // of the patch, among those of `laid`
  for (const BendPatch& patch : hinges) {
    const auto own = laid.empty() ? std::span<const FlatStencil>{}
                                  : std::span<const FlatStencil>(laid).subspan(
                                        stencil, static_cast<std::size_t>(patch.count));
    const BendRest rest = bend_rest(patch, model.rest_positions, object.warp, own);
    patches_.push_back({patch, rest, curvature_of_angles(rest), {0, 0, 0}});
    stencil += bend_stencils(patch).size();
  }
  weigh_patches(first, model.node_count());
}

void ThinStrain::weigh_patches(std::size_t first, std::size_t nodes) {
  std::vector<bool> is_inner(nodes, false);
  for (std::size_t p = first; p < patches_.size(); ++p)
    for (int k = 0; k < 3; ++k)
      if (patches_[p].hinges.count == 3)
        is_inner[static_cast<std::size_t>(patches_[p].hinges.hinges[0][k])] = true;
  for (std::size_t p = first; p < patches_.size(); ++p)
    for (int k = 0; k < 3; ++k) {
      Patch& patch = patches_[p];
      const auto node = static_cast<std::size_t>(patch.hinges.hinges[0][k]);
      patch.weights[k] = patch.hinges.count == 3 || !is_inner[node] ? patch.rest.area : 0;
    }
}

void ThinStrain::add_rods(const Model& model, const Object& object) {
  const std::span<const Vec2i> all = segments_of(model, object);
  const auto place = [&](std::int32_t node) { return model.rest_positions[static_cast<std::size_t>(node)]; };
  const std::size_t first = segments_.size();
  for (const Vec2i& s : all) segments_.push_back({s, norm(place(s[1]) - place(s[0])), object.material});
  std::vector<bool> has_before(all.size(), false), has_after(all.size(), false);
  const std::vector<RodJoint> joints = rod_joints(all);
  for (const auto& [a, b] : joints)
    has_after[static_cast<std::size_t>(a)] = has_before[static_cast<std::size_t>(b)] = true;
  for (const auto& [a, b] : joints) {
    const auto before = static_cast<std::size_t>(a), after = static_cast<std::size_t>(b);
    Vertex vertex{{all[before][0], all[before][1], all[after][1], rod_ghost(object, object.segment_begin + a),
                   rod_ghost(object, object.segment_begin + b)},
                  {0, 0, 0},
                  (segments_[first + before].length + segments_[first + after].length) / 2,
                  !has_before[before],
                  !has_after[after]};
    const VertexStrain rest = strain_of(vertex.nodes, place);
    for (int k = 0; k < kVertexStrains; ++k) vertex.rest[k] = static_cast<double>(rest.s[k]);
    vertices_.push_back(vertex);
  }
}

void ThinStrain::add(std::int32_t node, double weight, double value) {
  if (!std::isfinite(value)) return;
  weight_[static_cast<std::size_t>(node)] += weight;
  sum_[static_cast<std::size_t>(node)] += weight * value;
}

Mat<Real, 3, 2> ThinStrain::deformation(const Triangle& t, Points x) {
  const auto at = [&](std::int32_t node) { return x[static_cast<std::size_t>(node)].cast<double>(); };
  const Vec3d e1 = at(t.nodes[1]) - at(t.nodes[0]), e2 = at(t.nodes[2]) - at(t.nodes[0]);
  const Mat<double, 2>& d = t.inverse_rest;
  return Mat<Real, 3, 2>::from_columns(
      {(d(0, 0) * e1 + d(1, 0) * e2).cast<Real>(), (d(0, 1) * e1 + d(1, 1) * e2).cast<Real>()});
}

void ThinStrain::sum_stress(Points x, const std::vector<Material>& materials) {
  if (materials.size() < materials_) return;  // of another scene, for a moment
  std::vector<SheetModuli> moduli;
  moduli.reserve(materials.size());
  for (const Material& m : materials)
    moduli.push_back(sheet_moduli(m.young, m.young_weft, m.poisson, m.shear));
  for (const Triangle& t : triangles_) {
    const double value =
        plane_von_mises(moduli[static_cast<std::size_t>(t.material)], SheetFrame(deformation(t, x)));
    for (int k = 0; k < 3; ++k) add(t.nodes[k], t.area, value);
  }
  const auto at = [&](std::int32_t node) { return x[static_cast<std::size_t>(node)].cast<double>(); };
  for (const Segment& s : segments_) {
    const double young = materials[static_cast<std::size_t>(s.material)].young;
    const double strain = norm(at(s.nodes[1]) - at(s.nodes[0])) / s.length - 1;
    for (int k = 0; k < 2; ++k) add(s.nodes[k], s.length, young * std::fabs(strain));
  }
}

void ThinStrain::sum_stretch(Points x) {
  const auto at = [&](std::int32_t node) { return x[static_cast<std::size_t>(node)].cast<double>(); };
  for (const Triangle& t : triangles_) {
    const Plane3 strain = SheetFrame(deformation(t, x)).strain();
    const double value = largest_principal(static_cast<double>(strain.xx), static_cast<double>(strain.yy),
                                           static_cast<double>(strain.xy));
    for (int k = 0; k < 3; ++k) add(t.nodes[k], t.area, value);
  }
  for (const Segment& s : segments_)
    for (int k = 0; k < 2; ++k)
      add(s.nodes[k], s.length, std::fabs(norm(at(s.nodes[1]) - at(s.nodes[0])) / s.length - 1));
}

void ThinStrain::sum_bending(Points x) {
  for (const Patch& patch : patches_) {
    Vec3d change{0, 0, 0};
    for (int i = 0; i < patch.rest.count; ++i) {
      const Vec4i& h = patch.hinges.hinges[i];
      Vec3 corners[4];
      for (int k = 0; k < 4; ++k) {
        const Vec<float, 3> from_b = x[static_cast<std::size_t>(h[k])] - x[static_cast<std::size_t>(h[1])];
        corners[k] = from_b.cast<Real>();
      }
      const Real angle = HingeNormals(corners[0], corners[1], corners[2], corners[3]).angle();
      change[i] = static_cast<double>(angle_change(angle, static_cast<Real>(patch.rest.angle[i])));
    }
    const Vec3d curvature = patch.curvature * change;
    const double value = largest_principal(curvature[0], curvature[1], curvature[2] / 2);
    for (int k = 0; k < 3; ++k)
      if (patch.weights[k] > 0) add(patch.hinges.hinges[0][k], patch.weights[k], value);
  }
}

void ThinStrain::sum_vertices(ThinMeasure what, Points x) {
  const auto at = [&](std::int32_t node) { return x[static_cast<std::size_t>(node)].cast<double>(); };
  for (const Vertex& vertex : vertices_) {
    const VertexStrain now = strain_of(vertex.nodes, at);
    double change[kVertexStrains];
    for (int k = 0; k < kVertexStrains; ++k)
      change[k] =
          static_cast<double>(vertex_strain_difference(k, now.s[k], static_cast<Real>(vertex.rest[k])));
    const double value =
        (what == ThinMeasure::twist ? std::fabs(change[2]) : std::hypot(change[0], change[1])) /
        vertex.length;
    add(vertex.nodes[1], vertex.length, value);
    if (vertex.is_first) add(vertex.nodes[0], vertex.length, value);
    if (vertex.is_last) add(vertex.nodes[2], vertex.length, value);
  }
}

const std::vector<float>& ThinStrain::evaluate(ThinMeasure what, Points positions,
                                               const std::vector<Material>& materials) {
  values_.assign(nodes_, -1);
  if (positions.size() != nodes_) return values_;  // of another scene, for a moment
  weight_.assign(nodes_, 0);
  sum_.assign(nodes_, 0);
  if (what == ThinMeasure::stretch) sum_stretch(positions);
  if (what == ThinMeasure::stress) sum_stress(positions, materials);
  if (what == ThinMeasure::bending) sum_bending(positions);
  if (what == ThinMeasure::bending || what == ThinMeasure::twist) sum_vertices(what, positions);
  for (std::size_t i = 0; i < nodes_; ++i)
    if (weight_[i] > 0) values_[i] = static_cast<float>(sum_[i] / weight_[i]);
  return values_;
}

}  // namespace stickslip
