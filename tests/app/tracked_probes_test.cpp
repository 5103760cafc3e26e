// Contacts and objects whose numbers are plotted.
#include "app/viewer/tracked_probes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "app/viewer/panels/history_plots.h"
#include "tests/app/rigid_scene.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

ContactRecord contact_at(const Vec3f& point, float force, std::uint64_t name = 0) {
  ContactRecord contact;
  contact.object_a = 0;
  contact.point = point;
  contact.normal_force = force;
  contact.friction = {0.3f * force, 0.4f * force, 0};
  contact.gap = 1e-3f;
  contact.slip_speed = 2;
  contact.name = name;
  return contact;
}

class TrackedProbesTest : public ::testing::Test {
 protected:
  Snapshot at(int frame) const {
    Snapshot snapshot;
    snapshot.frame = frame;
    snapshot.time = 0.1 * frame;
    snapshot.poses.assign(3, Pose::identity());
    return snapshot;
  }
  void show(const Snapshot& snapshot, bool restored = false) {
    const std::vector<Vec3f> positions(scene->model.node_count(), Vec3f{0, 0, 0});
    tracked.observe(snapshot, positions, scene->model.materials, restored);
  }
  double value(int frame, std::size_t item, std::size_t quantity) const {
    const TrackedProbes::Row* row = tracked.at(frame);
    return row ? row->values.at(item).at(quantity) : -99;
  }
  std::shared_ptr<const Scene> scene = std::make_shared<const Scene>(test::rigid_scene("r"));
  TrackedProbes tracked;
};

/// A box of half sizes 0.5, 0.25, 0.75 m and 750 kg that moves at 0.5 m/s and turns at 2 rad/s about y.
TEST_F(TrackedProbesTest, ABodyHasPlaceSpeedAndKineticEnergy) {
  ASSERT_TRUE(tracked.track(ObjectProbe(scene, 1)));
  EXPECT_EQ(tracked.name(0), "high");
  Snapshot before = at(4), after = at(5);
  before.poses[1] = {{1, 2, 3}, Pose::identity().q};
  after.poses[1] = {{1.05, 2, 3}, rotation_by(Vec3d{0, 0.2, 0})};
  show(before);
  EXPECT_TRUE(std::isnan(value(4, 0, 7))) << "one instant has no speed";
  show(after);
  EXPECT_NEAR(value(5, 0, 4), 1.05, 1e-6);
  EXPECT_NEAR(value(5, 0, 5), 2, 1e-6);
  EXPECT_NEAR(value(5, 0, 6), 3, 1e-6);
  EXPECT_NEAR(value(5, 0, 7), 0.5, 1e-6);
  const double mass = 1000 * 1 * 0.5 * 1.5, inertia = mass / 3 * (0.5 * 0.5 + 0.75 * 0.75);
  EXPECT_NEAR(value(5, 0, 8), 0.5 * mass * 0.25 + 0.5 * inertia * 4, 1e-4 * mass);
  EXPECT_TRUE(std::isnan(value(5, 0, 0))) << "a body has no normal force";
}

TEST(ObjectProbeEnergy, OfADeformableBodyIsThatOfItsNodes) {
  const auto scene = std::make_shared<const Scene>(test::two_tets("a"));
  ObjectProbe probe(scene, 1);
  Snapshot snapshot;
  for (const auto& x : scene->model.positions) snapshot.positions.push_back(x.cast<float>());
  probe.observe(snapshot);
  EXPECT_FALSE(probe.kinetic_energy(scene->model.materials));
  snapshot.time = 0.5;
  // Stretched about its middle along x and moved along y: each node has a velocity of its own.
  const double middle = probe.center()[0];
  double square = 0;
  const Object& object = probe.description();
  for (std::int32_t i = object.node_begin; i < object.node_end; ++i) {
    const double x = scene->model.positions[static_cast<std::size_t>(i)][0];
    snapshot.positions[static_cast<std::size_t>(i)] += Vec3f{static_cast<float>(0.2 * (x - middle)), 0.3f, 0};
    square += 0.25 * (std::pow(0.4 * (x - middle), 2) + 0.36);
  }
  probe.observe(snapshot);
  const double mass = probe.mass(scene->model.materials);
  EXPECT_NEAR(*probe.kinetic_energy(scene->model.materials), 0.5 * mass * square, 1e-4 * mass);
}

TEST_F(TrackedProbesTest, AContactIsFollowedAndHasNoForceOnceItEnded) {
  ASSERT_TRUE(tracked.track(ContactProbe(scene, contact_at({1, 0, 0}, 10, 7), 0.1f)));
  EXPECT_EQ(tracked.name(0), "low and ground");
  Snapshot snapshot = at(1);
  snapshot.contacts = {contact_at({1, 0, 0}, 99, 8), contact_at({3, 0, 0}, 10, 7)};
  show(snapshot);
  EXPECT_EQ(value(1, 0, 0), 10) << "that with its name, not the nearest";
  EXPECT_NEAR(value(1, 0, 1), 5, 1e-5);
  EXPECT_NEAR(value(1, 0, 2), 1e-3, 1e-9);
  EXPECT_EQ(value(1, 0, 3), 2);
  show(at(2));
  EXPECT_EQ(value(2, 0, 0), 0);
  EXPECT_EQ(value(2, 0, 1), 0);
  EXPECT_TRUE(std::isnan(value(2, 0, 2)));
}

