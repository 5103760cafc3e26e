// Gmsh's MSH files, versions 2.2 and 4.1, text and binary [Gmsh reference manual, "File formats"].
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "app/io/mesh/mesh.h"

namespace stickslip {

/// What a file holds of nodes, tets and triangles, checked for the numbers alone: indices are in range and
/// coordinates finite. Other elements of lower dimension and other sections are passed over.
struct MshContent {
  std::vector<Vec<double, 3>> nodes;  // [m]
  std::vector<Vec4i> tets;
  std::vector<Vec3i> triangles;
  std::vector<std::int64_t> node_tags, tet_tags;  // the file's own numbers
  std::vector<std::size_t> tet_offsets;           // where each tet stands in the file [bytes]
  bool binary = false;
};

/// Throws InputError with the line (text) or byte (binary) of the first fault; elements that fill space but
/// are not four-noded tets are one. `name` is the file's in messages.
MshContent parse_msh(std::string_view bytes, const std::string& name);

/// One mesh of a file with several: gets its own entity (4.1) or tag (2.2), and a physical name.
struct NamedTets {
  std::string name;
  TetMesh mesh;
};

struct MshFormat {
  bool binary = false;
  bool version2 = false;  // 2.2 instead of 4.1
};

void write_msh(std::ostream& out, const std::vector<NamedTets>& parts, const MshFormat& format);

}  // namespace stickslip
