#include "app/render/scene_buffers.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "app/render/checker.h"
#include "app/render/frame_view.h"
#include "app/render/mesh_topology.h"
#include "app/render/threads.h"
#include "gpu/model/element_group.h"
#include "gpu/model/rod.h"

namespace stickslip {
namespace {

constexpr float kOddPanel = 0.6f;  // of the colour of cloth on its odd panels

float linear(float srgb) {
  return srgb <= 0.04045f ? srgb / 12.92f : std::pow((srgb + 0.055f) / 1.055f, 2.4f);
}

bool finite(const Vec3f& x) { return std::isfinite(x[0]) && std::isfinite(x[1]) && std::isfinite(x[2]); }

PublishedBox box_of(std::span<const Vec3f> positions, const std::vector<std::int32_t>& nodes) {
  PublishedBox box = PublishedBox::empty();
  for (const std::int32_t node : nodes)
    if (const Vec3f& x = positions[node]; finite(x)) box = merge(box, x);
  return box;
}

/// Nodes of the model, and those of rigid bodies, which exist only for drawing.
std::vector<std::int32_t> nodes_to_draw(const Model& model) {
  std::vector<std::int32_t> nodes = model.surface_nodes;
  for (const Object& object : model.objects)
    for (std::int32_t i = object.node_begin; object.is_rigid() && i < object.node_end; ++i)
      nodes.push_back(i);
  return nodes;
}

/// Edges of the same nodes. Surfaces of rigid bodies are closed: each edge occurs once in either direction.
std::vector<Vec2i> drawn_edges(const Model& model) {
  std::vector<Vec2i> edges = model.edges;
  for (const Object& object : model.objects)
    for (std::int32_t i = object.triangle_begin; object.is_rigid() && i < object.triangle_end; ++i) {
      const Vec3i& t = model.triangles[static_cast<std::size_t>(i)];
      for (int k = 0; k < 3; ++k)
        if (const int next = (k + 1) % 3; t[k] < t[next]) edges.push_back({t[k], t[next]});
    }
  return edges;
}

/// An even distribution, in which neighbours differ.
float chance_of(std::size_t strand) {
  const double golden = 0.6180339887498949 * static_cast<double>(strand);
  return static_cast<float>(golden - std::floor(golden));
}

/// Gives each strand of hair its chance, and places along it as shares of its length. Segments of a strand
/// follow each other.
void make_hair_pieces(std::span<shared::RodPiece> pieces) {
  std::size_t strand = 0;
  for (std::size_t begin = 0; begin < pieces.size(); ++strand) {
    std::size_t end = begin + 1;
    while (end < pieces.size() && pieces[end].a == pieces[end - 1].b) ++end;
    const float length = std::max(pieces[end - 1].along_b, 1e-9f);
    for (shared::RodPiece& piece : pieces.subspan(begin, end - begin)) {
      piece.chance = chance_of(strand);
      piece.along_a /= length;
      piece.along_b /= length;
    }
    begin = end;
  }
}

void add_pieces(const Model& model, bool hair, std::vector<shared::RodPiece>& pieces) {
  for (std::size_t o = 0; o < model.objects.size(); ++o) {
    const Object& object = model.objects[o];
    if (!object.is_rods() || is_hair(model, object) != hair) continue;
    const std::span<const Vec2i> segments = segments_of(model, object);
    const std::size_t first = pieces.size();
    for (const Vec2i& s : segments) {
      const auto a = static_cast<shared::uint>(s[0]), b = static_cast<shared::uint>(s[1]);
      const auto ghost =
          static_cast<shared::uint>(object.node_begin) + static_cast<shared::uint>(pieces.size() - first);
      const auto length = static_cast<float>(norm(model.rest_positions[s[1]] - model.rest_positions[s[0]]));
      pieces.push_back({a, b, a, b, static_cast<shared::uint>(o), static_cast<float>(object.thickness / 2),
                        ghost, ghost, ghost, 0, length, 0});
    }
    for (const auto& [before, after] : rod_joints(segments)) {
      shared::RodPiece &from = pieces[first + static_cast<std::size_t>(before)],
                       &to = pieces[first + static_cast<std::size_t>(after)];
      from.after = to.b;
      to.before = from.a;
      from.ghost_after = to.ghost;
      to.ghost_before = from.ghost;
      // Joints ascend by the second segment, so that a rod is followed from its start.
      to.along_b += from.along_b - to.along_a;
      to.along_a = from.along_b;
    }
    if (hair) make_hair_pieces(std::span(pieces).subspan(first));
  }
}

/// Appends each of the first `count` segments at an end of a rod again, from the end inwards.
void add_ends(std::vector<shared::RodPiece>& pieces, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const shared::RodPiece rod = pieces[i];
    if (rod.before == rod.a) pieces.push_back(rod);
    if (rod.after == rod.b)
      pieces.push_back({rod.b, rod.a, rod.b, rod.a, rod.object, rod.radius, rod.ghost, rod.ghost, rod.ghost,
                        rod.along_b, rod.along_a, 0});
  }
}

Bounds bounds_in(const PublishedBox& box) {
  return box.is_empty() ? Bounds{{-0.5f, 0, -0.5f}, {0.5f, 1, 0.5f}} : Bounds{box.lo, box.hi};
}

}  // namespace

