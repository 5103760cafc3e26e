// Passes an engine's positions to a renderer when one thread drives both.
#pragma once

#include "app/render/renderer.h"
#include "gpu/engine.h"

namespace stickslip {

class PositionFeed {
 public:
  /// The renderer must show the model that the engine has loaded. Both must outlive this object.
  PositionFeed(Renderer& renderer, Engine& engine);

  /// Makes the next pictures show the current node positions.
  void update();

  const Sharing& sharing() const { return sharing_; }
  /// Bytes copied through the host so far.
  std::uint64_t bytes_copied() const { return snapshot_bytes_ + renderer_.position_traffic().copied; }

 private:
  void offer(const Sharing& how);

  Renderer& renderer_;
  Engine& engine_;
  Sharing sharing_;
  std::shared_ptr<PositionSlots> slots_;
  Snapshot snapshot_;
  std::uint64_t snapshot_bytes_ = 0;
};

}  // namespace stickslip
