// Whole steps of rigid bodies with surface textures.
#include <cmath>
#include <numbers>

#include "tests/fixtures/box_model.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip {
namespace {

class TexturedSteps : public fixtures::VelocityStepTest {
 protected:
  TexturedSteps() {
    params.dt = 0.001;
    contact.max_iterations = 10000;
  }

  /// A box that starts to slide on a floor with mu = 0.1 for all.
  static Model sliding_box(const Vec<double, 3>& velocity) {
    Model model;
    fixtures::add_floor(model, 0, 0.1);
    model.half_spaces[0].mu_of_pair = true;
    fixtures::add_rigid_box(model, {0.2, 0.05, 0.2}, fixtures::pose_at({0, 0.05, 0}));
    model.bodies[0].velocity = velocity;
    return model;
  }
  static void add_ridges(Model& model, double depth) {
    SurfaceTexture ridges;
    ridges.kind = TextureKind::height;
    ridges.columns = 8;
    ridges.rows = 1;
    ridges.size = ridges.patch = {0.016, 0.002};
    ridges.texels = facet_texels({0, depth, 2 * depth, 3 * depth, 4 * depth, 3 * depth, 2 * depth, depth}, 8,
                                 1, ridges.size);
    model.textures.push_back(ridges);
  }
  /// The state after `steps`.
  State slide_all(Model model, int steps, double tolerance = 1e-10) {
    finalize(model);
    contact.tolerance = tolerance;
    engine = new_engine(model);
    run_unconverged(steps);
    return engine->state();
  }
  /// Displacement and velocity of the box.
  BodyState slide(const Model& model, int steps) { return slide_all(model, steps).bodies[0]; }
};

TEST_P(TexturedSteps, RidgesStopABoxAfterV2Over2MuG) {
  const double depth = 0.001, v = 1.5, ploughing = 1 / std::numbers::pi * std::atan(depth / 0.002);
  for (const bool across : {false, true}) {
    Model model = sliding_box(across ? Vec<double, 3>{v, 0, 0} : Vec<double, 3>{0, 0, v});
    add_ridges(model, depth);
    const double mu = across ? 0.1 + ploughing : 0.1;
    const BodyState body = slide(model, 1800);
    EXPECT_NEAR(body.pose.x[across ? 0 : 2], v * v / (2 * mu * 9.81), 2 * v * 0.001);
    EXPECT_NEAR(body.pose.x[across ? 2 : 0], 0, 1e-6);
    EXPECT_LT(norm(body.velocity), 1e-6);
  }
}

/// Equal to the grain itself up to rounding.
TEST_P(TexturedSteps, AConstantDirectionMapIsTheEllipticLaw) {
  Model grained = sliding_box({1, 0, 0.7});
  grained.materials[0].friction_kind = FrictionKind::elliptic;
  grained.materials[0].mu = 0.1;
  grained.materials[0].mu_across = 0.9;
  Model mapped = grained;
  SurfaceTexture even;
  even.columns = even.rows = 2;
  even.size = {0.05, 0.05};
  even.texels = direction_texels({0, 0, 0, 0});
  mapped.textures.push_back(even);
  const BodyState one = slide(grained, 300), other = slide(mapped, 300);
  EXPECT_LT(norm(one.pose.x - other.pose.x), 1e-9);
  EXPECT_LT(norm(one.velocity - other.velocity), 1e-8);
  EXPECT_GT(std::fabs(one.velocity[0] / one.velocity[2] - 1 / 0.7), 0.1) << "the law does turn it";
  // A quarter turn away the law is different.
  mapped.textures[0].texels = direction_texels(std::vector<double>(4, std::numbers::pi / 2));
  EXPECT_GT(norm(slide(mapped, 300).pose.x - one.pose.x), 0.01);
}

/// The solid has the same material, but textures act on rigid bodies only: it slides with the floor's 0.1.
TEST_P(TexturedSteps, ASeparateSolidChangesNothing) {
  const double v = 0.8;
  const int steps = 60;
  Model alone = sliding_box({v, 0, 0.3});
  add_ridges(alone, 0.001);
  alone.materials[0].young = 1e5;
  Model beside = alone;
  fixtures::add_box(beside, "solid", {0.2, 0.1, 0.2}, {5, 0.0495, 0}, 1, 0, {0.5, 0, 0});
  const BodyState one = slide(alone, steps);
  const State other = slide_all(beside, steps, 1e-7);
  EXPECT_LT(norm(one.pose.x - other.bodies[0].pose.x), 1e-6);
  EXPECT_LT(norm(one.velocity - other.bodies[0].velocity), 1e-5);
  EXPECT_LT(one.velocity[0], v - 0.2 * 9.81 * 0.001 * steps) << "ridges slow it down";
  const double slide = fixtures::mean(other.velocities, 0, static_cast<int>(other.velocities.size()))[0];
  EXPECT_NEAR(slide, 0.5 - 0.1 * 9.81 * 0.001 * steps, 0.01);
}

INSTANTIATE_ON_BACKENDS(TexturedSteps);

}  // namespace
}  // namespace stickslip
