#include "app/viewer/picking.h"

#include <gtest/gtest.h>

#include <random>

#include "app/viewer/body_frames.h"
#include "tests/app/rigid_scene.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip {
namespace {

std::vector<Vec3f> positions_of(const Model& model) {
  std::vector<Vec3f> positions;
  for (const auto& x : model.positions) positions.push_back(x.cast<float>());
  return positions;
}

TEST(Picking, TakesTheNearestOfTwoBodiesOnTheRay) {
  const Scene scene = test::two_tets("a");
  const std::vector<Vec3f> positions = positions_of(scene.model);
  const auto from_above = pick(scene.model, positions, {{0.1f, 20, 0.1f}, {0, -1, 0}});
  ASSERT_TRUE(from_above);
  EXPECT_EQ(scene.model.objects[from_above->object].name, "high");
  EXPECT_NEAR(from_above->point[1], 5.8, 1e-5);  // on the slanted face x + y + z = 1
  EXPECT_NEAR(from_above->distance, 14.2, 1e-5);
  const auto from_below = pick(scene.model, positions, {{0.1f, -20, 0.1f}, {0, 1, 0}});
  ASSERT_TRUE(from_below);
  EXPECT_EQ(scene.model.objects[from_below->object].name, "low");
}

TEST(Picking, MissesBesideAndBehind) {
  const Scene scene = test::two_tets("a");
  const std::vector<Vec3f> positions = positions_of(scene.model);
  EXPECT_FALSE(pick(scene.model, positions, {{2, 20, 2}, {0, -1, 0}}));
  EXPECT_FALSE(pick(scene.model, positions, {{0.1f, 20, 0.1f}, {0, 1, 0}}));
}

TEST(Picking, BarycentricPointIsTheHitPoint) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> coordinate(-1, 1);
  const Scene scene = test::two_tets("a");
  const std::vector<Vec3f> positions = positions_of(scene.model);
  int hits = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vec3f eye{8 * coordinate(random), 8 * coordinate(random), 8 + coordinate(random)};
    const Vec3f goal{coordinate(random), 6 * coordinate(random), coordinate(random)};
    const Ray ray{eye, normalized(goal - eye)};
    const auto found = pick(scene.model, positions, ray);
    if (!found) continue;
    ++hits;
    EXPECT_NEAR(found->weights[0] + found->weights[1] + found->weights[2], 1, 1e-6);
    for (int k = 0; k < 3; ++k) EXPECT_GE(found->weights[k], -1e-6);
    EXPECT_LT(norm(position_of(*found, positions) - found->point), 1e-4f);
    EXPECT_LT(norm(ray.origin + found->distance * ray.direction - found->point), 1e-4f);
  }
  EXPECT_GT(hits, 10);
}

TEST(Picking, DragPlaneFacesTheCamera) {
  const Camera camera = Camera::look_at({0, 0, 5}, {0, 0, 0}, 40);
  const auto hit = intersect_plane(camera.ray(320, 240, 640, 480), {0.3f, 0.2f, 1}, camera.forward());
  ASSERT_TRUE(hit);
  EXPECT_LT(norm(*hit - Vec3f{0, 0, 1}), 2e-2f);
  EXPECT_FALSE(intersect_plane({{0, 0, 0}, {1, 0, 0}}, {0, 0, 1}, {0, 0, 1}));
  EXPECT_FALSE(intersect_plane({{0, 0, 0}, {0, 0, -1}}, {0, 0, 1}, {0, 0, 1}));
}

