#include "app/render/glyphs.h"

#include <algorithm>
#include <iterator>

namespace stickslip {

shared::Glyph glyph(shared::uint kind, const Vec3f& a, const Vec3f& b, const Vec3f& color, float opacity) {
  return {{a[0], a[1], a[2], static_cast<float>(kind)},
          {b[0], b[1], b[2], 0},
          {color[0], color[1], color[2], opacity}};
}

shared::Glyph ring(const Vec3f& center, float radius, const Vec3f& color) {
  shared::Glyph mark = glyph(shared::kGlyphRing, center, center, color, 1);
  mark.b.w = radius;
  return mark;
}

namespace {

const Vec3f kDragColor{0.98f, 0.72f, 0.10f}, kPickColor{0.10f, 0.11f, 0.13f};
const Vec3f kFrictionColor{0.93f, 0.78f, 0.10f};
constexpr float kLongestForce = 3;  // arrow of the largest force, in units of that of a normal
// Radii in units of screen-constant size; a contact's disc has 4.2.
constexpr float kMultiplierRadius = 6.4f, kPickRadius = 10, kJointRadius = 4.6f;

/// Encodes a node number in a glyph that refers to nodes.
Vec3f digits_of(std::int32_t node) {
  const auto number = static_cast<shared::uint>(node);
  const shared::uint low = number % shared::kGlyphNodeDigit, high = number / shared::kGlyphNodeDigit;
  return {static_cast<float>(low), static_cast<float>(high), 0};
}

/// A ring at the anchor, a line to the other body's anchor, an arrow along the axis.
void add_joint(std::vector<shared::Glyph>& glyphs, const JointMark& joint) {
  const Vec3f color = joint_color();
  glyphs.push_back(glyph(shared::kGlyphLine, joint.a, joint.b, color, 1));
  if (norm2(joint.axis) > 0) glyphs.push_back(glyph(shared::kGlyphArrow, joint.a, joint.axis, color, 1));
  glyphs.push_back(ring(joint.a, kJointRadius, color));
}

struct ContactOverlay {
  bool Overlays::*flag;
  void (*draw)(std::vector<shared::Glyph>& glyphs, const ContactMark& mark);
};

/// From the last row to the first, so that the first is drawn on top.
void add_contact(std::vector<shared::Glyph>& glyphs, const ContactMark& mark) {
#define STICKSLIP_CONTACT(flag, ...) {&Overlays::flag, draw_##flag},
#define STICKSLIP_NONE(...)
  static constexpr ContactOverlay kRows[] = {
      STICKSLIP_OVERLAYS(STICKSLIP_CONTACT, STICKSLIP_NONE, STICKSLIP_NONE)};
#undef STICKSLIP_CONTACT
  for (auto row = std::rbegin(kRows); row != std::rend(kRows); ++row)
    if (mark.overlays.*row->flag) row->draw(glyphs, mark);
}

void add_scene_overlays(std::vector<shared::Glyph>& glyphs, const FrameView& view) {
#define STICKSLIP_SCENE(flag, ...) \
  if (view.overlays.flag) draw_##flag(glyphs, view);
  STICKSLIP_OVERLAYS(STICKSLIP_NONE, STICKSLIP_SCENE, STICKSLIP_NONE)
#undef STICKSLIP_SCENE
#undef STICKSLIP_NONE
}

}  // namespace

void draw_contacts(std::vector<shared::Glyph>& glyphs, const ContactMark& mark) {
  const Vec3f& point = mark.contact.point;
  glyphs.push_back(glyph(shared::kGlyphDisc, point, point, mark.color, mark.opacity));
  if (mark.overlays.multipliers && mark.contact.augmented)
    glyphs.push_back(ring(point, kMultiplierRadius, multiplier_color()));
}

void draw_normals(std::vector<shared::Glyph>& glyphs, const ContactMark& mark) {
  glyphs.push_back(
      glyph(shared::kGlyphArrow, mark.contact.point, mark.contact.normal, mark.color, mark.opacity));
}

void draw_arrows(std::vector<shared::Glyph>& glyphs, const ContactMark& mark) {
  constexpr float kShortest = 0.1f;  // 3 pixels
  const auto add = [&](const Vec3f& force, const Vec3f& color) {
    const Vec3f arrow = mark.per_newton * force;
    if (norm(arrow) >= kShortest)
      glyphs.push_back(glyph(shared::kGlyphArrow, mark.contact.point, arrow, color, mark.opacity));
  };
  add(mark.contact.normal_force * mark.contact.normal, mark.color);
  add(mark.contact.friction, kFrictionColor);
}

void draw_joints(std::vector<shared::Glyph>& glyphs, const FrameView& view) {
  for (const JointMark& joint : view.joints) add_joint(glyphs, joint);
}

std::vector<shared::Glyph> make_glyphs(const FrameView& view, const SceneBuffers& scene) {
  std::vector<shared::Glyph> glyphs;
  for (const WireShape& wire : scene.wires()) {
    const bool point = wire.nodes[0] == wire.nodes[1];
    glyphs.push_back(glyph(shared::kGlyphOfNodes + (point ? shared::kGlyphDisc : shared::kGlyphLine),
                           digits_of(wire.nodes[0]), digits_of(wire.nodes[1]), wire.color, 1));
  }
  float largest = 0;  // [N]
  if (view.overlays.arrows)
    for (const ContactRecord& contact : view.contacts)
      largest = std::max({largest, contact.normal_force, norm(contact.friction)});
  const float per_newton = largest > 0 ? kLongestForce / largest : 0;
  // Open contacts are numerous and matter least: they are drawn first and fainter.
  for (const ContactState state : {ContactState::open, ContactState::stick, ContactState::slip})
    for (const ContactRecord& contact : view.contacts) {
      if (contact.state != state) continue;
      add_contact(glyphs, {contact, contact_color(state), state == ContactState::open ? 0.6f : 1.f,
                           view.overlays, per_newton});
    }
  add_scene_overlays(glyphs, view);
  if (view.highlighted_contact) glyphs.push_back(ring(*view.highlighted_contact, kPickRadius, kPickColor));
  if (view.drag) {
    glyphs.push_back(glyph(shared::kGlyphLine, view.drag->from, view.drag->to, kDragColor, 1));
    glyphs.push_back(glyph(shared::kGlyphDisc, view.drag->from, view.drag->from, kDragColor, 1));
    glyphs.push_back(glyph(shared::kGlyphDisc, view.drag->to, view.drag->to, kDragColor, 1));
  }
  return glyphs;
}

}  // namespace stickslip
