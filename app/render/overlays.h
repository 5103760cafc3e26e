// Overlays over the bodies, one row each. The rows define the flags of a picture, the check boxes of the view
// panel, the keys with their help, and the draw functions.
#pragma once

#include <span>
#include <string_view>

#include "gpu/model/model.h"

namespace stickslip {

// ROW(flag, "label", key, "meaning", condition on the scene's `model` for the box to be offered)
// A function draw_<flag> draws it:
//   CONTACT: glyphs of one contact, drawn where contacts are read; see ContactMark in glyphs.h
//   SCENE: glyphs of the picture; see glyphs.h
//   PASS: commands of its own, before all glyphs; see passes.h
// At a contact the mark of the first row is on top.
// clang-format off
#define STICKSLIP_OVERLAYS(CONTACT, SCENE, PASS)                                                  \
  CONTACT(contacts, "Contacts", 'C', "contact points, coloured by state", true)                  \
  CONTACT(normals, "Normals", 'N', "contact normals", true)                                      \
  CONTACT(arrows, "Forces", 'A', "forces on one side of each contact: normal in its colour, friction in yellow; the longest is the largest", true) \
  CONTACT(cones, "Cones", 'K', "friction cones of the largest forces: height is the normal force, the arrow inside the whole force; it leans against the rim where the contact slides", true) \
  PASS(wireframe, "Edges", 'V', "mesh edges", true)                                              \
  SCENE(joints, "Joints", 'J', "joints: anchors and axes; springs that have a length", !model.joints.empty() || has_long_spring(model)) \
  SCENE(pins, "Pins", 'I', "nodes that pins or scripts hold or move now", moves_nodes(model))      \
  SCENE(tree, "Tree", 'U', "one level of the bounding volume hierarchy in which the last step searched for contacts; deeper boxes are lighter", true)
// clang-format on

struct Overlays {
#define STICKSLIP_FLAG(flag, ...) bool flag = false;
  STICKSLIP_OVERLAYS(STICKSLIP_FLAG, STICKSLIP_FLAG, STICKSLIP_FLAG)
#undef STICKSLIP_FLAG
  bool multipliers = true;  // `contacts` draws rings around contacts with a multiplier
};

struct OverlayInfo {
  std::string_view name, label, meaning;
  char key;  // upper case
  bool Overlays::*flag;
  bool reads_contacts;
  bool (*is_offered)(const Model& model);
};

/// Whether a spring has a length; others hold two points together.
bool has_long_spring(const Model& model);

/// Whether a pin or a script holds or moves nodes at some time, not only colliders.
bool moves_nodes(const Model& model);

std::span<const OverlayInfo> overlay_table();
/// Without those that have nothing to show in scenes of this model.
Overlays offered_overlays(Overlays overlays, const Model& model);

/// Whether a picture needs the contacts of the step.
bool shows_contacts(const Overlays& overlays);

}  // namespace stickslip
