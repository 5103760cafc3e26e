#include "app/io/scene/scene_shape.h"

#include <algorithm>

#include "app/io/mesh/mesh_gen.h"
#include "app/io/mesh/mesh_lattice.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// The sizes in the table of a generated shape.
class Sizes {
 public:
  /// The edge is optional for rigid shapes.
  Sizes(TableReader& table, double refinement, bool rigid)
      : table_(table), refinement_(refinement), rigid_(rigid) {}

  double length(const char* key) { return table_.number(key, Range::positive()); }
  int count(const char* key) {
    const int value = table_.whole(key, 1, 1000, 0);
    if (value == 0) table_.fail("", std::string("needs the whole number ") + key);
    return value;
  }
  bool flag(const char* key) { return table_.flag(key, false); }
  Vec3d lengths(const char* key) {
    const Vec3d size = table_.vec3(key);
    for (int c = 0; c < 3; ++c)
      if (!(size[c] > 0)) table_.fail(key, "must be positive");
    return size;
  }
  Vec<double, 2> pair(const char* key) {
    const std::vector<double> size = table_.numbers(key, 2);
    return {size[0], size[1]};
  }
  /// Edge length of a rigid shape without `edge`: `coarse`. Flat faces need no inner nodes, round ones enough
  /// to appear round.
  double edge(double coarse) { return rigid_ && !table_.has("edge") ? coarse : length("edge") / refinement_; }

 private:
  TableReader& table_;
  double refinement_;
  bool rigid_;
};

template <class Mesh>
struct NamedShape {
  std::string name;
  Mesh (*make)(Sizes&);
};

const std::vector<NamedShape<TetMesh>> solid_shapes{
    {"box",
     [](Sizes& sizes) {
       const Vec3d size = sizes.lengths("size");
       return make_box(size, sizes.edge(2 * std::max({size[0], size[1], size[2]})));
     }},
    {"sphere",
     [](Sizes& sizes) {
       const double radius = sizes.length("radius");
       return make_sphere(radius, sizes.edge(radius / 6));
     }},
    {"cylinder",
     [](Sizes& sizes) {
       const double radius = sizes.length("radius"), height = sizes.length("height");
       return make_cylinder(radius, height, sizes.edge(radius / 5));
     }},
    {"tube",
     [](Sizes& sizes) {
       const double radius = sizes.length("radius"), thickness = sizes.length("thickness");
       const double height = sizes.length("height");
       return make_tube(radius, thickness, height, sizes.edge(thickness));
     }},
    {"bar",
     [](Sizes& sizes) {
       const double length = sizes.length("length"), width = sizes.length("width");
       return make_bar(length, width, sizes.edge(2 * std::max(length, width)));
     }},
    {"torus",
     [](Sizes& sizes) {
       const double radius = sizes.length("radius"), tube = sizes.length("tube_radius");
       return make_torus(radius, tube, sizes.edge(tube / 3));
     }},
    {"voussoir",
     [](Sizes& sizes) {
       const double radius = sizes.length("radius"), thickness = sizes.length("thickness");
       const double depth = sizes.length("depth"), angle = sizes.length("angle");
       return make_voussoir(radius, thickness, depth, angle, sizes.edge(std::min(thickness, depth)));
     }},
    {"spike",
     [](Sizes& sizes) {
       const Vec3d size = sizes.lengths("size");
       return make_spike(size, sizes.edge(2 * std::max({size[0], size[1], size[2]})));
     }},
    {"wedge",
     [](Sizes& sizes) {
       const Vec3d size = sizes.lengths("size");
       return make_wedge(size, sizes.edge(2 * std::max({size[0], size[1], size[2]})));
     }},
    {"crack",
     [](Sizes& sizes) {
       const Vec3d size = sizes.lengths("size");
       const double opening = sizes.length("opening"), depth = sizes.length("depth");
       return make_crack(size, opening, depth, sizes.edge(2 * std::max({size[0], size[1], size[2]})));
     }},
    {"hole",
     [](Sizes& sizes) {
       const Vec3d size = sizes.lengths("size");
       const double opening = sizes.length("opening"), depth = sizes.length("depth");
       return make_hole(size, opening, depth, sizes.edge(2 * std::max({size[0], size[1], size[2]})));
     }},
    {"jack",
     [](Sizes& sizes) {
       const double radius = sizes.length("radius"), waist = sizes.length("waist");
       return make_jack(radius, waist, sizes.edge(radius / 8));
     }},
    {"puffer",
     [](Sizes& sizes) {
       const double radius = sizes.length("radius"), spine = sizes.length("spine");
       return make_puffer(radius, spine, sizes.edge(radius / 6));
     }},
    {"net",
     [](Sizes& sizes) {
       const Vec<double, 2> size = sizes.pair("size");
       const int bars = sizes.count("bars");
       const double width = sizes.length("width");
       return make_net(size[0], size[1], bars, width, sizes.edge(width));
     }},
    {"shell",
     [](Sizes& sizes) {
       const double radius = sizes.length("radius"), thickness = sizes.length("thickness");
       const bool windows = sizes.flag("windows");
       return make_shell(radius, thickness, windows, sizes.edge(radius / 4));
     }},
};

