// View of one picture, and its content in addition to the scene's bodies.
#pragma once

#include <limits>
#include <optional>
#include <span>

#include "app/render/camera.h"
#include "app/render/contact_scale.h"
#include "app/render/force_sums.h"
#include "app/render/overlays.h"
#include "gpu/model/interaction.h"
#include "gpu/model/model.h"
#include "gpu/model/tree_box.h"

namespace stickslip {

/// Current state of a joint: its two anchors coincide except for drift or play.
struct JointMark {
  Vec3f a, b;           // [m]
  Vec3f axis{0, 0, 0};  // unit, through a; zero: no axis
};

struct DragLine {
  Vec3f from, to;  // [m] the held point and the pointer's target
};

/// An edge of a body that is drawn as lines.
struct GhostLine {
  Vec3f a, b;  // [m]
  Vec3f color;
  float opacity = 1;
};

/// Bodies are not drawn where dot(normal, place) > offset.
struct ClipPlane {
  Vec3f normal{0, 0, 0};  // unit
  float offset = 0;       // [m]
  bool hides(const Vec3f& place) const { return dot(normal, place) > offset; }
};

/// Whether FrameView::patterns shows on the object: on cloth, rods, and bodies, except those that stand
/// still.
bool has_pattern(const Model& model, const Object& object);

struct FrameView {
  Camera camera;
  Overlays overlays;
  ContactScale scale = ContactScale::state;    // what the colours of contacts say
  ForceArrows arrows = ForceArrows::contacts;  // what arrows of forces stand for
  /// [m/s] of a contact, see shown_state.
  float error_limit = std::numeric_limits<float>::infinity();
  std::span<const ContactRecord> contacts;  // read only during the draw call, as are joints and pins
  std::span<const JointMark> joints;
  std::span<const std::int32_t> pins;  // nodes
  std::span<const GhostLine> ghosts;
  std::span<const TreeBox> tree;  // of the last step
  int tree_level = 0;             // its boxes of this depth are drawn, see TreeBox::is_on_level
  /// Per node: the place of its colour on the scale, in [0, 1]; < 0: that of its object. Empty: all of these.
  std::span<const float> heat;
  bool patterns = false;  // threads of cloth, cells on rods, octants or checkers of bodies
  std::optional<ClipPlane> clip;
  float x_ray = 1;                           // share of the pixels of bodies that are drawn, in (0, 1]
  int highlighted_object = -1;               // index into Model::objects
  std::optional<Vec3f> highlighted_contact;  // [m]
  std::optional<DragLine> drag;
  bool transparent = false;   // without ground, planes and sky; where nothing is drawn alpha is 0
  float left = 0, right = 1;  // shares of the width; the rest is covered by panels
  /// [N] of the longest arrow, so that arrows can be compared between pictures; smaller than the largest
  /// force of this picture: that one.
  float largest_force = 0;
};

/// A part of the picture with a view of its own, for example of the bodies in other places. All marks of the
/// view belong to it.
struct Pane {
  FrameView view;
  int x = 0, y = 0, width = 1, height = 1;  // [px] x and y from the picture's upper left corner
  std::span<const Vec3f> positions = {};    // [m] of all nodes; empty: those of the renderer
  std::span<const Vec3f> colors = {};       // sRGB of all objects; empty: those of the renderer
};

/// Overlay colours for legends, sRGB in [0, 1]: of a contact state, and of the ring around a contact with a
/// multiplier.
Vec3f contact_color(ShownState state);
Vec3f multiplier_color();
Vec3f joint_color();
Vec3f pin_color();

}  // namespace stickslip
