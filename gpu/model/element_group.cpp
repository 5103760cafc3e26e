#include "gpu/model/element_group.h"

#include <numeric>

#include "gpu/model/affine.h"
#include "gpu/model/barrier_model.h"
#include "gpu/model/bend_patch.h"
#include "gpu/model/frames.h"
#include "gpu/model/lattice.h"
#include "gpu/model/rod.h"
#include "gpu/model/spring.h"
#include "gpu/model/tet_volume.h"

namespace stickslip {
namespace {

std::vector<Vec4i> tet10_stencils(const Model& model, const Object& object) {
  std::vector<Vec4i> stencils;
  for (const Tet10& tet : ten_node_tets_of(model, object))
    for (int s = 0; s < kTet10Stencils; ++s) {
      Vec4i& stencil = stencils.emplace_back();
      for (int c = 0; c < 4; ++c) stencil[c] = tet[tet10_stencil(s, c)];
    }
  return stencils;
}

std::vector<Vec4i> membrane_stencils(const Model& model, const Object& object) {
  std::vector<Vec4i> stencils;
  for (const Vec3i& t : triangles_of(model, object)) stencils.push_back({t[0], t[1], t[2], -1});
  return stencils;
}

std::vector<Vec4i> all_bend_stencils(std::span<const BendPatch> patches) {
  std::vector<Vec4i> stencils;
  for (const BendPatch& patch : patches)
    for (const Vec4i& s : bend_stencils(patch)) stencils.push_back(s);
  return stencils;
}

std::vector<Vec4i> segment_stencils(const Model& model, const Object& object) {
  std::vector<Vec4i> stencils;
  for (std::int32_t s = object.segment_begin; s < object.segment_end; ++s)
    stencils.push_back({model.segments[s][0], model.segments[s][1], rod_ghost(object, s), -1});
  return stencils;
}

std::vector<Vec4i> vertex_stencils(const Model& model, const Object& object) {
  std::vector<Vec4i> stencils;
  for (const auto& [first, second] : rod_joints(segments_of(model, object))) {
    const std::int32_t a = object.segment_begin + first, b = object.segment_begin + second;
    const std::int32_t nodes[kRodVertexNodes] = {model.segments[a][0], model.segments[a][1],
                                                 model.segments[b][1], rod_ghost(object, a),
                                                 rod_ghost(object, b)};
    for (int s = 0; s < kRodVertexStencils; ++s) {
      Vec4i& stencil = stencils.emplace_back();
      for (int c = 0; c < 4; ++c) {
        const int corner = rod_vertex_stencil(s, c);
        stencil[c] = corner < 0 ? -1 : nodes[corner];
      }
    }
  }
  return stencils;
}

std::vector<Vec4i> all_spring_stencils(const Model& model) {
  const std::vector<SpringElement> springs = spring_elements(model.springs);
  std::vector<Vec4i> stencils;
  for (const SpringStencil& s : spring_stencils(springs)) {
    Vec4i& stencil = stencils.emplace_back(Vec4i{-1, -1, -1, -1});
    for (int c = 0; c < 4; ++c)
      if (s.corner[c] >= 0) stencil[c] = springs[static_cast<std::size_t>(s.element)].nodes[s.corner[c]];
  }
  return stencils;
}

}  // namespace

std::vector<ElementGroup> element_groups(const Model& model) {
  std::vector<ElementGroup> groups;
  for (std::size_t o = 0; o < model.objects.size(); ++o) {
    const Object& object = model.objects[o];
    const auto add = [&](ElementKind kind, std::vector<Vec4i> stencils) {
      groups.push_back({kind, static_cast<std::int32_t>(o), object.material, solid_volume(model, object),
                        object.thickness, object.aspect,
                        object.is_stiff() ? body_stiffness(model, object) : 0, object.warp,
                        std::move(stencils)});
      if (object.is_embedded()) groups.back().shares = tet_shares(model, object);
    };
    const auto tets = tets_of(model, object);
    if (object.is_rods()) {
      add(ElementKind::rod_segment, segment_stencils(model, object));
      add(ElementKind::rod_vertex, vertex_stencils(model, object));
    } else if (object.is_affine()) add(ElementKind::control_tet, {control_tet(object)});
    else if (object.has_frames) {
      add(ElementKind::bone, bone_stencils(model, object));
      groups.back().points = lattice_of(model, object).points;
      groups.back().shares.clear();
      add(ElementKind::skin, membrane_stencils(model, object));
      groups.back().shares.clear();
    } else if (object.ten_node) add(ElementKind::tet10, tet10_stencils(model, object));
    else if (object.is_solid()) add(ElementKind::tet, {tets.begin(), tets.end()});
    if (object.is_cloth()) {
      add(ElementKind::membrane, membrane_stencils(model, object));
      if (object.is_sewn()) groups.back().flat = flat_triangles(model, object);
      const std::vector<BendPatch> patches = bend_patches(triangles_of(model, object));
      if (!patches.empty()) add(ElementKind::bend, all_bend_stencils(patches));
      if (!patches.empty() && object.is_sewn()) groups.back().flat = flat_hinges(model, object, patches);
    }
  }
  if (std::vector<Vec4i> stencils = all_spring_stencils(model); !stencils.empty())
    groups.push_back({ElementKind::spring, -1, 0, 0, 0, 0, 0, {0, 0, 0}, std::move(stencils)});
  return groups;
}

std::span<const Vec4i> tets_of(const Model& model, const Object& object) {
  return {model.tets.data() + object.tet_begin, model.tets.data() + object.tet_end};
}

std::span<const Vec3i> triangles_of(const Model& model, const Object& object) {
  return {model.triangles.data() + object.triangle_begin, model.triangles.data() + object.triangle_end};
}

std::span<const Vec2i> segments_of(const Model& model, const Object& object) {
  return {model.segments.data() + object.segment_begin, model.segments.data() + object.segment_end};
}

std::vector<Tet10> ten_node_tets_of(const Model& model, const Object& object) {
  std::vector<Tet10> elements;
  const std::span<const Vec4i> parts = tets_of(model, object);
  for (std::size_t t = 0; t < parts.size(); t += kTet10Parts)
    elements.push_back(tet10_of_parts(parts.subspan(t).first<kTet10Parts>()));
  return elements;
}

namespace {

/// Calls visit(the segments of a strand in order, whether it is closed) for each strand.
template <class Visit>
void for_strands(const Model& model, const Object& rods, Visit visit) {
  const std::span<const Vec2i> segments = segments_of(model, rods);
  std::vector<std::int32_t> next(segments.size(), -1);
  std::vector<bool> seen(segments.size(), false), is_root(segments.size(), true);
  for (const auto& [first, second] : rod_joints(segments)) {
    next[static_cast<std::size_t>(first)] = second;
    is_root[static_cast<std::size_t>(second)] = false;
  }
  const auto walk = [&](std::size_t from, bool closed) {
    std::vector<std::int32_t> strand;
    for (auto s = static_cast<std::int32_t>(from); s >= 0 && !seen[static_cast<std::size_t>(s)];
         s = next[static_cast<std::size_t>(s)]) {
      seen[static_cast<std::size_t>(s)] = true;
      strand.push_back(rods.segment_begin + s);
    }
    visit(strand, closed);
  };
  for (std::size_t s = 0; s < segments.size(); ++s)
    if (is_root[s]) walk(s, false);
  for (std::size_t s = 0; s < segments.size(); ++s)
    if (!seen[s]) walk(s, true);
}

/// Per segment: the part of its moment of inertia about its line that twist has.
std::vector<double> twist_inertias(const Model& model, const Object& rods, const RodSection& section) {
  std::vector<double> parts(segments_of(model, rods).size(), 1.0);
  if (!rods.quasistatic_twist) return parts;
  const Material& material = model.materials[static_cast<std::size_t>(rods.material)];
  const double shear_modulus = material.young / (2 * (1 + material.poisson));
  for_strands(model, rods, [&](const std::vector<std::int32_t>& strand, bool) {
    double length = 0;
    for (const std::int32_t s : strand)
      length += norm(model.rest_positions[model.segments[s][1]] - model.rest_positions[model.segments[s][0]]);
    const double part = quasistatic_share(section, length, shear_modulus, material.density);
    for (const std::int32_t s : strand) parts[static_cast<std::size_t>(s - rods.segment_begin)] = part;
  });
  return parts;
}

std::vector<NodeVolume> thin_volumes(const Model& model, const Object& object) {
  std::vector<NodeVolume> out;
  const auto& rest = model.rest_positions;
  const auto triangles = triangles_of(model, object);
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    const Vec3i& t = triangles[i];
    const double area = object.is_sewn() ? pattern_area(pattern_of(model, object).triangles[i])
                                         : norm(cross(rest[t[1]] - rest[t[0]], rest[t[2]] - rest[t[0]])) / 2;
    for (int c = 0; c < 3; ++c) out.push_back({t[c], area * object.thickness / 3});
  }
  const RodSection section = rod_section(object.thickness, object.aspect);
  const std::vector<double> twist_inertia = twist_inertias(model, object, section);
  for (std::int32_t s = object.segment_begin; s < object.segment_end; ++s) {
    const Vec2i& nodes = model.segments[s];
    const std::int32_t ghost = rod_ghost(object, s);
    const Vec<double, 3> e = rest[nodes[1]] - rest[nodes[0]];
    const Vec<double, 3> w = rest[ghost] - 0.5 * (rest[nodes[0]] + rest[nodes[1]]);
    const double arm = norm(cross(e, w)) / norm(e), volume = norm(e) * section.area;
    const double share =
        twist_inertia[static_cast<std::size_t>(s - object.segment_begin)] * ghost_share(section, arm);
    out.push_back({ghost, share * volume});
    for (int c = 0; c < 2; ++c) out.push_back({nodes[c], (1 - share) * volume / 2});
  }
  return out;
}

}  // namespace

