#include "gpu/energy/skin_term.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/model/frames.h"

namespace stickslip {
namespace {

SS_HD ElementDrag drag_of(const SkinView& view, const SolidMotion& motion, std::size_t i) {
  const Vec4i& t = view.triangles[i];
  const Vec3* at = motion.air.start;
  return {triangle_drag(at[t[0]], at[t[1]], at[t[2]], view.materials[view.triangle_material[i]],
                        kSkinShare * view.wind.density),
          view.wind, motion.air, motion.x, motion.dt};
}

/// [J], or [W] at the velocities of the air.
SS_HD double skin_energy(const SkinView& view, const SolidMotion& motion, std::size_t i, bool power) {
  if (!motion.air.acts(view.wind)) return 0;
  const ElementDrag drag = drag_of(view, motion, i);
  double sum = 0;
  for (int a = 0; a < 3; ++a) {
    const std::int32_t node = view.triangles[i][a];
    sum += power ? drag.power(node) : static_cast<double>(drag.energy(node));
  }
  return sum;
}

/// `blocks`: null, or ten of the stencil.
SS_HD void write_skin(const SkinView& view, const SolidMotion& motion, std::size_t i, Vec3* gradient,
                      Mat3* blocks) {
  for (int a = 0; a < 4; ++a) gradient[a] = Vec3::zero();
  for (int k = 0; blocks != nullptr && k < kCornerBlocks; ++k) blocks[k] = Mat3::zero();
  if (!motion.air.acts(view.wind)) return;
  const ElementDrag drag = drag_of(view, motion, i);
  for (int a = 0; a < 3; ++a) {
    const std::int32_t node = view.triangles[i][a];
    gradient[a] = drag.gradient(node);
    if (blocks != nullptr) blocks[corner_block(a, a)] = drag.block(node);
  }
}

}  // namespace
}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

SkinTerm::SkinTerm(Context& ctx, const TermElements& elements)
    : triangles_(ctx, elements.stencils), material_(ctx, elements.material) {}

void SkinTerm::set_materials(Context& ctx, std::span<const Material> materials) {
  std::vector<DragMaterial> of_materials;
  for (const Material& material : materials) of_materials.push_back(drag_material(material));
  materials_.upload(ctx, of_materials);
}

void SkinTerm::energy(Context& ctx, const SolidMotion& motion, double* out) {
  const SkinView v = view();
  const SolidMotion m = motion;
  reduce_sum(
      ctx, size(), [=] SS_LAMBDA(std::size_t i) { return skin_energy(v, m, i, false); }, out, kMedium);
}

void SkinTerm::gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                        Vec3* corner_gradients) {
  const SkinView v = view();
  const SolidMotion m = motion;
  launch(
      ctx, stencils.size(),
      [=] SS_LAMBDA(std::size_t i) {
        write_skin(v, m, stencils.begin + i, corner_gradients + 4 * i, nullptr);
      },
      kMedium);
}

void SkinTerm::gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                                    Vec3* corner_gradients, Mat3* corner_blocks) {
  const SkinView v = view();
  const SolidMotion m = motion;
  launch(
      ctx, stencils.size(),
      [=] SS_LAMBDA(std::size_t i) {
        write_skin(v, m, stencils.begin + i, corner_gradients + 4 * i, corner_blocks + kCornerBlocks * i);
      },
      kMedium);
}

void SkinTerm::drag_power(Context& ctx, const SolidMotion& motion, double* out) {
  const SkinView v = view();
  const SolidMotion m = motion;
  reduce_sum(
      ctx, size(), [=] SS_LAMBDA(std::size_t i) { return skin_energy(v, m, i, true); }, out, kMedium);
}

}  // namespace stickslip::STICKSLIP_BACKEND
