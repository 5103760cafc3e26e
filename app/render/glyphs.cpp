#include "app/render/glyphs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numbers>

#include "app/render/light_view.h"

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
const Vec3f kNormalSumColor{0.16f, 0.42f, 0.80f};
constexpr float kLongestForce = 3;  // arrow of the largest force, in units of that of a normal
// Radii in units of screen-constant size.
constexpr float kDiscRadius = 4.2f;     // of a lonely contact, and as in glyph.frag
constexpr float kShortestForce = 0.1f;  // shorter arrows, of 3 pixels, are left out
constexpr float kGhostWidth = 0.75f;    // half of it
constexpr float kMultiplierRadius = 6.4f, kPickRadius = 10, kJointRadius = 4.6f;
constexpr float kPinRadius = 2.6f;
constexpr float kBoxWidth = 0.6f;            // half of the width of a box's lines
constexpr std::ptrdiff_t kMostBoxes = 5000;  // of a tree; of more only every second, third, ... is drawn

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

/// [N] Thousands of cones would hide each other.
float least_force_with_cone(std::span<const ContactRecord> contacts) {
  constexpr std::size_t kMostCones = 200;
  if (contacts.size() <= kMostCones) return 0;
  std::vector<float> forces;
  forces.reserve(contacts.size());
  for (const ContactRecord& contact : contacts) forces.push_back(contact.normal_force);
  std::nth_element(forces.begin(), forces.begin() + kMostCones, forces.end(), std::greater<>());
  return forces[kMostCones];
}

/// [m] per metre of depth: the length of an arrow of length 1, as glyph.vert draws it.
float unit_length(const Camera& camera, int height) {
  const auto pixels = static_cast<float>(height);
  const float size = mark_unit(pixels);
  return 30 * size * 2 * camera.half_height() / pixels;
}

void add_scene_overlays(std::vector<shared::Glyph>& glyphs, const FrameView& view) {
#define STICKSLIP_SCENE(flag, ...) \
  if (view.overlays.flag) draw_##flag(glyphs, view);
  STICKSLIP_OVERLAYS(STICKSLIP_NONE, STICKSLIP_SCENE, STICKSLIP_NONE)
#undef STICKSLIP_SCENE
#undef STICKSLIP_NONE
}

}  // namespace

float disc_scale(const Camera& camera, std::span<const ContactRecord> contacts, int width, int height) {
  constexpr float kCell = 24, kCovered = 0.22f, kSmallest = 0.3f;
  constexpr std::size_t kSamples = 20000;
  const float size = mark_unit(static_cast<float>(height));
  const float cell = kCell * size;
  const int columns = static_cast<int>(static_cast<float>(width) / cell) + 1,
            rows = static_cast<int>(static_cast<float>(height) / cell) + 1;
  std::vector<bool> used(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows));
  const std::size_t stride = contacts.size() / kSamples + 1;
  std::size_t seen = 0, cells = 0;
  for (std::size_t i = 0; i < contacts.size(); i += stride) {
    const Vec3f at = camera.project(contacts[i].point, width, height);
    if (!(at[2] > 0 && at[0] >= 0 && at[1] >= 0 && at[0] < static_cast<float>(width) &&
          at[1] < static_cast<float>(height)))
      continue;
    ++seen;
    const auto place = static_cast<std::size_t>(at[1] / cell) * static_cast<std::size_t>(columns) +
                       static_cast<std::size_t>(at[0] / cell);
    if (!used[place]) ++cells;
    used[place] = true;
  }
  if (seen == 0) return 1;
  const float discs =
      static_cast<float>(seen * stride) * std::numbers::pi_v<float> * kDiscRadius * kDiscRadius;
  const float covered = discs / (static_cast<float>(cells) * kCell * kCell);
  return std::clamp(std::sqrt(kCovered / covered), kSmallest, 1.f);
}