RodCount count_rods(const Model& model, const Object& rods) {
  RodCount count{0, segments_of(model, rods).size()};
  for_strands(model, rods, [&](const std::vector<std::int32_t>&, bool) { ++count.strands; });
  return count;
}

std::vector<std::vector<std::int32_t>> rod_chains(const Model& model) {
  std::vector<std::vector<std::int32_t>> chains;
  for (const Object& object : model.objects) {
    if (!object.is_rods()) continue;
    for_strands(model, object, [&](const std::vector<std::int32_t>& strand, bool closed) {
      std::vector<std::int32_t> nodes;
      for (const std::int32_t s : strand) {
        nodes.push_back(model.segments[s][0]);
        nodes.push_back(rod_ghost(object, s));
      }
      if (closed) nodes = {nodes.begin() + 1, nodes.end() - 2};
      else nodes.push_back(model.segments[strand.back()][1]);
      chains.push_back(std::move(nodes));
    });
  }
  return chains;
}

bool has_open_rods_alone(const Model& model) {
  bool open = true, any = false;
  for (const Object& object : model.objects) {
    if (object.is_movable() && !object.is_rods()) return false;
    if (!object.is_rods()) continue;
    any = true;
    for_strands(model, object, [&](const std::vector<std::int32_t>&, bool closed) { open &= !closed; });
  }
  return any && open && model.springs.empty();
}

