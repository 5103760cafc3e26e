#include "gpu/energy/tet10_term.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr std::size_t kPointCorners = 4 * kTet10Points;  // of an element

std::vector<Tet10> tets_of_stencils(std::span<const Vec4i> stencils) {
  std::vector<Tet10> tets;
  for (std::size_t s = 0; s < stencils.size(); s += kTet10Stencils)
    tets.push_back(tet10_of_stencils(stencils.subspan(s).first<kTet10Stencils>()));
  return tets;
}

/// Point tets: the corners of each are nodes of its own.
TetTerm point_term(Context& ctx, const TermElements& elements) {
  const std::vector<Tet10> tets = tets_of_stencils(elements.stencils);
  std::vector<Vec<double, 3>> rest;
  std::vector<Vec4i> point_tets;
  std::vector<std::int32_t> material;
  std::vector<double> weights;
  for (std::size_t e = 0; e < tets.size(); ++e)
    for (int point = 0; point < kTet10Points; ++point) {
      Vec<double, 3> y[4];
      point_corners([&](int node) { return elements.rest[static_cast<std::size_t>(tets[e][node])]; }, point,
                    y);
      const auto first = static_cast<std::int32_t>(rest.size());
      rest.insert(rest.end(), y, y + 4);
      point_tets.push_back({first, first + 1, first + 2, first + 3});
      material.push_back(elements.material[kTet10Stencils * e]);
      const auto edges = Mat<double, 3>::from_columns({y[1] - y[0], y[2] - y[0], y[3] - y[0]});
      weights.push_back(determinant(edges) / (6.0 * kTet10Points));
    }
  return TetTerm(ctx, {rest, point_tets, material, {}}, weights);
}

/// Writes the corners of the point tets of `elements` to `y`, which has room for all elements.
void write_point_corners(Context& ctx, const Tet10* tets, IndexRange elements, const Vec3* x, Vec3* y) {
  launch(
      ctx, elements.size(),
      [=] SS_LAMBDA(std::size_t i) {
        const std::size_t e = elements.begin + i;
        for (int point = 0; point < kTet10Points; ++point)
          point_corners([=](int node) { return x[tets[e][node]]; }, point, y + kPointCorners * e + 4 * point);
      },
      kMedium);
}

/// The elements that have some of `stencils`.
IndexRange elements_of(IndexRange stencils) {
  return {stencils.begin / kTet10Stencils, (stencils.end + kTet10Stencils - 1) / kTet10Stencils};
}
/// Their point tets.
IndexRange points_of(IndexRange elements) {
  return {kTet10Points * elements.begin, kTet10Points * elements.end};
}

/// A stencil: its element, counted from the first of `elements_of`, and its number there.
struct StencilPlace {
  std::size_t element;
  int stencil;
};
SS_HD inline StencilPlace place_of(std::size_t stencil, std::size_t first_element) {
  return {stencil / kTet10Stencils - first_element, static_cast<int>(stencil % kTet10Stencils)};
}

/// From the gradients of the point tets of the elements of `stencils` to those of the stencils' corners.
void gather_gradients(Context& ctx, IndexRange stencils, const Vec3* of_points, Vec3* corner_gradients) {
  const std::size_t first = elements_of(stencils).begin;
  launch(
      ctx, stencils.size(),
      [=] SS_LAMBDA(std::size_t i) {
        const StencilPlace at = place_of(stencils.begin + i, first);
        for (int a = 0; a < 4; ++a)
          corner_gradients[4 * i + a] =
              tet10_owns(at.stencil, a, a)
                  ? node_gradient(tet10_stencil(at.stencil, a), of_points + kPointCorners * at.element)
                  : Vec3::zero();
      },
      kMedium);
}

/// The same of blocks.
void gather_blocks(Context& ctx, IndexRange stencils, const Mat3* of_points, Mat3* corner_blocks) {
  const std::size_t first = elements_of(stencils).begin;
  launch(
      ctx, stencils.size(),
      [=] SS_LAMBDA(std::size_t i) {
        const StencilPlace at = place_of(stencils.begin + i, first);
        for (int a = 0; a < 4; ++a)
          for (int b = 0; b <= a; ++b)
            corner_blocks[kCornerBlocks * i + corner_block(a, b)] =
                tet10_owns(at.stencil, a, b)
                    ? node_block(tet10_stencil(at.stencil, a), tet10_stencil(at.stencil, b),
                                 of_points + kTet10Points * kCornerBlocks * at.element)
                    : Mat3::zero();
      },
      kHeavy);
}

}  // namespace

Tet10Term::Tet10Term(Context& ctx, const TermElements& elements)
    : tets_(ctx, tets_of_stencils(elements.stencils)), points_(point_term(ctx, elements)) {}

void Tet10Term::set_materials(Context& ctx, std::span<const Material> materials) {
  points_.set_materials(ctx, materials);
}

void Tet10Term::begin_step() {
  points_.begin_step();
  has_start_ = false;
}

SolidMotion Tet10Term::at_points(Context& ctx, const SolidMotion& motion, IndexRange elements) {
  const auto place = [&](const Vec3* from, Buffer<Vec3>& to, IndexRange part) {
    to.resize(ctx, kPointCorners * tets_.size());
    write_point_corners(ctx, tets_.data(), part, from, to.data());
    return to.data();
  };
  const Vec3* x = place(motion.x, x_, elements);
  if (!points_.is_damped()) return {x, x, motion.dt};
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

void Tet10Term::energy(Context& ctx, const SolidMotion& motion, double* out) {
  points_.energy(ctx, at_points(ctx, motion, all_elements()), out);
}

void Tet10Term::gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                         Vec3* corner_gradients) {
  const IndexRange elements = elements_of(stencils);
  point_gradients_.resize(ctx, kPointCorners * elements.size());
  points_.gradient(ctx, at_points(ctx, motion, elements), points_of(elements), point_gradients_.data());
  gather_gradients(ctx, stencils, point_gradients_.data(), corner_gradients);
}

void Tet10Term::gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                                     Vec3* corner_gradients, Mat3* corner_blocks) {
  const IndexRange elements = elements_of(stencils);
  point_gradients_.resize(ctx, kPointCorners * elements.size());
  point_blocks_.resize(ctx, kTet10Points * kCornerBlocks * elements.size());
  points_.gradient_and_hessian(ctx, at_points(ctx, motion, elements), points_of(elements),
                               point_gradients_.data(), point_blocks_.data());
  gather_gradients(ctx, stencils, point_gradients_.data(), corner_gradients);
  gather_blocks(ctx, stencils, point_blocks_.data(), corner_blocks);
}

void Tet10Term::min_determinant(Context& ctx, const Vec3* x, bool only_forbidden, double* out) {
  points_.min_determinant(ctx, at_points(ctx, {x, x, Real(1)}, all_elements()).x, only_forbidden, out);
}

void Tet10Term::count_inverted(Context& ctx, const Vec3* x, double* out) {
  const Vec3* y = at_points(ctx, {x, x, Real(1)}, all_elements()).x;
  reduce_sum(
      ctx, tets_.size(),
      [=] SS_LAMBDA(std::size_t e) {
        bool good = true;
        for (int point = 0; point < kTet10Points; ++point) {
          const Vec3* corner = y + kPointCorners * e + 4 * point;
          good = good && determinant(edge_matrix(corner[0], corner[1], corner[2], corner[3])) > Real(0);
        }
        return good ? 0.0 : 1.0;
      },
      out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