TEST_F(TrackedProbesTest, KeepsEightWithNamesThatDiffer) {
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(tracked.track(ContactProbe(scene, contact_at({1.f * i, 0, 0}, 1), 0.1f)), i < 8);
  EXPECT_FALSE(tracked.track(ObjectProbe(scene, 1)));
  EXPECT_EQ(tracked.size(), TrackedProbes::kMost);
  EXPECT_EQ(tracked.name(0), "low and ground");
  EXPECT_EQ(tracked.name(7), "low and ground 8");
  tracked.untrack(3);
  EXPECT_TRUE(tracked.track(ObjectProbe(scene, 1)));
  tracked.untrack(0);
  EXPECT_FALSE(tracked.track(ObjectProbe(scene, 1))) << "it is tracked";
  EXPECT_EQ(tracked.find(ObjectProbe(scene, 1)), std::optional<std::size_t>(6));
  EXPECT_FALSE(tracked.find(ObjectProbe(scene, 0)));
}

TEST_F(TrackedProbesTest, WhatComesLaterIsUnknownBefore) {
  tracked.track(ObjectProbe(scene, 0));
  show(at(1));
  tracked.track(ObjectProbe(scene, 1));
  show(at(2));
  EXPECT_TRUE(std::isnan(value(1, 1, 5)));
  EXPECT_EQ(value(2, 1, 5), 0);
  tracked.untrack(0);
  EXPECT_EQ(tracked.at(2)->values.size(), 1u);
}

TEST_F(TrackedProbesTest, ARewindKeepsTheFutureUntilAStepReplacesIt) {
  tracked.track(ObjectProbe(scene, 0));
  for (int frame = 1; frame <= 6; ++frame) show(at(frame));
  show(at(3), true);
  EXPECT_EQ(tracked.rows().size(), 6u);
  Snapshot other = at(4);
  other.poses[0].x = {0, 5, 0};
  show(other);
  EXPECT_EQ(tracked.rows().size(), 4u);
  EXPECT_EQ(value(4, 0, 5), 5);
}

TEST_F(TrackedProbesTest, AnEditDropsWhatIsGone) {
  tracked.track(ObjectProbe(scene, 0));
  tracked.track(ContactProbe(scene, contact_at({1, 0, 0}, 1, 7), 0.1f));
  tracked.track(ObjectProbe(scene, 2));
  show(at(1));
  Scene fewer = *scene;
  fewer.model.objects.erase(fewer.model.objects.begin());
  const auto without = std::make_shared<const Scene>(fewer);
  TrackedProbes left = tracked;
  left.go_on(without);
  ASSERT_EQ(left.size(), 1u) << "low is gone, and its contact with it";
  EXPECT_EQ(left.name(0), "wall");
  EXPECT_EQ(left.at(1)->values.size(), 1u);
  // Names of contacts change with the numbers of bodies and nodes.
  tracked.go_on(std::make_shared<const Scene>(*scene));
  ASSERT_EQ(tracked.size(), 3u);
  Snapshot snapshot = at(2);
  snapshot.contacts = {contact_at({1.05f, 0, 0}, 5, 1234)};
  show(snapshot);
  EXPECT_EQ(value(2, 1, 0), 5) << "found by its place";
}

TEST_F(TrackedProbesTest, TheCsvFileHasColumnsOfWhatIsTracked) {
  tracked.track(ContactProbe(scene, contact_at({1, 0, 0}, 10, 7), 0.1f));
  tracked.track(ObjectProbe(scene, 0));
  Snapshot snapshot = at(2);
  snapshot.contacts = {contact_at({1, 0, 0}, 10, 7)};
  show(snapshot);
  std::vector<StepReport> reports(2);
  reports[0].frame = 1;
  reports[1].frame = 2;
  const std::vector<const StepReport*> steps{&reports[0], &reports[1]};
  const std::string bare = history_csv(steps), text = history_csv(steps, tracked);
  EXPECT_NE(text.find(",\"low and ground: Normal force r_N, N\","), std::string::npos) << text;
  EXPECT_NE(text.find(",\"low: Kinetic energy, J\"\n"), std::string::npos) << text;
  const auto commas = [](const std::string& csv) {
    return std::ranges::count(csv.substr(csv.find('\n')), ',');
  };
  EXPECT_EQ(commas(text), commas(bare) + 2 * 9);
  EXPECT_NE(text.find(",10,"), std::string::npos) << text;
  EXPECT_TRUE(text.substr(0, text.rfind('\n', text.size() - 2)).ends_with(",,,,,,,,,")) << "not shown";
}

}  // namespace
}  // namespace stickslip
