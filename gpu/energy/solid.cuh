// SolidEnergy: elasticity and damping of all tetrahedra, as terms of the incremental potential [J].
#pragma once

#include <span>

#include "gpu/core/buffer.h"
#include "gpu/core/index_range.h"
#include "gpu/energy/tet_element.h"

namespace stickslip {

/// What the kernels read of a Material.
struct ElasticMaterial {
  ElasticModel model;
  Lame lame;
  Real damping;  // [s]
};

/// Where the solids are: x, x_t whose stiffness damps, and the velocities (x - still) / dt that are damped.
/// Backend memory, one entry per node.
struct SolidMotion {
  const Vec3* x;
  const Vec3* x_t;
  Real dt;
  const Vec3* still = nullptr;  // null: x_t
};

/// The tets as kernels see them.
struct TetView {
  const Vec4i* tets;
  const Mat3* inverse_rest;
  const Real* volumes;               // [m^3]
  const std::int32_t* tet_material;  // 2 material + (1 if the tet is an affine body's)
  const ElasticMaterial* materials;  // of solids and of affine bodies in turn

  /// F of tet i.
  SS_HD Mat3 deformation(std::size_t i, const Vec3* x) const {
    const Vec4i& t = tets[i];
    return edge_matrix(x[t[0]], x[t[1]], x[t[2]], x[t[3]]) * inverse_rest[i];
  }
  SS_HD const ElasticMaterial& material(std::size_t i) const { return materials[tet_material[i]]; }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Sum over the tets of volume * (Psi(F) + psi_d), with stiffness-proportional damping as an incremental
/// potential:
///   psi_d = damping / (2 dt) (F - F_s) : C : (F - F_s),   C = dP/dF projected, at F_t, see StrainResistance,
/// with F_s at `still`, whose force is -damping K_t v at v = (x - still)/dt. No spin is damped, however
/// stressed the body is; but the force is linear in v, so a finite rotation within one step is damped a
/// little.
class SolidEnergy {
 public:
  /// `rest`: stress-free node positions [m]; `tets`: four nodes each, positive volume; `tet_material`: per
  /// tet. The last ones are control tets of affine bodies, one per entry of `body_volumes` [m^3]: they have
  /// the orthogonality energy, weighted with that volume.
  void set(Context& ctx, std::span<const Vec<double, 3>> rest, std::span<const Vec4i> tets,
           std::span<const std::int32_t> tet_material, std::span<const double> body_volumes = {});
  /// May be called again at any time to change materials.
  void set_materials(Context& ctx, std::span<const Material> materials);

  std::size_t size() const { return tets_.size(); }
  /// Four nodes per tet, in the order of the corner values.
  const Vec4i* tets() const { return tets_.data(); }

  /// Writes the total energy [J] to `out` in backend memory.
  void energy(Context& ctx, const SolidMotion& motion, double* out);
  /// Writes the gradient [N] of the energy of each of `tets` at its four corners, the first tet's first.
  void gradient(Context& ctx, const SolidMotion& motion, IndexRange tets, Vec3* corner_gradients);
  /// The same, and the lower blocks of each tet's projected Hessian [N/m], ten per tet by rows.
  void gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange tets, Vec3* corner_gradients,
                            Mat3* corner_blocks);
  /// Writes the smallest det F to `out` in backend memory, of all tets or of those whose energy forbids
  /// inversion; +infinity without any.
  void min_determinant(Context& ctx, const Vec3* x, bool only_forbidden, double* out);
  /// Writes the number of tets with det F <= 0 to `out` in backend memory.
  void count_inverted(Context& ctx, const Vec3* x, double* out);

 private:
  TetView view() const {
    return {tets_.data(), inverse_rest_.data(), volumes_.data(), tet_material_.data(), materials_.data()};
  }

  Buffer<Vec4i> tets_;
  Buffer<Mat3> inverse_rest_;
  Buffer<Real> volumes_;
  Buffer<std::int32_t> tet_material_;
  Buffer<ElasticMaterial> materials_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
