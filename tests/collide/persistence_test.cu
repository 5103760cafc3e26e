// Contacts keep their names while bodies move: the field `previous`, and contacts of sleeping pairs.
#include "gpu/collide/rigid_contacts.cuh"
#include "tests/backend_test.h"
#include "tests/collide/contact_scene.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using namespace stickslip::fixtures;
using stickslip::testing::random_bodies;
using stickslip::testing::random_vector;
using V3 = Vec<double, 3>;

/// Requires that every predecessor is of the same pair and used only once.
void expect_sound(const std::vector<RigidContact>& contacts, const std::vector<RigidContact>& before) {
  std::set<std::int32_t> used;
  for (const RigidContact& c : contacts) {
    if (c.previous < 0) continue;
    ASSERT_LT(c.previous, static_cast<std::int32_t>(before.size()));
    EXPECT_TRUE(used.insert(c.previous).second);
    EXPECT_EQ(c.a, before[c.previous].a);
    EXPECT_EQ(c.b, before[c.previous].b);
  }
}

double known_share(const std::vector<RigidContact>& contacts) {
  double known = 0;
  for (const RigidContact& c : contacts) known += c.previous >= 0;
  return known / static_cast<double>(contacts.size());
}

/// A wide fixed slab whose top is y = 0.
void add_slab(Model& model) { add_rigid_box(model, {5, 0.5, 5}, pose_at({0, -0.5, 0}), false); }

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(ContactNames, AreNewAtFirstAndAfterForget) {
  Model model;
  add_slab(model);
  add_rigid_box(model, {0.2, 0.2, 0.2}, pose_at({0, 0.2, 0}));
  ContactScene scene(ctx, model);
  EXPECT_EQ(known_share(scene.find(ctx, {})), 0);
  EXPECT_EQ(known_share(scene.find(ctx, {})), 1);
  scene.search.forget();
  EXPECT_EQ(known_share(scene.find(ctx, {})), 0);
  EXPECT_EQ(known_share(scene.find(ctx, {})), 1);
}

BACKEND_TEST(ContactNames, LastWhileAPyramidTrembles) {
  Model model;
  add_pyramid(model, 8);
  add_floor(model);
  ContactScene scene(ctx, model);
  std::mt19937 rng(1);
  std::vector<RigidContact> before = scene.find(ctx, {0.01, 0, 4});
  ASSERT_GT(before.size(), 2000u);
  for (int step = 0; step < 5; ++step) {
    for (std::size_t b = 0; b < model.bodies.size(); ++b) {
      scene.motion.pose[b].x = model.bodies[b].pose.x + random_vector(rng, 2e-4);
      scene.motion.pose[b].q = rotation_by(random_vector(rng, 5e-4));
    }
    scene.find(ctx, {0.01, 0, 4});
    expect_sound(scene.contacts, before);
    EXPECT_EQ(known_share(scene.contacts), 1);
    for (const RigidContact& c : scene.contacts) EXPECT_LT(norm(c.point - before[c.previous].point), 5e-3);
    before = scene.contacts;
  }
}

BACKEND_TEST(ContactNames, LastWhileBodiesSlide) {
  Model model;
  add_slab(model);
  add_rigid_box(model, {0.2, 0.1, 0.3}, pose_at({-2, 0.1, 0}, {0, 0.3, 0}));
  add_rigid(model, {cylinder_shape(0.2, 0.1)}, pose_at({-2, 0.1, 2}));
  add_rigid(model, {capsule_shape(0.1, 0.3)}, pose_at({-2, 0.1, -2}, {0, 0, M_PI / 2}));
  add_rigid_sphere(model, 0.2, {-2, 0.2, 1});
  add_floor(model);
  for (Body& body : model.bodies)
    if (body.moves) body.velocity = {3, 0, 0.4};
  ContactScene scene(ctx, model);
  std::vector<RigidContact> before = scene.find(ctx, {});
  for (int step = 0; step < 40; ++step) {
    scene.motion.advance(1.0 / 60);
    scene.find(ctx, {});
    expect_sound(scene.contacts, before);
    EXPECT_EQ(known_share(scene.contacts), 1) << "step " << step;
    EXPECT_EQ(scene.contacts.size(), before.size());
    before = scene.contacts;
  }
}