SceneBuffers::SceneBuffers(const Device& device, const Model& model) : drawn_nodes_(nodes_to_draw(model)) {
  const MeshTopology mesh = build_topology(model);
  const std::vector<Vec2i> lines = drawn_edges(model);
  constexpr VkBufferUsageFlags kStorage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  constexpr VkBufferUsageFlags kIndex = VK_BUFFER_USAGE_INDEX_BUFFER_BIT;
  vertices = GpuBuffer::with_data(device, mesh.vertices, kStorage);
  fans = GpuBuffer::with_data(device, mesh.fans, kStorage);
  triangles = GpuBuffer::with_data(device, model.triangles, kStorage | kIndex);
  indices = GpuBuffer::with_data(device, mesh.indices, kIndex);
  std::vector<shared::RodPiece> pieces;
  add_pieces(model, false, pieces);
  const std::size_t tubes = pieces.size();
  add_pieces(model, true, pieces);
  rod_count = static_cast<std::uint32_t>(pieces.size());
  hair_count = static_cast<std::uint32_t>(pieces.size() - tubes);
  add_ends(pieces, tubes);
  rod_end_count = static_cast<std::uint32_t>(pieces.size()) - rod_count;
  rods = GpuBuffer::with_data(device, pieces, kStorage);
  edges = GpuBuffer::with_data(device, lines, kIndex);
  vertex_count = static_cast<std::uint32_t>(mesh.vertices.size());
  index_count = static_cast<std::uint32_t>(mesh.indices.size());
  edge_index_count = static_cast<std::uint32_t>(2 * lines.size());

  objects_ = model.objects.size();
  looks_.resize(std::ranges::any_of(model.objects, &Object::is_sewn) ? 2 * objects_ : objects_);
  for (std::size_t i = 0; i < objects_; ++i) {
    set_color(i, model.objects[i].color);
    set_pattern(i, model);
  }
  positions_.resize(model.node_count());
  std::ranges::transform(model.positions, positions_.begin(),
                         [](const auto& x) { return x.template cast<float>(); });
  set_positions(positions_);
  start_bounds_ = bounds_;
  closed_ = std::ranges::all_of(model.objects, [](const Object& object) {
    const bool may_be_open = object.is_collider() || object.is_thin();
    return !may_be_open || object.triangle_end == object.triangle_begin;
  });
  add_planes(model.half_spaces);
  add_wires(model);
}

void SceneBuffers::check_count(std::span<const Vec3f> positions) const {
  if (positions.size() != positions_.size())
    throw std::invalid_argument("the picture's scene has " + std::to_string(positions_.size()) +
                                " nodes, but " + std::to_string(positions.size()) + " positions were given");
}

void SceneBuffers::set_positions(std::span<const Vec3f> positions) {
  check_count(positions);
  if (positions.data() != positions_.data()) std::ranges::copy(positions, positions_.begin());
  set_box(box_of(positions_, drawn_nodes_));
  ++version_;
}

void SceneBuffers::set_box(const PublishedBox& box) { bounds_ = bounds_in(box); }

Bounds SceneBuffers::bounds_of(std::span<const Vec3f> positions) const {
  return bounds_in(box_of(positions, drawn_nodes_));
}

void SceneBuffers::paint(std::span<shared::ObjectLook> looks, std::size_t object, const Vec3f& srgb) const {
  if (object >= objects_) throw std::out_of_range("the picture has no object " + std::to_string(object));
  for (std::size_t i = object; i < looks.size(); i += objects_) {
    const float shade = i < objects_ ? 1 : kOddPanel;
    looks[i].color = {shade * linear(srgb[0]), shade * linear(srgb[1]), shade * linear(srgb[2]), 0};
  }
}

void SceneBuffers::set_pattern(std::size_t object, const Model& model) {
  const Object& of = model.objects[object];
  if (!has_pattern(model, of)) return;
  const glm::vec4 pattern =
      of.is_cloth()         ? glm::vec4{threads_per_metre(model, of), shared::kPatternOfCloth, 0, 0}
      : of.is_thin()        ? glm::vec4{cells_per_metre(model, of), shared::kPatternOfRods, 0, 0}
      : is_round(model, of) ? glm::vec4{1, shared::kPatternOfRoundBodies, 0, 0}
                            : glm::vec4{1, shared::kPatternOfSolids, 0, 0};
  for (std::size_t i = object; i < looks_.size(); i += objects_) looks_[i].pattern = pattern;
}

void SceneBuffers::add_wires(const Model& model) {
  std::vector<bool> joined(model.node_count(), false);
  for (const Object& object : model.objects) {
    if (object.is_thin()) continue;
    for (std::int32_t s = object.segment_begin; s < object.segment_end; ++s) {
      wires_.push_back({model.segments[s], object.color});
      joined[model.segments[s][0]] = joined[model.segments[s][1]] = true;
    }
    const bool surface = object.triangle_end > object.triangle_begin;
    for (std::int32_t i = object.node_begin; !surface && i < object.node_end; ++i)
      if (!joined[i]) wires_.push_back({{i, i}, object.color});
  }
}

void SceneBuffers::add_planes(const std::vector<HalfSpace>& half_spaces) {
  const Vec3f center = start_bounds_.center();
  for (const HalfSpace& half_space : half_spaces) {
    const Vec3f normal = half_space.normal.cast<float>();
    const auto offset = static_cast<float>(half_space.offset);
    PlaneShape plane;
    plane.point = center + (offset - dot(center, normal)) * normal;
    plane.ground = normal[1] > 0.9999f;
    if (plane.ground) {
      ground_height_ = std::max(offset, ground_height_.value_or(offset));
    } else {
      const Vec3f across = std::abs(normal[1]) < 0.9f ? Vec3f{0, 1, 0} : Vec3f{1, 0, 0};
      plane.u = normalized(cross(across, normal));
      plane.v = cross(plane.u, normal);
    }
    planes_.push_back(plane);
  }
}

}  // namespace stickslip
