// TetPack: several tets side by side, in the lanes of processors of the CPU backend.
#pragma once

#include "gpu/energy/tet_element.h"
#include "gpu/math/lanes.h"

#if !STICKSLIP_ON_CUDA

namespace stickslip {

/// dP/dF of the tets of a pack, in the frames of their singular values. Lanes that were never set are zero.
struct ResistancePack {
  Mat<WideLanes, 3> u = Mat<WideLanes, 3>::zero(), v = u, scaling = u, even = u;
  Vec<WideLanes, 3> odd = Vec<WideLanes, 3>::zero();

  template <class Derivative>  // StressDerivative or StrainResistance
  void set(int lane, const Derivative& d) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        u(i, j).v[lane] = d.u(i, j);
        v(i, j).v[lane] = d.v(i, j);
        scaling(i, j).v[lane] = d.scaling(i, j);
        if (i != j) even(i, j).v[lane] = even_of(d, i, j);
      }
      odd[i].v[lane] = d.odd[i];
    }
  }
  /// As of StrainResistance.
  Mat<WideLanes, 3> operator()(const Mat<WideLanes, 3>& df) const {
    const Mat<WideLanes, 3> x = u.transposed() * df * v;
    Mat<WideLanes, 3> y{};
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      y(i, i) = scaling(i, 0) * x(0, 0) + scaling(i, 1) * x(1, 1) + scaling(i, 2) * x(2, 2);
      y(j, k) = even(j, k) * x(j, k) + odd[i] * x(k, j);
      y(k, j) = even(k, j) * x(k, j) + odd[i] * x(j, k);
    }
    return u * y * v.transposed();
  }
};

inline WideLanes even_of(const ResistancePack& d, int i, int j) { return d.even(i, j); }

inline void set_lane(Mat<WideLanes, 3>& lanes, int lane, const Mat3& value) {
  for (int k = 0; k < 9; ++k) lanes.m[k].v[lane] = value.m[k];
}
inline Mat3 lane_of(const Mat<WideLanes, 3>& lanes, int lane) {
  Mat3 value;
  for (int k = 0; k < 9; ++k) value.m[k] = static_cast<Real>(lanes.m[k].v[lane]);
  return value;
}

/// Up to `size` tets. Lanes without a tet have the unit tet at rest.
struct TetPack {
  static constexpr int size = kLaneCount;
  Mat<WideLanes, 3> f = Mat<WideLanes, 3>::identity(), inverse_rest = f;

  TetPack() = default;
  /// The tets first, first + 1, ... of `view`, with their F at x.
  template <class TetView>
  TetPack(const TetView& view, const Vec3* x, std::size_t first, std::size_t count) {
    for (std::size_t lane = 0; lane < count; ++lane)
      for (int k = 0; k < 9; ++k) inverse_rest.m[k].v[lane] = view.inverse_rest[first + lane].m[k];
    f = deformation(view, x, first, count);
  }
  /// Of the same tets at another x.
  template <class TetView>
  Mat<WideLanes, 3> deformation(const TetView& view, const Vec3* x, std::size_t first,
                                std::size_t count) const {
    Mat<WideLanes, 3> edges = Mat<WideLanes, 3>::identity();
    for (std::size_t lane = 0; lane < count; ++lane) {
      const Vec4i& t = view.tets[first + lane];
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) edges(r, c).v[lane] = x[t[c + 1]][r] - x[t[0]][r];
    }
    return edges * inverse_rest;
  }
  /// The decompositions of all F.
  void decompose(Svd3<Real> (&out)[size]) const {
    const Svd3<WideLanes> svd = svd3<WideLanes, double>(f);
    for (int lane = 0; lane < size; ++lane)
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          out[lane].u(i, j) = static_cast<Real>(svd.u(i, j).v[lane]);
          out[lane].v(i, j) = static_cast<Real>(svd.v(i, j).v[lane]);
        }
        out[lane].s[i] = static_cast<Real>(svd.s[i].v[lane]);
      }
  }
  /// `weight` [m^3] times P g_a of the corners of the first `count` tets.
  void write_gradients(const Mat<WideLanes, 3>& piola, WideLanes weight, int count, Vec3* out) const {
    const ShapeGradientsOf<WideLanes> shape(inverse_rest);
    for (int a = 0; a < 4; ++a) {
      const Vec<WideLanes, 3> g = weight * (piola * shape.g[a]);
      for (int lane = 0; lane < count; ++lane)
        for (int k = 0; k < 3; ++k) out[4 * lane + a][k] = static_cast<Real>(g[k].v[lane]);
    }
  }
  /// The blocks of the first `count` tets, from their resistances to strain and to its rate: weights [m^3]
  /// and [m^3 s/s].
  void write_blocks(const ResistancePack& elastic, WideLanes volume, const ResistancePack* damping,
                    WideLanes rate, int count, Mat3* out) const {
    const ShapeGradientsOf<WideLanes> shape(inverse_rest);
    CornerBlocksOf<WideLanes> blocks{};
    add_corner_blocks(elastic, shape, volume, blocks);
    if (damping != nullptr) add_corner_blocks(*damping, shape, rate, blocks);
    for (int lane = 0; lane < count; ++lane)
      for (int k = 0; k < kCornerBlocks; ++k)
        for (int c = 0; c < 9; ++c)
          out[kCornerBlocks * lane + k].m[c] = static_cast<Real>(blocks.b[k].m[c].v[lane]);
  }
};

}  // namespace stickslip

#endif
