#include "gpu/model/affine.h"
#include "gpu/model/element_group.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/fixtures/box_model.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::BoxBody;
using fixtures::Vec3d;

Model affine_box(const Vec3d& size, int cells) {
  Model model;
  add_box(model, "box", size, {0.3, -0.2, 0.7}, cells, 25, {0, 0, 0}, BoxBody::affine);
  return model;
}

/// Lumped masses of the mesh nodes: a quarter of each tet's mass.
std::vector<double> lumped_masses(const Model& model) {
  std::vector<double> masses(model.node_count(), 0.0);
  for (const Vec4i& t : model.tets) {
    const auto& x = model.rest_positions;
    const double volume = dot(x[t[1]] - x[t[0]], cross(x[t[2]] - x[t[0]], x[t[3]] - x[t[0]])) / 6;
    for (int c = 0; c < 4; ++c) masses[t[c]] += 1000 * volume / 4;
  }
  return masses;
}

TEST(AffineModel, WeightsReproduceThePlacesOfTheNodes) {
  const Model model = affine_box({0.3, 0.1, 0.2}, 3);
  const Object& body = model.objects[0];
  ASSERT_EQ(body.control_begin, body.node_end);
  ASSERT_EQ(model.node_count(), static_cast<std::size_t>(body.node_end) + 4);
  const std::vector<Vec<double, 4>> weights = control_weights(model, body);
  ASSERT_EQ(weights.size(), 64u);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    Vec3d x{0, 0, 0};
    double sum = 0;
    for (int k = 0; k < 4; ++k) {
      x += weights[i][k] * model.positions[body.control_begin + k];
      sum += weights[i][k];
    }
    EXPECT_NEAR(sum, 1, 1e-14);
    EXPECT_NEAR(norm(x - model.positions[body.node_begin + i]), 0, 1e-14);
  }
  EXPECT_NEAR(solid_volume(model, body), 0.3 * 0.1 * 0.2, 1e-15);
}

TEST(AffineModel, TheMassMatrixOfTheControlNodesIsAQuarterOfTheMassEach) {
  const Model model = affine_box({0.3, 0.1, 0.2}, 2);
  const Object& body = model.objects[0];
  const std::vector<double> masses = lumped_masses(model);
  const std::vector<Vec<double, 4>> weights = control_weights(model, body);
  const double mass = 1000 * 0.3 * 0.1 * 0.2;
  for (int k = 0; k < 4; ++k)
    for (int l = 0; l < 4; ++l) {
      double entry = 0;
      for (std::size_t s = 0; s < weights.size(); ++s) entry += masses[s] * weights[s][k] * weights[s][l];
      EXPECT_NEAR(entry, k == l ? mass / 4 : 0, 1e-13 * mass) << k << ", " << l;
    }
}

TEST(AffineModel, FourControlNodesHaveTheInertiaOfABox) {
  // Masses lumped at the nodes of n cells increase the moment by 2/n^2.
  const Vec3d size{0.3, 0.1, 0.2};
  const int cells = 12;
  Model model;
  add_box(model, "box", size, {0, 0, 0}, cells, 0, {0, 0, 0}, BoxBody::affine);
  const double mass = 1000 * size[0] * size[1] * size[2];
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      double second = 0;
      for (int k = 0; k < 4; ++k) {
        const Vec3d& c = model.positions[model.objects[0].control_begin + k];
        second += mass / 4 * c[a] * c[b];
      }
      const double of_box = a == b ? mass * size[a] * size[a] / 12 : 0;
      EXPECT_NEAR(second, of_box, 2.0 / (cells * cells) * mass * size[a] * size[b] / 12 + 1e-15);
    }
}

TEST(AffineModel, FinalizeKeepsMomentumOfTheNearestAffineMotion) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Model model = affine_box({0.3, 0.1, 0.2}, 2);
  const Object body = model.objects[0];
  for (int i = body.node_begin; i < body.node_end; ++i)
    model.velocities[i] = {normal(random), normal(random), normal(random)};
  const std::vector<double> masses = lumped_masses(model);
  const auto momenta = [&] {
    std::pair<Vec3d, Vec3d> sum{{0, 0, 0}, {0, 0, 0}};
    for (int i = body.node_begin; i < body.node_end; ++i) {
      sum.first += masses[i] * model.velocities[i];
      sum.second += masses[i] * cross(model.positions[i], model.velocities[i]);
    }
    return sum;
  };
  const auto before = momenta();
  finalize(model);
  const auto after = momenta();
  EXPECT_NEAR(norm(after.first - before.first), 0, 1e-13);
  EXPECT_NEAR(norm(after.second - before.second), 0, 1e-13);

  // A rigid motion is preserved, and the control nodes have it too.
  const Vec3d velocity{1, 2, 3}, rate{-3, 1, 2};
  for (int i = body.node_begin; i < body.node_end; ++i)
    model.velocities[i] = velocity + cross(rate, model.positions[i]);
  finalize(model);
  for (std::size_t i = 0; i < model.node_count(); ++i)
    EXPECT_NEAR(norm(model.velocities[i] - velocity - cross(rate, model.positions[i])), 0, 1e-12) << i;
}

TEST(AffineModel, BodiesFarFromTheOriginStartWhereTheirNodesAre) {
  for (const double away : {1e3, 1e5, 1e6}) {
    Model model = affine_box({0.3, 0.1, 0.2}, 1);
    for (std::vector<Vec3d>* x : {&model.rest_positions, &model.positions})
      for (Vec3d& p : *x) p += Vec3d{away, -away, 0.5 * away};
    const std::vector<Vec3d> placed = model.positions;
    ASSERT_NO_THROW(finalize(model)) << away;
    for (std::size_t i = 0; i < placed.size(); ++i)
      EXPECT_LT(norm(model.positions[i] - placed[i]), 1e-14 * away) << i << " at " << away;
  }
}

TEST(AffineModel, FinalizeRefusesWhatNoAffineBodyCanDo) {
  const auto error_of = [](const auto& change) {
    Model model = affine_box({0.3, 0.1, 0.2}, 1);
    change(model);
    try {
      finalize(model);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of([](Model&) {}), "");
  EXPECT_EQ(error_of([](Model& m) {
              for (auto& x : m.positions) x = 2.0 * x + Vec3d{x[1], 0, 1};
            }),
            "");
  EXPECT_NE(error_of([](Model& m) {
              m.scripted.push_back({{3}, {}});
            }).find("'box' is an affine body"),
            std::string::npos);
  EXPECT_NE(error_of([](Model& m) { m.positions[3][1] += 0.01; }).find("affine body 'box': node"),
            std::string::npos);
  EXPECT_NE(error_of([](Model& m) {
              for (auto& x : m.positions) x[0] *= -1;
            }).find("'box' starts inside out"),
            std::string::npos);
}

}  // namespace
}  // namespace stickslip
