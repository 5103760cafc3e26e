// Selection of pairs to test: joints, fixed bodies, half-spaces, compounds, fast bodies, small models.
#include "gpu/collide/rigid_contacts.cuh"
#include "tests/backend_test.h"
#include "tests/collide/contact_scene.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using namespace stickslip::fixtures;
using Bodies = std::vector<std::pair<int, int>>;
using V3d = Vec<double, 3>;

Bodies touching(Context& ctx, ContactScene& scene, const RigidContacts::Options& options = {}) {
  scene.find(ctx, options);
  Bodies pairs;
  for (std::size_t p = 0; p + 1 < scene.pair_start.size(); ++p)
    pairs.emplace_back(scene.contacts[scene.pair_start[p]].a, scene.contacts[scene.pair_start[p]].b);
  return pairs;
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(ContactPairs, OfModelsWithoutShapesAreRefused) {
  RigidContacts search;
  Model model;
  add_rigid_sphere(model, 1, {0, 0, 0});
  model.bodies[0].shape_end = 2;
  EXPECT_THROW(search.load(ctx, model), std::invalid_argument);
  model.bodies[0].shape_end = 1;
  model.shapes[0].kind = ShapeKind::hull;
  EXPECT_THROW(search.load(ctx, model), std::invalid_argument);
}

BACKEND_TEST(ContactPairs, OfOneBodyAreThoseWithHalfSpaces) {
  Model model;
  add_rigid_sphere(model, 0.5, {0, 0.5, 0});
  {
    ContactScene scene(ctx, model);
    EXPECT_EQ(touching(ctx, scene), Bodies{});
    EXPECT_EQ(scene.search.count(), 0u);
  }
  add_floor(model);
  model.half_spaces.push_back({{1, 0, 0}, -0.495});
  model.half_spaces.push_back({{0, 0, 1}, -0.7});
  ContactScene scene(ctx, model);
  EXPECT_EQ(touching(ctx, scene), (Bodies{{0, -1}, {0, -2}}));
  EXPECT_NEAR(scene.contacts[0].gap, 0, 1e-15);
  EXPECT_NEAR(scene.contacts[1].gap, -0.005, 1e-15);
  EXPECT_EQ(scene.contacts[1].normal, (V3d{1, 0, 0}));
  EXPECT_EQ(scene.search.candidates(), 2u) << "the third is out of reach";
}

BACKEND_TEST(ContactPairs, WithoutAMovingBodyAreNone) {
  Model model;
  for (int i = 0; i < 5; ++i) add_rigid_sphere(model, 0.5, {0.1 * i, 0, 0}, false);
  add_floor(model);
  ContactScene scene(ctx, model);
  EXPECT_EQ(touching(ctx, scene), Bodies{});
  EXPECT_EQ(scene.search.candidates(), 0u);
}

BACKEND_TEST(ContactPairs, HaveTheNormalFromBToA) {
  Model model;
  add_rigid_sphere(model, 0.5, {0, 1, 0}, false);
  add_rigid_sphere(model, 0.5, {0, 0.1, 0});
  ContactScene scene(ctx, model);
  ASSERT_EQ(touching(ctx, scene), (Bodies{{0, 1}}));
  EXPECT_LT(norm(scene.contacts[0].normal - V3d{0, 1, 0}), 1e-12);
  EXPECT_NEAR(scene.contacts[0].gap, -0.1, 1e-12);
  EXPECT_LT(norm(scene.contacts[0].point - V3d{0, 0.55, 0}), 1e-12);
}

BACKEND_TEST(ContactPairs, ThatJointsHoldAreLeftOutUnlessTheyCollide) {
  Model model;
  for (int i = 0; i < 6; ++i) add_rigid_sphere(model, 0.5, {0.9 * i, 0, 0});
  add_ball_joint(model, 1, 0);
  add_ball_joint(model, 1, 2, true);
  add_ball_joint(model, 3, 4);
  add_ball_joint(model, 3, 4, true);  // one joint that forbids contact is enough
  add_ball_joint(model, 5, -1);
  ContactScene scene(ctx, model);
  EXPECT_EQ(touching(ctx, scene), (Bodies{{1, 2}, {2, 3}, {4, 5}}));
}

BACKEND_TEST(ContactPairs, OfOneBodyWithThousandsAreFound) {
  Model model;
  add_rigid_box(model, {50, 1, 50}, pose_at({0, -1, 0}), false);
  for (int i = 0; i < 3000; ++i) add_rigid_sphere(model, 0.2, {i % 60 - 30.0, 0.2, i / 60 - 25.0});
  ContactScene scene(ctx, model);
  const Bodies pairs = touching(ctx, scene);
  ASSERT_EQ(pairs.size(), 3000u);
  for (int i = 0; i < 3000; ++i) EXPECT_EQ(pairs[i], std::pair(0, i + 1));
}

BACKEND_TEST(ContactPairs, ThatCloseWithinAStepAreFound) {
  Model model;
  add_rigid_box(model, {2, 2, 0.01}, pose_at({0, 0, 0}), false);
  add_rigid_sphere(model, 0.05, {0.3, 0.2, 1});
  add_rigid_sphere(model, 0.05, {-0.3, 0.2, 1});
  model.bodies[1].velocity = {0, 0, -90};
  model.bodies[2].velocity = {0, 0, 90};
  ContactScene scene(ctx, model);
  EXPECT_EQ(touching(ctx, scene, {0.01, 0, 4}), Bodies{});
  ASSERT_EQ(touching(ctx, scene, {0.01, 1.0 / 60, 4}), (Bodies{{0, 1}})) << "what goes away is no contact";
  EXPECT_NEAR(scene.contacts[0].gap, 0.94, 1e-12);
  EXPECT_LT(norm(scene.contacts[0].normal - V3d{0, 0, -1}), 1e-12);
}

BACKEND_TEST(ContactPairs, ThatSpinIntoEachOtherAreFound) {
  Model model;
  add_rigid_box(model, {1, 0.05, 0.05}, pose_at({0, 0, 0}));
  add_rigid_sphere(model, 0.05, {0.9, 0.4, 0});
  model.bodies[0].spin = {0, 0, 25};
  ContactScene scene(ctx, model);
  EXPECT_EQ(touching(ctx, scene, {0.01, 0, 4}), Bodies{});
  EXPECT_EQ(touching(ctx, scene, {0.01, 1.0 / 60, 4}), (Bodies{{0, 1}}));
}

/// Bodies above each other are tested: something may stop the lower one.
BACKEND_TEST(ContactPairs, ThatFallSideBySideAreNoCandidates) {
  Model model;
  for (int i = 0; i < 40; ++i) {
    add_rigid_box(model, {0.2, 0.2, 0.2}, pose_at({0.5 * i, 0, 0}));
    model.bodies.back().velocity = {0, -60, 0};
  }
  ContactScene scene(ctx, model);
  EXPECT_EQ(touching(ctx, scene, {0.01, 1.0 / 60, 4}), Bodies{});
  EXPECT_EQ(scene.search.candidates(), 0u);
}

BACKEND_TEST(CompoundContacts, AreReducedTogetherWhereTheyPointTheSameWay) {
  Model model;  // a table on four legs, and a plank of two boxes on it
  add_rigid(
      model,
      {box_shape({1, 0.05, 1}, pose_at({0, 0.5, 0})), box_shape({0.05, 0.45, 0.05}, pose_at({0.9, 0, 0.9})),
       box_shape({0.05, 0.45, 0.05}, pose_at({0.9, 0, -0.9})),
       box_shape({0.05, 0.45, 0.05}, pose_at({-0.9, 0, 0.9})),
       box_shape({0.05, 0.45, 0.05}, pose_at({-0.9, 0, -0.9}))},
      pose_at({0, 0.45, 0}));
  add_rigid(
      model,
      {box_shape({0.3, 0.1, 0.1}, pose_at({-0.3, 0, 0})), box_shape({0.3, 0.1, 0.1}, pose_at({0.3, 0, 0}))},
      pose_at({0, 1.1, 0}));
  add_floor(model);
  ContactScene scene(ctx, model);
  ASSERT_EQ(touching(ctx, scene, {0.01, 0, 4}), (Bodies{{0, 1}, {0, -1}}));
  for (int p = 0; p < 2; ++p) {
    ASSERT_EQ(scene.pair_start[p + 1] - scene.pair_start[p], 4);
    V3d low = V3d::filled(1e300), high = V3d::filled(-1e300);
    for (int k = scene.pair_start[p]; k < scene.pair_start[p + 1]; ++k) {
      low = min(low, scene.contacts[k].point);
      high = max(high, scene.contacts[k].point);
    }
    // The ends of the plank, 0.6 from the middle, or feet on all sides with inner edges at 0.85.
    EXPECT_LT(low[0], p == 0 ? -0.599 : -0.849);
    EXPECT_GT(high[0], p == 0 ? 0.599 : 0.849);
    EXPECT_LT(low[2], p == 0 ? -0.099 : -0.849);
    EXPECT_GT(high[2], p == 0 ? 0.099 : 0.849);
  }
  EXPECT_EQ(touching(ctx, scene, {0.01, 0, 4}), (Bodies{{0, 1}, {0, -1}}));
  for (const RigidContact& c : scene.contacts) EXPECT_GE(c.previous, 0);
}

BACKEND_TEST(CompoundContacts, OfSeveralDirectionsStay) {
  Model model;  // a ball in a trough of two planks
  const double s = 0.7853981633974483;
  add_rigid(model,
            {box_shape({1, 0.05, 1}, pose_at({0.7071, 0.7071, 0}, {0, 0, s})),
             box_shape({1, 0.05, 1}, pose_at({-0.7071, 0.7071, 0}, {0, 0, -s}))},
            pose_at({0, 0, 0}), false);
  add_rigid_sphere(model, 0.3, {0, 0.35 * std::sqrt(2.0), 0});
  ContactScene scene(ctx, model);
  ASSERT_EQ(touching(ctx, scene, {0.01, 0, 1}), (Bodies{{0, 1}}));
  ASSERT_EQ(scene.contacts.size(), 2u) << "one of each direction";
  EXPECT_NEAR(dot(scene.contacts[0].normal, scene.contacts[1].normal), 0, 1e-9);
  EXPECT_NE(scene.contacts[0].feature, scene.contacts[1].feature);
}

BACKEND_TEST(CompoundContacts, WithABodyWithoutShapesAreNone) {
  Model model;
  add_rigid_sphere(model, 0.5, {0, 0.5, 0});
  add_rigid_sphere(model, 0.5, {0, 0.6, 0});
  model.bodies[1].shape_begin = model.bodies[1].shape_end;
  add_floor(model);
  ContactScene scene(ctx, model);
  EXPECT_EQ(touching(ctx, scene), (Bodies{{0, -1}}));
}
