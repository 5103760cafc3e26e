#include "app/io/mesh/point_mesh.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "app/io/file/byte_cursor.h"
#include "app/io/mesh/mesh.h"

namespace stickslip {
namespace {

/// `obj`: the lines `l i j k ...` connect vertices, and `s` lines have another meaning.
PointMesh read_lines(const std::filesystem::path& file, bool obj) {
  PointMesh mesh;
  const std::string bytes = read_bytes(file);
  std::istringstream stream(bytes.substr(byte_order_mark(bytes)));
  std::string row;
  int line = 0;
  const auto refuse = [&](const std::string& what) {
    throw InputError(file.string() + ":" + std::to_string(line) + ": " + what);
  };
  std::vector<std::pair<Vec2i, int>> segments;  // with their line numbers
  while (std::getline(stream, row)) {
    ++line;
    std::istringstream words(row);
    std::string kind;
    words >> kind;
    if (kind == "v") {
      Vec<double, 3> p{};
      if (!(words >> p[0] >> p[1] >> p[2])) refuse("needs 'v x y z'");
      if (!std::isfinite(norm(p))) refuse("the vertex is not finite");
      mesh.nodes.push_back(p);
    } else if (obj && kind == "l") {
      std::int32_t from = 0, to = 0;
      std::string word;  // "i", or "i/k" with the index of a texture vertex
      for (bool first = true; words >> word && word.front() != '#'; first = false, from = to) {
        const char* const end = word.data() + std::min(word.find('/'), word.size());
        const auto [stopped, error] = std::from_chars(word.data(), end, to);
        if (error != std::errc() || stopped != end || to < 1)
          refuse("needs 'l i j ...', counted from 1, and has '" + word + "'");
        if (!first) segments.push_back({{from - 1, to - 1}, line});
      }
    } else if (!obj && kind == "s") {
      Vec2i s{};
      if (!(words >> s[0] >> s[1]) || s[0] < 1 || s[1] < 1) refuse("needs 's i j', counted from 1");
      segments.push_back({{s[0] - 1, s[1] - 1}, line});
    }
  }
  for (const auto& [segment, at] : segments) {
    line = at;
    for (int c = 0; c < 2; ++c)
      if (segment[c] >= static_cast<std::int32_t>(mesh.nodes.size()))
        refuse("names vertex " + std::to_string(segment[c] + 1) + " of " + std::to_string(mesh.nodes.size()));
    if (segment[0] == segment[1]) refuse("joins a vertex to itself");
    mesh.segments.push_back(segment);
  }
  if (mesh.nodes.empty()) throw InputError(file.string() + ": has no vertices");
  return mesh;
}

PointMesh edges_of(const SurfaceMesh& surface) {
  std::set<std::pair<std::int32_t, std::int32_t>> edges;
  for (const Vec3i& t : surface.triangles)
    for (int c = 0; c < 3; ++c) edges.insert(std::minmax({t[c], t[(c + 1) % 3]}));
  PointMesh mesh{surface.nodes, {}};
  for (const auto& [a, b] : edges) mesh.segments.push_back({a, b});
  return mesh;
}

}  // namespace

std::optional<PointKind> kind_without_faces(const std::filesystem::path& file) {
  if (file.extension() != ".obj") return std::nullopt;
  const std::string bytes = read_bytes(file);
  ByteCursor in(bytes, file.string());
  in.skip_byte_order_mark();
  bool lines = false;
  for (std::string_view key = in.word(); !key.empty(); key = in.word()) {
    if (key == "f") return std::nullopt;
    lines = lines || key == "l";
    in.line();
  }
  return lines ? PointKind::segments : PointKind::points;
}

PointMesh load_point_mesh(const std::filesystem::path& file, PointKind kind) {
  const bool own_format = file.extension() == ".seg" || file.extension() == ".pt";
  const bool faceless_obj = kind_without_faces(file).has_value();
  PointMesh mesh = own_format || faceless_obj ? read_lines(file, faceless_obj) : edges_of(load_surface(file));
  if (kind == PointKind::points) mesh.segments.clear();
  if (kind == PointKind::segments && mesh.segments.empty())
    throw InputError(file.string() + ": has no segments");
  return mesh;
}

}  // namespace stickslip
