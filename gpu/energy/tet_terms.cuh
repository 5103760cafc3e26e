// The terms of linear tetrahedra: elasticity and damping of deformable solids, and what holds affine bodies
// in shape.
#pragma once

#include <span>
#include <vector>

#include "gpu/energy/energy_term.cuh"
#include "gpu/energy/tet_element.h"
#include "gpu/energy/tet_pack.h"

namespace stickslip {

/// What the kernels read of a Material.
struct ElasticMaterial {
  ElasticModel model;
  Lame lame;
  Real damping;  // [s]
  Real density;  // [kg/m^3]
};

#if STICKSLIP_ON_CUDA
using TetStart = StrainResistance;  // of one tet
#else
using TetStart = StartPack;  // of TetPack::size tets
#endif

/// The tets as kernels see them.
struct TetView {
  const Vec4i* tets;
  const Mat3* inverse_rest;
  const Real* volumes;  // [m^3]
  const Real* sizes;    // [m] edge of a cube of six such tets
  const std::int32_t* tet_material;
  const ElasticMaterial* materials;
  /// What damping resists with, at x_t; null: to be computed. Only those of damped tets are set.
  const TetStart* start = nullptr;
#if !STICKSLIP_ON_CUDA
  const LanesMat3* inverse_rest_packs = nullptr;  // of TetPack::size tets
#endif

  /// F of tet i.
  SS_HD Mat3 deformation(std::size_t i, const Vec3* x) const {
    const Vec4i& t = tets[i];
    return edge_matrix(x[t[0]], x[t[1]], x[t[2]], x[t[3]]) * inverse_rest[i];
  }
  SS_HD const ElasticMaterial& material(std::size_t i) const { return materials[tet_material[i]]; }
};

/// F where a tet's blocks were computed, and how far from it they still serve.
struct KeptDeformation {
  Mat3 f;
  Real reach2;  // square of a Frobenius norm

  /// `share` of the distance is enough.
  SS_HD bool serves(const Mat3& other, Real share) const {
    const Mat3 change = other - f;
    return dot(change, change) < share * share * reach2;
  }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Sum over the tets of volume * (Psi(F) + psi_d), with stiffness-proportional damping as an incremental
/// potential:
///   psi_d = damping / (2 dt) (F - F_s) : C : (F - F_s),   C = dP/dF projected, at F_t, see StrainResistance,
/// with F_s at `still`, whose force is -damping K_t v at v = (x - still)/dt. No spin is damped, however
/// stressed the body is; but the force is linear in v, so a finite rotation within one step is damped a
/// little.
class TetTerm : public EnergyTerm {
 public:
  /// Tets of positive volume.
  TetTerm(Context& ctx, const TermElements& tets) : TetTerm(ctx, tets, {}) {}
  /// `weights` [m^3]: in place of the tets' own volumes, unless empty.
  TetTerm(Context& ctx, const TermElements& tets, std::span<const double> weights);

  std::size_t size() const override { return tets_.size(); }
  void set_materials(Context& ctx, std::span<const Material> materials) override;
  bool forbids_inversion() const override { return forbids_inversion_; }
  double energy_rounding() const override { return energy_rounding_; }
  void begin_step() override { has_start_ = false; }
  /// Whether the material of some tet has damping.
  bool is_damped() const { return is_damped_; }

  void energy(Context& ctx, const SolidMotion& motion, double* out) override;
  void gradient(Context& ctx, const SolidMotion& motion, IndexRange tets, Vec3* corner_gradients) override;
  void gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange tets, Vec3* corner_gradients,
                            Mat3* corner_blocks) override;
  /// Blocks stay while F has changed by less than 0.03 of its smallest singular value, less for stiff
  /// elements.
  void relinearise(Context& ctx, const SolidMotion& motion, IndexRange tets, Vec3* corner_gradients,
                   const KeptBlocks& kept) override;
  void min_determinant(Context& ctx, const Vec3* x, bool only_forbidden, double* out) override;
  void count_inverted(Context& ctx, const Vec3* x, double* out) override;

 private:
  /// Whether blocks may stay. Those of bodies that are nearly rigid change much in small turns.
  virtual bool keeps_blocks() const { return true; }
  virtual ElasticMaterial elastic_material(const Material& material) const;
  /// Of the index behind the last material.
  virtual ElasticMaterial extra_material() const { return elastic_material(Material{}); }
  TetView view() const {
    TetView view{tets_.data(),  inverse_rest_.data(), volumes_.data(),
                 sizes_.data(), tet_material_.data(), materials_.data()};
#if !STICKSLIP_ON_CUDA
    view.inverse_rest_packs = inverse_rest_packs_.data();
#endif
    return view;
  }

  /// With what follows from the motion's x_t, where that pays.
  TetView view_of(Context& ctx, const SolidMotion& motion);

  bool forbids_inversion_ = false, is_damped_ = false;
  bool has_start_ = false;               // at the x_t of the step
  double energy_rounding_ = 0;           // [J]
  std::vector<double> material_volume_;  // [m^3] of the tets of each material
  Buffer<Vec4i> tets_;
  Buffer<Mat3> inverse_rest_;
  Buffer<Real> volumes_, sizes_;
  Buffer<std::int32_t> tet_material_;
  Buffer<ElasticMaterial> materials_;
  Buffer<TetStart> start_;
#if !STICKSLIP_ON_CUDA
  Buffer<LanesMat3> inverse_rest_packs_;
#endif
  Buffer<KeptDeformation> kept_;  // of the last linearisation that computed blocks
};

/// The same over the control tets of affine bodies, weighted with the volumes of the bodies: orthogonality,
/// undamped [Lan22]. Of bodies that stand for rigid ones the weight is `TermElements::stiffness` [J], and the
/// shear modulus is the rigidity [1].
class ControlTetTerm final : public TetTerm {
 public:
  ControlTetTerm(Context& ctx, const TermElements& tets) : TetTerm(ctx, tets, weights_of(tets)) {}

  void set_rigidity(double factor) override { rigidity_ = factor; }

 private:
  static std::vector<double> weights_of(const TermElements& tets);
  bool keeps_blocks() const override { return false; }
  ElasticMaterial elastic_material(const Material& material) const override;
  ElasticMaterial extra_material() const override;

  double rigidity_ = 1;
};

}  // namespace stickslip::STICKSLIP_BACKEND
