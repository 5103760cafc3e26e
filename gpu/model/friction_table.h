// Friction coefficients of all pairs, for kernels.
#pragma once

#include <vector>

#include "gpu/math/vec.h"
#include "gpu/model/model.h"

namespace stickslip {

/// mu of all pairs, row by row: a row per material; a column per material, then one per half-space. The
/// geometric mean of both coefficients unless PairFriction or a flag of the half-space sets another value.
std::vector<double> friction_coefficients(const Model& model);

/// The coefficients of rolling resistance [m] in the same order: the larger of both unless PairFriction sets
/// another value; half-spaces have none. Empty where all are zero.
std::vector<double> rolling_coefficients(const Model& model);

/// The same in backend memory, for barrier steppers.
struct FrictionTable {
  const Real* mu;
  const std::int32_t* node_material;
  std::int32_t material_count, column_count;

  SS_HD Real of_nodes(std::int32_t a, std::int32_t b) const {
    return mu[node_material[a] * column_count + node_material[b]];
  }
  SS_HD Real of_plane(std::int32_t node, std::int32_t plane) const {
    return mu[node_material[node] * column_count + material_count + plane];
  }
};

}  // namespace stickslip
