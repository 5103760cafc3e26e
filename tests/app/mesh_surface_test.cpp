// Surfaces from OBJ, PLY and STL files.
#include <cmath>

#include "app/io/mesh/mesh_check.h"
#include "app/io/mesh/mesh_gen.h"
#include "app/io/mesh/polygon.h"
#include "app/io/mesh/solidify.h"
#include "app/io/mesh/surface_parse.h"
#include "app/io/scene/scene.h"
#include "mesh_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using MeshSurface = MeshFiles;

const std::string ply_text =
    "ply\nformat ascii 1.0\ncomment by hand\nelement vertex 5\nproperty float x\nproperty float y\n"
    "property float z\nproperty uchar red\nelement face 2\nproperty list uchar int vertex_indices\n"
    "end_header\n0 0 0 1\n1 0 0 2\n1 1 0 3\n0 1 0 4\n9 9 9 5\n3 0 1 2\n3 0 2 3\n";
const std::string stl_facet =
    "facet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 1 -0\n endloop\nendfacet\n";

double area(const SurfaceMesh& mesh) {
  double sum = 0;
  for (const Vec3i& t : mesh.triangles)
    sum += norm(cross(mesh.nodes[t[1]] - mesh.nodes[t[0]], mesh.nodes[t[2]] - mesh.nodes[t[0]])) / 2;
  return sum;
}

std::string binary_stl(const SurfaceMesh& mesh) {
  std::string bytes("solid, but binary");
  bytes.resize(80, ' ');
  append(bytes, static_cast<std::uint32_t>(mesh.triangles.size()));
  for (const Vec3i& t : mesh.triangles) {
    for (int c = 0; c < 3; ++c) append(bytes, 0.f);
    for (int corner = 0; corner < 3; ++corner)
      for (int c = 0; c < 3; ++c) append(bytes, static_cast<float>(mesh.nodes[t[corner]][c]));
    append(bytes, std::uint16_t(0));
  }
  return bytes;
}

std::string binary_ply(bool swapped) {
  const bool big = swapped == (std::endian::native == std::endian::little);
  std::string bytes =
      "ply\nformat binary_" + std::string(big ? "big" : "little") +
      "_endian 1.0\nelement vertex 3\nproperty double x\nproperty short id\n"
      "property double y\nproperty double z\nelement strip 1\nproperty list char float v\n"
      "element face 1\nproperty uchar flag\nproperty list ushort uint vertex_index\nend_header\n";
  const double x[3][3] = {{0, 0, 0}, {2, 0, 0}, {0, 3, 0}};
  for (const auto& p : x) {
    append(bytes, p[0], swapped);
    append(bytes, std::int16_t(5), swapped);
    append(bytes, p[1], swapped), append(bytes, p[2], swapped);
  }
  append(bytes, std::int8_t(1)), append(bytes, 1.f, swapped);
  append(bytes, std::uint8_t(7)), append(bytes, std::uint16_t(3), swapped);
  for (const std::uint32_t i : {0u, 1u, 2u}) append(bytes, i, swapped);
  return bytes;
}

TEST(Obj, QuadsAreCutAndUnusedVerticesDropped) {
  const SurfaceMesh mesh = parse_obj(
      "v 9 9 9\nv 0 0 0\nv 1 0 0 1\nv 1 0 1\nv 0 0 1\nvn 0 1 0\nf 2//1 5//1 \\\n 4//1 3//1 # up\n", "a.obj");
  EXPECT_EQ(mesh.nodes.size(), 4u);
  EXPECT_EQ(mesh.triangles.size(), 2u);
  EXPECT_NEAR(area(mesh), 1, 1e-15);
  EXPECT_EQ(parse_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3/1 -2/2 -1/3\n", "a.obj").triangles[0],
            (Vec3i{0, 1, 2}));
}

TEST(Obj, ConcavePolygonsKeepTheirArea) {
  const SurfaceMesh mesh = parse_obj("v 0 0 0\nv 2 0 0\nv 2 2 0\nv 1 0.5 0\nv 0 2 0\nf 4 5 1 2 3\n", "a.obj");
  EXPECT_EQ(mesh.triangles.size(), 3u);
  EXPECT_NEAR(area(mesh), 2 + 0.5, 1e-12);
}

