// Sums of contact forces over pairs and bodies, and their arrows.
#include "app/render/force_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "app/io/scene/scene.h"
#include "app/render/glyphs.h"
#include "gpu/engine.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip {
namespace {

std::vector<ContactRecord> random_forces(int count, std::mt19937& random) {
  std::uniform_real_distribution<float> real(-1, 1);
  std::uniform_int_distribution<int> object(-1, 4);
  std::vector<ContactRecord> contacts;
  while (static_cast<int>(contacts.size()) < count) {
    ContactRecord contact{};
    contact.object_a = object(random);
    contact.object_b = object(random);
    if (contact.object_a < 0 && contact.object_b < 0) continue;
    contact.point = {real(random), real(random), real(random)};
    contact.normal = normalized(Vec3f{real(random), real(random), 2});
    contact.normal_force = 1 + real(random);
    contact.friction = {real(random), real(random), real(random)};
    contacts.push_back(contact);
  }
  return contacts;
}

/// [N] of the contact on one object.
Vec3f force_on(const ContactRecord& contact, int object) {
  const Vec3f on_a = contact.normal_force * contact.normal + contact.friction;
  Vec3f sum{0, 0, 0};
  if (contact.object_a == object) sum += on_a;
  if (contact.object_b == object) sum += -on_a;
  return sum;
}

TEST(ForceSums, AreThoseOfTheContacts) {
  FRESH_SEED(seed);
  std::mt19937 random(seed);
  for (const int count : {0, 1, 7, 200}) {
    const std::vector<ContactRecord> contacts = random_forces(count, random);
    EXPECT_TRUE(force_sums(contacts, ForceArrows::contacts).empty());
    std::map<int, Vec3f> of_bodies;
    int in_pairs = 0;
    for (const ForceSum& sum : force_sums(contacts, ForceArrows::pairs)) {
      Vec3f want{0, 0, 0};
      int of_pair = 0;
      for (const ContactRecord& c : contacts) {
        const bool is_of_pair = (c.object_a == sum.object && c.object_b == sum.other) ||
                                (c.object_b == sum.object && c.object_a == sum.other);
        if (!is_of_pair) continue;
        ++of_pair;
        // Of an object with itself: on the side a.
        want += sum.object == sum.other ? c.normal_force * c.normal + c.friction : force_on(c, sum.object);
      }
      EXPECT_GE(sum.object, 0);
      EXPECT_TRUE(sum.other < 0 || sum.object <= sum.other) << "once per pair";
      EXPECT_EQ(sum.contacts, of_pair);
      EXPECT_LT(norm(sum.normal + sum.friction - want), 1e-4f);
      in_pairs += sum.contacts;
      if (sum.object == sum.other) continue;
      const Vec3f force = sum.normal + sum.friction;
      of_bodies.try_emplace(sum.object, Vec3f{0, 0, 0}).first->second += force;
      if (sum.other >= 0) of_bodies.try_emplace(sum.other, Vec3f{0, 0, 0}).first->second += -force;
    }
    EXPECT_EQ(in_pairs, count);
    float largest = 0;
    for (const ForceSum& sum : force_sums(contacts, ForceArrows::bodies)) {
      EXPECT_EQ(sum.other, -1);
      Vec3f want{0, 0, 0};
      int touching = 0;
      for (const ContactRecord& c : contacts) {
        want += force_on(c, sum.object);
        touching += c.object_a == sum.object || c.object_b == sum.object;
      }
      EXPECT_EQ(sum.contacts, touching);
      EXPECT_LT(norm(sum.normal + sum.friction - want), 1e-4f);
      if (of_bodies.contains(sum.object)) {
        EXPECT_LT(norm(want - of_bodies[sum.object]), 1e-4f);
      }
      largest = std::max({largest, norm(sum.normal), norm(sum.friction)});
    }
    EXPECT_EQ(largest_arrow(contacts, ForceArrows::bodies), largest);
  }
}

/// Two boxes on each other at rest on the ground, by a real step: the sums hold their weights, and all forces
/// together the momentum that the report judges.
TEST(ForceSums, OfBodiesAtRestHoldTheirWeights) {
  const Scene scene = parse_scene(R"([params]
dt = 0.01
[[material]]
name = "stone"
density = 1000
mu = 0.5
[[half_space]]
[[object]]
name = "low"
body = "rigid"
shape = "box"
size = [0.4, 0.2, 0.4]
material = "stone"
position = [0, 0.1, 0]
[[object]]
name = "high"
body = "rigid"
shape = "box"
size = [0.2, 0.2, 0.2]
material = "stone"
position = [0, 0.3, 0]
)",
                                  "/somewhere/two.toml");
  const auto engine = make_engine(Backend::cpu, 1);
  engine->set_params(scene.params);
  engine->load(scene.model);
  StepReport report;
  for (int i = 0; i < 60; ++i) report = engine->step();
  Snapshot snapshot;
  engine->snapshot(snapshot);
  constexpr double kGravity = 9.81;
  const double low = 1000 * 0.4 * 0.2 * 0.4 * kGravity, high = 1000 * 0.2 * 0.2 * 0.2 * kGravity;
  const std::vector<ForceSum> bodies = force_sums(snapshot.contacts, ForceArrows::bodies);
  ASSERT_EQ(bodies.size(), 2u);
  const auto up = [](const ForceSum& sum) { return static_cast<double>(sum.normal[1] + sum.friction[1]); };
  EXPECT_NEAR(up(bodies[0]), low, 0.02 * low) << "what is below it less what is above";
  EXPECT_NEAR(up(bodies[1]), high, 0.02 * high);
  const std::vector<ForceSum> pairs = force_sums(snapshot.contacts, ForceArrows::pairs);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].other, -1);
  EXPECT_NEAR(up(pairs[0]), low + high, 0.02 * low) << "the ground carries both";
  EXPECT_NEAR(up(pairs[1]), -high, 0.02 * high) << "on the lower one";
  EXPECT_NEAR(pairs[1].point[0], 0, 0.02);
  EXPECT_NEAR(pairs[1].point[1], 0.2, 0.01);
}

