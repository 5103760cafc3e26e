// Parsers of the surface formats: from the bytes of a file to its faces as triangles and the vertices they
// use. `name` is the file's name in messages. All throw InputError with the line (text) or byte (binary) of
// the first fault, or when there is no face.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "app/io/mesh/mesh.h"

namespace stickslip {

/// Wavefront OBJ: `v` and `f`; other lines are skipped.
SurfaceMesh parse_obj(std::string_view bytes, const std::string& name);
/// The same with the texture coordinates `vt`, which every corner of a face must name. Throws also as
/// load_sewn does.
SewnSurface parse_sewn_obj(std::string_view bytes, const std::string& name);
/// PLY 1.0, text or binary of either byte order: x, y, z of `vertex` and the vertex list of `face`.
SurfaceMesh parse_ply(std::string_view bytes, const std::string& name);
/// STL, text or binary. Corners with equal coordinates become one vertex; triangles that collapse are
/// dropped.
SurfaceMesh parse_stl(std::string_view bytes, const std::string& name);

/// One mesh of an OBJ file, under `o name`. `lines`: nodes of `mesh` that are joined in their order, in the
/// file as `l`.
struct NamedSurface {
  std::string name;
  SurfaceMesh mesh;
  std::vector<std::vector<std::int32_t>> lines = {};
};
void write_obj(std::ostream& out, const std::vector<NamedSurface>& parts);

}  // namespace stickslip