void draw_contacts(std::vector<shared::Glyph>& glyphs, const ContactMark& mark) {
  const Vec3f& point = mark.contact.point;
  shared::Glyph disc = glyph(shared::kGlyphDisc, point, point, mark.color, mark.opacity);
  disc.b.w = mark.scale * kDiscRadius;
  glyphs.push_back(disc);
  if (mark.overlays.multipliers && mark.contact.augmented)
    glyphs.push_back(ring(point, mark.scale * kMultiplierRadius, multiplier_color()));
}

void draw_normals(std::vector<shared::Glyph>& glyphs, const ContactMark& mark) {
  glyphs.push_back(
      glyph(shared::kGlyphArrow, mark.contact.point, mark.contact.normal, mark.color, mark.opacity));
}

void draw_arrows(std::vector<shared::Glyph>& glyphs, const ContactMark& mark) {
  const auto add = [&](const Vec3f& force, const Vec3f& color) {
    const Vec3f arrow = mark.per_newton * force;
    if (norm(arrow) >= kShortestForce)
      glyphs.push_back(glyph(shared::kGlyphArrow, mark.contact.point, arrow, color, mark.opacity));
  };
  add(mark.contact.normal_force * mark.contact.normal, mark.color);
  add(mark.contact.friction, kFrictionColor);
}

void draw_force_sums(std::vector<shared::Glyph>& glyphs, const FrameView& view, float per_newton) {
  const auto add = [&](const ForceSum& sum, const Vec3f& force, const Vec3f& color) {
    const Vec3f arrow = per_newton * force;
    if (norm(arrow) >= kShortestForce)
      glyphs.push_back(glyph(shared::kGlyphArrow, sum.point, arrow, color, 1));
  };
  for (const ForceSum& sum : force_sums(view.contacts, view.arrows)) {
    add(sum, sum.friction, kFrictionColor);
    add(sum, sum.normal, kNormalSumColor);
  }
}

void draw_cones(std::vector<shared::Glyph>& glyphs, const ContactMark& mark) {
  constexpr int kCorners = 20, kRays = 4;
  constexpr float kShortest = 0.1f, kWidest = 4;  // of the height
  constexpr float kConeShare = 0.7f;              // of a force's arrow: cones are wide
  const float per_newton = kConeShare * mark.scale * mark.per_newton;
  const float height = per_newton * mark.contact.normal_force;
  if (!mark.has_cone || !(height > kShortest)) return;
  const Vec3f &apex = mark.contact.point, &normal = mark.contact.normal;
  const float radius = height * std::min(mark.contact.mu, kWidest);
  const Vec3f side = std::abs(normal[0]) < 0.7f ? Vec3f{1, 0, 0} : Vec3f{0, 1, 0};
  const Vec3f u = normalized(cross(normal, side)), v = cross(normal, u);
  const auto rim = [&](int corner) {
    const float angle = 2 * std::numbers::pi_v<float> * static_cast<float>(corner) / kCorners;
    return apex + mark.unit * (height * normal + radius * (std::cos(angle) * u + std::sin(angle) * v));
  };
  for (int corner = 0; corner < kCorners; ++corner)
    glyphs.push_back(
        glyph(shared::kGlyphLine, rim(corner), rim(corner + 1), mark.color, 0.8f * mark.opacity));
  for (int ray = 0; ray < kRays; ++ray)
    glyphs.push_back(
        glyph(shared::kGlyphLine, apex, rim(ray * kCorners / kRays), mark.color, 0.35f * mark.opacity));
  const Vec3f force = mark.contact.normal_force * normal + mark.contact.friction;
  glyphs.push_back(glyph(shared::kGlyphArrow, apex, per_newton * force, kFrictionColor, mark.opacity));
}

void draw_joints(std::vector<shared::Glyph>& glyphs, const FrameView& view) {
  for (const JointMark& joint : view.joints) add_joint(glyphs, joint);
}

void draw_pins(std::vector<shared::Glyph>& glyphs, const FrameView& view) {
  for (const std::int32_t node : view.pins) {
    glyphs.push_back(
        glyph(shared::kGlyphOfNodes + shared::kGlyphDisc, digits_of(node), digits_of(node), pin_color(), 1));
    glyphs.back().b.w = kPinRadius;
  }
}