TEST(ForceSums, HaveArrowsInPlaceOfThoseOfContacts) {
  std::vector<ContactRecord> contacts(4);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    contacts[i].object_a = 0;
    contacts[i].normal = {0, 1, 0};
    contacts[i].normal_force = 2;
    contacts[i].friction = {i < 2 ? 1.f : -1.f, 0, 0};
    contacts[i].point = {static_cast<float>(i), 0, 0};
    contacts[i].state = ContactState::stick;
  }
  FrameView view;
  view.contacts = contacts;
  std::vector<shared::Glyph> glyphs;
  draw_force_sums(glyphs, view, 0.25f);
  EXPECT_TRUE(glyphs.empty()) << "contacts have arrows of their own";
  EXPECT_EQ(largest_arrow(contacts, ForceArrows::contacts), 2);
  for (const ForceArrows over : {ForceArrows::pairs, ForceArrows::bodies}) {
    view.arrows = over;
    glyphs.clear();
    draw_force_sums(glyphs, view, 0.25f);
    ASSERT_EQ(glyphs.size(), 1u) << "friction cancels";
    EXPECT_EQ(glyphs[0].a.w, static_cast<float>(shared::kGlyphArrow));
    EXPECT_FLOAT_EQ(glyphs[0].b.y, 2) << "8 N";
    EXPECT_FLOAT_EQ(glyphs[0].a.x, 1.5f);
    EXPECT_EQ(largest_arrow(contacts, over), 8);
  }
}

TEST(ForceSums, TheTableIsIndexedByItsEnum) {
  for (std::size_t i = 0; i < force_arrows_table().size(); ++i)
    EXPECT_EQ(static_cast<std::size_t>(force_arrows_table()[i].arrows), i);
}

}  // namespace
}  // namespace stickslip
