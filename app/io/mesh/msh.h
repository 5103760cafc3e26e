// Gmsh's MSH files, versions 2.2 and 4.1, text and binary [Gmsh reference manual, "File formats"].
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "app/io/mesh/mesh.h"

namespace stickslip {

/// Nodes, tets and triangles of a file. Checked: indices are in range and coordinates finite; not the
/// geometry. Other elements of lower dimension and other sections are skipped.
struct MshContent {
  std::vector<Vec<double, 3>> nodes;  // [m]
  std::vector<Vec4i> tets;
  std::vector<Vec3i> triangles;
  std::vector<std::int64_t> node_tags, tet_tags;  // tags in the file
  std::vector<std::size_t> tet_offsets;           // position of each tet in the file [bytes]
  bool binary = false;
};

/// Throws InputError with the line (text) or byte (binary) of the first fault. Volume elements other than
/// four-noded tets are faults. `name` is the file's name in messages.
MshContent parse_msh(std::string_view bytes, const std::string& name);

/// One of several meshes in a file: gets its own entity (4.1) or tag (2.2), and a physical name.
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
