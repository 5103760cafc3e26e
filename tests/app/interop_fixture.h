// Fixture for tests of shared positions: a renderer, and a test that publishes as an engine does.
#pragma once

#include <cmath>

#include "render_fixture.h"

namespace stickslip {

/// The cube without contacts: a valid start for an engine.
inline Model free_cube() {
  Model model = cube_on_ground();
  model.half_spaces.clear();
  return model;
}

class InteropTest : public RenderTest {
 protected:
  /// Positions that differ in every step; their box moves too.
  static std::vector<Vec3f> nodes_at(const Model& model, int step) {
    std::vector<Vec3f> nodes = moved_nodes(model, {0.03f * static_cast<float>(step), 0, 0});
    for (std::size_t i = 0; i < nodes.size(); ++i)
      nodes[i][1] += 0.02f * std::sin(static_cast<float>(step + i));
    return nodes;
  }
  Image draw_staged(int step) {
    renderer->set_positions(nodes_at(model, step));
    return draw();
  }
  static PublishedBox box_of(const PositionOffer& offer, const std::vector<Vec3f>& nodes) {
    PublishedBox box = PublishedBox::empty();
    for (const std::int32_t i : offer.target.framed) box = merge(box, nodes[static_cast<std::size_t>(i)]);
    return box;
  }
  /// Publishes as an engine on the host does.
  SlotHold publish(const PositionOffer& offer, const std::vector<Vec3f>& nodes) {
    return offer.slots->write([&](std::size_t slot, std::uint64_t) {
      std::ranges::copy(nodes, reinterpret_cast<Vec3f*>(offer.target.host + slot * offer.target.stride));
      return box_of(offer, nodes);
    });
  }
};

}  // namespace stickslip
