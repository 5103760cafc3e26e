#include "gpu/energy/cloth_terms.cuh"

#include <algorithm>
#include <limits>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip {
namespace {

// Membrane

/// Of damping: the frame at x_t, and the linear change of strain there.
struct MembraneRate {
  SheetFrame frame;
  Plane3 change;

  SS_HD MembraneRate(const MembraneView& view, const SolidMotion& motion, std::size_t i,
                     const Mat<Real, 3, 2>& f)
      : frame(view.deformation(i, motion.x_t)),
        change(strain_change(frame, in_plane(frame, f - view.deformation(i, motion.damped_from())))) {}
};

SS_HD ElementDrag drag_of(const MembraneView& view, const SolidMotion& motion, std::size_t i) {
  const Vec4i& t = view.triangles[i];
  const Vec3* at = motion.air.start;
  return {triangle_drag(at[t[0]], at[t[1]], at[t[2]], view.material(i).drag, view.wind.density), view.wind,
          motion.air, motion.x, motion.dt};
}

/// [W] at the given velocities.
SS_HD double membrane_drag_power(const MembraneView& view, const SolidMotion& motion, std::size_t i) {
  if (!motion.air.acts(view.wind)) return 0;
  const ElementDrag drag = drag_of(view, motion, i);
  double power = 0;
  for (int a = 0; a < 3; ++a) {
    const std::int32_t node = view.triangles[i][a];
    power += drag.power(node);
  }
  return power;
}

SS_HD double membrane_energy(const MembraneView& view, const SolidMotion& motion, std::size_t i) {
  const SheetMaterial& material = view.material(i);
  const Mat<Real, 3, 2> f = view.deformation(i, motion.x);
  Real density = sheet_energy(material.moduli, SheetFrame(f));
  if (material.damping > Real(0) && !motion.is_at_start()) {
    const MembraneRate rate(view, motion, i, f);
    density += material.damping / (Real(2) * motion.dt) *
               contract(sheet_stress(material.moduli, rate.change), rate.change);
  }
  double energy = static_cast<double>(view.volumes[i]) * static_cast<double>(density);
  if (motion.air.acts(view.wind)) {
    const ElementDrag drag = drag_of(view, motion, i);
    for (int a = 0; a < 3; ++a) energy += static_cast<double>(drag.energy(view.triangles[i][a]));
  }
  return energy;
}

SS_HD Mat<Real, 3, 2> damping_piola(const SheetMaterial& material, const MembraneRate& rate, Real dt) {
  const Plane4 m = piola_in_plane(rate.frame, sheet_stress(material.moduli, rate.change));
  return (material.damping / dt) * in_space(rate.frame, m);
}

SS_HD void membrane_gradient(const MembraneView& view, const SolidMotion& motion, std::size_t i,
                             CornerVectors& gradient) {
  const SheetMaterial& material = view.material(i);
  const Mat<Real, 3, 2> f = view.deformation(i, motion.x);
  Mat<Real, 3, 2> piola = sheet_piola(material.moduli, SheetFrame(f));
  if (material.damping > Real(0) && !motion.is_at_start())
    piola += damping_piola(material, MembraneRate(view, motion, i, f), motion.dt);
  add_sheet_gradients(piola, SheetShape(view.inverse_rest[i]), view.volumes[i], gradient);
  if (!motion.air.acts(view.wind)) return;
  const ElementDrag drag = drag_of(view, motion, i);
  for (int a = 0; a < 3; ++a) gradient[a] += drag.gradient(view.triangles[i][a]);
}

SS_HD void membrane_gradient_and_blocks(const MembraneView& view, const SolidMotion& motion, std::size_t i,
                                        CornerVectors& gradient, CornerBlocks& blocks) {
  const SheetMaterial& material = view.material(i);
  const Real volume = view.volumes[i];
  const SheetShape shape(view.inverse_rest[i]);
  const Mat<Real, 3, 2> f = view.deformation(i, motion.x);
  const SheetFrame frame(f);
  Mat<Real, 3, 2> piola = sheet_piola(material.moduli, frame);
  add_sheet_blocks(projected(sheet_derivative(material.moduli, frame)), frame, shape, volume, blocks);
  if (material.damping > Real(0)) {
    const MembraneRate rate(view, motion, i, f);
    piola += damping_piola(material, rate, motion.dt);
    const SheetDerivative resistance{strain_stiffness(material.moduli, rate.frame), Mat<Real, 2>::zero()};
    add_sheet_blocks(resistance, rate.frame, shape, volume * material.damping / motion.dt, blocks);
  }
  add_sheet_gradients(piola, shape, volume, gradient);
  if (!motion.air.acts(view.wind)) return;
  const ElementDrag drag = drag_of(view, motion, i);
  for (int a = 0; a < 3; ++a) {
    gradient[a] += drag.gradient(view.triangles[i][a]);
    blocks(a, a) += drag.block(view.triangles[i][a]);
  }
}

// Bending

SS_HD HingeNormals normals_of(const BendElement& patch, int hinge, const Vec3* x) {
  const Vec4i& n = patch.hinges[hinge];
  return {x[n[0]], x[n[1]], x[n[2]], x[n[3]]};
}

/// d_i at x_t for the displacement x - still.
SS_HD Vec3 angle_rates(const BendElement& patch, const SolidMotion& motion, const BendAngles& at_start) {
  const Vec3* still = motion.damped_from();
  Vec3 d = Vec3::zero();
  for (int i = 0; i < patch.count; ++i)
    for (int a = 0; a < 4; ++a) {
      const std::int32_t node = patch.hinges[i][a];
      d[i] += dot(at_start.gradient[i][a], motion.x[node] - still[node]);
    }
  return d;
}

SS_HD double bend_energy(const BendView& view, const SolidMotion& motion, const BendAngles* start,
                         std::size_t p) {
  const BendElement& patch = view.patches[p];
  Vec3 change = Vec3::zero();
  for (int i = 0; i < patch.count; ++i)
    change[i] = angle_change(normals_of(patch, i, motion.x).angle(), patch.rest[i]);
  Real energy = dot(change, view.stiffness[p] * change) / Real(2);
  if (start != nullptr) {
    const Vec3 rate = angle_rates(patch, motion, start[p]);
    energy += view.damping[patch.material] / (Real(2) * motion.dt) * dot(rate, view.stiffness[p] * rate);
  }
  return static_cast<double>(energy);
}

/// Derivatives of angles at x and, with `moments`, elastic moments.
SS_HD void write_angles(const BendView& view, const Vec3* x, std::size_t p, bool moments, BendAngles& out) {
  const BendElement& patch = view.patches[p];
  Vec3 change = Vec3::zero();
  for (int i = 0; i < 3; ++i) {
    if (i < patch.count) {
      const Vec4i& n = patch.hinges[i];
      const HingeNormals hinge = normals_of(patch, i, x);
      hinge_gradient(hinge, x[n[0]], x[n[1]], x[n[3]], patch.area2[i], out.gradient[i]);
      if (moments) change[i] = angle_change(hinge.angle(), patch.rest[i]);
    } else {
      for (int a = 0; a < 4; ++a) out.gradient[i][a] = Vec3::zero();
    }
  }
  out.moment = view.stiffness[p] * change;
}

/// d angle_i / dx of one node of a patch.
struct NodeAngles {
  Vec3 g[3];
  bool is_on[3];  // hinge i

