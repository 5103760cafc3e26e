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
};

inline WideLanes even_of(const ResistancePack& d, int i, int j) { return d.even(i, j); }

/// Up to `size` tets. Lanes without a tet have the unit tet at rest.
struct TetPack {
  static constexpr int size = kLaneCount;
  Mat<WideLanes, 3> f = Mat<WideLanes, 3>::identity(), inverse_rest = f;

  void set(int lane, const Mat3& deformation) {
    for (int k = 0; k < 9; ++k) f.m[k].v[lane] = deformation.m[k];
  }
  void set(int lane, const Mat3& deformation, const Mat3& inverse) {
    set(lane, deformation);
    for (int k = 0; k < 9; ++k) inverse_rest.m[k].v[lane] = inverse.m[k];
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
