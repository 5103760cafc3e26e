// PointTetTerm: what terms share whose elements are sums over tets at their quadrature points.
#pragma once

#include <vector>

#include "gpu/energy/tet_terms.cuh"

namespace stickslip {

/// Point tets at rest, those of one element together; each has corners of its own.
struct PointTets {
  std::vector<Vec<double, 3>> rest;
  std::vector<Vec4i> tets;
  std::vector<std::int32_t> material;
  std::vector<double> weights;  // [m^3] in place of the tets' own volumes, unless empty

  void add(const Vec<double, 3> (&corners)[4], std::int32_t of_material) {
    const auto first = static_cast<std::int32_t>(rest.size());
    rest.insert(rest.end(), corners, corners + 4);
    tets.push_back({first, first + 1, first + 2, first + 3});
    material.push_back(of_material);
  }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// The sum of a TetTerm over *point tets*, one for each quadrature point of each element, whose corners are
/// linear in the element's nodes. So every elastic model, its projection and damping are those of linear
/// tets. An element has several stencils; `TermElements` and all ranges have those of one element together.
class PointTetTerm : public EnergyTerm {
 public:
  std::size_t size() const override { return sizes_.stencils * sizes_.elements; }
  void set_materials(Context& ctx, std::span<const Material> materials) override;
  bool forbids_inversion() const override { return tets_.forbids_inversion(); }
  double energy_rounding() const override { return tets_.energy_rounding(); }
  void begin_step() override;

  void energy(Context& ctx, const SolidMotion& motion, double* out) override;
  void gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                Vec3* corner_gradients) override;
  void gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                            Vec3* corner_gradients, Mat3* corner_blocks) override;
  /// Over all quadrature points.
  void min_determinant(Context& ctx, const Vec3* x, bool only_forbidden, double* out) override;
  /// Elements that are inverted at some quadrature point.
  void count_inverted(Context& ctx, const Vec3* x, double* out) override;

 protected:
  struct Sizes {
    std::size_t points, stencils;  // per element
    std::size_t elements;
  };
  PointTetTerm(Context& ctx, const PointTets& tets, const Sizes& sizes);

 private:
  /// Writes the corners of the point tets of `elements` to `y`, which has room for all elements.
  virtual void write_corners(Context& ctx, IndexRange elements, const Vec3* x, Vec3* y) const = 0;
  /// From the gradients of the point tets of the elements of `stencils`, the first of them `first`, to those
  /// of the stencils' corners.
  virtual void gather_gradients(Context& ctx, IndexRange stencils, std::size_t first, const Vec3* of_points,
                                Vec3* corner_gradients) const = 0;
  /// The same of blocks.
  virtual void gather_blocks(Context& ctx, IndexRange stencils, std::size_t first, const Mat3* of_points,
                             Mat3* corner_blocks) const = 0;

  IndexRange all_elements() const { return {0, sizes_.elements}; }
  /// The elements that have some of `stencils`.
  IndexRange elements_of(IndexRange stencils) const {
    return {stencils.begin / sizes_.stencils, (stencils.end + sizes_.stencils - 1) / sizes_.stencils};
  }
  IndexRange points_of(IndexRange elements) const {
    return {sizes_.points * elements.begin, sizes_.points * elements.end};
  }
  /// The same motion of the point tets of `elements`.
  SolidMotion at_points(Context& ctx, const SolidMotion& motion, IndexRange elements);

  TetTerm tets_;
  Sizes sizes_;
  Buffer<Vec3> x_, x_t_, still_;  // corners of the point tets
  bool has_start_ = false;        // x_t_ is that of all elements at the x_t of the step
  Buffer<Vec3> point_gradients_;
  Buffer<Mat3> point_blocks_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
