#include "gpu/energy/tet10_term.cuh"

#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr std::size_t kPointCorners = 4 * kTet10Points;  // of an element

std::vector<Tet10> tets_of_stencils(std::span<const Vec4i> stencils) {
  std::vector<Tet10> tets;
  for (std::size_t s = 0; s < stencils.size(); s += kTet10Stencils)
    tets.push_back(tet10_of_stencils(stencils.subspan(s).first<kTet10Stencils>()));
  return tets;
}

PointTets tets_of_points(const TermElements& elements) {
  const std::vector<Tet10> ten_node_tets = tets_of_stencils(elements.stencils);
  PointTets tets;
  for (std::size_t e = 0; e < ten_node_tets.size(); ++e)
    for (int point = 0; point < kTet10Points; ++point) {
      Vec<double, 3> y[4];
      point_corners([&](int node) { return elements.rest[static_cast<std::size_t>(ten_node_tets[e][node])]; },
                    point, y);
      tets.add(y, elements.material[kTet10Stencils * e]);
      const auto edges = Mat<double, 3>::from_columns({y[1] - y[0], y[2] - y[0], y[3] - y[0]});
      tets.weights.push_back(determinant(edges) / (6.0 * kTet10Points));
    }
  return tets;
}

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

/// A stencil: its element, counted from the first of a range, and its number there.
struct StencilPlace {
  std::size_t element;
  int stencil;
};
SS_HD inline StencilPlace place_of(std::size_t stencil, std::size_t first_element) {
  return {stencil / kTet10Stencils - first_element, static_cast<int>(stencil % kTet10Stencils)};
}

void gather_point_gradients(Context& ctx, IndexRange stencils, std::size_t first, const Vec3* of_points,
                            Vec3* corner_gradients) {
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

void gather_point_blocks(Context& ctx, IndexRange stencils, std::size_t first, const Mat3* of_points,
                         Mat3* corner_blocks) {
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
    : PointTetTerm(ctx, tets_of_points(elements),
                   {kTet10Points, kTet10Stencils, elements.stencils.size() / kTet10Stencils}),
      elements_(ctx, tets_of_stencils(elements.stencils)) {}

void Tet10Term::write_corners(Context& ctx, IndexRange elements, const Vec3* x, Vec3* y) const {
  write_point_corners(ctx, elements_.data(), elements, x, y);
}

void Tet10Term::gather_gradients(Context& ctx, IndexRange stencils, std::size_t first, const Vec3* of_points,
                                 Vec3* corner_gradients) const {
  gather_point_gradients(ctx, stencils, first, of_points, corner_gradients);
}

void Tet10Term::gather_blocks(Context& ctx, IndexRange stencils, std::size_t first, const Mat3* of_points,
                              Mat3* corner_blocks) const {
  gather_point_blocks(ctx, stencils, first, of_points, corner_blocks);
}

}  // namespace stickslip::STICKSLIP_BACKEND
