// Brings an engine's positions into a renderer where one thread drives both.
#pragma once

#include "app/render/renderer.h"
#include "gpu/engine.h"

namespace stickslip {

class PositionFeed {
 public:
  /// The renderer shows the model that the engine has loaded. Both must outlive this.
  PositionFeed(Renderer& renderer, Engine& engine);

  /// Pictures to come show the nodes where they are now.
  void update();

  const Sharing& sharing() const { return sharing_; }
  /// That the host copied so far.
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
