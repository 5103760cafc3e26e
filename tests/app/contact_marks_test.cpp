// Sizes, colours and cones of the marks of contacts.
#include <gtest/gtest.h>

#include <cmath>

#include "app/render/contact_scale.h"
#include "app/render/glyphs.h"

namespace stickslip {
namespace {

constexpr int kMarksWidth = 1280, kMarksHeight = 720;

/// n x n contacts in the plane z = 0, `spacing` metres apart.
std::vector<ContactRecord> grid(int n, float spacing) {
  std::vector<ContactRecord> contacts;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      ContactRecord& contact = contacts.emplace_back();
      contact.point = {spacing * (static_cast<float>(i) - 0.5f * static_cast<float>(n - 1)),
                       spacing * (static_cast<float>(j) - 0.5f * static_cast<float>(n - 1)), 0};
      contact.normal = {0, 0, 1};
      contact.normal_force = 1;
      contact.mu = 0.5f;
      contact.state = ContactState::stick;
    }
  return contacts;
}

Camera front() { return Camera::look_at({0, 0, 3}, {0, 0, 0}, 40); }

TEST(ContactMarks, AreSmallerWhereThereAreMany) {
  EXPECT_EQ(disc_scale(front(), {}, kMarksWidth, kMarksHeight), 1);
  EXPECT_EQ(disc_scale(front(), grid(1, 1), kMarksWidth, kMarksHeight), 1);
  EXPECT_EQ(disc_scale(front(), grid(4, 0.3f), kMarksWidth, kMarksHeight), 1) << "far apart";
  const float some = disc_scale(front(), grid(40, 0.03f), kMarksWidth, kMarksHeight),
              many = disc_scale(front(), grid(120, 0.01f), kMarksWidth, kMarksHeight);
  EXPECT_LT(some, 0.95f);
  EXPECT_LT(many, some);
  EXPECT_GE(many, 0.25f) << "they can be seen still";
  EXPECT_NEAR(disc_scale(front(), grid(40, 0.03f), 2 * kMarksWidth, 2 * kMarksHeight), some, 0.25f * some)
      << "in units of the picture";
  Camera behind = Camera::look_at({0, 0, -3}, {0, 0, -6}, 40);
  EXPECT_EQ(disc_scale(behind, grid(120, 0.01f), kMarksWidth, kMarksHeight), 1) << "none is in the picture";
}

TEST(ContactMarks, ManyContactsAreSampled) {
  const std::vector<ContactRecord> contacts = grid(300, 0.004f);
  const float scale = disc_scale(front(), contacts, kMarksWidth, kMarksHeight);
  EXPECT_GT(scale, 0.2f);
  EXPECT_LE(scale, 0.5f);
}

TEST(ContactMarks, AConeHasTheForceInsideAndOnItsRimWhereTheContactSlides) {
  Overlays overlays;
  overlays.cones = true;
  ContactRecord contact = grid(1, 1)[0];
  contact.normal_force = 10;
  contact.friction = {5, 0, 0};  // mu times the normal force
  std::vector<shared::Glyph> glyphs;
  draw_cones(glyphs, {contact, {1, 0, 0}, 1, overlays, 0.1f, 1, 2});
  ASSERT_GT(glyphs.size(), 10u);
  float height = 0, radius = 0;
  for (const shared::Glyph& glyph : glyphs) {
    if (glyph.a.w != static_cast<float>(shared::kGlyphLine)) continue;
    height = std::max({height, glyph.a.z, glyph.b.z});
    radius = std::max(radius, std::hypot(glyph.b.x, glyph.b.y));
  }
  EXPECT_NEAR(radius, 0.5f * height, 1e-5f) << "mu = 0.5";
  const shared::Glyph& arrow = glyphs.back();
  ASSERT_EQ(arrow.a.w, static_cast<float>(shared::kGlyphArrow));
  EXPECT_NEAR(arrow.b.x, 0.5f * arrow.b.z, 1e-6f);
  EXPECT_NEAR(2 * arrow.b.z, height, 1e-5f) << "arrows are in units of 2 m here";
  glyphs.clear();
  contact.normal_force = 0;
  draw_cones(glyphs, {contact, {1, 0, 0}, 1, overlays, 0.1f, 1, 2});
  EXPECT_TRUE(glyphs.empty()) << "no force, no cone";
}

TEST(ContactScale, MapsItsRangeToShares) {
  std::vector<ContactRecord> contacts = grid(2, 1);
  contacts[0].normal_force = 1000;
  contacts[1].normal_force = 1;
  contacts[2].normal_force = std::sqrt(1000.f);
  contacts[3].normal_force = 0;
  const ScaleRange force = scale_range(contacts, ContactScale::force);
  EXPECT_EQ(force.high, 1000);
  EXPECT_NEAR(force.share(1000), 1, 1e-6);
  EXPECT_NEAR(force.share(std::sqrt(1000.f)), 0.5f, 1e-5f) << "logarithmic";
  EXPECT_NEAR(force.share(1), 0, 1e-6);
  EXPECT_EQ(force.share(0), 0);
  contacts[0].gap = -0.001f;
  contacts[1].gap = 0.003f;
  const ScaleRange gap = scale_range(contacts, ContactScale::gap);
  EXPECT_EQ(gap.low, -0.001f);
  EXPECT_NEAR(gap.share(0.001f), 0.5f, 1e-6f);
  const ScaleRange cone = scale_range(contacts, ContactScale::cone_share);
  EXPECT_EQ(cone.share(0.25f), 0.25f);
  EXPECT_EQ(cone.share(2), 1);
  EXPECT_EQ(scale_range({}, ContactScale::force).share(3), 1);
  for (ContactRecord& contact : contacts) contact.slip_speed = 0;
  EXPECT_EQ(scale_range(contacts, ContactScale::slip).share(0), 0) << "nothing slides";
}

TEST(ContactScale, ColoursRiseInLightness) {
  float last = -1;
  for (int i = 0; i <= 50; ++i) {
    const Vec3f color = scale_color(static_cast<float>(i) / 50);
    const float lightness = 0.2126f * std::pow(color[0], 2.2f) + 0.7152f * std::pow(color[1], 2.2f) +
                            0.0722f * std::pow(color[2], 2.2f);
    EXPECT_GT(lightness, last);
    last = lightness;
  }
  EXPECT_EQ(scale_color(-1), scale_color(0));
  EXPECT_EQ(scale_color(2), scale_color(1));
  for (std::size_t i = 0; i < contact_scale_table().size(); ++i)
    EXPECT_EQ(static_cast<std::size_t>(contact_scale_table()[i].scale), i);
}

}  // namespace
}  // namespace stickslip
