// Contacts of bodies compared with a plain double loop on the host, and their order.
#include "gpu/collide/rigid_contacts.cuh"

#include "tests/backend_test.h"
#include "tests/collide/contact_scene.h"
#include "tests/collide/contacts_by_loops.h"
#include "tests/core/fixture.h"
#include "tests/fixtures/rigid_model.h"

using stickslip::testing::expect_contacts;
using stickslip::testing::random_bodies;
using stickslip::testing::random_vector;

namespace stickslip::STICKSLIP_BACKEND {
namespace {

void expect_like_loops(Context& ctx, ContactScene& scene, const RigidContacts::Options& options) {
  scene.find(ctx, options);
  const auto loops = stickslip::testing::contacts_by_loops(scene.model, scene.motion, options.margin,
                                                           options.dt, options.manifold_points);
  expect_contacts(scene.model, scene.motion, scene.contacts, loops, options.margin, options.dt);
  EXPECT_GE(scene.search.candidates(), scene.search.pairs());
}

/// (a, b), with half-spaces numbered after the bodies.
std::pair<int, int> rank(const RigidContact& c, int bodies) {
  return {c.a, c.b >= 0 ? c.b : bodies - 1 - c.b};
}

std::string bytes(const std::vector<RigidContact>& contacts) {
  return {reinterpret_cast<const char*>(contacts.data()), contacts.size() * sizeof(RigidContact)};
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(RigidContacts, AreThoseOfTwoLoops) {
  FRESH_SEED(seed);
  ContactScene scene(ctx, random_bodies(150, 1.1, seed));
  for (const double dt : {0.0, 1.0 / 60})
    for (const int points : {8, 4, 1}) {
      SCOPED_TRACE("dt " + std::to_string(dt) + ", points " + std::to_string(points));
      expect_like_loops(ctx, scene, {0.02, dt, points});
      EXPECT_GT(scene.contacts.size(), 100u);
    }
}

/// In a falling stack no relative motion closes a gap; when the lowest body lands, all gaps close. 8 cm per
/// step, gaps of 1 cm.
BACKEND_TEST(RigidContacts, AreThereBeforeAFallingStackLands) {
  Model model;
  for (int i = 0; i < 5; ++i)
    stickslip::fixtures::add_rigid_box(model, {0.25, 0.25, 0.25},
                                       stickslip::fixtures::pose_at({0, 0.26 + 0.51 * i, 0}));
  stickslip::fixtures::add_floor(model);
  ContactScene scene(ctx, std::move(model));
  scene.find(ctx, {0.001, 1.0 / 60, 4});
  EXPECT_EQ(scene.search.pairs(), 0u) << "at rest";
  for (auto& v : scene.motion.velocity) v = {0, -5, 0};
  scene.find(ctx, {0.001, 1.0 / 60, 4});
  EXPECT_EQ(scene.search.pairs(), 5u);
  EXPECT_EQ(scene.search.count(), 20u);
  for (auto& v : scene.motion.velocity) v = {5, 0, 0};
  scene.find(ctx, {0.001, 1.0 / 60, 4});
  EXPECT_EQ(scene.search.pairs(), 0u) << "past each other";
}

BACKEND_TEST(RigidContacts, AreSortedByPairs) {
  ContactScene scene(ctx, random_bodies(500, 1.6, 3));
  scene.find(ctx, {0.02, 0.01, 4});
  ASSERT_GT(scene.search.pairs(), 100u);
  ASSERT_EQ(scene.pair_start.front(), 0);
  ASSERT_EQ(scene.pair_start.back(), static_cast<std::int32_t>(scene.contacts.size()));
  const int bodies = static_cast<int>(scene.model.bodies.size());
  std::pair<int, int> last{-1, -1};
  for (std::size_t p = 0; p + 1 < scene.pair_start.size(); ++p) {
    ASSERT_LT(scene.pair_start[p], scene.pair_start[p + 1]);
    const std::pair<int, int> pair = rank(scene.contacts[scene.pair_start[p]], bodies);
    EXPECT_LT(last, pair);
    last = pair;
    std::set<std::uint32_t> features;
    for (std::int32_t k = scene.pair_start[p]; k < scene.pair_start[p + 1]; ++k) {
      EXPECT_EQ(rank(scene.contacts[k], bodies), pair);
      EXPECT_TRUE(features.insert(scene.contacts[k].feature).second) << "two contacts of one name";
      EXPECT_NEAR(norm(scene.contacts[k].normal), 1, 1e-12);
    }
  }
}

BACKEND_TEST(RigidContacts, HaveTheSameBitsForAnyNumberOfThreads) {
  const Model model = random_bodies(400, 1.6, 5);
  std::string first;
  for_thread_counts([&](Context& other) {
    ContactScene scene(other, model);
    std::string all;
    for (int step = 0; step < 3; ++step) {
      all += bytes(scene.find(other, {0.01, 1.0 / 60, 4}));
      scene.motion.advance(1.0 / 60);
    }
    if (first.empty()) first = all;
    EXPECT_TRUE(all == first);
    EXPECT_GT(scene.contacts.size(), 400u);
  });
}

BACKEND_TEST(RigidContacts, OfThousandsOfBodiesAreThoseOfTwoLoops) {
  ContactScene scene(ctx, random_bodies(2500, 5, 9));
  expect_like_loops(ctx, scene, {0.005, 0, 4});
  EXPECT_GT(scene.search.pairs(), 500u);
}

BACKEND_TEST(RigidContacts, NeedOneHostReadAndNoAllocation) {
  ContactScene scene(ctx, random_bodies(400, 1.6, 4));
  for (int step = 0; step < 4; ++step) {
    scene.motion.advance(1e-4);
    scene.find(ctx, {0.01, 1.0 / 60, 4});
  }
  const Counters before = ctx.counters();
  scene.search.find(ctx, scene.view(), {0.01, 1.0 / 60, 4});
  EXPECT_EQ(ctx.counters().allocations, before.allocations);
  EXPECT_EQ(ctx.counters().copies_to_host, before.copies_to_host + 1);
  EXPECT_LT(ctx.counters().launches, before.launches + 60);
}

BACKEND_TEST(RigidContacts, AreAllFoundWhenThereAreSuddenlyManyMore) {
  Model model = random_bodies(150, 30, 6);
  ContactScene scene(ctx, model);
  scene.find(ctx, {0.01, 0, 4});
  EXPECT_LT(scene.contacts.size(), 100u);
  for (Pose& pose : scene.motion.pose) pose.x *= 1.0 / 60;
  expect_like_loops(ctx, scene, {0.01, 0, 4});
  EXPECT_GT(scene.contacts.size(), 2000u);
}
