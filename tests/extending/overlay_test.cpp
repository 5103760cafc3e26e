// The overlay of docs/extending.md: its row expands as those of overlays.h do, and its function draws.
#include <gtest/gtest.h>

// [function]
// app/render/glyphs.cpp
#include "app/render/glyphs.h"

namespace stickslip {

void draw_forces(std::vector<shared::Glyph>& glyphs, const ContactMark& mark) {
  constexpr float kMetrePerNewton = 1e-3f;
  const Vec3f from = mark.contact.point;
  const Vec3f to = from + (kMetrePerNewton * mark.contact.normal_force) * mark.contact.normal;
  glyphs.push_back(glyph(shared::kGlyphLine, from, to, mark.color, mark.opacity));
}

}  // namespace stickslip
// [/function]

namespace stickslip {
namespace {

// clang-format off
#define EXAMPLE_OVERLAYS(CONTACT, SCENE, PASS) \
  /* [row] */ \
  CONTACT(forces, "Forces", 'H', "normal forces of contacts, 1 mm per newton", true) \
  /* [/row] */
// clang-format on

struct ExampleOverlays {
#define EXAMPLE_FLAG(flag, ...) bool flag = false;
  EXAMPLE_OVERLAYS(EXAMPLE_FLAG, EXAMPLE_FLAG, EXAMPLE_FLAG)
};

struct ExampleRow {
  std::string_view label, meaning;
  char key;
  bool ExampleOverlays::*flag;
  void (*draw)(std::vector<shared::Glyph>& glyphs, const ContactMark& mark);
};

TEST(Extending, TheExampleOverlayDraws) {
#define EXAMPLE_CONTACT(flag, label, key, meaning, condition) \
  { label, meaning, key, &ExampleOverlays::flag, draw_##flag }
#define EXAMPLE_NONE(...)
  const ExampleRow row = EXAMPLE_OVERLAYS(EXAMPLE_CONTACT, EXAMPLE_NONE, EXAMPLE_NONE);
  for (const OverlayInfo& taken : overlay_table()) EXPECT_NE(taken.key, row.key);
  ContactRecord contact{};
  contact.normal = {0, 1, 0};
  contact.normal_force = 500;
  std::vector<shared::Glyph> glyphs;
  row.draw(glyphs, {contact, {1, 0, 0}, 1, {}});
  ASSERT_EQ(glyphs.size(), 1u);
  EXPECT_FLOAT_EQ(glyphs[0].b.y, 0.5f);
}

}  // namespace
}  // namespace stickslip
