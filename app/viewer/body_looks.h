// Appearance of bodies apart from their surfaces: sleeping bodies, joints and pins.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "app/io/scene/scene.h"
#include "app/render/renderer.h"
#include "app/viewer/body_frames.h"
#include "app/viewer/simulation.h"
#include "gpu/engine.h"

namespace stickslip {

class BodyLooks {
 public:
  void set_scene(std::shared_ptr<const Scene> scene);

  /// Colours of objects: their own, or those of their islands; sleeping bodies are greyed.
  std::vector<Vec3f> colors(const Snapshot& snapshot, bool by_islands) const;
  /// Gives the renderer's objects these colours.
  void paint(const Snapshot& snapshot, bool by_islands, Renderer& renderer);
  /// Current state of all joints, and of springs that have a length; valid until the next call.
  std::span<const JointMark> joints(const SimulationFrame& frame);
  /// Nodes of surfaces and rods, but not of colliders, that a pin or a script holds or moves in the step that
  /// ended at the frame's time or in the next one. Valid until the next call.
  std::span<const std::int32_t> pins(const SimulationFrame& frame, double dt);

 private:
  std::shared_ptr<const Scene> scene_;
  std::vector<JointSides> sides_;
  std::vector<JointMark> joints_;
  std::vector<std::int32_t> pins_;
  std::vector<std::uint8_t> on_surface_;  // per node
  std::vector<Vec3f> shown_;              // per object: the colour that it has in pictures
};

}  // namespace stickslip