TEST(Obj, FaultsNameTheLine) {
  const auto expect_at = [](const std::string& text, int line, std::initializer_list<std::string> parts) {
    SCOPED_TRACE(text);
    const std::string message = refusal_of([&] { parse_obj(text, "a.obj"); });
    expect_parts(message, {"a.obj:" + std::to_string(line) + ": "});
    expect_parts(message, parts);
  };
  expect_at("nonsense\n", 2, {"no faces"});
  expect_at("v 0 0 0\nv 1 0\n", 2, {"three coordinates"});
  expect_at("v 0 0 0\nv 1 0 1e999\n", 2, {"vertex 2", "not finite"});
  expect_at("v 0 0 x\n", 1, {"'x'"});
  expect_at("v 0 0 0\nv 1 0 0\nf 1 2\n", 3, {"2 corners"});
  expect_at("v 0 0 0\nv 1 0 0\n\nf 1 2 7\n", 4, {"vertex 7 of 2"});
  expect_at("v 0 0 0\nf 1 1 -4\n", 2, {"vertex -2 of 1"});
  expect_at("v 0 0 0\nf 0 1 1\n", 2, {"counted from 1"});
  expect_at("v 0 0 0\nf 99999999999999999999 1 1\n", 2, {"number of a vertex"});
}

TEST(Ply, TextAndBinaryOfBothByteOrders) {
  const SurfaceMesh mesh = parse_ply(ply_text, "a.ply");
  EXPECT_EQ(mesh.nodes.size(), 4u);
  EXPECT_NEAR(area(mesh), 1, 1e-15);
  for (const bool swapped : {false, true}) {
    const SurfaceMesh triangle = parse_ply(binary_ply(swapped), "a.ply");
    EXPECT_NEAR(area(triangle), 3, 1e-15);
    EXPECT_EQ(triangle.nodes[2], (Vec3d{0, 3, 0}));
  }
}

TEST(Ply, FaultsAreNamed) {
  const auto refusal = [](const std::string& text) { return refusal_of([&] { parse_ply(text, "a.ply"); }); };
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  expect_parts(refusal("plx\n"), {"a.ply:1: ", "'ply'"});
  expect_parts(refusal(replaced(ply_text, "ascii", "ancient")), {"a.ply:2: ", "binary_little_endian"});
  expect_parts(refusal(replaced(ply_text, "float y", "real y")), {"a.ply:6: ", "type"});
  expect_parts(refusal(replaced(ply_text, "vertex 5", "vertex 5000000000000")),
               {"5000000000000 vertex rows"});
  expect_parts(refusal(replaced(ply_text, "float z", "float w")), {"a.ply:12: ", "vertex 0", "z"});
  expect_parts(refusal(replaced(ply_text, "3 0 2 3", "3 0 2 5")), {"a.ply:17: ", "vertex 5 of 5"});
  expect_parts(refusal(replaced(ply_text, "3 0 2 3", "2 0 2")), {"a.ply:17: ", "face 1 has 2 corners"});
  expect_parts(refusal(replaced(ply_text, "9 9 9", "9 nan 9")), {"a.ply:16: ", "vertex 4", "y"});
  expect_parts(refusal(replaced(ply_text, "face 2", "face 0")), {"no faces"});
  expect_parts(refusal("ply\nformat ascii 1.0\nelement vertex 1\n"), {"a.ply:4: ", "end_header"});
  std::string cut = binary_ply(false);
  cut.resize(cut.size() - 2);
  expect_parts(refusal(cut), {"a.ply: byte ", "truncated"});
}

TEST(Stl, CornersAreWelded) {
  const SurfaceMesh text =
      parse_stl("solid a\n" + stl_facet + stl_facet + "endsolid\nsolid b\nendsolid b\n", "a.stl");
  EXPECT_EQ(text.nodes.size(), 3u);
  EXPECT_EQ(text.triangles.size(), 2u);
  const SurfaceMesh sphere = boundary_surface(make_sphere(1, 0.5));
  const SurfaceMesh binary = parse_stl(binary_stl(sphere), "a.stl");
  EXPECT_EQ(binary.nodes.size(), sphere.nodes.size());
  EXPECT_EQ(binary.triangles.size(), sphere.triangles.size());
  EXPECT_NEAR(enclosed_volume(binary), enclosed_volume(sphere), 1e-5);
}

