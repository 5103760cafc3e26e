// What one contact stencil adds to a step's potential: value [J], gradient [N] and SPD Hessian [N/m] at its
// corners. With a plain d_hat for the potential: the bare barrier, per unit of its stiffness.
#pragma once

#include <type_traits>

#include "gpu/core/out_of_line.h"
#include "gpu/energy/distance_hessian.h"
#include "gpu/geometry/distance.h"
#include "gpu/geometry/mollifier.h"
#include "gpu/model/plane.h"

namespace stickslip {

enum class ContactType : std::uint8_t {
  point_point,
  point_edge,
  point_triangle,
  edge_edge,
  edge_edge_mollified,
  half_space
};

SS_HD constexpr int node_count(ContactType type) {
  switch (type) {
    case ContactType::half_space:
      return 1;
    case ContactType::point_point:
      return 2;
    case ContactType::point_edge:
      return 3;
    default:
      return 4;
  }
}

/// One stencil ready to evaluate. Corners by type: p q | p e0 e1 | p t0 t1 t2 | a0 a1 b0 b1 | p; others are
/// not read. The closest points must be inside the features that the type names; a mollified pair looks for
/// its own.
struct ContactStencil {
  ContactType type;
  Vec3 x[4];           // [m]
  Real eps_x;          // of a mollified pair [m^4]
  Plane plane;         // of a half-space
  Real thickness = 0;  // [m] what the gap is smaller than the distance of the features
};

/// The closest features inside a stencil, and their corners among the stencil's.
struct ClosestFeatures {
  ContactType type;
  int corner[4];
};

SS_HD inline ClosestFeatures closest_features(const ContactStencil& s) {
  if (s.type != ContactType::edge_edge_mollified) return {s.type, {0, 1, 2, 3}};
  switch (edge_edge_feature(s.x[0], s.x[1], s.x[2], s.x[3])) {
    case EdgeEdgeFeature::a0_b0:
      return {ContactType::point_point, {0, 2, 1, 3}};
    case EdgeEdgeFeature::a0_b1:
      return {ContactType::point_point, {0, 3, 1, 2}};
    case EdgeEdgeFeature::a1_b0:
      return {ContactType::point_point, {1, 2, 0, 3}};
    case EdgeEdgeFeature::a1_b1:
      return {ContactType::point_point, {1, 3, 0, 2}};
    case EdgeEdgeFeature::a0_b:
      return {ContactType::point_edge, {0, 2, 3, 1}};
    case EdgeEdgeFeature::a1_b:
      return {ContactType::point_edge, {1, 2, 3, 0}};
    case EdgeEdgeFeature::a_b0:
      return {ContactType::point_edge, {2, 0, 1, 3}};
    case EdgeEdgeFeature::a_b1:
      return {ContactType::point_edge, {3, 0, 1, 2}};
    case EdgeEdgeFeature::interior:
      break;
  }
  return {ContactType::edge_edge, {0, 1, 2, 3}};
}

/// Calls f with the HullDistance of `features`, which are no half-space.
template <class F>
SS_HD inline void visit_hulls(const ClosestFeatures& features, const Vec3 (&x)[4], F&& f) {
  const int* c = features.corner;
  switch (features.type) {
    case ContactType::point_point:
      f(point_point(x[c[0]], x[c[1]]));
      break;
    case ContactType::point_edge:
      f(point_line(x[c[0]], x[c[1]], x[c[2]]));
      break;
    case ContactType::point_triangle:
      f(point_plane(x[0], x[1], x[2], x[3]));
      break;
    default:
      f(line_line(x[0], x[1], x[2], x[3]));
  }
}

/// The closest points of the two sides: sum_i weights_i x_i = (gap + thickness) * normal (side b of a
/// half-space is its plane). Weights of side a sum to 1, those of side b to -1; the normal points from b to
/// a.
struct ClosestPoints {
  Vec<Real, 4> weights;
  Vec3 normal;  // unit
  Real gap;     // [m]; negative only behind a half-space and for thick sides in each other
};

SS_HD inline ClosestPoints closest_points(const ContactStencil& s) {
  if (s.type == ContactType::half_space)
    return {{1, 0, 0, 0}, s.plane.normal, dot(s.plane.normal, s.x[0]) - s.plane.offset - s.thickness};
  const ClosestFeatures features = closest_features(s);
  // The point of a mollified pair may belong to side b.
  const bool swapped = s.type == ContactType::edge_edge_mollified && features.corner[0] >= 2;
  const Real side = swapped ? Real(-1) : Real(1);
  ClosestPoints closest{};
  visit_hulls(features, s.x, [&](const auto& hull) {
    constexpr int N = sizeof(hull.w) / sizeof(Real);
    for (int i = 0; i < N; ++i) closest.weights[features.corner[i]] = side * hull.w[i];
    const Real distance = norm(hull.r);
    closest.gap = distance - s.thickness;
    closest.normal = (side / distance) * hull.r;
  });
  return closest;
}

/// 1, or the mollifier of a nearly parallel edge pair.
SS_HD inline Real stencil_mollifier(const ContactStencil& s) {
  if (s.type != ContactType::edge_edge_mollified) return Real(1);
  return mollifier(s.x[0], s.x[1], s.x[2], s.x[3], s.eps_x);
}

/// The potential at the stencil's gap times the mollifier; infinite where the gap is not positive.
SS_HD inline Real barrier_value(const ContactStencil& s, const ContactPotential& potential) {
  return stencil_mollifier(s) * potential.value(closest_points(s).gap);
}

/// Its gradient at the corners.
SS_HD inline CornerVectors barrier_gradient(const ContactStencil& s, const ContactPotential& potential) {
  const ClosestPoints closest = closest_points(s);
  const Jet2<Real> b = potential.jet(closest.gap);
  const Real slope = stencil_mollifier(s) * b.first;
  CornerVectors gradient{};
  for (int i = 0; i < 4; ++i) gradient[i] = slope * closest.weights[i] * closest.normal;
  if (s.type == ContactType::edge_edge_mollified) {
    const Vec<Real, 12> dm = mollifier_gradient(s.x[0], s.x[1], s.x[2], s.x[3], s.eps_x);
    for (int i = 0; i < 4; ++i) gradient[i] += b.value * Vec3{dm[3 * i], dm[3 * i + 1], dm[3 * i + 2]};
  }
  return gradient;
}

/// Adds weight times the potential's Hessian of the closest features, or of the nearest positive semidefinite
/// matrix.
template <bool project>
SS_HD_LARGE inline void add_feature_hessian(const ContactStencil& s, const ContactPotential& potential,
                                            Real weight, CornerBlocks& blocks) {
  const ClosestFeatures features = closest_features(s);
  visit_hulls(features, s.x, [&](const auto& hull) {
    constexpr int N = sizeof(hull.w) / sizeof(Real);
    Mat3 local[N * (N + 1) / 2];
    distance_hessian<project>(hull, potential.jet(norm(hull.r) - s.thickness), local);
    for (int i = 0; i < N; ++i)
      for (int j = 0; j <= i; ++j) {
        const int row = features.corner[i], column = features.corner[j];
        const Mat3 block = weight * local[corner_block(i, j)];
        if (row >= column) blocks(row, column) += block;
        else blocks(column, row) += block.transposed();
      }
  });
}

/// Of m b: m hess b + b hess m + grad m grad b' + grad b grad m'. `blocks` are zero before.
SS_HD_LARGE inline void mollified_hessian(const ContactStencil& s, const ContactPotential& potential,
                                          CornerBlocks& blocks) {
  const Vec3* x = s.x;
  add_feature_hessian<false>(s, potential, stencil_mollifier(s), blocks);
  const Vec<Real, 12> dm = mollifier_gradient(x[0], x[1], x[2], x[3], s.eps_x);
  const Mat<Real, 6> edges = mollifier_edge_hessian(x[1] - x[0], x[3] - x[2], s.eps_x);
  const ClosestPoints closest = closest_points(s);
  const Jet2<Real> b = potential.jet(closest.gap);
  Vec<Real, 12> db{};
  for (int k = 0; k < 12; ++k) db[k] = b.first * closest.weights[k / 3] * closest.normal[k % 3];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j <= i; ++j)
      for (int k = 0; k < 9; ++k) {
        const int row = 3 * i + k / 3, column = 3 * j + k % 3;
        const Real ddm = Real(mollifier_sign(i, j)) * edges(i / 2 * 3 + k / 3, j / 2 * 3 + k % 3);
        blocks(i, j).m[k] += b.value * ddm + dm[row] * db[column] + db[row] * dm[column];
      }
}

