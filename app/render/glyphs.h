// Screen-constant marks for contacts, the drag line, and colliders without a surface.
#pragma once

#include <vector>

#include "app/render/frame_view.h"
#include "app/render/scene_buffers.h"
#include "shaders/shared/frame_data.h"

namespace stickslip {

/// A mark at `a` of a kind in frame_data.h (kGlyphLine, kGlyphArrow, ...); `b` is the other end, or a
/// direction.
shared::Glyph glyph(shared::uint kind, const Vec3f& a, const Vec3f& b, const Vec3f& color, float opacity);
/// `radius` in units of screen-constant size; the disc of a lonely contact has 4.2.
shared::Glyph ring(const Vec3f& center, float radius, const Vec3f& color);

/// A contact with the data for its overlay glyphs.
struct ContactMark {
  const ContactRecord& contact;
  Vec3f color;
  float opacity;
  const Overlays& overlays;
  float per_newton = 0;  // length of a force's arrow, in units of that of a normal's
  float scale = 1;       // of its disc and cone, see disc_scale
  float unit = 1;        // [m] length of a normal's arrow at this depth
  bool has_cone = true;  // `cones` draws one for it
};

/// How large the discs of contacts are drawn, at most 1: where many lie close together in a picture of this
/// size they cover a part of the surface only.
float disc_scale(const Camera& camera, std::span<const ContactRecord> contacts, int width, int height);

// Declares draw_<flag> for the rows of overlays.h, for pictures that show them.
#define STICKSLIP_CONTACT(flag, ...) \
  void draw_##flag(std::vector<shared::Glyph>& glyphs, const ContactMark& mark);
#define STICKSLIP_SCENE(flag, ...) \
  void draw_##flag(std::vector<shared::Glyph>& glyphs, const FrameView& view);
#define STICKSLIP_NONE(...)
STICKSLIP_OVERLAYS(STICKSLIP_CONTACT, STICKSLIP_SCENE, STICKSLIP_NONE)
#undef STICKSLIP_CONTACT
#undef STICKSLIP_SCENE
#undef STICKSLIP_NONE

/// Arrows of the sums that `view.arrows` chooses, in place of those of contacts; none for `contacts`.
void draw_force_sums(std::vector<shared::Glyph>& glyphs, const FrameView& view, float per_newton);

std::vector<shared::Glyph> make_glyphs(const FrameView& view, const SceneBuffers& scene, int width,
                                       int height);

}  // namespace stickslip
