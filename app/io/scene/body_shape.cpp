#include "app/io/scene/body_shape.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/io/mesh/mesh_gen.h"
#include "app/io/mesh/solidify.h"
#include "app/io/scene/scene_shape.h"
#include "gpu/model/convex_hull.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

// A surface counts as convex if its volume is at least 1 - kConvex times that of its hull. Coordinates in
// files are rounded, and round shapes are faceted.
constexpr double kConvex = 1e-3;
// Cells of a distance field along its longest side.
constexpr int kCells = 48;
// A plane has no volume: it becomes a slab whose thickness is this share of its smaller side.
constexpr double kSlab = 0.1;

class PartReader {
 public:
  PartReader(TableReader& table, const PartSource& source, const Pose& pose)
      : table_(table), source_(source), pose_(pose) {}

  std::vector<BodyPart> read() {
    // Flat shapes ignore `edge`; it is accepted because the body may have been deformable before.
    if (table_.has("edge")) length("edge");
    if (table_.has("file") && !table_.has("shape")) return {solid(closed_file())};
    const std::string shape = table_.text("shape");
    if (shape != "hull" && table_.has("file")) table_.fail("file", "give either shape or file");
    if (shape == "box") return {box(half_of(lengths("size")))};
    if (shape == "bar") {
      const double width = length("width");
      return {box({length("length") / 2, width / 2, width / 2})};
    }
    if (shape == "sphere") return {round(ShapeKind::sphere, length("radius"), 0)};
    if (shape == "cylinder") return {round(ShapeKind::cylinder, length("radius"), length("height") / 2)};
    if (shape == "capsule")
      return {
          round(ShapeKind::capsule, length("radius"), table_.number("height", Range::not_negative()) / 2)};
    if (shape == "hull") return {hull_of(stretched(read_points_of_hull(table_, source_.scene.file)))};
    if (shape == "plane") return {slab()};
    if (shape == "stairs") return stairs();
    std::vector<std::string> names = shape_names();
    names.insert(names.end(), {"capsule", "hull"});
    check_known(table_, "shape", "shape", shape, names);
    return {solid(read_surface(table_, source_.scene.file, source_.scene.scale))};
  }

 private:
  double length(const char* key) { return table_.number(key, Range::positive()); }
  Vec3d lengths(const char* key) {
    const Vec3d size = table_.vec3(key);
    for (int c = 0; c < 3; ++c)
      if (!(size[c] > 0)) table_.fail(key, "must be positive");
    return size;
  }
  static Vec3d half_of(const Vec3d& v) { return v / 2; }

  Vec3d stretched(const Vec3d& p) const {
    return {source_.scale[0] * p[0], source_.scale[1] * p[1], source_.scale[2] * p[2]};
  }
  std::vector<Vec3d> stretched(std::vector<Vec3d> points) const {
    for (Vec3d& p : points) p = stretched(p);
    return points;
  }
  Pose at(const Vec3d& offset) const { return pose_ * Pose{stretched(offset), Quat::identity()}; }

  BodyPart box(const Vec3d& half, const Vec3d& offset = {0, 0, 0}) const {
    const Vec3d size = max(stretched(half), -stretched(half));
    BodyPart part = make_part(ShapeKind::box, size, at(offset));
    const SurfaceMesh surface = boundary_surface(make_box(2 * size, 2 * (size[0] + size[1] + size[2])));
    part.nodes = surface.nodes;
    part.triangles = surface.triangles;
    return part;
  }

  BodyPart round(ShapeKind kind, double radius, double half) {
    const Vec3d& s = source_.scale;
    if (s[0] != s[1] || s[1] != s[2] || !(s[0] > 0))
      table_.fail("", "a round rigid shape has one scale for all axes");
    const double r = s[0] * radius, h = s[0] * half;
    BodyPart part =
        make_part(kind, {r, kind == ShapeKind::sphere ? 0 : h, kind == ShapeKind::sphere ? 0 : r}, pose_);
    const double edge = table_.number("edge", Range::positive(), r / source_.fineness);
    const SurfaceMesh surface = located(table_, [&] {
      return kind == ShapeKind::sphere    ? boundary_surface(make_sphere(r, edge))
             : kind == ShapeKind::capsule ? make_capsule(r, 2 * h, edge)
                                          : make_drum(r, 2 * h, edge);
    });
    part.nodes = surface.nodes;
    part.triangles = surface.triangles;
    return part;
  }

