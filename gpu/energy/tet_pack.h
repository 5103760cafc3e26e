// TetPack: several tets side by side, in the lanes of processors of the CPU backend.
#pragma once

#include "gpu/energy/tet_element.h"
#include "gpu/math/lanes.h"

#if !STICKSLIP_ON_CUDA

namespace stickslip {

using LanesMat3 = Mat<WideLanes, 3>;
using LanesVec3 = Vec<WideLanes, 3>;
/// Of the tets of a pack.
using ResistancePack = StrainResistanceOf<WideLanes>;
/// The same, and F, both at the start of a step.
struct StartPack {
  ResistancePack resistance;
  LanesMat3 f;
};

/// As of one matrix, in each lane.
inline void project_spd(LanesMat3& a) {
  const WideLanes zero(0.0), one(1.0);
  const WideLanes first = one / a(0, 0), one_zero = a(1, 0) * first, two_zero = a(2, 0) * first;
  const WideLanes middle = a(1, 1) - one_zero * a(1, 0), across = a(2, 1) - two_zero * a(1, 0);
  const WideLanes last = a(2, 2) - two_zero * a(2, 0) - across * (one / middle) * across;
  const WideLanes positive =
      pick(a(0, 0) > zero, pick(middle > zero, pick(last > zero, one, zero), zero), zero);
  if (all_less(zero, positive)) return;
  for (int lane = 0; lane < kLaneCount; ++lane) {
    if (positive.v[lane] > 0) continue;
    Mat<double, 3> own;
    for (int k = 0; k < 9; ++k) own.m[k] = a.m[k].v[lane];
    stickslip::project_spd(own);
    for (int k = 0; k < 9; ++k) a.m[k].v[lane] = own.m[k];
  }
}

inline WideLanes pick_lanes(WideLanes::Mask where, WideLanes a, WideLanes b) { return pick(where, a, b); }
inline LanesMat3 pick_lanes(WideLanes::Mask where, const LanesMat3& a, const LanesMat3& b) {
  LanesMat3 out;
  for (int k = 0; k < 9; ++k) out.m[k] = pick(where, a.m[k], b.m[k]);
  return out;
}
inline LanesVec3 pick_lanes(WideLanes::Mask where, const LanesVec3& a, const LanesVec3& b) {
  return {pick(where, a[0], b[0]), pick(where, a[1], b[1]), pick(where, a[2], b[2])};
}
inline StressDerivativeOf<WideLanes> pick_lanes(WideLanes::Mask where, const StressDerivativeOf<WideLanes>& a,
                                                const StressDerivativeOf<WideLanes>& b) {
  return {pick_lanes(where, a.u, b.u), pick_lanes(where, a.v, b.v), pick_lanes(where, a.scaling, b.scaling),
          pick_lanes(where, a.even, b.even), pick_lanes(where, a.odd, b.odd)};
}

/// The materials of the tets of a pack. Lanes without a tet have that of the first.
struct MaterialPack {
  LameOf<WideLanes> lame;
  WideLanes damping;
  bool is_damped = false;  // some tet is
  ElasticModel model[kLaneCount];
  bool one_model = true;

  template <class TetView>
  MaterialPack(const TetView& view, std::size_t first, std::size_t count) {
    bool same = true;
    for (std::size_t lane = 1; lane < count; ++lane)
      same &= view.tet_material[first + lane] == view.tet_material[first];
    if (same) {
      set_all(view.material(first));
      return;
    }
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(kLaneCount); ++lane) {
      const auto& material = view.material(lane < count ? first + lane : first);
      lame.mu.v[lane] = material.lame.mu;
      lame.lambda.v[lane] = material.lame.lambda;
      damping.v[lane] = material.damping;
      is_damped |= material.damping > Real(0);
      model[lane] = material.model;
      one_model &= model[lane] == model[0];
    }
  }

  template <class ElasticMaterial>
  void set_all(const ElasticMaterial& material) {
    lame.mu = WideLanes(material.lame.mu);
    lame.lambda = WideLanes(material.lame.lambda);
    damping = WideLanes(material.damping);
    is_damped = material.damping > Real(0);
    for (ElasticModel& of_lane : model) of_lane = material.model;
  }

