// stickslip convert: converts between mesh formats, or an IPC scene script into a scene.
#include <algorithm>
#include <iostream>

#include "app/cli/cli.h"
#include "app/io/file/output_file.h"
#include "app/io/ipc/ipc_script.h"
#include "app/io/mesh/mesh.h"
#include "app/io/mesh/msh.h"
#include "app/io/mesh/surface_parse.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

void write_solid(const ConvertOptions& options, std::ostream& out) {
  if (options.msh_version != "4.1" && options.msh_version != "2.2")
    throw InputError("--msh-version " + options.msh_version + ": must be 4.1 or 2.2");
  const auto mesher = std::find(mesher_names.begin(), mesher_names.end(), options.mesher);
  TetMesh mesh =
      load_solid(options.input, {options.edge, static_cast<Mesher>(mesher - mesher_names.begin())});
  std::cerr << mesh.nodes.size() << " nodes, " << mesh.tets.size() << " tetrahedra\n";
  write_msh(out, {{fs::path(options.input).stem().string(), std::move(mesh)}},
            {options.binary, options.msh_version == "2.2"});
}

void write_surface(const ConvertOptions& options, std::ostream& out) {
  SurfaceMesh mesh = load_surface(options.input);
  std::cerr << mesh.nodes.size() << " vertices, " << mesh.triangles.size() << " triangles\n";
  write_obj(out, {{fs::path(options.input).stem().string(), std::move(mesh)}});
}

void write_scene(const ConvertOptions& options) {
  const fs::path to = options.output;
  if (to.extension() != ".toml") throw InputError(options.output + ": an IPC scene script becomes a .toml");
  const fs::path folder = to.parent_path().empty() ? fs::path(".") : to.parent_path();
  OutputFile out(to);
  const std::string toml = ipc_script_to_toml(options.input, folder, {options.ignore_unknown});
  // Refuses everything that `run` would refuse, such as a value outside a scene's range.
  parse_scene(toml, folder / (fs::path(options.input).filename().string() + " (as TOML)"));
  out.stream() << toml;
  out.commit();
}

}  // namespace

int command_convert(const ConvertOptions& options) {
  const fs::path to = options.output;
  if (is_ipc_script(options.input)) {
    write_scene(options);
    return exit_good;
  }
  const bool solid = to.extension() == ".msh";
  if (!solid && to.extension() != ".obj")
    throw InputError(options.output + ": must end in .msh for tetrahedra or .obj for a surface");
  OutputFile out(to);
  if (solid) write_solid(options, out.stream());
  else write_surface(options, out.stream());
  out.commit();
  return exit_good;
}

}  // namespace stickslip