/// Replaces the blocks of four corners, which a common translation does not affect, by those of the nearest
/// positive semidefinite matrix.
SS_HD_LARGE inline void project_blocks(CornerBlocks& blocks) {
  constexpr Mat<Real, 4, 3> basis = zero_sum_basis<4>();
  Mat<Real, 9> h{};
  // Entry by entry: matrices of sums would take more stack, which every lane reserves.
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b <= a; ++b)
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
          Real sum = 0;
          for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j)
              sum += basis(i, a) * basis(j, b) * (i >= j ? blocks(i, j)(r, c) : blocks(j, i)(c, r));
          h(3 * a + r, 3 * b + c) = h(3 * b + c, 3 * a + r) = sum;
        }
  project_spd(h);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j <= i; ++j)
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
          Real sum = 0;
          for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) sum += basis(i, a) * basis(j, b) * h(3 * a + r, 3 * b + c);
          blocks(i, j)(r, c) = sum;
        }
}

/// Sets `blocks` to its Hessian at the corners, or to the nearest positive semidefinite matrix.
template <bool project>
SS_HD inline void set_barrier_hessian(const ContactStencil& s, const ContactPotential& potential,
                                      CornerBlocks& blocks) {
  blocks = CornerBlocks{};
  if (s.type == ContactType::half_space) {
    const Vec3& n = s.plane.normal;
    blocks(0, 0) = potential.jet(closest_points(s).gap).second * outer(n, n);
  } else if (s.type == ContactType::edge_edge_mollified) {
    mollified_hessian(s, potential, blocks);
    if constexpr (project) project_blocks(blocks);
  } else {
    add_feature_hessian<project>(s, potential, Real(1), blocks);
  }
}

template <bool project>
SS_HD inline CornerBlocks barrier_hessian(const ContactStencil& s, const ContactPotential& potential) {
  CornerBlocks blocks;
  set_barrier_hessian<project>(s, potential, blocks);
  return blocks;
}

SS_HD inline CornerBlocks barrier_hessian_spd(const ContactStencil& s, const ContactPotential& potential) {
  return barrier_hessian<true>(s, potential);
}

}  // namespace stickslip
