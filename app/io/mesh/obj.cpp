// Wavefront OBJ: polygons only; normals, groups and materials are skipped, and texture coordinates unless
// they are asked for.
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
  /// `sewn`: reads texture coordinates, too.
  ObjReader(std::string_view bytes, const std::string& name, bool sewn) : in_(bytes, name), sewn_(sewn) {
    in_.skip_byte_order_mark();
  }

  SewnSurface read() {
    for (std::string_view key = in_.word(); !key.empty(); key = in_.word()) {
      if (key == "v") read_vertex();
      if (key == "vt" && sewn_) read_texture();
      if (key == "f") read_face();
      in_.line();
    }
    if (ends_.empty()) in_.fail("has no faces");
    for (std::size_t begin = 0; const std::size_t end : ends_) {
      add_polygon(std::span(corners_).subspan(begin, end - begin));
      begin = end;
    }
    if (sewn_) check_pattern();
    drop_unused(mesh_.surface);
    return std::move(mesh_);
  }

 private:
  struct Corner {
    std::int64_t vertex;   // counted from 1
    std::int64_t texture;  // likewise; 0: none is read
    std::size_t offset;
  };

  void read_vertex() {
    Vec<double, 3> p{};
    for (int c = 0; c < 3; ++c) {
      if (in_.line_ended()) in_.fail("a vertex needs three coordinates");
      p[c] = in_.number("a coordinate");
      if (!(std::abs(p[c]) < 1e30)) in_.fail("vertex " + std::to_string(vertices() + 1) + " is not finite");
    }
    mesh_.surface.nodes.push_back(p);
  }
  void read_texture() {
    Vec<double, 2> p{};
    for (int c = 0; c < 2; ++c) {
      if (in_.line_ended()) in_.fail("a texture coordinate of a pattern needs u and v");
      p[c] = in_.number("a texture coordinate");
      if (!(std::abs(p[c]) < 1e30))
        in_.fail("texture coordinate " + std::to_string(textures_.size() + 1) + " is not finite");
    }
    textures_.push_back(p);
  }
  void read_face() {
    std::size_t corners = 0;
    for (; !in_.line_ended(); ++corners) {
      const std::string_view word = in_.word();  // v, v/vt, v//vn or v/vt/vn
      const char* end = word.data() + word.size();
      std::int64_t vertex = 0;
      const auto [at, error] = std::from_chars(word.data(), end, vertex);
      if (error != std::errc{} || (at != end && *at != '/') || vertex == 0)
        in_.fail("a corner of a face should begin with the number of a vertex, counted from 1 or from -1");
      if (vertex < 0) vertex += vertices() + 1;
      corners_.push_back({vertex, sewn_ ? texture_of(at, end) : 0, in_.offset()});
    }
    if (corners < 3 || corners > kMostCorners)
      in_.fail("a face has " + std::to_string(corners) + " corners: between 3 and " +
               std::to_string(kMostCorners) + " make one");
    ends_.push_back(corners_.size());
  }
  /// Of a corner's word from behind its vertex to `end`.
  std::int64_t texture_of(const char* at, const char* end) const {
    if (at == end || at + 1 == end || at[1] == '/')
      in_.fail("a corner of a face has no texture coordinate: a pattern needs one at each (f v/vt ...)");
    std::int64_t texture = 0;
    const auto [behind, error] = std::from_chars(at + 1, end, texture);
    if (error != std::errc{} || (behind != end && *behind != '/') || texture == 0)
      in_.fail("the texture coordinate of a corner should be the number of a vt, counted from 1 or from -1");
    return texture < 0 ? texture + static_cast<std::int64_t>(textures_.size()) + 1 : texture;
  }

  std::int64_t vertices() const { return static_cast<std::int64_t>(mesh_.surface.nodes.size()); }
  /// Counted from 0.
  std::int32_t index_of(const char* what, std::int64_t number, std::int64_t count, const Corner& at) const {
    if (number < 1 || number > count)
      in_.fail_at(at.offset, "a face names " + std::string(what) + " " + std::to_string(number) + " of " +
                                 std::to_string(count));
    return static_cast<std::int32_t>(number - 1);
  }
  void add_polygon(std::span<const Corner> polygon) {
    places_.clear();
    order_.clear();
    vertices_.clear();
    for (const Corner& corner : polygon) {
      vertices_.push_back(index_of("vertex", corner.vertex, vertices(), corner));
      order_.push_back(static_cast<std::int32_t>(places_.size()));
      places_.push_back(mesh_.surface.nodes[static_cast<std::size_t>(vertices_.back())]);
    }
    cut_.clear();
    triangulate(places_, order_, cut_);
    for (const Vec3i& t : cut_) {
      mesh_.surface.triangles.push_back({vertices_[t[0]], vertices_[t[1]], vertices_[t[2]]});
      if (!sewn_) continue;
      PatternTriangle& flat = mesh_.pattern.emplace_back();
      for (int c = 0; c < 3; ++c) {
        const Corner& corner = polygon[static_cast<std::size_t>(t[c])];
        const auto count = static_cast<std::int64_t>(textures_.size());
        flat.corners[c] = textures_[static_cast<std::size_t>(
            index_of("texture coordinate", corner.texture, count, corner))];
      }
      triangle_offsets_.push_back(polygon[0].offset);
    }
  }
  void check_pattern() const {
    const auto fault = pattern_fault(mesh_.surface.triangles, mesh_.pattern);
    if (!fault) return;
    const auto offset = [&](std::int32_t t) { return triangle_offsets_[static_cast<std::size_t>(t)]; };
    std::string what = fault->what;
    if (fault->neighbour >= 0)
      what += " (the other one is in line " + std::to_string(in_.line_of(offset(fault->neighbour))) + ")";
    in_.fail_at(offset(fault->triangle), what);
  }

  ByteCursor in_;
  bool sewn_;
  std::vector<Corner> corners_;    // of all faces
  std::vector<std::size_t> ends_;  // of each face, in corners_
  std::vector<Vec<double, 2>> textures_;
  SewnSurface mesh_;
  std::vector<std::size_t> triangle_offsets_;  // of the face that each is a part of
  // Of a polygon: where its corners are, 0, 1, 2, ..., and its vertices; its triangles by corners.
  std::vector<Vec<double, 3>> places_;
  std::vector<std::int32_t> order_, vertices_;
  std::vector<Vec3i> cut_;
};

}  // namespace

SurfaceMesh parse_obj(std::string_view bytes, const std::string& name) {
  return ObjReader(bytes, name, false).read().surface;
}

SewnSurface parse_sewn_obj(std::string_view bytes, const std::string& name) {
  return ObjReader(bytes, name, true).read();
}

void write_obj(std::ostream& out, const std::vector<NamedSurface>& parts) {
  std::int64_t first = 1;
  for (const NamedSurface& part : parts) {
    out << "o " << part.name << "\n";
    for (const auto& p : part.mesh.nodes)
      out << "v " << number_text(p[0]) << " " << number_text(p[1]) << " " << number_text(p[2]) << "\n";
    for (const Vec3i& t : part.mesh.triangles)
      out << "f " << t[0] + first << " " << t[1] + first << " " << t[2] + first << "\n";
    for (const std::vector<std::int32_t>& line : part.lines) {
      out << "l";
      for (const std::int32_t node : line) out << " " << node + first;
      out << "\n";
    }
    first += static_cast<std::int64_t>(part.mesh.nodes.size());
  }
}

}  // namespace stickslip
