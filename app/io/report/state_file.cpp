#include "app/io/report/state_file.h"

#include <algorithm>

#include "app/io/file/output_file.h"
#include "app/io/mesh/msh.h"
#include "app/io/mesh/surface_parse.h"
#include "gpu/model/element_group.h"

namespace stickslip {
namespace {

using Positions = std::vector<Vec<double, 3>>;

/// The nodes of an object, and its elements with indices relative to its first node.
template <class Element>
auto part_of(const Object& object, const Positions& positions, std::span<const Element> of_object) {
  std::vector<Element> elements(of_object.begin(), of_object.end());
  for (Element& element : elements)
    for (std::int32_t& node : element.v) node -= object.node_begin;
  return std::pair(Positions(positions.begin() + object.node_begin, positions.begin() + object.node_end),
                   std::move(elements));
}

void write_solids(std::ostream& out, const Model& model, const Positions& positions) {
  std::vector<NamedTets> parts;
  for (const Object& object : model.objects) {
    if (!object.is_solid() || object.has_frames) continue;
    auto [nodes, tets] = part_of(object, positions, tets_of(model, object));
    if (object.is_embedded())
      nodes.resize(static_cast<std::size_t>(object.collides_from - object.node_begin));
    parts.push_back({object.name, {std::move(nodes), std::move(tets)}});
  }
  write_msh(out, parts, {});
}

/// Chains of segments, each of which begins where the one before ends.
std::vector<std::vector<std::int32_t>> chains_of(const std::vector<Vec2i>& segments) {
  std::vector<std::vector<std::int32_t>> chains;
  for (const Vec2i& segment : segments) {
    if (chains.empty() || chains.back().back() != segment[0]) chains.push_back({segment[0]});
    chains.back().push_back(segment[1]);
  }
  return chains;
}

/// Leaves out the nodes of neither a triangle nor a line: those inside solids, and the ghosts of rods.
void keep_used(NamedSurface& part) {
  std::vector<std::int32_t> place(part.mesh.nodes.size(), -1);
  const auto index = [&](std::int32_t node) -> std::int32_t& {
    return place[static_cast<std::size_t>(node)];
  };
  for (const Vec3i& triangle : part.mesh.triangles)
    for (const std::int32_t node : triangle.v) index(node) = 0;
  for (const auto& line : part.lines)
    for (const std::int32_t node : line) index(node) = 0;
  Positions kept;
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (place[i] < 0) continue;
    place[i] = static_cast<std::int32_t>(kept.size());
    kept.push_back(part.mesh.nodes[i]);
  }
  part.mesh.nodes = std::move(kept);
  for (Vec3i& triangle : part.mesh.triangles)
    for (std::int32_t& node : triangle.v) node = index(node);
  for (auto& line : part.lines)
    for (std::int32_t& node : line) node = index(node);
}

void write_surfaces(std::ostream& out, const Model& model, const Positions& positions) {
  std::vector<NamedSurface> parts;
  for (const Object& object : model.objects) {
    auto [nodes, triangles] = part_of(object, positions, triangles_of(model, object));
    NamedSurface& part = parts.emplace_back(
        NamedSurface{object.name,
                     {std::move(nodes), std::move(triangles)},
                     chains_of(part_of(object, positions, segments_of(model, object)).second)});
    keep_used(part);
  }
  write_obj(out, parts);
}

}  // namespace

void check_state_file(const std::filesystem::path& file, const Model& model) {
  if (file.extension() != ".msh" && file.extension() != ".obj")
    throw InputError(file.string() + ": must end in .msh or .obj");
  const auto has_tets = [](const Object& object) { return object.is_solid() && !object.has_frames; };
  if (file.extension() == ".msh" && std::ranges::none_of(model.objects, has_tets))
    throw InputError(file.string() +
                     ": a .msh holds the tetrahedra of solids, and the scene has none; a .obj " +
                     "holds the surfaces of all bodies, and rods as lines");
  check_writable(file);
}

void write_state(const std::filesystem::path& file, const Model& model, const Positions& positions) {
  OutputFile out(file);
  if (file.extension() == ".msh") write_solids(out.stream(), model, positions);
  else write_surfaces(out.stream(), model, positions);
  out.commit();
}

}  // namespace stickslip