  SS_HD NodeAngles(const BendElement& patch, const BendAngles& angles, std::int32_t node) {
    for (int i = 0; i < 3; ++i) {
      g[i] = Vec3::zero();
      is_on[i] = false;
      for (int a = 0; a < 4 && i < patch.count; ++a)
        if (patch.hinges[i][a] == node) {
          g[i] = angles.gradient[i][a];
          is_on[i] = true;
        }
    }
  }
  SS_HD Vec3 weighted(const Vec3& moment) const {
    return moment[0] * g[0] + moment[1] * g[1] + moment[2] * g[2];
  }
};

SS_HD bool owns(std::uint16_t owned, int row, int column) {
  return (owned >> corner_block(row, column) & 1U) != 0;
}

/// Adds what the angles give to corners and, unless it is null, to blocks; `factor`: of the blocks. A node
/// that is opposite to the edge of one hinge is on no other one, so that two thirds of its products are zero.
SS_HD void add_bending(const BendView& view, const Vec4i& stencil, std::size_t s, const BendAngles& angles,
                       Real factor, Vec3* corners, Mat3* blocks) {
  const auto p = static_cast<std::size_t>(view.stencil_patch[s]);
  const BendElement& patch = view.patches[p];
  const Mat3 stiffness = factor * view.stiffness[p];
  const std::uint16_t owned = view.owned[s];
  Vec3 moments[4][3];  // d moment_i / dx of each node
  for (int a = 0; a < 4 && stencil[a] >= 0; ++a) {
    const NodeAngles of_a(patch, angles, stencil[a]);
    if (owns(owned, a, a)) corners[a] += of_a.weighted(angles.moment);
    if (blocks == nullptr) continue;
    for (int i = 0; i < patch.count; ++i) moments[a][i] = of_a.weighted(stiffness.row(i));
    for (int i = 0; i < patch.count; ++i) {
      if (!of_a.is_on[i]) continue;
      for (int b = 0; b <= a; ++b)
        if (owns(owned, a, b)) blocks[corner_block(a, b)] += outer(of_a.g[i], moments[b][i]);
    }
  }
}

}  // namespace
}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Derivatives of angles at x and, with `moments`, elastic moments, of `patches`.
void find_angles(Context& ctx, const BendView& view, const Vec3* x, IndexRange patches, bool moments,
                 BendAngles* out) {
  const BendView v = view;
  launch(
      ctx, patches.size(),
      [=] SS_LAMBDA(std::size_t i) {
        write_angles(v, x, patches.begin + i, moments, out[patches.begin + i]);
      },
      kMedium);
}