TEST(ObjectProbe, FollowsCentreVelocityAndContacts) {
  const auto scene = std::make_shared<const Scene>(test::two_tets("a"));
  ObjectProbe probe(scene, 1);
  EXPECT_EQ(probe.description().name, "high");
  EXPECT_NEAR(probe.volume(), 1.0 / 6, 1e-12);
  Snapshot snapshot;
  snapshot.positions = positions_of(scene->model);
  probe.observe(snapshot);
  EXPECT_NEAR(probe.center()[1], 5.25, 1e-6);
  EXPECT_FALSE(probe.velocity()) << "one instant has none";

  snapshot.time = 0.5;
  for (Vec3f& x : snapshot.positions) x[0] += 1;
  ContactRecord contact;
  contact.normal_force = 3;
  contact.object_a = 0;
  contact.object_b = 1;
  contact.state = ContactState::slip;
  snapshot.contacts = {contact, contact};
  snapshot.contacts[1].augmented = true;
  snapshot.contacts[1].multiplier = 2;
  contact.object_b = -1;  // the other body on the floor
  contact.normal_force = 100;
  snapshot.contacts.push_back(contact);
  probe.observe(snapshot);
  probe.observe(snapshot);  // observing the same time twice keeps the velocity
  ASSERT_TRUE(probe.velocity());
  EXPECT_NEAR((*probe.velocity())[0], 2, 1e-5);
  EXPECT_EQ(probe.contacts(), 2);
  EXPECT_EQ(probe.slipping(), 2);
  EXPECT_EQ(probe.normal_force(), 6);
  EXPECT_EQ(probe.largest_force(), 3);
  EXPECT_EQ(probe.augmented(), 1);
  EXPECT_EQ(probe.largest_multiplier(), 2);

  snapshot.time = 0;  // a reset gives no velocity
  probe.observe(snapshot);
  EXPECT_FALSE(probe.velocity());
}

/// Positions of the nodes if each body has this pose.
std::vector<Vec3f> posed(const Model& model, const Pose& pose) {
  std::vector<Vec3f> positions;
  for (const auto& x : model.rest_positions) positions.push_back(pose.apply(x).cast<float>());
  return positions;
}

TEST(ObjectProbe, FollowsARigidBody) {
  const auto scene = std::make_shared<const Scene>(test::rigid_scene("r"));
  const Model& model = scene->model;
  ObjectProbe probe(scene, 1);
  ASSERT_EQ(probe.body(), &model.bodies[1]);
  EXPECT_NEAR(probe.volume(), 1 * 0.5 * 1.5, 1e-12);
  std::vector<Material> materials = model.materials;
  materials[0].density = 400;
  EXPECT_NEAR(probe.mass(materials), 300, 1e-9);
  EXPECT_EQ(ObjectProbe(scene, 2).mass(materials), 0) << "the wall stands still";

  Snapshot snapshot;
  const Pose before{{1, 2, 3}, rotation_by(Vec<double, 3>{0.3, -0.2, 1})};
  snapshot.positions = posed(model, before);
  snapshot.poses.assign(3, before);
  probe.observe(snapshot);
  EXPECT_LT(norm(probe.center() - before.x), 1e-6);
  EXPECT_FALSE(probe.spin());
  EXPECT_FALSE(probe.asleep());
  snapshot.time = 0.1;
  snapshot.asleep = {0, 1, 0};
  const Pose after{{1.05, 2, 3}, rotation_by(Vec<double, 3>{0, 0.2, 0}) * before.q};
  snapshot.positions = posed(model, after);
  snapshot.poses.assign(3, after);
  probe.observe(snapshot);
  ASSERT_TRUE(probe.velocity() && probe.spin());
  EXPECT_LT(norm(*probe.velocity() - Vec<double, 3>{0.5, 0, 0}), 1e-5);
  EXPECT_LT(norm(*probe.spin() - Vec<double, 3>{0, 2, 0}), 1e-4);
  EXPECT_TRUE(probe.asleep());
}

TEST(Picking, RigidBodiesArePickedAndThoseThatMoveCanBePulled) {
  const Scene scene = test::rigid_scene("r");
  const std::vector<Vec3f> positions = positions_of(scene.model);
  const auto found = pick(scene.model, positions, {{0.1f, 20, 0.1f}, {0, -1, 0}});
  ASSERT_TRUE(found);
  EXPECT_EQ(scene.model.objects[found->object].name, "high");
  EXPECT_NEAR(found->point[1], 2.25, 1e-5);
  EXPECT_EQ(why_fixed(scene.model, scene.model.objects[1]), "");
  EXPECT_NE(why_fixed(scene.model, scene.model.objects[2]).find("stands still"), std::string::npos);
  const Scene soft = test::two_tets("a");
  EXPECT_EQ(why_fixed(soft.model, soft.model.objects[0]), "");
}