  BodyPart slab() {
    const std::vector<double> size = table_.numbers("size", 2);
    if (!(size[0] > 0 && size[1] > 0)) table_.fail("size", "must be positive");
    const double depth = kSlab * std::min(size[0], size[1]);
    return box({size[0] / 2, depth / 2, size[1] / 2}, {0, -depth / 2, 0});
  }

  /// A column under each tread.
  std::vector<BodyPart> stairs() {
    const double tread = length("tread"), rise = length("rise"), width = length("width");
    const int steps = table_.whole("steps", 1, 1000, 0);
    if (steps == 0) table_.fail("", "needs the whole number steps");
    std::vector<BodyPart> columns;
    for (int i = 0; i < steps; ++i) {
      const double height = (steps - i) * rise;
      columns.push_back(
          box({tread / 2, height / 2, width / 2}, {(i + 0.5 - steps / 2.0) * tread, height / 2, 0}));
    }
    return columns;
  }

  SurfaceMesh closed_file() {
    SurfaceMesh surface = read_surface(table_, source_.scene.file, 1);
    try {
      return checked_closed(std::move(surface), table_.text("file"));
    } catch (const InputError& error) {
      table_.fail("file", error.what());
    }
  }

  BodyPart hull_of(const std::vector<Vec3d>& points) {
    return located(table_, [&] { return make_hull_part(source_.model, points, pose_); });
  }

  /// A closed surface: its hull if it is convex, else the surface itself with a distance field.
  BodyPart solid(SurfaceMesh surface) {
    surface.nodes = stretched(std::move(surface.nodes));
    if (source_.scale[0] * source_.scale[1] * source_.scale[2] < 0)  // a mirror image flips the triangles
      for (Vec3i& t : surface.triangles) std::swap(t[1], t[2]);
    const std::string collision = table_.text("collision", "auto");
    check_known(table_, "collision", "way to collide", collision, {"auto", "hull", "mesh"});
    const int cells = table_.whole("cells", 4, 512, kCells);
    const double tolerance = table_.number("field_tolerance", Range::not_negative(), 0);
    if (collision != "mesh") {
      const ConvexHull hull = located(table_, [&] { return convex_hull(surface.nodes); });
      const double full = mass_of_surface(hull.vertices, triangles_of(hull)).volume;
      const double missing = 1 - enclosed_volume(surface) / full;
      if (missing <= kConvex) return hull_of(surface.nodes);
      if (collision == "hull") refuse_hollow(missing);
    }
    return located(table_, [&] {
      return make_mesh_part(source_.model, surface.nodes, surface.triangles, cells, pose_, tolerance);
    });
  }

  [[noreturn]] void refuse_hollow(double missing) const {
    char share[32];
    std::snprintf(share, sizeof share, "%.2g", 100 * missing);
    table_.fail("collision", std::string("the shape is not convex: it lacks ") + share +
                                 "% of its hull's volume; use collision = \"mesh\", or shape = \"hull\" for "
                                 "what is wrapped around it");
  }

  TableReader& table_;
  const PartSource& source_;
  const Pose pose_;
};

}  // namespace

std::vector<BodyPart> read_parts(TableReader& table, const PartSource& source, const Pose& pose) {
  std::vector<BodyPart> parts = located(table, [&] { return PartReader(table, source, pose).read(); });
  const double weight = table.number("weight", Range::not_negative(), 1);
  for (BodyPart& part : parts) part.mass = scaled(part.mass, weight);
  return parts;
}

}  // namespace stickslip