  /// compute(model) for all lanes, each with the result of its own model: a tet's values do not depend on
  /// its neighbours.
  template <class Compute>
  auto by_model(Compute compute) const {
    auto result = compute(model[0]);
    if (one_model) return result;
    for (int lane = 1; lane < kLaneCount; ++lane) {
      WideLanes::Mask same{};
      bool known = false;
      for (int other = 0; other < kLaneCount; ++other) {
        same[other] = model[other] == model[lane] ? -1 : 0;
        known |= other < lane && model[other] == model[lane];
      }
      if (!known) result = pick_lanes(same, compute(model[lane]), result);
    }
    return result;
  }
};

inline Mat3 lane_of(const LanesMat3& lanes, int lane) {
  Mat3 value;
  for (int k = 0; k < 9; ++k) value.m[k] = static_cast<Real>(lanes.m[k].v[lane]);
  return value;
}

/// One of each lane's own; the identity in lanes from `count` on.
inline LanesMat3 lanes_of(const Mat3* values, std::size_t count) {
  LanesMat3 lanes = LanesMat3::identity();
  for (std::size_t lane = 0; lane < count; ++lane)
    for (int k = 0; k < 9; ++k) lanes.m[k].v[lane] = values[lane].m[k];
  return lanes;
}

/// Up to `size` tets. Lanes without a tet have the unit tet at rest.
struct TetPack {
  static constexpr int size = kLaneCount;
  LanesMat3 f, inverse_rest;

  /// The tets first, first + 1, ... of `view`, with their F at x.
  template <class TetView>
  TetPack(const TetView& view, const Vec3* x, std::size_t first, std::size_t count) {
    const bool is_kept = view.inverse_rest_packs != nullptr && first % size == 0;
    if (is_kept) inverse_rest = view.inverse_rest_packs[first / size];
    else inverse_rest = lanes_of(view.inverse_rest + first, count);
    f = deformation(view, x, first, count);
  }
  /// Of the same tets at another x.
  template <class TetView>
  LanesMat3 deformation(const TetView& view, const Vec3* x, std::size_t first, std::size_t count) const {
    LanesMat3 edges;
    if (count < size) edges = LanesMat3::identity();
    for (std::size_t lane = 0; lane < count; ++lane) {
      const Vec4i& t = view.tets[first + lane];
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) edges(r, c).v[lane] = x[t[c + 1]][r] - x[t[0]][r];
    }
    return edges * inverse_rest;
  }
  Svd3<WideLanes> decomposition() const { return svd3<WideLanes, double>(f); }
  /// `weight` [m^3] times P g_a of the corners of the first `count` tets.
  void write_gradients(const LanesMat3& piola, WideLanes weight, int count, Vec3* out) const {
    const ShapeGradientsOf<WideLanes> shape(inverse_rest);
    for (int a = 0; a < 4; ++a) {
      const LanesVec3 g = weight * (piola * shape.g[a]);
      for (int lane = 0; lane < count; ++lane)
        for (int k = 0; k < 3; ++k) out[4 * lane + a][k] = static_cast<Real>(g[k].v[lane]);
    }
  }
  /// The blocks of the first `count` tets, from their resistances to strain and to its rate: weights [m^3]
  /// and [m^3 s/s].
  void write_blocks(const StressDerivativeOf<WideLanes>& elastic, WideLanes volume,
                    const ResistancePack* damping, WideLanes rate, int count, Mat3* out) const {
    const ShapeGradientsOf<WideLanes> shape(inverse_rest);
    CornerBlocksOf<WideLanes> blocks;
    add_corner_blocks<true>(elastic, shape, volume, blocks);
    if (damping != nullptr) add_corner_blocks(*damping, shape, rate, blocks);
    for (int lane = 0; lane < count; ++lane)
      for (int k = 0; k < kCornerBlocks; ++k)
        for (int c = 0; c < 9; ++c)
          out[kCornerBlocks * lane + k].m[c] = static_cast<Real>(blocks.b[k].m[c].v[lane]);
  }
};

}  // namespace stickslip

#endif
