// OverlapCheck: how deep the surfaces of a velocity-level scene's objects are inside each other. It shares no
// code with collision detection and reads meshes only, so that it finds overlaps that collision detection
// misses.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

/// The deepest point of one object's surface inside another object, or behind a half-space.
struct MeshOverlap {
  double depth = 0;      // [m] from the point to the nearest point of the other surface
  std::int32_t in = -1;  // the object whose point it is, in Model::objects; -1: nothing overlaps
  std::int32_t of = -1;  // the object that the point is inside; -1 - k: half-space k
};

/// "'a' in 'b'"; empty where nothing overlaps.
std::string describe(const MeshOverlap& overlap, const Model& model);

/// Tested points: nodes, middles of triangles and of edges, and the middle of each piece of an
/// edge between the places where it passes through the other surface. A point is inside if the winding number
/// of the other surface around it is not zero. Its distance to that surface is at most the distance by which
/// the two objects have to be moved apart. So the depth is a lower bound: an overlap without such a point is
/// missed, but bodies that do not overlap are never reported. Round shapes are replaced by the inscribed
/// polyhedra that are drawn.
///
/// Not tested: pairs of objects that both stand still, bodies whose joint excludes contact, objects of one
/// no_contact_group, objects against themselves, and surfaces that are not closed.
class OverlapCheck {
 public:
  OverlapCheck() = default;
  explicit OverlapCheck(const Model& model);

  /// `positions` [m] of all nodes of the model.
  MeshOverlap deepest(const std::vector<Vec<double, 3>>& positions) const;

 private:
  struct Surface {
    std::int32_t object = -1;
    bool moves = false;
    std::int32_t body = -1, group = 0;
    std::vector<std::int32_t> nodes;
    std::vector<Vec2i> edges;
    std::vector<Vec3i> triangles;
  };
  struct Box;
  bool may_touch(const Surface& a, const Surface& b) const;

  std::vector<Surface> surfaces_;
  std::vector<std::pair<std::int32_t, std::int32_t>> jointed_;  // bodies that may overlap, ascending
  std::vector<HalfSpace> half_spaces_;
};

}  // namespace stickslip
