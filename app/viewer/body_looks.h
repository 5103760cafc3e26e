// What the picture shows of rigid bodies besides their surfaces: sleeping bodies, and the joints.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "app/io/scene/scene.h"
#include "app/render/renderer.h"
#include "app/viewer/body_frames.h"
#include "gpu/engine.h"

namespace stickslip {

class BodyLooks {
 public:
  void set_scene(std::shared_ptr<const Scene> scene);

  /// Makes bodies that fell asleep greyer, and those that woke up as they were. Work only where that changed.
  void dim_sleeping_bodies(const Snapshot& snapshot, Renderer& renderer);
  /// All joints as they stand; valid until the next call.
  std::span<const JointMark> joints(const Snapshot& snapshot);

 private:
  std::shared_ptr<const Scene> scene_;
  std::vector<JointMark> joints_;
  std::vector<std::uint8_t> dimmed_;  // per body
};

}  // namespace stickslip
