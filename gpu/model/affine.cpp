#include "gpu/model/affine.h"

#include <array>
#include <cmath>
#include <stdexcept>

#include "gpu/math/spd.h"
#include "gpu/model/element_group.h"
#include "gpu/model/tet_volume.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Mat3d = Mat<double, 3>;

// How far a mesh node may start from where its control nodes put it, in units of the body's size.
constexpr double kAffineTolerance = 1e-6;

std::int32_t node_count(const Object& body) { return body.node_end - body.node_begin; }

/// c_k = x_0 + (4/m) sum_s m_s w_sk (x_s - x_0): the least squares fit of x_s = sum_k w_sk c_k by mass.
/// Relative to one of them, for the weights have errors of rounding, which a distance from the origin would
/// multiply.
std::array<Vec3d, 4> fit(const Vec3d* values, const std::vector<double>& masses,
                         const std::vector<Vec<double, 4>>& weights) {
  std::array<Vec3d, 4> control{};
  double total = 0;
  for (std::size_t s = 0; s < masses.size(); ++s) {
    total += masses[s];
    for (int k = 0; k < 4; ++k) control[k] += masses[s] * weights[s][k] * (values[s] - values[0]);
  }
  for (Vec3d& c : control) c = values[0] + (4 / total) * c;
  return control;
}

Vec3d follow(const std::array<Vec3d, 4>& control, const Vec<double, 4>& w) {
  return w[0] * control[0] + w[1] * control[1] + w[2] * control[2] + w[3] * control[3];
}

void set_control_nodes(Model& model, const Object& body) {
  const std::vector<double> masses = node_volumes(model, body);
  const std::vector<Vec<double, 4>> weights = control_weights(model, body);
  const std::array<Vec3d, 4> x = fit(model.positions.data() + body.node_begin, masses, weights);
  const std::array<Vec3d, 4> v = fit(model.velocities.data() + body.node_begin, masses, weights);
  for (int k = 0; k < 4; ++k) {
    model.positions[body.control_begin + k] = x[k];
    model.velocities[body.control_begin + k] = v[k];
  }
  const double size = norm(x[1] - x[0]);
  for (std::int32_t s = 0; s < node_count(body); ++s) {
    if (norm(model.positions[body.node_begin + s] - follow(x, weights[s])) > kAffineTolerance * size)
      throw std::invalid_argument("affine body '" + body.name + "': node " + std::to_string(s) +
                                  " does not start on an affine image of the rest shape");
    model.velocities[body.node_begin + s] = follow(v, weights[s]);
  }
  if (!(tet_volume(model.positions, control_tet(body)) > 0))
    throw std::invalid_argument("affine body '" + body.name + "' starts inside out");
}

}  // namespace

/// With covariance L L' and the corners t_k of a regular tetrahedron in the unit ball, for which sum
/// t_k t_k' is 4/3 I, they are mean + sqrt(3) L t_k.
std::array<Vec3d, 4> equimomental_points(const Vec3d* points, const std::vector<double>& weights) {
  double total = 0;
  Vec3d mean{0, 0, 0};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    total += weights[i];
    mean += weights[i] * points[i];
  }
  mean = mean / total;
  Mat3d covariance = Mat3d::zero();
  for (std::size_t i = 0; i < weights.size(); ++i)
    covariance += (weights[i] / total) * outer(points[i] - mean, points[i] - mean);
  const Ldl<double, 3> f = factor_ldl(covariance);
  Mat3d root = Mat3d::identity();
  for (int c = 0; c < 3; ++c)
    for (int r = c; r < 3; ++r) root(r, c) = (r == c ? 1.0 : f.l(r, c)) / std::sqrt(f.inverse_d[c]);
  // sqrt(3) t_k are the alternate corners of the cube [-1, 1]^3.
  return {mean + root * Vec3d{1, 1, 1}, mean + root * Vec3d{-1, 1, -1}, mean + root * Vec3d{1, -1, -1},
          mean + root * Vec3d{-1, -1, 1}};
}

Object& add_affine(Model& model, std::string name, const std::vector<Vec3d>& nodes,
                   const std::vector<Vec4i>& tets, std::int32_t material) {
  Object& body = add_solid(model, std::move(name), nodes, tets, material);
  body.control_begin = body.node_end;
  for (const Vec3d& c : equimomental_points(nodes.data(), node_volumes(model, body))) {
    model.rest_positions.push_back(c);
    model.positions.push_back(c);
    model.velocities.push_back(Vec3d::zero());
    model.node_object.push_back(model.node_object[body.node_begin]);
  }
  return body;
}

std::vector<Vec<double, 4>> control_weights(const Model& model, const Object& body) {
  const Vec3d* c = model.rest_positions.data() + body.control_begin;
  const Mat3d to_weights = inverse(Mat3d::from_columns({c[1] - c[0], c[2] - c[0], c[3] - c[0]}));
  std::vector<Vec<double, 4>> weights;
  for (std::int32_t i = body.node_begin; i < body.node_end; ++i) {
    const Vec3d w = to_weights * (model.rest_positions[i] - c[0]);
    weights.push_back({1 - w[0] - w[1] - w[2], w[0], w[1], w[2]});
  }
  return weights;
}

void set_control_nodes(Model& model) {
  for (const Object& object : model.objects)
    if (object.is_affine() && !object.is_stiff()) set_control_nodes(model, object);
}

}  // namespace stickslip