void draw_tree(std::vector<shared::Glyph>& glyphs, const FrameView& view) {
  std::ptrdiff_t count = 0;
  int deepest = 1;
  for (const TreeBox& box : view.tree) {
    count += box.is_on_level(view.tree_level);
    deepest = std::max(deepest, static_cast<int>(box.depth));
  }
  const std::ptrdiff_t stride = 1 + count / kMostBoxes;
  glyphs.reserve(glyphs.size() + static_cast<std::size_t>(12 * (count / stride + 1)));
  std::ptrdiff_t number = 0;
  for (const TreeBox& box : view.tree) {
    if (!box.is_on_level(view.tree_level) || number++ % stride != 0) continue;
    const Vec3f color = scale_color(static_cast<float>(box.depth) / static_cast<float>(deepest));
    const auto corner = [&](int bits) {
      Vec3f x = box.low;
      for (int k = 0; k < 3; ++k)
        if ((bits >> k & 1) != 0) x[k] = box.high[k];
      return x;
    };
    for (int from = 0; from < 8; ++from)
      for (int k = 0; k < 3; ++k) {
        if ((from >> k & 1) != 0) continue;
        glyphs.push_back(glyph(shared::kGlyphLine, corner(from), corner(from | 1 << k), color, 0.9f));
        glyphs.back().b.w = kBoxWidth;
      }
  }
}

std::vector<shared::Glyph> make_glyphs(const FrameView& view, const SceneBuffers& scene, int width,
                                       int height) {
  std::vector<shared::Glyph> glyphs;
  for (const WireShape& wire : scene.wires()) {
    const bool point = wire.nodes[0] == wire.nodes[1];
    glyphs.push_back(glyph(shared::kGlyphOfNodes + (point ? shared::kGlyphDisc : shared::kGlyphLine),
                           digits_of(wire.nodes[0]), digits_of(wire.nodes[1]), wire.color, 1));
  }
  for (const GhostLine& line : view.ghosts) {
    glyphs.push_back(glyph(shared::kGlyphLine, line.a, line.b, line.color, line.opacity));
    glyphs.back().b.w = kGhostWidth;
  }
  float largest = view.largest_force;  // [N]
  if (view.overlays.cones) largest = std::max(largest, largest_arrow(view.contacts, ForceArrows::contacts));
  if (view.overlays.arrows) largest = std::max(largest, largest_arrow(view.contacts, view.arrows));
  Overlays of_contacts = view.overlays;
  of_contacts.arrows = view.overlays.arrows && view.arrows == ForceArrows::contacts;
  const float per_newton = largest > 0 ? kLongestForce / largest : 0;
  const float scale =
      shows_contacts(view.overlays) ? disc_scale(view.camera, view.contacts, width, height) : 1;
  const float least = view.overlays.cones ? least_force_with_cone(view.contacts) : 0;
  const float unit_per_depth = unit_length(view.camera, height);
  const ScaleRange range = scale_range(view.contacts, view.scale);
  const Vec3f eye = view.camera.eye(), forward = view.camera.forward();
  // Open contacts are numerous and matter least: they are drawn first and fainter.
  for (const ShownState state :
       {ShownState::open, ShownState::stick, ShownState::slip, ShownState::unconverged})
    for (const ContactRecord& contact : view.contacts) {
      if (shown_state(contact, view.error_limit) != state) continue;
      const Vec3f color = view.scale == ContactScale::state ? contact_color(state)
                                                            : color_on_scale(contact, view.scale, range);
      add_contact(glyphs, {contact, color, state == ShownState::open ? 0.6f : 1.f, of_contacts, per_newton,
                           scale, unit_per_depth * std::max(0.f, dot(contact.point - eye, forward)),
                           contact.normal_force >= least});
    }
  if (view.overlays.arrows) draw_force_sums(glyphs, view, per_newton);
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