TEST(Stl, FaultsAreNamed) {
  const auto refusal = [](const std::string& text) { return refusal_of([&] { parse_stl(text, "a.stl"); }); };
  expect_parts(refusal("solid a\n" + stl_facet), {"a.stl:9: ", "endsolid"});
  expect_parts(refusal("solid a\nfacet normal 0 0 1\nouter lop\n"), {"a.stl:3: ", "'lop'", "loop"});
  expect_parts(refusal("solid a\nendsolid a\n"), {"a.stl", "no triangles"});
  std::string cut = binary_stl(boundary_surface(make_box({1, 1, 1}, 1)));
  cut[0] = 'x';
  cut.resize(cut.size() - 1);
  expect_parts(refusal(cut), {"12 triangles would make 684 bytes", "683"});
}

TEST(Surface, TruncatedAnywhereIsRefusedOrReadAsFarAsItGoes) {
  const auto try_all = [](const std::string& bytes,
                          SurfaceMesh (*parse)(std::string_view, const std::string&)) {
    int refused = 0;
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      try {
        parse(std::string_view(bytes).substr(0, length), "a");
      } catch (const InputError& error) {
        ++refused;
        EXPECT_EQ(std::string(error.what()).rfind("a", 0), 0u);
      }
    }
    EXPECT_GT(refused, static_cast<int>(bytes.size() / 2));
  };
  try_all("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", parse_obj);
  try_all(ply_text, parse_ply);
  try_all(binary_ply(true), parse_ply);
  try_all("solid a\n" + stl_facet + "endsolid a\n", parse_stl);
  try_all(binary_stl(boundary_surface(make_box({1, 1, 1}, 1))), parse_stl);
}

TEST_F(MeshSurface, ColliderFilesAreFoundBesideTheScene) {
  const std::string scene =
      "[[material]]\nname = 'm'\n[[object]]\nname = 'o'\nshape = 'box'\nsize = [1, 1, 1]\nedge = 1\n"
      "[[collider]]\nname = 'c'\nposition = [0, 9, 0]\nfile = 'mesh.";
  write("mesh.obj", "v 0 0 0\nv 1 0 0\nv 1 0 1\nf 1 3 2\n");
  write("mesh.ply", ply_text);
  write("mesh.stl", "solid a\n" + stl_facet + "endsolid\n");
  for (const char* extension : {"obj", "ply", "stl"}) {
    const Scene loaded = parse_scene(scene + extension + "'\n", folder_ / "test.toml");
    EXPECT_EQ(loaded.model.objects[1].triangle_end - loaded.model.objects[1].triangle_begin,
              std::string(extension) == "ply" ? 2 : 1);
    EXPECT_GE(loaded.model.positions.back()[1], 9);
  }
  expect_parts(refusal_of([&] { parse_scene(scene + "xyz'\n", folder_ / "test.toml"); }),
               {"test.toml:11: ", "[[collider]] file", "mesh.xyz", ".obj"});
}

TEST_F(MeshSurface, FoldersAndMissingAndEmptyFilesAreRefused) {
  std::filesystem::create_directory(folder_ / "folder.obj");
  for (const std::string extension : {".msh", ".obj", ".ply", ".stl"}) {
    expect_parts(refusal_of([&] { load_surface(folder_ / ("none" + extension)); }),
                 {"none" + extension, "no such file"});
    const auto empty = write("empty" + extension, "");
    expect_parts(refusal_of([&] { load_surface(empty); }), {"empty" + extension, "is empty"});
    std::filesystem::create_directory(folder_ / ("folder" + extension));
    expect_parts(refusal_of([&] { load_solid(folder_ / ("folder" + extension)); }), {"is a folder"});
  }
  std::filesystem::resize_file(write("huge.stl", "solid"), std::uintmax_t(1) << 42);
  expect_parts(refusal_of([&] { load_surface(folder_ / "huge.stl"); }), {"huge.stl", "GiB"});
}

}  // namespace
}  // namespace stickslip