/// Moments of damping, of `patches`, whose derivatives `start` has.
void find_damping_moments(Context& ctx, const BendView& view, const SolidMotion& motion, IndexRange patches,
                          BendAngles* start) {
  const BendView v = view;
  const SolidMotion m = motion;
  launch(
      ctx, patches.size(),
      [=] SS_LAMBDA(std::size_t i) {
        const std::size_t p = patches.begin + i;
        const Vec3 rate = angle_rates(v.patches[p], m, start[p]);
        start[p].moment = (v.damping[v.patches[p].material] / m.dt) * (v.stiffness[p] * rate);
      },
      kMedium);
}

/// Corners and, unless `blocks` is null, blocks of `stencils`; `start` may be null.
void write_bending(Context& ctx, const BendView& view, const Vec4i* all, IndexRange stencils,
                   const BendAngles* angles, const BendAngles* start, Real dt, Vec3* corners, Mat3* blocks) {
  const BendView v = view;
  launch(
      ctx, stencils.size(),
      [=] SS_LAMBDA(std::size_t i) {
        const std::size_t s = stencils.begin + i;
        const auto p = static_cast<std::size_t>(v.stencil_patch[s]);
        Vec3* corner = corners + 4 * i;
        Mat3* block = blocks == nullptr ? nullptr : blocks + kCornerBlocks * i;
        for (int a = 0; a < 4; ++a) corner[a] = Vec3::zero();
        for (int k = 0; k < kCornerBlocks && block != nullptr; ++k) block[k] = Mat3::zero();
        add_bending(v, all[s], s, angles[p], Real(1), corner, block);
        const Real rate = v.damping[v.patches[p].material] / dt;
        if (start != nullptr && rate > Real(0)) add_bending(v, all[s], s, start[p], rate, corner, block);
      },
      kHeavy);
}

}  // namespace

MembraneTerm::MembraneTerm(Context& ctx, const TermElements& elements) {
  const std::size_t n = elements.stencils.size();
  std::vector<Mat<Real, 2>> inverse_rest(n);
  std::vector<Real> volumes(n);
  for (std::size_t i = 0; i < n; ++i) {
    const MembraneRest rest = membrane_rest(elements.stencils[i], elements.rest, elements.warp[i],
                                            elements.flat.empty() ? FlatStencil{} : elements.flat[i]);
    const Vec<double, 2>&e1 = rest.e1, &e2 = rest.e2;
    const double det = rest.area2();
    const double inverse[4] = {e2[1] / det, -e2[0] / det, -e1[1] / det, e1[0] / det};
    for (int k = 0; k < 4; ++k) inverse_rest[i].m[k] = static_cast<Real>(inverse[k]);
    const double volume = det / 2 * elements.thickness[i];
    volumes[i] = static_cast<Real>(volume);
    const auto m = static_cast<std::size_t>(elements.material[i]);
    if (material_volume_.size() <= m) material_volume_.resize(m + 1, 0.0);
    material_volume_[m] += volume;
  }
  triangles_.upload(ctx, elements.stencils);
  inverse_rest_.upload(ctx, inverse_rest);
  volumes_.upload(ctx, volumes);
  material_.upload(ctx, elements.material);
}

