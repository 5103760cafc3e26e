#include "gpu/energy/point_tet_term.cuh"

#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {

PointTetTerm::PointTetTerm(Context& ctx, const PointTets& tets, const Sizes& sizes)
    : tets_(ctx, {tets.rest, tets.tets, tets.material, {}}, tets.weights), sizes_(sizes) {}

void PointTetTerm::set_materials(Context& ctx, std::span<const Material> materials) {
  tets_.set_materials(ctx, materials);
}

void PointTetTerm::begin_step() {
  tets_.begin_step();
  has_start_ = false;
}

SolidMotion PointTetTerm::at_points(Context& ctx, const SolidMotion& motion, IndexRange elements) {
  const auto place = [&](const Vec3* from, Buffer<Vec3>& to, IndexRange part) {
    to.resize(ctx, 4 * sizes_.points * sizes_.elements);
    write_corners(ctx, part, from, to.data());
    return to.data();
  };
  // What depends on a start that is kept is computed for all elements at once.
  const bool starts_here = motion.x_t == motion.x && motion.x_t_kept;
  const Vec3* x = place(motion.x, x_, starts_here ? all_elements() : elements);
  if (!tets_.is_damped()) return {x, x, motion.dt};
  const Vec3* x_t = x;
  if (motion.x_t != motion.x) {
    if (!(motion.x_t_kept && has_start_)) {
      place(motion.x_t, x_t_, motion.x_t_kept ? all_elements() : elements);
      has_start_ = motion.x_t_kept;
    }
    x_t = x_t_.data();
  }
  const Vec3* still = nullptr;
  if (motion.still == motion.x) still = x;
  else if (motion.still == motion.x_t) still = x_t;
  else if (motion.still != nullptr) still = place(motion.still, still_, elements);
  return {x, x_t, motion.dt, still, motion.x_t_kept};
}

void PointTetTerm::energy(Context& ctx, const SolidMotion& motion, double* out) {
  tets_.energy(ctx, at_points(ctx, motion, all_elements()), out);
}

void PointTetTerm::gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                            Vec3* corner_gradients) {
  const IndexRange elements = elements_of(stencils);
  point_gradients_.resize(ctx, 4 * sizes_.points * elements.size());
  tets_.gradient(ctx, at_points(ctx, motion, elements), points_of(elements), point_gradients_.data());
  gather_gradients(ctx, stencils, elements.begin, point_gradients_.data(), corner_gradients);
}

void PointTetTerm::gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                                        Vec3* corner_gradients, Mat3* corner_blocks) {
  const IndexRange elements = elements_of(stencils);
  point_gradients_.resize(ctx, 4 * sizes_.points * elements.size());
  point_blocks_.resize(ctx, sizes_.points * kCornerBlocks * elements.size());
  tets_.gradient_and_hessian(ctx, at_points(ctx, motion, elements), points_of(elements),
                             point_gradients_.data(), point_blocks_.data());
  gather_gradients(ctx, stencils, elements.begin, point_gradients_.data(), corner_gradients);
  gather_blocks(ctx, stencils, elements.begin, point_blocks_.data(), corner_blocks);
}

void PointTetTerm::min_determinant(Context& ctx, const Vec3* x, bool only_forbidden, double* out) {
  tets_.min_determinant(ctx, at_points(ctx, {x, x, Real(1)}, all_elements()).x, only_forbidden, out);
}

void PointTetTerm::count_inverted(Context& ctx, const Vec3* x, double* out) {
  const Vec3* y = at_points(ctx, {x, x, Real(1)}, all_elements()).x;
  const std::size_t points = sizes_.points;
  reduce_sum(
      ctx, sizes_.elements,
      [=] SS_LAMBDA(std::size_t e) {
        bool good = true;
        for (std::size_t point = 0; point < points; ++point) {
          const Vec3* corner = y + 4 * (points * e + point);
          good = good && determinant(edge_matrix(corner[0], corner[1], corner[2], corner[3])) > Real(0);
        }
        return good ? 0.0 : 1.0;
      },
      out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
