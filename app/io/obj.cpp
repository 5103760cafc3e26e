#include "app/io/obj.h"

#define TINYOBJLOADER_USE_DOUBLE
#define TINYOBJLOADER_IMPLEMENTATION
#include <tiny_obj_loader.h>

#include <cmath>

namespace stickslip {

SurfaceMesh load_obj(const std::filesystem::path& file) {
  const auto refuse = [&](const std::string& what) { throw InputError(file.string() + ": " + what); };
  if (!std::filesystem::is_regular_file(file)) refuse("no such file");

  tinyobj::ObjReaderConfig config;
  config.triangulate = true;
  config.vertex_color = false;
  tinyobj::ObjReader reader;
  if (!reader.ParseFromFile(file.string(), config)) {
    std::string error = reader.Error();
    while (!error.empty() && std::isspace(static_cast<unsigned char>(error.back()))) error.pop_back();
    refuse("not a readable OBJ file" + (error.empty() ? "" : ": " + error));
  }
  const std::vector<double>& positions = reader.GetAttrib().vertices;
  const auto vertex_count = static_cast<int>(positions.size() / 3);

  SurfaceMesh mesh;
  std::vector<std::int32_t> id(vertex_count, -1);
  for (const tinyobj::shape_t& shape : reader.GetShapes())
    for (std::size_t corner = 0; corner + 2 < shape.mesh.indices.size(); corner += 3) {
      Vec3i triangle{};
      for (int c = 0; c < 3; ++c) {
        const int v = shape.mesh.indices[corner + c].vertex_index;
        if (v < 0 || v >= vertex_count)
          refuse("a face names vertex " + std::to_string(v + 1) + " of " + std::to_string(vertex_count));
        if (id[v] < 0) {
          id[v] = static_cast<std::int32_t>(mesh.nodes.size());
          mesh.nodes.push_back({positions[3 * v], positions[3 * v + 1], positions[3 * v + 2]});
          for (int a = 0; a < 3; ++a)
            if (!std::isfinite(mesh.nodes.back()[a]))
              refuse("vertex " + std::to_string(v + 1) + " is not finite");
        }
        triangle[c] = id[v];
      }
      mesh.triangles.push_back(triangle);
    }
  if (mesh.triangles.empty()) refuse("has no faces");
  return mesh;
}

}  // namespace stickslip
