// The terms of cloth: stretching and shearing of its triangles, and bending between them.
#pragma once

#include <vector>

#include "gpu/energy/air_drag.h"
#include "gpu/energy/cloth_rest.h"
#include "gpu/energy/hinge.h"
#include "gpu/energy/sheet_element.h"
#include "gpu/energy/thin_term.cuh"

namespace stickslip {

/// What the kernels read of a Material.
struct SheetMaterial {
  SheetModuli moduli;
  Real damping;  // [s]
  DragMaterial drag;
};

/// The triangles as kernels see them.
struct MembraneView {
  const Vec4i* triangles;
  const Mat<Real, 2>* inverse_rest;
  const Real* volumes;  // [m^3]
  const std::int32_t* triangle_material;
  const SheetMaterial* materials;
  Wind wind;

  /// F of triangle i.
  SS_HD Mat<Real, 3, 2> deformation(std::size_t i, const Vec3* x) const {
    const Vec4i& t = triangles[i];
    return sheet_deformation(x[t[0]], x[t[1]], x[t[2]], inverse_rest[i]);
  }
  SS_HD const SheetMaterial& material(std::size_t i) const { return materials[triangle_material[i]]; }
};

/// A patch as kernels see it, see BendRest.
struct BendElement {
  Vec4i hinges[3];
  Vec2 area2[3];
  Vec3 rest;  // angles
  std::int32_t count, material;
};

/// The derivatives of the three angles of a patch, and the sum of moments that they are weighted with.
struct BendAngles {
  Vec3 gradient[3][4];
  Vec3 moment;  // [N m]
};

struct BendView {
  const BendElement* patches;
  const Mat3* stiffness;  // G [J]
  const Real* damping;    // [s] per material
  const std::int32_t* stencil_patch;
  const std::uint16_t* owned;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Sum over triangles of area * thickness * (Psi(F) + psi_d), see sheet.h, with stiffness-proportional
/// damping as an incremental potential:
///   psi_d = damping / (2 dt) du : C : du,
/// du the linear change of strain at x_t for the displacement x - still: no spin is damped. Triangles also
/// have the drag of the air (air_drag.h).
class MembraneTerm final : public ThinTerm {
 public:
  /// Triangles of positive area.
  MembraneTerm(Context& ctx, const TermElements& elements);

  std::size_t size() const override { return triangles_.size(); }
  void set_materials(Context& ctx, std::span<const Material> materials) override;
  void set_wind(const Wind& wind) override { wind_ = wind; }

  void energy(Context& ctx, const SolidMotion& motion, double* out) override;
  void gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                Vec3* corner_gradients) override;
  void gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                            Vec3* corner_gradients, Mat3* corner_blocks) override;
  void drag_power(Context& ctx, const SolidMotion& motion, double* out) override;

 private:
  MembraneView view() const {
    return {triangles_.data(), inverse_rest_.data(), volumes_.data(),
            material_.data(),  materials_.data(),    wind_};
  }

  Wind wind_;
  std::vector<double> material_volume_;  // [m^3] of the triangles of each material
  Buffer<Vec4i> triangles_;
  Buffer<Mat<Real, 2>> inverse_rest_;
  Buffer<Real> volumes_;
  Buffer<std::int32_t> material_;
  Buffer<SheetMaterial> materials_;
};

/// Sum over triangles of E(theta) + E_d, see hinge.h, with damping likewise:
///   E_d = damping / (2 dt) d' G d,   d_i = grad theta_i(x_t) . (x - still).
/// The Hessian is that of Gauss and Newton, sum_ij G_ij grad theta_i grad theta_j': exact at rest and
/// positive semidefinite. Without it are the moments times the second derivatives of angles, which have both
/// signs. `TermElements` and all ranges have the stencils of bend_patch.h.
class BendTerm final : public ThinTerm {
 public:
  BendTerm(Context& ctx, const TermElements& elements);

  std::size_t size() const override { return stencils_.size(); }
  void set_materials(Context& ctx, std::span<const Material> materials) override;
  void begin_step() override { has_start_ = false; }

  void energy(Context& ctx, const SolidMotion& motion, double* out) override;
  void gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                Vec3* corner_gradients) override;
  void gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                            Vec3* corner_gradients, Mat3* corner_blocks) override;

 private:
  BendView view() const {
    return {patches_.data(), stiffness_.data(), damping_.data(), stencil_patch_.data(), owned_.data()};
  }
  IndexRange patches_of(IndexRange stencils) const;
  /// Angles at x_t of `patches`, if something is damped; else nullptr.
  BendAngles* start_angles(Context& ctx, const SolidMotion& motion, IndexRange patches);

  bool is_damped_ = false;
  bool has_start_ = false;  // start_ has the angles of all patches at the x_t of the step
  std::vector<BendRest> rest_;
  std::vector<std::int32_t> material_, host_stencil_patch_;
  std::vector<double> thickness_;
  Buffer<Vec4i> stencils_;
  Buffer<BendElement> patches_;
  Buffer<std::int32_t> stencil_patch_;
  Buffer<std::uint16_t> owned_;
  Buffer<Mat3> stiffness_;
  Buffer<Real> damping_;
  Buffer<BendAngles> angles_, start_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