TetCount count_tets(const Model& model) {
  TetCount count;
  for (const Object& object : model.objects) {
    const auto tets = static_cast<std::size_t>(object.tet_end - object.tet_begin);
    if (object.has_frames) continue;  // these only stand for its frames
    if (object.ten_node) count.ten_node += tets / kTet10Parts;
    else count.linear += tets;
  }
  return count;
}

std::vector<NodeVolume> lumped_volumes(const Model& model, const Object& object) {
  if (object.is_thin()) return thin_volumes(model, object);
  std::vector<NodeVolume> out;
  if (object.is_embedded()) {
    const std::vector<double>& volumes = lattice_of(model, object).node_volumes;
    for (std::size_t k = 0; k < volumes.size(); ++k)
      out.push_back({object.node_begin + static_cast<std::int32_t>(k), volumes[k]});
    return out;
  }
  const std::span<const Vec4i> tets = tets_of(model, object);
  if (!object.ten_node) {
    out.reserve(4 * tets.size());
    for (const Vec4i& tet : tets) {
      const double volume = tet_volume(model.rest_positions, tet) / 4;
      for (int c = 0; c < 4; ++c) out.push_back({tet[c], volume});
    }
    return out;
  }
  out.reserve(kTet10Nodes * tets.size() / kTet10Parts);
  for (std::size_t t = 0; t < tets.size(); t += kTet10Parts) {
    const auto parts = tets.subspan(t).first<kTet10Parts>();
    double volume = 0;
    for (const Vec4i& part : parts) volume += tet_volume(model.rest_positions, part);
    const Tet10 element = tet10_of_parts(parts);
    for (int a = 0; a < kTet10Nodes; ++a) out.push_back({element[a], tet10_share(a) * volume});
  }
  return out;
}

std::vector<double> node_volumes(const Model& model, const Object& object) {
  std::vector<double> volumes(static_cast<std::size_t>(object.node_end - object.node_begin), 0.0);
  for (const auto& [node, volume] : lumped_volumes(model, object))
    volumes[static_cast<std::size_t>(node - object.node_begin)] += volume;
  return volumes;
}

std::vector<double> tet_shares(const Model& model, const Object& object) {
  if (object.is_embedded()) return lattice_of(model, object).tet_shares;
  return std::vector<double>(tets_of(model, object).size(), 1.0);
}

double solid_volume(const Model& model, const Object& object) {
  if (object.is_embedded()) {
    const std::vector<double>& volumes = lattice_of(model, object).node_volumes;
    return std::accumulate(volumes.begin(), volumes.end(), 0.0);
  }
  double sum = 0;
  if (object.is_thin())
    for (const NodeVolume& part : thin_volumes(model, object)) sum += part.volume;
  for (const Vec4i& tet : tets_of(model, object)) sum += tet_volume(model.rest_positions, tet);
  return sum;
}

}  // namespace stickslip
