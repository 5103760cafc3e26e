// Objects of cloth.
#include <cstdio>

#include "app/io/mesh/mesh_gen.h"
#include "app/io/scene/scene_array.h"
#include "app/io/scene/scene_shape.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

SurfaceMesh read_sheet(TableReader& table, const SceneSource& source, double refinement) {
  if (table.has("file")) {
    if (table.has("shape")) table.fail("file", "give either shape or file");
    return read_named_file(table, source.file, load_surface);
  }
  const std::string shape = table.text("shape");
  check_known(table, "shape", "shape of cloth", shape, {"sheet"});
  const std::vector<double> size = table.numbers("size", 2);
  const double edge = table.number("edge", Range::positive()) / refinement;
  return located(table, [&] { return make_sheet(size[0], size[1], edge); });
}

/// Refuses what is no thin sheet.
void check_thickness(const TableReader& table, const std::vector<Vec3d>& nodes,
                     const std::vector<Vec3i>& triangles, double thickness) {
  double sum = 0;
  for (const Vec3i& t : triangles)
    for (int c = 0; c < 3; ++c) sum += norm(nodes[t[c]] - nodes[t[(c + 1) % 3]]);
  const double mean = sum / (3 * static_cast<double>(triangles.size()));
  if (thickness < mean) return;
  char length[32];
  std::snprintf(length, sizeof length, "%.3g", mean);
  table.fail("thickness", "must be below the length of the edges of the triangles, " + std::string(length) +
                              " m on average: use a solid, or longer edges");
}

}  // namespace

void build_cloth(TableReader& table, const SceneSource& source, Model& model) {
  const std::string name = read_new_name(table, model);
  const Growth growth = read_growth(table, source.scale);
  const SurfaceMesh mesh = read_sheet(table, source, growth.refinement);
  if (!table.has("thickness")) table.fail("", "cloth needs its thickness [m]");
  const double thickness = table.number("thickness", Range::positive());
  const Vec3d warp = table.vec3("warp", {1, 0, 0});
  if (!(norm(warp) > 0)) table.fail("warp", "must not be zero");
  const Placement placement = read_placement(table);
  const std::int32_t material = read_material(table, model);
  const Vec3d velocity = table.vec3("velocity", {0, 0, 0}), spin = table.vec3("angular_velocity", {0, 0, 0});
  const std::vector<Vec<float, 3>> colors = read_colors(table);
  const std::int32_t group = read_no_contact_group(table);
  const std::vector<Instance> instances =
      read_instances(table, placement.position, mesh.triangles.size(), growth);
  table.finish();
  check_total(table, "", "the scene up to here",
              static_cast<double>(model.tets.size() + model.triangles.size() +
                                  instances.size() * mesh.triangles.size()));

  for (std::size_t i = 0; i < instances.size(); ++i) {
    const auto& [offset, turn] = instances[i];
    std::vector<Vec3d> nodes;
    for (const Vec3d& p : mesh.nodes) nodes.push_back(turn * placement.apply(p) + offset);
    if (i == 0) check_thickness(table, nodes, mesh.triangles, thickness);
    const std::string instance = instance_name(name, i, instances.size());
    Object& object = located(table, [&]() -> Object& {
      return add_cloth(model, instance, nodes, mesh.triangles, material, thickness);
    });
    object.warp = turn * (placement.linear * warp);
    object.color = colors[i % colors.size()];
    object.no_contact_group = group;
    const Vec3d center = turn * placement.position + offset;
    for (std::int32_t n = object.node_begin; n < object.node_end; ++n)
      model.velocities[n] = turn * velocity + cross(turn * spin, model.positions[n] - center);
  }
}

}  // namespace stickslip