TEST(JointMarks, FollowTheBodies) {
  const Scene scene = test::rigid_scene("r");
  const Model& model = scene.model;
  std::vector<Pose> poses;
  for (const Body& body : model.bodies) poses.push_back(body.pose);
  ASSERT_EQ(poses.size(), 3u);
  const std::vector<JointSides> sides = joint_sides(model);
  std::vector<JointMark> marks = joint_marks(sides, poses, {});
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_LT(norm(marks[0].a - Vec3f{0, 1, 0}), 1e-6f);
  EXPECT_LT(norm(marks[0].b - Vec3f{0, 1, 0}), 1e-6f);
  EXPECT_LT(norm(marks[0].axis - Vec3f{0, 0, 1}), 1e-6f);

  // "low" moves away with its side of the joint.
  poses[0].x[0] += 2;
  marks = joint_marks(sides, poses, {});
  EXPECT_LT(norm(marks[0].a - Vec3f{2, 1, 0}), 1e-6f);
  EXPECT_LT(norm(marks[0].b - Vec3f{0, 1, 0}), 1e-6f);
}

TEST(Picking, TakesTheMarkUnderThePointer) {
  const Camera camera = Camera::look_at({0, 0, 5}, {0, 0, 0}, 40);
  std::vector<ContactRecord> contacts(3);
  contacts[1].point = {0.01f, 0, 0};
  contacts[2].point = {0, 0, 9};  // behind the eye
  const Vec3f at = camera.project(contacts[1].point, 400, 400);
  EXPECT_EQ(pick_contact(contacts, camera, 400, 400, {at[0] + 1, at[1]}, 7), &contacts[1]);
  EXPECT_EQ(pick_contact(contacts, camera, 400, 400, {200, 200}, 7), &contacts[0]);
  EXPECT_EQ(pick_contact(contacts, camera, 400, 400, {at[0] + 9, at[1]}, 7), nullptr);
  EXPECT_EQ(pick_contact({}, camera, 400, 400, {200, 200}, 7), nullptr);
  // Marks behind what is seen are not shown: those on it are.
  EXPECT_EQ(pick_contact(contacts, camera, 400, 400, {200, 200}, 7, 5.0f), &contacts[0]);
  EXPECT_EQ(pick_contact(contacts, camera, 400, 400, {200, 200}, 7, 4.9f), nullptr);
  contacts[0].point = {0, 0, -1};
  EXPECT_EQ(pick_contact(contacts, camera, 400, 400, {200, 200}, 7, 5.0f), &contacts[1])
      << "farther, but seen";
}

TEST(PickContact, OfMarksThatCoverEachOtherTakesTheOneThatPushesMost) {
  const Camera camera = Camera::look_at({0, 0, 5}, {0, 0, 0}, 40);
  std::vector<ContactRecord> contacts(3);
  contacts[1].point = {0.01f, 0, 0};  // about a pixel beside the first
  contacts[1].normal_force = 2;
  contacts[2].point = {0.06f, 0, 0};
  contacts[2].normal_force = 9;
  const Vec3f first = camera.project(contacts[0].point, 400, 400),
              third = camera.project(contacts[2].point, 400, 400);
  ASSERT_LT(third[0] - first[0], 7) << "within reach";
  ASSERT_GT(third[0] - first[0], 3);
  EXPECT_EQ(pick_contact(contacts, camera, 400, 400, {first[0], first[1]}, 7), &contacts[1]);
  EXPECT_EQ(pick_contact(contacts, camera, 400, 400, {third[0], third[1]}, 7), &contacts[2]);
}

