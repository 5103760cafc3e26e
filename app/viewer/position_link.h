// How positions get from the simulation's engine into pictures: offers memory for them, takes what was
// published, and counts what the host had to copy.
#pragma once

#include <memory>
#include <string>

#include "app/render/renderer.h"
#include "app/viewer/simulation.h"

namespace stickslip {

class PositionLink {
 public:
  PositionLink(Renderer& renderer, Simulation& simulation) : renderer_(renderer), simulation_(simulation) {}

  /// The renderer shows this scene from now on.
  void set_scene(std::shared_ptr<const Scene> scene);
  /// The positions of a frame of that scene are those of the pictures to come.
  void take(const SimulationFrame& frame);
  /// A picture was drawn.
  void drawn();

  /// "mapped (no copy)", "staged: ..."
  std::string text() const { return describe(simulation_.status().sharing); }
  /// That the host copied, for the last picture and for other readers of positions.
  std::uint64_t picture_bytes() const { return picture_bytes_; }

 private:
  void offer(const Sharing& how);

  Renderer& renderer_;
  Simulation& simulation_;
  std::shared_ptr<const Scene> scene_;
  ShareKind offered_ = ShareKind::staged;
  std::uint64_t snapshot_bytes_ = 0;  // that frames brought along so far
  std::uint64_t bytes_before_ = 0, picture_bytes_ = 0;
};

}  // namespace stickslip
