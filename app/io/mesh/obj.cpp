// Wavefront OBJ: polygons only; normals, texture coordinates, groups and materials are skipped.
#include <charconv>
#include <cmath>

#include "app/io/file/byte_cursor.h"
#include "app/io/file/number_text.h"
#include "app/io/mesh/mesh_check.h"
#include "app/io/mesh/polygon.h"
#include "app/io/mesh/surface_parse.h"

namespace stickslip {
namespace {

class ObjReader {
 public:
  ObjReader(std::string_view bytes, const std::string& name) : in_(bytes, name) {
    in_.skip_byte_order_mark();
  }

  SurfaceMesh read() {
    for (std::string_view key = in_.word(); !key.empty(); key = in_.word()) {
      if (key == "v") read_vertex();
      if (key == "f") read_face();
      in_.line();
    }
    if (ends_.empty()) in_.fail("has no faces");
    std::vector<std::int32_t> polygon;
    for (std::size_t begin = 0; const std::size_t end : ends_) {
      polygon.clear();
      for (; begin < end; ++begin) polygon.push_back(vertex_of(corners_[begin]));
      triangulate(mesh_.nodes, polygon, mesh_.triangles);
    }
    drop_unused(mesh_);
    return std::move(mesh_);
  }

 private:
  struct Corner {
    std::int64_t vertex;  // counted from 1
    std::size_t offset;
  };

  void read_vertex() {
    Vec<double, 3> p{};
    for (int c = 0; c < 3; ++c) {
      if (in_.line_ended()) in_.fail("a vertex needs three coordinates");
      p[c] = in_.number("a coordinate");
      if (!(std::abs(p[c]) < 1e30))
        in_.fail("vertex " + std::to_string(mesh_.nodes.size() + 1) + " is not finite");
    }
    mesh_.nodes.push_back(p);
  }
  void read_face() {
    std::size_t corners = 0;
    for (; !in_.line_ended(); ++corners) {
      const std::string_view word = in_.word();  // v, v/vt, v//vn or v/vt/vn
      std::int64_t vertex = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), vertex);
      if (error != std::errc{} || (end != word.data() + word.size() && *end != '/') || vertex == 0)
        in_.fail("a corner of a face should begin with the number of a vertex, counted from 1 or from -1");
      if (vertex < 0) vertex += static_cast<std::int64_t>(mesh_.nodes.size()) + 1;
      corners_.push_back({vertex, in_.offset()});
    }
    if (corners < 3 || corners > kMostCorners)
      in_.fail("a face has " + std::to_string(corners) + " corners: between 3 and " +
               std::to_string(kMostCorners) + " make one");
    ends_.push_back(corners_.size());
  }
  std::int32_t vertex_of(const Corner& corner) {
    const auto count = static_cast<std::int64_t>(mesh_.nodes.size());
    if (corner.vertex < 1 || corner.vertex > count)
      in_.fail_at(corner.offset,
                  "a face names vertex " + std::to_string(corner.vertex) + " of " + std::to_string(count));
    return static_cast<std::int32_t>(corner.vertex - 1);
  }

  ByteCursor in_;
  std::vector<Corner> corners_;    // of all faces
  std::vector<std::size_t> ends_;  // of each face, in corners_
  SurfaceMesh mesh_;
};

}  // namespace

SurfaceMesh parse_obj(std::string_view bytes, const std::string& name) {
  return ObjReader(bytes, name).read();
}

void write_obj(std::ostream& out, const std::vector<NamedSurface>& parts) {
  std::int64_t first = 1;
  for (const NamedSurface& part : parts) {
    out << "o " << part.name << "\n";
    for (const auto& p : part.mesh.nodes)
      out << "v " << number_text(p[0]) << " " << number_text(p[1]) << " " << number_text(p[2]) << "\n";
    for (const Vec3i& t : part.mesh.triangles)
      out << "f " << t[0] + first << " " << t[1] + first << " " << t[2] + first << "\n";
    first += static_cast<std::int64_t>(part.mesh.nodes.size());
  }
}

}  // namespace stickslip
