#include "app/io/mesh/mesh.h"

#include <cctype>
#include <optional>

#include "app/io/file/byte_cursor.h"
#include "app/io/mesh/mesh_check.h"
#include "app/io/mesh/msh.h"
#include "app/io/mesh/solidify.h"
#include "app/io/mesh/surface_parse.h"
#include "gpu/model/model.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

/// Content of a surface file; empty for other kinds of files.
std::optional<SurfaceMesh> parse_surface(const fs::path& file) {
  const std::string extension = lower_extension(file), name = file.string();
  if (extension == ".obj") return parse_obj(read_bytes(file), name);
  if (extension == ".ply") return parse_ply(read_bytes(file), name);
  if (extension == ".stl") return parse_stl(read_bytes(file), name);
  return std::nullopt;
}

MshContent parse_msh_file(const fs::path& file) {
  if (lower_extension(file) != ".msh")
    throw InputError(file.string() + ": is no mesh: .msh, .obj, .ply or .stl would be");
  return parse_msh(read_bytes(file), file.string());
}

}  // namespace

std::string lower_extension(const fs::path& file) {
  std::string extension = file.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

TetMesh load_solid(const fs::path& file, const SolidOptions& options) {
  if (std::optional<SurfaceMesh> surface = parse_surface(file))
    return solidify(*std::move(surface), options, file.string());
  if (options.edge > 0 || options.mesher != Mesher::automatic)
    throw InputError(file.string() +
                     ": edge and mesher are for surfaces; the tets of a .msh are taken as they are");
  return checked_solid(parse_msh_file(file), file.string());
}

SurfaceMesh load_surface(const fs::path& file) {
  if (std::optional<SurfaceMesh> surface = parse_surface(file)) return *std::move(surface);
  MshContent content = parse_msh_file(file);
  if (!content.tets.empty()) return boundary_surface(checked_solid(std::move(content), file.string()));
  if (content.triangles.empty()) throw InputError(file.string() + ": has neither tetrahedra nor triangles");
  SurfaceMesh surface{std::move(content.nodes), std::move(content.triangles)};
  drop_unused(surface);
  return surface;
}

SewnSurface load_sewn(const fs::path& file) {
  if (lower_extension(file) != ".obj")
    throw InputError(file.string() + ": is no .obj, and only these have texture coordinates");
  return parse_sewn_obj(read_bytes(file), file.string());
}

SurfaceMesh boundary_surface(const TetMesh& mesh) {
  Model model;
  add_solid(model, "mesh", mesh.nodes, mesh.tets, 0);
  SurfaceMesh surface;
  std::vector<std::int32_t> id(mesh.nodes.size(), -1);
  for (Vec3i t : model.triangles) {
    for (int c = 0; c < 3; ++c) {
      if (id[t[c]] < 0) {
        id[t[c]] = static_cast<std::int32_t>(surface.nodes.size());
        surface.nodes.push_back(mesh.nodes[t[c]]);
      }
      t[c] = id[t[c]];
    }
    surface.triangles.push_back(t);
  }
  return surface;
}

}  // namespace stickslip