BACKEND_TEST(ContactNames, LastWhileBodiesRoll) {
  Model model;
  add_slab(model);
  add_rigid_sphere(model, 0.2, {-2, 0.2, 1});
  add_rigid(model, {cylinder_shape(0.2, 0.3)}, pose_at({-2, 0.2, 0}, {M_PI / 2, 0, 0}));
  for (Body& body : model.bodies)
    if (body.moves) {
      body.velocity = {1, 0, 0};
      body.spin = {0, 0, -5};
    }
  ContactScene scene(ctx, model);
  std::vector<RigidContact> before = scene.find(ctx, {});
  ASSERT_GE(before.size(), 3u);
  for (int step = 0; step < 60; ++step) {
    scene.motion.advance(1.0 / 60);
    scene.find(ctx, {});
    expect_sound(scene.contacts, before);
    EXPECT_EQ(known_share(scene.contacts), 1) << "step " << step;
    before = scene.contacts;
  }
}

BACKEND_TEST(ContactNames, AreSoundInARandomCrowd) {
  ContactScene scene(ctx, random_bodies(300, 1.4, 21));
  std::vector<RigidContact> before = scene.find(ctx, {0.01, 1e-3, 4});
  for (int step = 0; step < 5; ++step) {
    scene.motion.advance(1e-3);
    scene.find(ctx, {0.01, 1e-3, 4});
    expect_sound(scene.contacts, before);
    EXPECT_GT(known_share(scene.contacts), 0.9);
    before = scene.contacts;
  }
}

BACKEND_TEST(SleepingPairs, KeepTheirContactsAsTheyAre) {
  Model model;
  add_pyramid(model, 4);
  add_floor(model);
  add_rigid(model, {box_shape({0.1, 0.1, 0.1}), box_shape({0.1, 0.1, 0.1}, pose_at({0.2, 0, 0}))},
            pose_at({4, 0.1, 0}));
  ContactScene scene(ctx, model);
  const std::vector<RigidContact> awake = scene.find(ctx, {});
  // Positions of sleeping bodies are not read.
  std::fill(scene.motion.asleep.begin(), scene.motion.asleep.end(), 1);
  for (Pose& pose : scene.motion.pose) pose.x += V3{0, 1e-3, 0};
  for (int step = 0; step < 2; ++step) {
    scene.find(ctx, {});
    ASSERT_EQ(scene.contacts.size(), awake.size());
    for (std::size_t k = 0; k < awake.size(); ++k) {
      EXPECT_EQ(scene.contacts[k].previous, static_cast<std::int32_t>(k));
      EXPECT_EQ(scene.contacts[k].point, awake[k].point);
      EXPECT_EQ(scene.contacts[k].gap, awake[k].gap);
      EXPECT_EQ(scene.contacts[k].feature, awake[k].feature);
    }
  }
  // A body that wakes up is tested again, with all bodies that it touches.
  const std::int32_t woken = 5;
  scene.motion.asleep[woken] = 0;
  scene.find(ctx, {});
  ASSERT_EQ(scene.contacts.size(), awake.size());
  for (std::size_t k = 0; k < awake.size(); ++k) {
    const RigidContact& c = scene.contacts[k];
    EXPECT_EQ(c.previous, static_cast<std::int32_t>(k));
    EXPECT_EQ(c.point == awake[k].point, c.a != woken && c.b != woken);
  }
}

BACKEND_TEST(SleepingPairs, AreFoundAnewAfterForget) {
  Model model;
  add_pyramid(model, 3);
  add_floor(model);
  ContactScene scene(ctx, model);
  std::fill(scene.motion.asleep.begin(), scene.motion.asleep.end(), 1);
  const std::size_t count = scene.find(ctx, {}).size();
  EXPECT_GT(count, 50u) << "the first step looks at sleepers, too";
  EXPECT_EQ(scene.find(ctx, {}).size(), count);
  scene.search.forget();
  EXPECT_EQ(scene.find(ctx, {}).size(), count);
}

BACKEND_TEST(SleepingPairs, AreTouchedByScriptedBodies) {
  Model model;
  add_rigid_box(model, {1, 0.1, 1}, pose_at({0, -0.105, 0}), false);
  add_rigid_sphere(model, 0.2, {0, 0.25, 0});
  ContactScene scene(ctx, model);
  EXPECT_EQ(scene.find(ctx, {}).size(), 0u);
  scene.motion.asleep[1] = 1;
  EXPECT_EQ(scene.find(ctx, {}).size(), 0u);
  scene.motion.velocity[0] = {0, 2, 0};
  scene.motion.advance(0.025);
  EXPECT_EQ(scene.find(ctx, {}).size(), 1u) << "a lift under a sleeping body";
}
