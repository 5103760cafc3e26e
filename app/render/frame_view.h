// What one picture shows besides the scene's bodies, and from where.
#pragma once

#include <optional>
#include <span>

#include "app/render/camera.h"
#include "app/render/overlays.h"
#include "gpu/model/interaction.h"

namespace stickslip {

/// A joint as it stands: its anchors on either side coincide but for drift, or for play.
struct JointMark {
  Vec3f a, b;           // [m]
  Vec3f axis{0, 0, 0};  // unit, through a; zero: it has none
};

struct DragLine {
  Vec3f from, to;  // [m] the held point and the pointer's target
};

struct FrameView {
  Camera camera;
  Overlays overlays;
  std::span<const ContactRecord> contacts;  // read during the draw call only, as joints
  std::span<const JointMark> joints;
  int highlighted_object = -1;               // index into Model::objects
  std::optional<Vec3f> highlighted_contact;  // [m]
  std::optional<DragLine> drag;
  float left = 0, right = 1;  // shares of the width; what lies outside is covered by panels and left black
};

/// Colours as the overlay draws them, sRGB in [0, 1], for legends: of a contact state, and of the ring of a
/// contact with a multiplier.
Vec3f contact_color(ContactState state);
Vec3f multiplier_color();
Vec3f joint_color();

}  // namespace stickslip
