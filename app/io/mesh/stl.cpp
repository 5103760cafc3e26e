// STL [STL89].
#include <bit>
#include <cmath>

#include "app/io/file/byte_cursor.h"
#include "app/io/mesh/mesh_check.h"
#include "app/io/mesh/surface_parse.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
constexpr std::size_t kHeader = 80, kPreamble = 84, kFacet = 50;

Vec3d checked(const ByteCursor& in, Vec3d p) {
  for (int c = 0; c < 3; ++c) {
    if (!(std::abs(p[c]) < 1e30)) in.fail("a coordinate is not a finite length");
    p[c] += 0.0;  // -0 becomes 0
  }
  return p;
}

void read_facet(ByteCursor& in, std::vector<Vec3d>& corners) {
  in.expect("normal");
  for (int c = 0; c < 3; ++c) in.number("a component of the normal");
  in.expect("outer");
  in.expect("loop");
  for (int corner = 0; corner < 3; ++corner) {
    in.expect("vertex");
    Vec3d p{};
    for (int c = 0; c < 3; ++c) p[c] = in.number("a coordinate");
    corners.push_back(checked(in, p));
  }
  in.expect("endloop");
  in.expect("endfacet");
}

std::vector<Vec3d> read_text(ByteCursor& in) {
  std::vector<Vec3d> corners;
  while (!in.ended()) {
    in.expect("solid");
    in.line();
    for (std::string_view word = in.word(); word != "endsolid"; word = in.word()) {
      if (word != "facet")
        in.fail(word.empty() ? "the file has no endsolid: is it truncated?"
                             : "facet or endsolid should begin here");
      read_facet(in, corners);
    }
    in.line();
  }
  return corners;
}

std::vector<Vec3d> read_binary(ByteCursor& in) {
  std::vector<Vec3d> corners;
  in.set_binary(std::endian::native == std::endian::big);
  in.go_to(kPreamble);
  while (in.remaining() >= kFacet) {
    for (int c = 0; c < 3; ++c) in.binary<float>("the normal");
    for (int corner = 0; corner < 3; ++corner) {
      Vec3d p{};
      for (int c = 0; c < 3; ++c) p[c] = in.binary<float>("a coordinate");
      corners.push_back(checked(in, p));
    }
    in.binary<std::uint16_t>("the attribute");
  }
  return corners;
}

/// Triangles without shared vertices.
SurfaceMesh soup(std::vector<Vec3d> corners) {
  SurfaceMesh mesh{std::move(corners), {}};
  for (std::int32_t i = 0; i + 2 < static_cast<std::int32_t>(mesh.nodes.size()); i += 3)
    mesh.triangles.push_back({i, i + 1, i + 2});
  return mesh;
}

}  // namespace

SurfaceMesh parse_stl(std::string_view bytes, const std::string& name) {
  ByteCursor in(bytes, name);
  std::uint64_t promised = 0;
  for (std::size_t i = kPreamble; bytes.size() >= kPreamble && i-- > kHeader;)
    promised = promised << 8 | static_cast<unsigned char>(bytes[i]);
  // Binary files may also begin with "solid", so the length decides.
  const bool binary = bytes.size() >= kPreamble && bytes.size() == kPreamble + kFacet * promised;
  if (!binary) in.skip_byte_order_mark();
  const std::size_t begin = in.offset();
  if (!binary && in.word() != "solid")
    throw InputError(name + ": is neither an STL text, which begins with 'solid', nor a binary STL, whose " +
                     (bytes.size() < kPreamble
                          ? "header has 84 bytes"
                          : std::to_string(promised) + " triangles would make " +
                                std::to_string(kPreamble + kFacet * promised) + " bytes") +
                     "; the file has " + std::to_string(bytes.size()));
  in.go_to(begin);
  SurfaceMesh mesh = weld(soup(binary ? read_binary(in) : read_text(in)));
  if (mesh.triangles.empty()) throw InputError(name + ": has no triangles with three different corners");
  return mesh;
}

}  // namespace stickslip
