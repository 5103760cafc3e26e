// Stress and stretch of solids against closed forms of homogeneous strains.
#include "gpu/energy/solid_stress.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/fixtures/embedded_model.h"
#include "tests/fixtures/rigid_model.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

struct Stretched {
  Model model;
  std::vector<Vec<float, 3>> positions;

  /// A box of which every node x is at `map` x.
  template <class Map>
  explicit Stretched(const Map& map) {
    fixtures::add_box(model, "box", {0.4, 0.2, 0.2}, {0, 0, 0}, 2);
    model.materials[0].young = 1e6;
    model.materials[0].poisson = 0.3;
    model.materials[0].model = ElasticModel::fixed_corotated;
    finalize(model);
    for (const Vec3d& x : model.rest_positions) positions.push_back(map(x).template cast<float>());
  }
  std::vector<float> of(SolidMeasure what) {
    return SolidStress(model).evaluate(what, positions, model.materials);
  }
};

TEST(SolidStress, VanishesInRigidMotion) {
  const double c = std::cos(0.7), s = std::sin(0.7);
  Stretched box([&](const Vec3d& x) {
    return Vec3d{c * x[0] - s * x[1] + 1, s * x[0] + c * x[1], x[2] - 3};
  });
  for (const float value : box.of(SolidMeasure::stress)) EXPECT_NEAR(value, 0, 50);  // float positions
  for (const float value : box.of(SolidMeasure::stretch)) EXPECT_NEAR(value, 0, 5e-5);
}

/// Fixed corotated at F = diag(1 + e, 1, 1): P = 2 mu (F - I) + lambda (J - 1) cof F, so that the deviator of
/// P F' / J is that of 2 mu diag(e (1 + e), 0, 0) / (1 + e).
TEST(SolidStress, OfAStretchIsTheClosedForm) {
  for (const double e : {-0.2, 0.01, 0.5}) {
    Stretched box([&](const Vec3d& x) { return Vec3d{(1 + e) * x[0], x[1], x[2]}; });
    const double mu = 1e6 / 2.6;
    for (const float value : box.of(SolidMeasure::stress))
      EXPECT_NEAR(value, 2 * mu * std::fabs(e), 2e-3 * mu * std::fabs(e) + 50);
    for (const float value : box.of(SolidMeasure::stretch)) EXPECT_NEAR(value, std::fabs(e), 1e-4);
  }
}

TEST(SolidStress, SurfacesInLatticesHaveThatOfTheirLattice) {
  Model model;
  fixtures::add_embedded_box(model, "box", {0.4, 0.2, 0.2}, {0, 0, 0}, 2, 0.1);
  finalize(model);
  std::vector<Vec<float, 3>> positions;
  for (const Vec3d& x : model.rest_positions)
    positions.push_back(Vec3d{1.3 * x[0], x[1], x[2]}.cast<float>());
  SolidStress stress(model);
  for (const float value : stress.evaluate(SolidMeasure::stretch, positions, model.materials))
    EXPECT_NEAR(value, 0.3, 1e-4);
}

/// At small shears von Mises' measure is sqrt(3) mu gamma.
TEST(SolidStress, OfASmallShearIsThatOfLinearElasticity) {
  const double gamma = 0.02;
  Stretched box([&](const Vec3d& x) { return Vec3d{x[0] + gamma * x[1], x[1], x[2]}; });
  const double expected = std::sqrt(3.0) * 1e6 / 2.6 * gamma;
  for (const float value : box.of(SolidMeasure::stress)) EXPECT_NEAR(value, expected, 0.02 * expected);
}

TEST(SolidStress, OtherBodiesHaveNone) {
  Model model;
  fixtures::add_rigid_sphere(model, 0.1, {0, 1, 0});
  fixtures::add_box(model, "affine", {0.1, 0.2, 0.1}, {0, 2, 0}, 1, 10, {0, 0, 0}, fixtures::BoxBody::affine);
  fixtures::add_box(model, "soft", {0.1, 0.2, 0.1}, {0, 3, 0}, 1);
  finalize(model);
  std::vector<Vec<float, 3>> positions;
  for (const Vec3d& x : model.positions) positions.push_back(x.cast<float>());
  SolidStress stress(model);
  EXPECT_FALSE(stress.empty());
  const std::vector<float> values = stress.evaluate(SolidMeasure::stretch, positions, model.materials);
  for (const Object& object : model.objects)
    for (std::int32_t i = object.node_begin; i < object.node_end; ++i)
      EXPECT_EQ(values[static_cast<std::size_t>(i)] >= 0, object.name == "soft") << object.name;
}

}  // namespace
}  // namespace stickslip