/// Shapes available only to colliders.
const std::vector<NamedShape<SurfaceMesh>> surface_shapes{
    {"plane",
     [](Sizes& sizes) {
       const Vec<double, 2> size = sizes.pair("size");
       return make_plane(size[0], size[1], sizes.edge(2 * std::max(size[0], size[1])));
     }},
    {"bowl",
     [](Sizes& sizes) {
       const double radius = sizes.length("radius"), height = sizes.length("height");
       const double thickness = sizes.length("thickness");
       return make_bowl(radius, height, thickness, sizes.edge(radius / 8));
     }},
    {"ramp",
     [](Sizes& sizes) {
       const double length = sizes.length("length"), height = sizes.length("height");
       return make_ramp(length, height, sizes.length("width"));
     }},
    {"stairs",
     [](Sizes& sizes) {
       const double tread = sizes.length("tread"), rise = sizes.length("rise");
       return make_stairs(sizes.count("steps"), tread, rise, sizes.length("width"));
     }},
};

template <class Mesh>
void add_names(const std::vector<NamedShape<Mesh>>& shapes, std::vector<std::string>& names) {
  for (const NamedShape<Mesh>& shape : shapes) names.push_back(shape.name);
}

template <class Mesh>
const NamedShape<Mesh>* find_shape(const std::vector<NamedShape<Mesh>>& shapes, const std::string& name) {
  const auto found =
      std::find_if(shapes.begin(), shapes.end(), [&](const auto& s) { return s.name == name; });
  return found == shapes.end() ? nullptr : &*found;
}

template <class F>
auto read_file(TableReader& table, const std::filesystem::path& scene_file, F&& load) {
  if (table.has("shape")) table.fail("file", "give either shape or file");
  return read_named_file(table, scene_file, load);
}

/// Options for filling a file's closed surface.
SolidOptions read_solid_options(TableReader& table, double refinement) {
  SolidOptions options;
  if (table.has("edge")) options.edge = table.number("edge", Range::positive()) / refinement;
  const std::string mesher = table.text("mesher", "auto");
  check_known(table, "mesher", "mesher", mesher, mesher_names);
  options.mesher =
      static_cast<Mesher>(std::find(mesher_names.begin(), mesher_names.end(), mesher) - mesher_names.begin());
  return options;
}

}  // namespace

TetMesh read_solid(TableReader& table, const std::filesystem::path& scene_file, double refinement) {
  if (table.has("file")) {
    const SolidOptions options = read_solid_options(table, refinement);
    return read_file(table, scene_file,
                     [&](const std::filesystem::path& file) { return load_solid(file, options); });
  }
  const std::string shape = table.text("shape");
  std::vector<std::string> names;
  add_names(solid_shapes, names);
  check_known(table, "shape", "shape", shape, names);
  Sizes sizes(table, refinement, false);
  return located(table, [&] { return find_shape(solid_shapes, shape)->make(sizes); });
}

