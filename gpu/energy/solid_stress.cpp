#include "gpu/energy/solid_stress.h"

#include <algorithm>
#include <cmath>

#include "gpu/energy/elasticity.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

Mat<double, 3> edges_of(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  return Mat<double, 3>::from_columns({b - a, c - a, d - a});
}

/// sqrt(3/2) of the Frobenius norm of the deviator of P F' / J.
double von_mises(const Mat3& f, const Mat3& piola) {
  const double j = std::max(1e-6, std::fabs(static_cast<double>(determinant(f))));
  const Mat3 cauchy = static_cast<Real>(1 / j) * (piola * f.transposed());
  const double mean = static_cast<double>(trace(cauchy)) / 3;
  double sum = 0;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) {
      const double entry = static_cast<double>(cauchy(r, c)) - (r == c ? mean : 0);
      sum += entry * entry;
    }
  return std::sqrt(1.5 * sum);
}

}  // namespace

SolidStress::SolidStress(const Model& model) {
  std::size_t count = 0;
  for (const Object& object : model.objects)
    if (object.is_solid() && !object.is_affine() && !object.is_rigid())
      count += static_cast<std::size_t>(object.tet_end - object.tet_begin);
  if (count > kMostTets) return;
  weight_.assign(model.node_count(), 0);
  for (const Object& object : model.objects)
    if (object.is_embedded())
      for (const LatticeFollower& f : followers(model, object)) followers_.push_back(f);
  for (const Object& object : model.objects) {
    if (!object.is_solid() || object.is_affine() || object.is_rigid()) continue;
    for (std::int32_t t = object.tet_begin; t < object.tet_end; ++t) {
      const Vec4i nodes = model.tets[static_cast<std::size_t>(t)];
      const auto at = [&](int k) { return model.rest_positions[static_cast<std::size_t>(nodes[k])]; };
      const Mat<double, 3> edges = edges_of(at(0), at(1), at(2), at(3));
      const double volume = std::fabs(determinant(edges)) / 6;
      if (!(volume > 0)) continue;
      materials_ = std::max(materials_, static_cast<std::size_t>(object.material) + 1);
      tets_.push_back({nodes, inverse(edges), volume, object.material});
      for (int k = 0; k < 4; ++k) weight_[static_cast<std::size_t>(nodes[k])] += volume;
    }
  }
}

const std::vector<float>& SolidStress::evaluate(SolidMeasure what, std::span<const Vec<float, 3>> positions,
                                                const std::vector<Material>& materials) {
  values_.assign(weight_.size(), -1);
  if (positions.size() != weight_.size() || materials.size() < materials_)  // of another scene, for a moment
    return values_;
  std::vector<Lame> lame;
  lame.reserve(materials.size());
  for (const Material& m : materials)
    lame.push_back(lame_parameters(m.model, static_cast<Real>(m.young), static_cast<Real>(m.poisson)));
  sum_.assign(weight_.size(), 0);
  for (const Tet& tet : tets_) {
    const auto at = [&](int k) {
      return positions[static_cast<std::size_t>(tet.nodes[k])].template cast<double>();
    };
    const Mat<double, 3> gradient = edges_of(at(0), at(1), at(2), at(3)) * tet.inverse_rest;
    Mat3 f;
    for (int k = 0; k < 9; ++k) f.m[k] = static_cast<Real>(gradient.m[k]);
    const Svd3<Real> svd = svd3(f);
    double value = 0;
    if (what == SolidMeasure::stress) {
      const auto m = static_cast<std::size_t>(tet.material);
      value = von_mises(f, first_piola(materials[m].model, f, svd, lame[m]));
    } else {
      for (int k = 0; k < 3; ++k) value = std::max(value, std::fabs(static_cast<double>(svd.s[k]) - 1));
    }
    if (!std::isfinite(value)) continue;
    for (int k = 0; k < 4; ++k) sum_[static_cast<std::size_t>(tet.nodes[k])] += tet.volume * value;
  }
  for (std::size_t i = 0; i < weight_.size(); ++i)
    if (weight_[i] > 0) values_[i] = static_cast<float>(sum_[i] / weight_[i]);
  for (const LatticeFollower& f : followers_) {
    double value = 0;
    for (int k = 0; k < leader_count(f.controls); ++k)
      value += f.weights[k] * double(values_[static_cast<std::size_t>(f.controls[k])]);
    values_[static_cast<std::size_t>(f.node)] = static_cast<float>(value);
  }
  return values_;
}

}  // namespace stickslip
