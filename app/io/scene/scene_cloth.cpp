// Objects of cloth.
#include <cmath>
#include <cstdio>

#include "app/io/mesh/mesh_gen.h"
#include "app/io/scene/scene_array.h"
#include "app/io/scene/scene_shape.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

constexpr double kMostPatternRatio = 3;  // of lengths in the pattern to those at the start, or its inverse

/// How an object's cloth was cut, if it is sewn.
struct ClothCut {
  bool is_sewn = false;
  bool seams_as_positioned = false;
  double scale = 1;  // [m] per unit of texture coordinates
};

ClothCut read_cut(TableReader& table) {
  const std::string rest = table.text("rest", "start");
  check_known(table, "rest", "rest shape", rest, {"start", "pattern"});
  if (rest == "start") {
    for (const char* key : {"pattern_scale", "seam_angle"})
      if (table.has(key)) table.fail(key, "is for cloth with rest = \"pattern\"");
    return {};
  }
  if (!table.has("file")) table.fail("rest", "\"pattern\" needs a file with texture coordinates");
  if (table.has("warp")) table.fail("warp", "runs along u of the pattern: leave it out");
  if (!table.has("pattern_scale"))
    table.fail("", "rest = \"pattern\" needs pattern_scale, the metres per unit of texture coordinates");
  const std::string angle = table.text("seam_angle", "flat");
  check_known(table, "seam_angle", "angle of seams", angle, {"flat", "start"});
  return {true, angle == "start", table.number("pattern_scale", {1e-9, 1e9})};
}

SewnSurface read_sheet(TableReader& table, const SceneSource& source, double refinement, bool sewn) {
  if (table.has("file")) {
    if (table.has("shape")) table.fail("file", "give either shape or file");
    if (sewn) return read_named_file(table, source.file, load_sewn);
    return {read_named_file(table, source.file, load_surface), {}};
  }
  const std::string shape = table.text("shape");
  check_known(table, "shape", "shape of cloth", shape, {"sheet"});
  const std::vector<double> size = table.numbers("size", 2);
  const double edge = table.number("edge", Range::positive()) / refinement;
  return {located(table, [&] { return make_sheet(size[0], size[1], edge); }), {}};
}

ClothPattern scaled_pattern(const SewnSurface& mesh, const ClothCut& cut) {
  ClothPattern pattern{mesh.pattern, cut.seams_as_positioned};
  for (PatternTriangle& t : pattern.triangles)
    for (Vec<double, 2>& p : t.corners) p *= cut.scale;
  return pattern;
}

/// Refuses a pattern whose size is not about that of the cloth in space: the start would be an explosion.
void check_pattern_size(const TableReader& table, const std::vector<Vec3d>& nodes,
                        const std::vector<Vec3i>& triangles, const ClothPattern& pattern, double scale) {
  double area = 0, flat = 0;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const Vec3d &a = nodes[triangles[t][0]], &b = nodes[triangles[t][1]], &c = nodes[triangles[t][2]];
    area += norm(cross(b - a, c - a)) / 2;
    flat += pattern_area(pattern.triangles[t]);
  }
  const double ratio = std::sqrt(flat / area);
  if (ratio < kMostPatternRatio && ratio > 1 / kMostPatternRatio) return;
  char text[160];
  std::snprintf(text, sizeof text,
                "makes the pattern %.3g times as long as the cloth at the start, and that should be about 1: "
                "%.3g would fit",
                ratio, scale / ratio);
  table.fail("pattern_scale", text);
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
  const ClothCut cut = read_cut(table);
  const SewnSurface sewn = read_sheet(table, source, growth.refinement, cut.is_sewn);
  const SurfaceMesh& mesh = sewn.surface;
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
    const auto& [offset, turn, number] = instances[i];
    std::vector<Vec3d> nodes;
    for (const Vec3d& p : mesh.nodes) nodes.push_back(turn * placement.apply(p) + offset);
    if (i == 0) check_thickness(table, nodes, mesh.triangles, thickness);
    if (i == 0 && cut.is_sewn) {
      model.cloth_patterns.push_back(scaled_pattern(sewn, cut));
      check_pattern_size(table, nodes, mesh.triangles, model.cloth_patterns.back(), cut.scale);
    }
    const std::string instance = instance_name(name, instances[i]);
    Object& object = located(table, [&]() -> Object& {
      return add_cloth(model, instance, nodes, mesh.triangles, material, thickness);
    });
    if (cut.is_sewn) object.cloth_pattern = static_cast<std::int32_t>(model.cloth_patterns.size()) - 1;
    else object.warp = turn * (placement.linear * warp);
    object.color = instance_color(colors, instances[i]);
    object.no_contact_group = group;
    const Vec3d center = turn * placement.position + offset;
    for (std::int32_t n = object.node_begin; n < object.node_end; ++n)
      model.velocities[n] = turn * velocity + cross(turn * spin, model.positions[n] - center);
  }
}

}  // namespace stickslip