void MembraneTerm::set_materials(Context& ctx, std::span<const Material> materials) {
  std::vector<SheetMaterial> sheets;
  energy_rounding_ = 0;
  for (std::size_t m = 0; m < materials.size(); ++m) {
    const Material& material = materials[m];
    const SheetModuli moduli =
        sheet_moduli(material.young, material.young_weft, material.poisson, material.shear);
    sheets.push_back({moduli, static_cast<Real>(material.damping), drag_material(material)});
    if (m >= material_volume_.size()) continue;
    // Strains have the rounding error of coordinates over the size of a triangle; energies are its square.
    constexpr double strain = 1e3 * std::numeric_limits<Real>::epsilon();
    energy_rounding_ +=
        strain * strain * static_cast<double>(moduli.warp + moduli.weft) * material_volume_[m];
  }
  materials_.upload(ctx, sheets);
}

void MembraneTerm::energy(Context& ctx, const SolidMotion& motion, double* out) {
  const MembraneView v = view();
  const SolidMotion m = motion;
  reduce_sum(
      ctx, size(), [=] SS_LAMBDA(std::size_t i) { return membrane_energy(v, m, i); }, out, kMedium);
}

void MembraneTerm::gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                            Vec3* corner_gradients) {
  const MembraneView v = view();
  const SolidMotion m = motion;
  launch(
      ctx, stencils.size(),
      [=] SS_LAMBDA(std::size_t i) {
        CornerVectors gradient{};
        membrane_gradient(v, m, stencils.begin + i, gradient);
        for (int a = 0; a < 4; ++a) corner_gradients[4 * i + a] = gradient[a];
      },
      kMedium);
}

void MembraneTerm::gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                                        Vec3* corner_gradients, Mat3* corner_blocks) {
  const MembraneView v = view();
  const SolidMotion m = motion;
  launch(
      ctx, stencils.size(),
      [=] SS_LAMBDA(std::size_t i) {
        CornerVectors gradient{};
        CornerBlocks blocks{};
        membrane_gradient_and_blocks(v, m, stencils.begin + i, gradient, blocks);
        for (int a = 0; a < 4; ++a) corner_gradients[4 * i + a] = gradient[a];
        for (int k = 0; k < kCornerBlocks; ++k) corner_blocks[kCornerBlocks * i + k] = blocks.b[k];
      },
      kHeavy);
}

void MembraneTerm::drag_power(Context& ctx, const SolidMotion& motion, double* out) {
  const MembraneView v = view();
  const SolidMotion m = motion;
  reduce_sum(
      ctx, size(), [=] SS_LAMBDA(std::size_t i) { return membrane_drag_power(v, m, i); }, out, kMedium);
}

BendTerm::BendTerm(Context& ctx, const TermElements& elements) {
  const BendStencils parsed = parse_bend_stencils(elements.stencils);
  host_stencil_patch_ = parsed.patch;
  std::vector<BendElement> patches;
  for (std::size_t s = 0; s < elements.stencils.size(); ++s) {
    if (s > 0 && parsed.patch[s] == parsed.patch[s - 1]) continue;
    const BendPatch& patch = parsed.patches[rest_.size()];
    // The first stencils of a patch are its hinges.
    const auto hinges = static_cast<std::size_t>(patch.count);
    const BendRest rest = bend_rest(patch, elements.rest, elements.warp[s],
                                    elements.flat.empty() ? elements.flat : elements.flat.subspan(s, hinges));
    BendElement element{};
    for (int i = 0; i < 3; ++i) {
      element.hinges[i] = i < patch.count ? patch.hinges[i] : Vec4i{-1, -1, -1, -1};
      element.area2[i] = rest.area2[i].cast<Real>();
      element.rest[i] = static_cast<Real>(rest.angle[i]);
    }
    element.count = patch.count;
    element.material = elements.material[s];
    patches.push_back(element);
    rest_.push_back(rest);
    material_.push_back(elements.material[s]);
    thickness_.push_back(elements.thickness[s]);
  }
  stencils_.upload(ctx, elements.stencils);
  patches_.upload(ctx, patches);
  stencil_patch_.upload(ctx, parsed.patch);
  owned_.upload(ctx, parsed.owned);
}

