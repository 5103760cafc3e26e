// Numbers of what is under the pointer.
#include "app/viewer/hover.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/app/fake_engine.h"

namespace stickslip {
namespace {

std::string row(const HoverText& text, const std::string& name) {
  const auto found = std::ranges::find(text.rows, name, &std::pair<std::string, std::string>::first);
  return found == text.rows.end() ? "none" : found->second;
}

ContactRecord sliding() {
  ContactRecord contact;
  contact.object_a = 1;
  contact.object_b = -1;
  contact.state = ContactState::slip;
  contact.normal_force = 2500;
  contact.friction = {300, 0, 400};
  contact.mu = 0.25f;
  contact.cone_share = 0.8f;
  contact.gap = -2e-5f;
  contact.slip_speed = 0.012f;
  contact.area = 1e-4f;
  contact.age = 1.5f;
  return contact;
}

TEST(Hover, AContactHasItsNumbersWithNamesAndUnits) {
  const Model model = test::two_tets("a").model;
  const HoverText text = describe(sliding(), model, ContactScale::state);
  EXPECT_EQ(text.title, "high and ground");
  EXPECT_EQ(text.rows.front(), (std::pair<std::string, std::string>{"state", "slip"}));
  EXPECT_EQ(row(text, "normal force r_N"), "2.5 kN");
  EXPECT_EQ(row(text, "friction r_T"), "500 N");
  EXPECT_EQ(row(text, "mu"), "0.25");
  EXPECT_EQ(row(text, "share of the cone"), "80%");
  EXPECT_EQ(row(text, "gap"), "-20 \xC2\xB5m");
  EXPECT_EQ(row(text, "slip speed"), "12 mm/s");
  EXPECT_EQ(row(text, "pressure"), "25 MPa");
  EXPECT_EQ(row(text, "age"), "1.5 s");
}

TEST(Hover, WhatColoursShowComesFirstAndOnce) {
  const Model model = test::two_tets("a").model;
  for (const ContactScaleInfo& info : contact_scale_table()) {
    const HoverText text = describe(sliding(), model, info.scale);
    EXPECT_EQ(text.rows.front().first, info.label);
    EXPECT_TRUE(text.first_is_mapped);
    for (const auto& [name, value] : text.rows)
      EXPECT_EQ(std::ranges::count(text.rows, name, &std::pair<std::string, std::string>::first), 1) << name;
    EXPECT_EQ(row(text, "normal force r_N"), info.scale == ContactScale::force ? "none" : "2.5 kN");
  }
  EXPECT_EQ(describe(sliding(), model, ContactScale::pressure).rows.front().second, "25 MPa");
  ContactRecord missed = sliding();
  missed.error = 0.5f;
  EXPECT_EQ(describe(missed, model, ContactScale::state, 0.6f).rows.front().second, "slip");
  EXPECT_EQ(describe(missed, model, ContactScale::state, 0.4f).rows.front().second, "unconverged");
  EXPECT_EQ(describe(sliding(), model, ContactScale::cone_share).rows.front().second, "80%");
}

TEST(Hover, TheValueThatTheSolverUsedHasItsNameAndUnit) {
  ContactRecord contact;
  EXPECT_FALSE(step_value(contact));
  contact.step_normal = 2.5f;
  contact.step_tangent = 2.5f;
  contact.step_kind = StepKind::r_factor;
  EXPECT_STREQ(step_value(contact)->name, "r-factor");
  EXPECT_EQ(step_value(contact)->value, "2.5 kg");
  contact.step_kind = StepKind::rho;
  contact.step_tangent = 4;
  EXPECT_STREQ(step_value(contact)->name, "rho");
  EXPECT_EQ(step_value(contact)->value, "normal 2.5, tangent 4 kg");
  contact.step_kind = StepKind::penalty;
  EXPECT_STREQ(step_value(contact)->name, "rho");
  EXPECT_EQ(step_value(contact)->value, "normal 2.5, tangent 4 / kg");
  contact.step_kind = StepKind::stiffness;
  EXPECT_STREQ(step_value(contact)->name, "Stiffness");
  EXPECT_EQ(step_value(contact)->value, "2.5 N/m");
}

TEST(Hover, UnknownNumbersAreNotShownAsNumbers) {
  const Model model = test::two_tets("a").model;
  ContactRecord contact = sliding();
  contact.area = 0;
  contact.age = contact.error = -1;
  contact.colour = -1;
  const HoverText text = describe(contact, model, ContactScale::state);
  EXPECT_EQ(row(text, "pressure"), "none");
  EXPECT_EQ(row(text, "age"), "none");
  for (const ContactScale scale :
       {ContactScale::pressure, ContactScale::age, ContactScale::error, ContactScale::colour})
    EXPECT_EQ(describe(contact, model, scale).rows.front().second, "not known");
}

Pick on_corner_triangle() {
  Pick pick;
  pick.object = 0;
  pick.triangle = {0, 1, 2};
  pick.weights = {0.5, 0.25, 0.25};
  return pick;
}

const SurfaceColorsInfo& colors(SurfaceColors of) {
  return surface_colors_table()[static_cast<std::size_t>(of)];
}

TEST(Hover, ASurfaceHasTheValueThatItsColourShows) {
  const std::vector<float> values{8000, 4000, 0};
  std::vector<float> places;
  place_on_scale(values, 10000, places);
  const auto stress = heat_value(colors(SurfaceColors::stress), places, 0, 10000, on_corner_triangle());
  ASSERT_TRUE(stress);
  EXPECT_NEAR(*stress, 0.5 * 8000 + 0.25 * 4000, 1e-2);
  const HoverText text = describe(colors(SurfaceColors::stress), *stress, "low");
  EXPECT_EQ(text.title, "low");
  EXPECT_EQ(text.rows.front(), (std::pair<std::string, std::string>{"stress", "5 kPa"}));
  EXPECT_EQ(describe(colors(SurfaceColors::stretch), 0.125, "low").rows.front().second, "12.5%");
}

TEST(Hover, OnDecadesTheColourIsThatOfTheGeometricMean) {
  const std::vector<float> values{100, 10000, 10000};
  const Decades decades = decades_of(values);
  std::vector<float> places;
  place_on_decades(values, decades, places);
  const auto stiffness =
      heat_value(colors(SurfaceColors::stiffness), places, decades.low, decades.high, on_corner_triangle());
  ASSERT_TRUE(stiffness);
  EXPECT_NEAR(*stiffness, 1000, 1e-2);
}

TEST(Hover, WithoutAColourOfItsOwnASurfaceHasNoValue) {
  const Pick pick = on_corner_triangle();
  const std::vector<float> some{0.5f, -1, 0.5f}, all{0.5f, 0.5f, 0.5f};
  EXPECT_FALSE(heat_value(colors(SurfaceColors::stress), some, 0, 1, pick));
  EXPECT_FALSE(heat_value(colors(SurfaceColors::stress), {}, 0, 1, pick));
  EXPECT_FALSE(heat_value(colors(SurfaceColors::stress), all, 0, -1, pick));
  EXPECT_FALSE(heat_value(colors(SurfaceColors::islands), all, 0, 1, pick));
  EXPECT_TRUE(heat_value(colors(SurfaceColors::stress), all, 0, 1, pick));
}

TEST(Hover, APullHasTheForceOfItsSpring) {
  const HoverText text = describe(DragLine{{0, 1, 0}, {0.03f, 1, 0.04f}}, 200);
  ASSERT_EQ(text.rows.size(), 3u);
  EXPECT_EQ(text.rows[0], (std::pair<std::string, std::string>("force", "10 N"))) << "200 N/m over 50 mm";
  EXPECT_EQ(text.rows[1].second, "50 mm");
  EXPECT_EQ(text.rows[2].second, "200 N/m");
}

TEST(Hover, TheBoxNeverCoversThePointer) {
  const TipArea area{100, 0, 900, 600};
  const Vec<float, 2> size{220, 160};
  for (float x = 100; x <= 900; x += 20)
    for (float y = 0; y <= 600; y += 20) {
      const Vec<float, 2> corner = place_tip({x, y}, size, area, 16);
      const float right = corner[0] + size[0], bottom = corner[1] + size[1];
      EXPECT_TRUE(corner[0] >= x + 16 || right <= x - 16);
      EXPECT_TRUE(corner[1] >= y + 16 || bottom <= y - 16);
      EXPECT_TRUE(corner[0] >= area.left && right <= area.right && corner[1] >= 0 && bottom <= area.bottom)
          << x << ", " << y;
    }
  EXPECT_EQ(place_tip({500, 300}, {2000, 2000}, area, 16)[0], 516) << "where it fits nowhere, to the right";
}

}  // namespace
}  // namespace stickslip
