#include "gpu/model/element_group.h"

#include <numbers>

#include "gpu/model/affine.h"
#include "gpu/model/barrier_model.h"
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

std::vector<NodeVolume> thin_volumes(const Model& model, const Object& object) {
  std::vector<NodeVolume> out;
  const auto& rest = model.rest_positions;
  for (const Vec3i& t : triangles_of(model, object)) {
    const double area = norm(cross(rest[t[1]] - rest[t[0]], rest[t[2]] - rest[t[0]])) / 2;
    for (int c = 0; c < 3; ++c) out.push_back({t[c], area * object.thickness / 3});
  }
  const double section = std::numbers::pi * object.thickness * object.thickness / 4;
  for (const Vec2i& s : segments_of(model, object))
    for (int c = 0; c < 2; ++c) out.push_back({s[c], norm(rest[s[1]] - rest[s[0]]) * section / 2});
  return out;
}

}  // namespace

std::vector<ElementGroup> element_groups(const Model& model) {
  std::vector<ElementGroup> groups;
  for (std::size_t o = 0; o < model.objects.size(); ++o) {
    const Object& object = model.objects[o];
    const auto add = [&](ElementKind kind, std::vector<Vec4i> stencils) {
      groups.push_back({kind, static_cast<std::int32_t>(o), object.material, solid_volume(model, object),
                        object.thickness, object.is_stiff() ? body_stiffness(model, object) : 0,
                        std::move(stencils)});
    };
    const auto tets = tets_of(model, object);
    if (object.is_affine()) add(ElementKind::control_tet, {control_tet(object)});
    else if (object.ten_node) add(ElementKind::tet10, tet10_stencils(model, object));
    else if (object.is_solid()) add(ElementKind::tet, {tets.begin(), tets.end()});
  }
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

TetCount count_tets(const Model& model) {
  TetCount count;
  for (const Object& object : model.objects) {
    const auto tets = static_cast<std::size_t>(object.tet_end - object.tet_begin);
    if (object.ten_node) count.ten_node += tets / kTet10Parts;
    else count.linear += tets;
  }
  return count;
}

std::vector<NodeVolume> lumped_volumes(const Model& model, const Object& object) {
  if (object.is_thin()) return thin_volumes(model, object);
  std::vector<NodeVolume> out;
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

double solid_volume(const Model& model, const Object& object) {
  double sum = 0;
  if (object.is_thin())
    for (const NodeVolume& part : thin_volumes(model, object)) sum += part.volume;
  for (const Vec4i& tet : tets_of(model, object)) sum += tet_volume(model.rest_positions, tet);
  return sum;
}

}  // namespace stickslip