std::vector<std::string> shape_names() {
  std::vector<std::string> names;
  add_names(solid_shapes, names);
  add_names(surface_shapes, names);
  return names;
}

SurfaceMesh read_surface(TableReader& table, const std::filesystem::path& scene_file, double refinement) {
  if (table.has("file")) return read_file(table, scene_file, load_surface);
  const std::string shape = table.text("shape");
  check_known(table, "shape", "shape", shape, shape_names());
  Sizes sizes(table, refinement, true);
  return located(table, [&] {
    if (const auto* surface = find_shape(surface_shapes, shape)) return surface->make(sizes);
    return boundary_surface(find_shape(solid_shapes, shape)->make(sizes));
  });
}

EmbeddedSolid read_embedded(TableReader& table, const std::filesystem::path& scene_file, double refinement) {
  const double cell = table.number("lattice", Range::positive()) / refinement;
  if (table.has("mesher")) table.fail("mesher", "fills a surface with tets, and a lattice replaces these");
  if (table.has("file") && table.has("edge"))
    table.fail("edge", "a surface in a lattice keeps its triangles: leave out edge");
  const SurfaceMesh surface = read_surface(table, scene_file, refinement);
  return located(table, [&] {
    const TetMesh cells = cover_with_cells(surface, cell);
    return embed(surface.nodes, surface.triangles, cells.nodes, cells.tets);
  });
}

FramePaths frame_paths(const PointMesh& lines) {
  FramePaths paths;
  for (std::size_t s = 0; s < lines.segments.size(); ++s) {
    const auto at = [&](int end) { return lines.nodes[static_cast<std::size_t>(lines.segments[s][end])]; };
    if (s == 0 || lines.segments[s][0] != lines.segments[s - 1][1]) paths.push_back({at(0)});
    paths.back().push_back(at(1));
  }
  return paths;
}

FramePaths read_frames(TableReader& table, const std::filesystem::path& scene_file) {
  if (!table.has("frames"))
    table.fail("", "needs frames: a list of places along its axis, or a file of lines");
  if (!table.is_text("frames")) return {table.vec3s("frames")};
  const std::filesystem::path file = table.text("frames");
  try {
    return frame_paths(
        load_point_mesh(file.is_absolute() ? file : scene_file.parent_path() / file, PointKind::segments));
  } catch (const InputError& error) {
    table.fail("frames", error.what());
  }
}

std::vector<Vec3d> read_points_of_hull(TableReader& table, const std::filesystem::path& scene_file) {
  if (table.has("points") == table.has("file")) table.fail("", "needs either points = [...] or a file");
  if (table.has("points")) return table.vec3s("points");
  return read_named_file(table, scene_file, [](const std::filesystem::path& file) {
    return file.extension() == ".pt" ? load_point_mesh(file, PointKind::points).nodes
                                     : load_surface(file).nodes;
  });
}

std::optional<PointKind> read_point_kind(TableReader& table) {
  const std::string extension =
      table.has("file") ? std::filesystem::path(table.text("file")).extension().string() : "";
  const std::string by_extension = extension == ".seg"  ? "segments"
                                   : extension == ".pt" ? "points"
                                                        : "surface";
  const std::string as = table.text("as", by_extension);
  check_known(table, "as", "kind of collider", as, {"surface", "segments", "points"});
  if (as == "surface") return std::nullopt;
  if (!table.has("file")) table.fail("as", "needs a file");
  return as == "segments" ? PointKind::segments : PointKind::points;
}

PointMesh read_points(TableReader& table, const std::filesystem::path& scene_file, PointKind kind) {
  return read_file(table, scene_file, [&](const auto& file) { return load_point_mesh(file, kind); });
}

}  // namespace stickslip