void BendTerm::set_materials(Context& ctx, std::span<const Material> materials) {
  std::vector<Mat3> stiffness(rest_.size());
  energy_rounding_ = 0;
  is_damped_ = has_start_ = false;
  for (std::size_t p = 0; p < rest_.size(); ++p) {
    const Material& material = materials[static_cast<std::size_t>(material_[p])];
    const Mat<double, 3> g = bend_stiffness(rest_[p], material, thickness_[p]);
    for (int k = 0; k < 9; ++k) stiffness[p].m[k] = static_cast<Real>(g.m[k]);
    is_damped_ |= material.damping > 0;
    // As of strains in MembraneTerm.
    constexpr double angle = 1e3 * std::numeric_limits<Real>::epsilon();
    energy_rounding_ += angle * angle * trace(g);
  }
  std::vector<Real> damping;
  for (const Material& material : materials) damping.push_back(static_cast<Real>(material.damping));
  stiffness_.upload(ctx, stiffness);
  damping_.upload(ctx, damping);
}

IndexRange BendTerm::patches_of(IndexRange stencils) const {
  return {static_cast<std::size_t>(host_stencil_patch_[stencils.begin]),
          static_cast<std::size_t>(host_stencil_patch_[stencils.end - 1]) + 1};
}

BendAngles* BendTerm::start_angles(Context& ctx, const SolidMotion& motion, IndexRange patches) {
  if (!is_damped_) return nullptr;
  start_.resize(ctx, rest_.size());
  if (!(motion.x_t_kept && has_start_)) {
    const IndexRange all{0, rest_.size()};
    find_angles(ctx, view(), motion.x_t, motion.x_t_kept ? all : patches, false, start_.data());
    has_start_ = motion.x_t_kept;
  }
  return start_.data();
}

void BendTerm::energy(Context& ctx, const SolidMotion& motion, double* out) {
  const IndexRange all{0, rest_.size()};
  const BendAngles* start = motion.is_at_start() ? nullptr : start_angles(ctx, motion, all);
  const BendView v = view();
  const SolidMotion m = motion;
  reduce_sum(
      ctx, all.size(), [=] SS_LAMBDA(std::size_t p) { return bend_energy(v, m, start, p); }, out, kMedium);
}

void BendTerm::gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                        Vec3* corner_gradients) {
  if (stencils.size() == 0) return;
  const IndexRange patches = patches_of(stencils);
  angles_.resize(ctx, rest_.size());
  find_angles(ctx, view(), motion.x, patches, true, angles_.data());
  BendAngles* start = motion.is_at_start() ? nullptr : start_angles(ctx, motion, patches);
  if (start != nullptr) find_damping_moments(ctx, view(), motion, patches, start);
  write_bending(ctx, view(), stencils_.data(), stencils, angles_.data(), start, motion.dt, corner_gradients,
                nullptr);
}

void BendTerm::gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                                    Vec3* corner_gradients, Mat3* corner_blocks) {
  if (stencils.size() == 0) return;
  const IndexRange patches = patches_of(stencils);
  angles_.resize(ctx, rest_.size());
  find_angles(ctx, view(), motion.x, patches, true, angles_.data());
  BendAngles* start = start_angles(ctx, motion, patches);
  if (start != nullptr) find_damping_moments(ctx, view(), motion, patches, start);
  write_bending(ctx, view(), stencils_.data(), stencils, angles_.data(), start, motion.dt, corner_gradients,
                corner_blocks);
}

}  // namespace stickslip::STICKSLIP_BACKEND
