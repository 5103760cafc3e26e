// Connects the positions of the simulation's engine to the renderer: offers memory, takes publications, and
// counts the copies by the host.
#pragma once

#include <memory>
#include <string>

#include "app/render/renderer.h"
#include "app/viewer/simulation.h"

namespace stickslip {

class PositionLink {
 public:
  PositionLink(Renderer& renderer, Simulation& simulation) : renderer_(renderer), simulation_(simulation) {}

  /// Call when the renderer shows this scene.
  void set_scene(std::shared_ptr<const Scene> scene);
  /// Uses the positions of a frame of that scene for the next pictures.
  void take(const SimulationFrame& frame);
  /// Call after a picture was drawn.
  void drawn();

  /// "mapped (no copy)", "staged: ..."
  std::string text() const { return describe(simulation_.status().sharing); }
  /// Bytes copied by the host for the last picture and for other readers of positions.
  std::uint64_t picture_bytes() const { return picture_bytes_; }

 private:
  void offer(const Sharing& how);

  Renderer& renderer_;
  Simulation& simulation_;
  std::shared_ptr<const Scene> scene_;
  ShareKind offered_ = ShareKind::staged;
  std::uint64_t snapshot_bytes_ = 0;  // bytes in the positions of all frames so far
  std::uint64_t bytes_before_ = 0, picture_bytes_ = 0;
};

}  // namespace stickslip
