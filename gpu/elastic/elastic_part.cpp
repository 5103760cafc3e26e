#include "gpu/elastic/elastic_part.h"

#include <algorithm>

#include "gpu/model/element_group.h"
#include "gpu/model/joint_constraints.h"

namespace stickslip {
namespace {

void append_node(const Model& from, std::int32_t node, ElasticPart& part, std::vector<std::int32_t>& place) {
  Model& to = part.model;
  place[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(to.positions.size());
  part.node.push_back(node);
  to.rest_positions.push_back(from.rest_positions[node]);
  to.positions.push_back(from.positions[node]);
  to.velocities.push_back(from.velocities[node]);
  to.node_object.push_back(static_cast<std::int32_t>(to.objects.size()));
}

/// The nodes of a group that are in the part, by their indices in the part.
template <class Group>
void keep_nodes(const std::vector<Group>& groups, const std::vector<std::int32_t>& place,
                std::vector<Group>& kept) {
  for (Group group : groups) {
    std::vector<std::int32_t> nodes;
    for (const std::int32_t node : group.nodes)
      if (const std::int32_t at = place[static_cast<std::size_t>(node)]; at >= 0) nodes.push_back(at);
    if (nodes.empty()) continue;
    group.nodes = std::move(nodes);
    kept.push_back(std::move(group));
  }
}

/// With nodes by their indices in the part. No end of a spring is on a rigid body.
std::vector<Spring> kept_springs(const std::vector<Spring>& springs, const std::vector<std::int32_t>& place) {
  std::vector<Spring> kept = springs;
  for (Spring& spring : kept)
    for (ConstraintPoint* point : {&spring.a, &spring.b})
      for (int c = 0; c < 4; ++c)
        if (point->nodes[c] >= 0) point->nodes[c] = place[static_cast<std::size_t>(point->nodes[c])];
  return kept;
}

template <int N>
Vec<std::int32_t, N> moved(Vec<std::int32_t, N> element, std::int32_t by) {
  for (int c = 0; c < N; ++c) element[c] += by;
  return element;
}

void append(const Model& from, const Object& object, ElasticPart& part, std::vector<std::int32_t>& place) {
  Model& to = part.model;
  const auto shift = static_cast<std::int32_t>(to.positions.size()) - object.node_begin;
  Object copy = object;
  copy.node_begin += shift;
  copy.node_end += shift;
  if (copy.collides_from >= 0) copy.collides_from += shift;
  copy.tet_begin = static_cast<std::int32_t>(to.tets.size());
  copy.triangle_begin = static_cast<std::int32_t>(to.triangles.size());
  copy.segment_begin = static_cast<std::int32_t>(to.segments.size());
  for (std::int32_t n = object.node_begin; n < object.node_end; ++n) append_node(from, n, part, place);
  if (object.is_affine()) {
    copy.control_begin = static_cast<std::int32_t>(to.positions.size());
    for (int k = 0; k < 4; ++k) append_node(from, object.control_begin + k, part, place);
  }
  for (const Vec4i& tet : tets_of(from, object)) to.tets.push_back(moved(tet, shift));
  for (const Vec3i& triangle : triangles_of(from, object)) to.triangles.push_back(moved(triangle, shift));
  for (std::int32_t s = object.segment_begin; s < object.segment_end; ++s)
    to.segments.push_back(moved(from.segments[s], shift));
  copy.segment_end = static_cast<std::int32_t>(to.segments.size());
  copy.tet_end = static_cast<std::int32_t>(to.tets.size());
  copy.triangle_end = static_cast<std::int32_t>(to.triangles.size());
  to.objects.push_back(copy);
}

/// The pairs of objects of the part, and of objects of the part and rigid bodies, that never touch.
void exempt_pairs(const Model& model, ElasticPart& part) {
  std::vector<std::int32_t> place(model.objects.size(), -1);
  for (std::size_t k = 0; k < part.object.size(); ++k)
    place[static_cast<std::size_t>(part.object[k])] = static_cast<std::int32_t>(k);
  std::vector<Vec2i> exempt;
  add_exempt_objects(model, exempt);
  for (const Vec2i& pair : exempt) {
    const std::int32_t a = place[static_cast<std::size_t>(pair[0])],
                       b = place[static_cast<std::size_t>(pair[1])];
    if (a >= 0 && b >= 0) part.model.exempt_objects.push_back({a, b});  // objects keep their order
    else if (a >= 0) part.exempt_bodies.push_back({a, model.objects[static_cast<std::size_t>(pair[1])].body});
    else if (b >= 0) part.exempt_bodies.push_back({b, model.objects[static_cast<std::size_t>(pair[0])].body});
  }
  std::ranges::sort(part.exempt_bodies,
                    [](const Vec2i& p, const Vec2i& q) { return p[0] != q[0] ? p[0] < q[0] : p[1] < q[1]; });
}

}  // namespace

ElasticPart elastic_part(const Model& model) {
  ElasticPart part;
  Model& to = part.model;
  to.material_names = model.material_names;
  to.materials = model.materials;
  to.half_spaces = model.half_spaces;
  to.pair_friction = model.pair_friction;
  to.lattices = model.lattices;  // nodes are counted in their object
  to.cloth_patterns = model.cloth_patterns;
  std::vector<std::int32_t> place(model.node_count(), -1);
  for (std::size_t o = 0; o < model.objects.size(); ++o) {
    const Object& object = model.objects[o];
    if (object.is_rigid()) continue;
    part.object.push_back(static_cast<std::int32_t>(o));
    append(model, object, part, place);
  }
  if (part.node.empty()) return part;
  exempt_pairs(model, part);
  keep_nodes(model.scripted, place, to.scripted);
  keep_nodes(model.forces, place, to.forces);
  to.springs = kept_springs(model.springs, place);
  finalize(to);
  return part;
}

}  // namespace stickslip
