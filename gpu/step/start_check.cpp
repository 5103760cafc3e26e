#include "gpu/step/start_check.h"

#include <stdexcept>

namespace stickslip {
namespace {

const Object& object_of(const Model& model, std::int32_t node) {
  return model.objects[model.node_object[node]];
}

/// [m] of the surface at a node over a half-space.
double height(const HalfSpace& plane, const Object& object, const Vec3& position) {
  return dot(plane.normal, position.template cast<double>()) - plane.offset - object.thickness / 2;
}

}  // namespace

std::string intersection_text(const Model& model, int frame, std::int64_t count, std::int32_t edge_index,
                              std::int32_t triangle_index) {
  const Vec2i edge = model.edges[edge_index];
  const Object& a = object_of(model, edge[0]);
  const Object& b = object_of(model, model.triangles[triangle_index][0]);
  return (&a == &b ? "object '" + a.name + "' intersects itself"
                   : "objects '" + a.name + "' and '" + b.name + "' intersect") +
         (frame == 0 ? " at the start" : " in frame " + std::to_string(frame)) + ": the edge between nodes " +
         std::to_string(edge[0] - a.node_begin) + " and " + std::to_string(edge[1] - a.node_begin) + " of '" +
         a.name + "' passes through triangle " + std::to_string(triangle_index - b.triangle_begin) + " of '" +
         b.name + "'; in all, " + std::to_string(count) + " edges pass through triangles";
}

std::string touch_text(const Model& model, const Vec4i& nodes) {
  const Object& a = object_of(model, nodes[0]);
  if (nodes[1] < 0) return "object '" + a.name + "' touches a half-space at the start: leave a gap";
  std::int32_t other = nodes[1];
  for (int c = 2; c < 4; ++c)
    if (nodes[c] >= 0 && model.node_object[nodes[c]] != model.node_object[nodes[0]]) other = nodes[c];
  const Object& b = object_of(model, other);
  if (&a != &b) return "objects '" + a.name + "' and '" + b.name + "' touch at the start: leave a gap";
  return "object '" + a.name + "' touches itself at the start: leave a gap" +
         (a.is_thin() ? ", and make its elements longer than it is thick" : "");
}

void refuse_nodes_behind_half_spaces(const Model& model, const std::vector<Vec3>& positions,
                                     const std::vector<std::uint8_t>& scripted) {
  for (const std::int32_t node : model.surface_nodes) {
    const Object& object = object_of(model, node);
    if (scripted[node]) continue;
    for (std::size_t h = 0; h < model.half_spaces.size(); ++h) {
      const HalfSpace& plane = model.half_spaces[h];
      if (height(plane, object, positions[node]) > 0) continue;
      throw std::invalid_argument("object '" + object.name + "' starts behind or on half-space " +
                                  std::to_string(h) + ", with node " +
                                  std::to_string(node - object.node_begin));
    }
  }
}

std::vector<Vec2i> objects_near_half_spaces(const Model& model, const std::vector<Vec3>& positions,
                                            double gap) {
  std::vector<Vec2i> found;
  for (const std::int32_t node : model.surface_nodes) {
    if (!object_of(model, node).is_movable()) continue;
    for (const HalfSpace& plane : model.half_spaces) {
      if (height(plane, object_of(model, node), positions[node]) < gap &&
          (found.empty() || found.back()[0] != model.node_object[node]))
        found.push_back({model.node_object[node], -1});
    }
  }
  return found;
}

}  // namespace stickslip
