// Stress and stretch of elastic solids on the host, for the colours of their surfaces.
#pragma once

#include <span>
#include <vector>

#include "gpu/model/lattice.h"
#include "gpu/model/model.h"

namespace stickslip {

/// Von Mises' stress, or the largest principal stretch.
enum class SolidMeasure { stress, stretch };

/// Of the deformable solids of a model.
class SolidStress {
 public:
  /// More tets than this are not evaluated for each picture.
  static constexpr std::size_t kMostTets = 100000;

  explicit SolidStress(const Model& model);

  /// Whether there is anything to show: deformable solids, not too large.
  bool empty() const { return tets_.empty(); }
  /// Per node the mean over its tets, weighted by their volumes: of von Mises' stress [Pa] of the Cauchy
  /// stress without damping, or of the largest |s - 1| over the singular values s of the deformation
  /// gradient. -1 at nodes of no such tet. `positions` [m]: of all nodes.
  const std::vector<float>& evaluate(SolidMeasure what, std::span<const Vec<float, 3>> positions,
                                     const std::vector<Material>& materials);

 private:
  struct Tet {
    Vec4i nodes;
    Mat<double, 3> inverse_rest;
    double volume;  // [m^3] at rest
    std::int32_t material;
  };
  std::vector<Tet> tets_;
  std::vector<LatticeFollower>
      followers_;               // surface nodes of solids in lattices: values are interpolated there
  std::vector<double> weight_;  // per node: volumes of its tets
  std::vector<double> sum_;
  std::size_t materials_ = 0;  // that the tets need
  std::vector<float> values_;
};

}  // namespace stickslip
