// Strains and poses that StiffBodies computes from control nodes.
#include "gpu/step/stiff_bodies.cuh"

#include <cmath>
#include <limits>

#include "tests/backend_test.h"
#include "tests/fixtures/rigid_model.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

/// Two boxes that move and the affine bodies that stand for them.
struct StiffBoxes {
  Model scene;
  BarrierModel barrier;
  StiffBodies bodies;
  std::vector<Vec3> x;

  explicit StiffBoxes(Context& ctx) {
    const Vec3d half{0.2, 0.1, 0.3};
    fixtures::add_rigid_box(scene, half, fixtures::pose_at({0, 0.5, 0}, {0.3, 0.1, -0.2}));
    fixtures::add_rigid_box(scene, half, fixtures::pose_at({1, 0.5, 0}, {-0.4, 0.2, 0.5}));
    finalize(scene);
    barrier = make_barrier_model(scene, body_skins(scene, 1e-3), 0.02);
    bodies.load(ctx, scene, barrier);
    for (const Vec3d& p : barrier.model.positions) x.push_back(p.cast<Real>());
  }

  /// The control nodes of body b, relative to its centre, become `map` of themselves.
  void deform(std::size_t b, const Mat<double, 3>& map) {
    const Vec3d& center = scene.bodies[b].pose.x;
    for (int k = 0; k < 4; ++k) {
      Vec3& node = x[static_cast<std::size_t>(barrier.control[b] + k)];
      node = (center + map * (node.cast<double>() - center)).cast<Real>();
    }
  }

  double fitted_strain(Context& ctx) {
    DeviceState moving;
    moving.x.upload(ctx, x);
    moving.v.upload(ctx, std::vector<Vec3>(x.size(), Vec3::zero()));
    bodies.fit(ctx, moving);
    return bodies.largest_strain(ctx);
  }
};

Mat<double, 3> scaling(const Vec3d& d) {
  Mat<double, 3> m = Mat<double, 3>::zero();
  for (int i = 0; i < 3; ++i) m(i, i) = d[i];
  return m;
}

constexpr double kFitRounding = sizeof(Real) == 8 ? 1e-12 : 1e-5;

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(StiffBodies, StrainIsThatOfTheControlNodes) {
  StiffBoxes boxes(ctx);
  EXPECT_LT(boxes.fitted_strain(ctx), kFitRounding);
  boxes.deform(1, scaling({1.1, 1.1, 1.1}));
  EXPECT_NEAR(boxes.fitted_strain(ctx), std::sqrt(3.0) * 0.21, 10 * kFitRounding);
}

BACKEND_TEST(StiffBodies, AMirroredBodyHasAnInfiniteStrainAndKeepsItsPose) {
  StiffBoxes boxes(ctx);
  EXPECT_LT(boxes.fitted_strain(ctx), kFitRounding);
  const std::vector<BodyState> before = boxes.bodies.states(ctx, boxes.scene, 0, 1);
  boxes.deform(1, scaling({-1, 1, 1}));
  EXPECT_EQ(boxes.fitted_strain(ctx), std::numeric_limits<double>::infinity());
  const std::vector<BodyState> after = boxes.bodies.states(ctx, boxes.scene, 0, 1);
  EXPECT_EQ(after[1].pose.x, before[1].pose.x);
  EXPECT_EQ(after[1].pose.q.v, before[1].pose.q.v);
  EXPECT_EQ(after[1].pose.q.w, before[1].pose.q.w);
}
