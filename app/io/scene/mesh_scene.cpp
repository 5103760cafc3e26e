#include "app/io/scene/mesh_scene.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "app/io/file/number_text.h"
#include "app/io/mesh/mesh.h"
#include "app/io/mesh/strands.h"
#include "app/io/scene/toml_text.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using Vec3d = Vec<double, 3>;

constexpr double kThinnest = 1.0 / 150;  // of a closed surface's size: thinner ones need too many tets
constexpr double kSmallestMesh = 0.05, kLargestMesh = 5, kUsualMesh = 0.3;  // [m] of a mesh

bool is_hair(const fs::path& file) { return lower_extension(file) == ".hair"; }

/// Some edge has one triangle alone.
bool is_open(const SurfaceMesh& surface) {
  std::map<std::pair<int, int>, int> edges;
  for (const Vec3i& t : surface.triangles)
    for (int k = 0; k < 3; ++k) {
      const int a = t[k], b = t[(k + 1) % 3];
      ++edges[{std::min(a, b), std::max(a, b)}];
    }
  return std::ranges::any_of(edges, [](const auto& edge) { return edge.second == 1; });
}

struct MeshExtent {
  Vec3d low, high;
  double least() const { return std::min({high[0] - low[0], high[1] - low[1], high[2] - low[2]}); }
  double largest() const { return std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]}); }
};

std::vector<Vec3d> nodes_of(const fs::path& file) {
  if (!is_hair(file)) return load_surface(file).nodes;
  std::vector<Vec3d> nodes;
  for (const std::vector<Vec3d>& strand : load_hair(file).points)
    nodes.insert(nodes.end(), strand.begin(), strand.end());
  return nodes;
}

MeshExtent extent_of(const fs::path& file) {
  const std::vector<Vec3d> nodes = nodes_of(file);
  if (nodes.empty()) throw InputError(file.string() + ": there are no nodes in it");
  MeshExtent extent{nodes.front(), nodes.front()};
  for (const Vec3d& x : nodes) {
    extent.low = min(extent.low, x);
    extent.high = max(extent.high, x);
  }
  if (!(extent.largest() > 0)) throw InputError(file.string() + ": all nodes are at one place");
  return extent;
}

template <class... Values>
std::string toml_line(const char* format, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return std::string(text) + "\n";
}

/// Keys of its [[material]] and its [[object]].
struct MeshBody {
  std::string material, object;
};

/// `given`: the file's size, of which elements are a part: a surface is filled before it is scaled.
MeshBody mesh_solid(double given, bool is_filled) {
  return {"young = 1e5\npoisson = 0.4\ndensity = 1000\ndamping = 0.002\nmu = 0.4\n",
          is_filled ? "" : toml_line("edge = %.6g", given / 14)};
}
MeshBody mesh_cloth(double size) {
  return {"young = 1e6\npoisson = 0.3\ndensity = 400\nmu = 0.4\n",
          toml_line("body = \"cloth\"\nthickness = %.6g", 4e-3 * size)};
}
MeshBody mesh_hair(double size) {
  return {"young = 1e7\npoisson = 0.4\ndensity = 1300\nmu = 0.3\n",
          toml_line("body = \"rods\"\nhold = \"root\"\ndiameter = %.6g", 4e-3 * size)};
}

double factor_of(const MeshExtent& extent) {
  const double given = extent.largest();
  return given >= kSmallestMesh && given <= kLargestMesh ? 1 : kUsualMesh / given;
}

std::string scene_text(const fs::path& file, const MeshExtent& extent, const MeshBody& kind) {
  const double factor = factor_of(extent), size = factor * extent.largest();
  const Vec3d centre = (0.5 * factor) * (extent.low + extent.high);
  const double height = factor * (extent.high[1] - extent.low[1]);
  const double middle = 0.5 * height + (is_hair(file) ? 1.0 : 0.2) * size;
  char scaled[64] = "";
  if (factor != 1) std::snprintf(scaled, sizeof scaled, ", scaled by %.4g", factor);
  std::string text = "title = " + toml_text(file.stem().string() + scaled) + "\nframes = 180\n[params]\n";
  text +=
      toml_line("dt = 0.016666666666666666\nd_hat = %.6g\ncontact_margin = %.6g", 5e-3 * size, 1e-2 * size);
  text += "newton_tolerance = 2e-2\npcg_tolerance = 1e-3\n[camera]\n";
  text += toml_line("position = [%.6g, %.6g, %.6g]", 1.5 * size, 0.5 * middle + size, 2.4 * size);
  text += toml_line("target = [0, %.6g, 0]", 0.7 * middle);
  text += "[[material]]\nname = \"material\"\n" + kind.material + "[[half_space]]\nmu = 0.5\n";
  text += "[[object]]\nname = \"mesh\"\nmaterial = \"material\"\n" + kind.object;
  text += "file = " + toml_text(fs::absolute(file).string()) + "\n";
  return text + toml_line("position = [%.9g, %.9g, %.9g]\nscale = %.9g", -centre[0], middle - centre[1],
                          -centre[2], factor);
}

/// The message without file, line and table of the scene's text, which is made here: a user has no such file.
std::string without_place(std::string message, const fs::path& file) {
  const std::string name = file.string();
  if (!message.starts_with(name + ":")) return message;
  std::size_t at = name.size() + 1;
  while (at < message.size() && std::isdigit(static_cast<unsigned char>(message[at])) != 0) ++at;
  for (const char* part : {": ", "[[object]] ", "file: ", "object 'mesh': "})
    if (message.compare(at, std::string(part).size(), part) == 0) at += std::string(part).size();
  message.erase(0, at);
  return message.starts_with(name) ? message : name + ": " + message;
}

}  // namespace

bool is_mesh_name(const fs::path& file) {
  static constexpr std::string_view endings[] = {".msh", ".obj", ".ply", ".stl", ".hair"};
  return std::ranges::find(endings, lower_extension(file)) != std::end(endings);
}

Scene load_mesh_scene(const fs::path& file, std::optional<double> scale, std::optional<double> density) {
  const MeshExtent extent = extent_of(file);
  const double size = factor_of(extent) * extent.largest();
  const auto load = [&](const MeshBody& kind) {
    try {
      return parse_scene(scene_text(file, extent, kind), file, scale, density);
    } catch (const InputError& error) {
      throw InputError(without_place(error.what(), file));
    }
  };
  if (is_hair(file)) return load(mesh_hair(size));
  const bool has_tets = lower_extension(file) == ".msh";
  if (!has_tets && is_open(load_surface(file))) return load(mesh_cloth(size));
  if (!has_tets && extent.least() < kThinnest * extent.largest())
    throw InputError(file.string() +
                     ": the closed surface is too thin to be filled with tetrahedra: its size is " +
                     number_text(extent.largest()) + " and its least extent " + number_text(extent.least()));
  return load(mesh_solid(extent.largest(), has_tets));
}

}  // namespace stickslip
