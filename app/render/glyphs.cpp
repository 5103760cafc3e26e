#include "app/render/glyphs.h"

namespace stickslip {
namespace {

const Vec3f kDragColor{0.98f, 0.72f, 0.10f}, kPickColor{0.10f, 0.11f, 0.13f};
// Radii in units of screen-constant size; a contact's disc has 4.2.
constexpr float kMultiplierRadius = 6.4f, kPickRadius = 10, kJointRadius = 4.6f;

shared::Glyph glyph(shared::uint kind, const Vec3f& a, const Vec3f& b, const Vec3f& color, float opacity) {
  return {{a[0], a[1], a[2], static_cast<float>(kind)},
          {b[0], b[1], b[2], 0},
          {color[0], color[1], color[2], opacity}};
}

/// Where a glyph of nodes has a node's number.
Vec3f digits_of(std::int32_t node) {
  const auto number = static_cast<shared::uint>(node);
  const shared::uint low = number % shared::kGlyphNodeDigit, high = number / shared::kGlyphNodeDigit;
  return {static_cast<float>(low), static_cast<float>(high), 0};
}

shared::Glyph ring(const Vec3f& center, float radius, const Vec3f& color) {
  shared::Glyph mark = glyph(shared::kGlyphRing, center, center, color, 1);
  mark.b.w = radius;
  return mark;
}

/// A ring at the anchor, a line to where the other body has it, an arrow along the axis.
void add_joint(std::vector<shared::Glyph>& glyphs, const JointMark& joint) {
  const Vec3f color = joint_color();
  glyphs.push_back(glyph(shared::kGlyphLine, joint.a, joint.b, color, 1));
  if (norm2(joint.axis) > 0) glyphs.push_back(glyph(shared::kGlyphArrow, joint.a, joint.axis, color, 1));
  glyphs.push_back(ring(joint.a, kJointRadius, color));
}

}  // namespace

std::vector<shared::Glyph> make_glyphs(const FrameView& view, const SceneBuffers& scene) {
  std::vector<shared::Glyph> glyphs;
  for (const WireShape& wire : scene.wires()) {
    const bool point = wire.nodes[0] == wire.nodes[1];
    glyphs.push_back(glyph(shared::kGlyphOfNodes + (point ? shared::kGlyphDisc : shared::kGlyphLine),
                           digits_of(wire.nodes[0]), digits_of(wire.nodes[1]), wire.color, 1));
  }
  // Open contacts are many and say little: they lie below the others and are fainter.
  for (const ContactState state : {ContactState::open, ContactState::stick, ContactState::slip})
    for (const ContactRecord& contact : view.contacts) {
      if (contact.state != state) continue;
      const Vec3f color = contact_color(state);
      const float opacity = state == ContactState::open ? 0.6f : 1.f;
      if (view.overlays.normals)
        glyphs.push_back(glyph(shared::kGlyphArrow, contact.point, contact.normal, color, opacity));
      if (view.overlays.contacts)
        glyphs.push_back(glyph(shared::kGlyphDisc, contact.point, contact.point, color, opacity));
      if (view.overlays.contacts && view.overlays.multipliers && contact.augmented)
        glyphs.push_back(ring(contact.point, kMultiplierRadius, multiplier_color()));
    }
  if (view.overlays.joints)
    for (const JointMark& joint : view.joints) add_joint(glyphs, joint);
  if (view.highlighted_contact) glyphs.push_back(ring(*view.highlighted_contact, kPickRadius, kPickColor));
  if (view.drag) {
    glyphs.push_back(glyph(shared::kGlyphLine, view.drag->from, view.drag->to, kDragColor, 1));
    glyphs.push_back(glyph(shared::kGlyphDisc, view.drag->from, view.drag->from, kDragColor, 1));
    glyphs.push_back(glyph(shared::kGlyphDisc, view.drag->to, view.drag->to, kDragColor, 1));
  }
  return glyphs;
}

}  // namespace stickslip