TEST(ContactProbe, FollowsTheSameContactUntilItEnds) {
  const auto scene = std::make_shared<const Scene>(test::two_tets("a"));
  ContactRecord contact;
  contact.object_a = 1;
  contact.point = {1, 0, 0};
  contact.gap = 1e-3f;
  ContactProbe probe(scene, contact, 0.1f);
  EXPECT_EQ(probe.name_a(), "high");
  EXPECT_EQ(probe.name_b(), "ground");

  Snapshot snapshot;
  ContactRecord moved = contact, other = contact;
  moved.point = {1.05f, 0, 0};
  moved.augmented = true;
  moved.multiplier = 7;
  other.object_a = 0;  // nearer, but between other objects
  snapshot.contacts = {other, moved};
  probe.observe(snapshot);
  EXPECT_FALSE(probe.is_gone());
  EXPECT_EQ(probe.contact().multiplier, 7);

  moved.point = {1.2f, 0, 0};
  snapshot.contacts = {moved};
  probe.observe(snapshot);
  EXPECT_TRUE(probe.is_gone()) << "that is another one";
  EXPECT_EQ(probe.contact().multiplier, 7) << "what it had last stays";
  moved.point = {1.1f, 0, 0};
  snapshot.contacts = {moved};
  probe.observe(snapshot);
  EXPECT_FALSE(probe.is_gone());
}

TEST(ContactProbe, FollowsANameWhereverItGoes) {
  const auto scene = std::make_shared<const Scene>(test::two_tets("a"));
  ContactRecord contact;
  contact.object_a = 1;
  contact.name = 5;
  ContactProbe probe(scene, contact, 0.1f);
  Snapshot snapshot;
  ContactRecord itself = contact, near = contact;
  itself.point = {3, 0, 0};
  near.point = {0.01f, 0, 0};
  near.name = 6;
  snapshot.contacts = {near, itself};
  probe.observe(snapshot);
  EXPECT_EQ(probe.contact().name, 5u);
  EXPECT_EQ(probe.contact().point[0], 3);
  near.point = {3.01f, 0, 0};
  snapshot.contacts = {near};
  probe.observe(snapshot);
  EXPECT_FALSE(probe.is_gone());
  EXPECT_EQ(probe.contact().name, 6u) << "the features changed";
}

TEST(ContactProbe, HasTheNameOfThenWhileTheTimelineIsScrubbed) {
  const auto scene = std::make_shared<const Scene>(test::two_tets("a"));
  ContactRecord contact;
  contact.object_a = 1;
  contact.name = 5;
  ContactProbe probe(scene, contact, 0.1f);
  const auto observe = [&](double time, std::vector<std::uint64_t> names, bool restored) {
    Snapshot snapshot;
    snapshot.time = time;
    for (const std::uint64_t name : names) {
      snapshot.contacts.push_back(contact);
      snapshot.contacts.back().name = name;
    }
    probe.observe(snapshot, restored);
    return probe.is_gone() ? 0 : probe.contact().name;
  };
  EXPECT_EQ(observe(1, {5, 9}, false), 5u);
  EXPECT_EQ(observe(2, {6}, false), 6u) << "it slid on";
  EXPECT_EQ(observe(3, {6, 7}, false), 6u);
  EXPECT_EQ(observe(1, {6, 5}, true), 5u);
  EXPECT_EQ(observe(0.5, {9}, true), 0u) << "it was not there yet, and takes no other one";
  EXPECT_EQ(observe(2, {6, 5}, true), 6u);
  EXPECT_EQ(observe(1, {5}, true), 5u);
  EXPECT_EQ(observe(1.5, {8}, false), 8u) << "another future";
  EXPECT_EQ(observe(2, {6, 8}, false), 8u);
}

TEST(WorstContact, HasTheLargestErrorOrIsTheDeepest) {
  EXPECT_EQ(worst_contact({}), nullptr);
  std::vector<ContactRecord> contacts(3);
  contacts[0].gap = 1e-3f;
  contacts[1].gap = -2e-3f;
  contacts[2].gap = 0;
  EXPECT_EQ(worst_contact(contacts), &contacts[1]) << "errors are not known";
  contacts[0].error = 0;
  contacts[1].error = 1e-5f;
  contacts[2].error = 2e-5f;
  EXPECT_EQ(worst_contact(contacts), &contacts[2]);
}

}  // namespace
}  // namespace stickslip
