// The term of skins: the drag of the air on the surfaces of bodies of frames.
#pragma once

#include "gpu/energy/thin_term.cuh"

namespace stickslip {

/// The triangles of skins as kernels see them.
struct SkinView {
  const Vec4i* triangles;
  const std::int32_t* triangle_material;
  const DragMaterial* materials;
  Wind wind;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Drag as on triangles of cloth (air_drag.h), but kSkinShare of it: a skin goes around its body.
class SkinTerm final : public ThinTerm {
 public:
  SkinTerm(Context& ctx, const TermElements& elements);

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
  SkinView view() const { return {triangles_.data(), material_.data(), materials_.data(), wind_}; }

  Buffer<Vec4i> triangles_;
  Buffer<std::int32_t> material_;
  Buffer<DragMaterial> materials_;
  Wind wind_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
