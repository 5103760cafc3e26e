// Gmsh files: both versions, text and binary, and the errors in invalid ones.
#include <cmath>
#include <random>

#include "app/io/mesh/mesh_check.h"
#include "app/io/mesh/mesh_gen.h"
#include "app/io/mesh/msh.h"
#include "app/io/report/state_file.h"
#include "mesh_fixture.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/shared_data.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

const std::string head4 = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";
const std::string nodes4 =
    "$Nodes\n1 5 10 50\n3 1 0 5\n10\n20\n30\n40\n50\n"
    "0 0 0\n1 0 0\n0 1 0\n0 0 1\n-1 -1 -1\n$EndNodes\n";
const std::string tets4 = "$Elements\n1 2 7 9\n3 1 4 2\n7 10 20 30 40\n9 20 10 30 50\n$EndElements\n";

std::string with_elements4(const std::string& rows, int count) {
  const std::string n = std::to_string(count);
  return head4 + nodes4 + "$Elements\n1 " + n + " 1 99\n3 1 4 " + n + "\n" + rows + "$EndElements\n";
}

std::string refusal(const std::string& text) {
  return refusal_of([&] { checked_solid(parse_msh(text, "a.msh"), "a.msh"); });
}

double volume(const TetMesh& mesh) {
  double sum = 0;
  for (const Vec4i& tet : mesh.tets) sum += signed_volume(mesh.nodes, tet);
  return sum;
}

TEST(Msh, TagsNeedNotBeContiguous) {
  const MshContent content = parse_msh(head4 + nodes4 + tets4, "a.msh");
  ASSERT_EQ(content.tets.size(), 2u);
  EXPECT_EQ(content.tets[1], (Vec4i{1, 0, 2, 4}));
  EXPECT_EQ(content.tet_tags[1], 9);
  EXPECT_EQ(content.node_tags[4], 50);
  const TetMesh mesh = checked_solid(content, "a.msh");
  EXPECT_EQ(mesh.nodes.size(), 5u);
  EXPECT_NEAR(volume(mesh), 1.0 / 3, 1e-15);
}

TEST(Msh, OtherSectionsAndElementsOfLowerDimensionArePassedOver) {
  const std::string text = head4 + "$Comments\n$Nodes 1 2 3\n$EndComments\n" +
                           "$Nodes\n1 4 1 4\n2 1 1 4\n1\n2\n3\n4\n"
                           "0 0 0 0.5 0.5\n1 0 0 0 0\n0 1 0 0 0\n0 0 1 0 0\n$EndNodes\n"
                           "$Elements\n3 3 1 3\n0 1 15 1\n1 1\n2 1 2 1\n2 1 2 3\n3 1 4 1\n3 1 2 3 4\n"
                           "$EndElements\n$Surface\n1\n1 2 3\n$EndSurface\n";
  const MshContent content = parse_msh(text, "a.msh");
  EXPECT_EQ(content.nodes.size(), 4u);
  EXPECT_EQ(content.nodes[3], (Vec3d{0, 0, 1}));
  EXPECT_EQ(content.tets.size(), 1u);
  EXPECT_EQ(content.triangles.size(), 1u);
}

TEST(Msh, UnusedNodesAreLeftOutWithAWarning) {
  ::testing::internal::CaptureStderr();
  const TetMesh mesh = checked_solid(parse_msh(with_elements4("9 20 10 30 50\n", 1), "a.msh"), "a.msh");
  const std::string warning = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(mesh.nodes.size(), 4u);
  EXPECT_EQ(mesh.nodes[3], (Vec3d{-1, -1, -1}));
  expect_parts(warning.substr(0, warning.size() - 1), {"a.msh", "1 nodes", "tag 40"});
}

TEST(Msh, AllTetsInvertedIsAConventionAndSomeAreAFault) {
  const TetMesh mesh =
      checked_solid(parse_msh(with_elements4("1 10 30 20 40\n2 10 20 30 50\n", 2), "a.msh"), "a.msh");
  EXPECT_NEAR(volume(mesh), 1.0 / 3, 1e-15);
  expect_parts(refusal(with_elements4("1 10 20 30 40\n2 10 20 30 50\n", 2)),
               {"a.msh: element 2 is inverted"});
}

TEST(Msh, ElementsAtFaultAreNamed) {
  expect_parts(refusal(with_elements4("1 10 20 30 40\n6 20 30 10 40\n", 2)),
               {"element 6", "same nodes as element 1"});
  expect_parts(refusal(with_elements4("1 10 20 30 30\n", 1)), {"element 1", "no volume"});
  expect_parts(refusal(head4 + "$Nodes\n1 5 1 5\n3 1 0 5\n1\n2\n3\n4\n5\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
                               "0.1 0.1 2\n$EndNodes\n$Elements\n1 2 1 2\n3 1 4 2\n1 1 2 3 4\n8 1 2 3 5\n"
                               "$EndElements\n"),
               {"element 8", "overlaps element 1"});
  expect_parts(refusal(head4 + nodes4 + "$Elements\n1 1 1 1\n2 1 2 1\n1 10 20 30\n$EndElements\n"),
               {"no tetrahedra", "1 triangles", "gmsh -3"});
}

TEST(Msh, FaultsNameTheLine) {
  const auto expect_at = [](const std::string& text, int line, std::initializer_list<std::string> parts) {
    SCOPED_TRACE(text);
    const std::string message = refusal(text);
    expect_parts(message, {"a.msh:" + std::to_string(line) + ": "});
    expect_parts(message, parts);
  };
  expect_at("solid a\n", 1, {"$MeshFormat", "2.2 or 4.1"});
  expect_at("$MeshFormat\n4 0 8\n$EndMeshFormat\n", 2, {"'4'", "msh41"});
  expect_at("$MeshFormat\n4.1 0 4\n$EndMeshFormat\n", 2, {"'4'", "8"});
  expect_at("$MeshFormat\n4.1 2 8\n$EndMeshFormat\n", 2, {"'2'", "1 for binary"});
  expect_at(head4 + "junk\n", 4, {"section"});
  expect_at(head4 + "$Comments\n", 4, {"'$Comments' has no end"});
  expect_at(head4 + nodes4, 18, {"no $Elements"});
  expect_at(head4 + nodes4 + nodes4, 18, {"second $Nodes"});
  expect_at(head4 + "$Nodes\n1 99999999999 1 4\n3 1 0 99999999999\n1\n", 6,
            {"99999999999 nodes", "truncated"});
  expect_at(head4 + "$Nodes\n1 -1 1 4\n", 5, {"'-1'", "number of nodes"});
  expect_at(head4 + "$Nodes\n1 1 1 1\n3 1 0 1\n1\n0 zero 0\n$EndNodes\n", 8, {"'zero'", "coordinate"});
  for (const char* bad : {"nan", "inf", "-1e400", "1e200"})
    expect_at(head4 + "$Nodes\n1 1 1 1\n3 1 0 1\n1\n0 " + std::string(bad) + " 0\n$EndNodes\n", 8,
              {"finite"});
  expect_at(head4 + "$Nodes\n1 2 1 2\n3 1 0 1\n1\n0 0 0\n$EndNodes\n", 8, {"2 nodes", "holds 1"});
  expect_at(head4 + "$Nodes\n1 1 1 1\n3 1 0 1\n1\n0 0 0\n0 0 0\n$EndNodes\n", 9, {"'0'", "$EndNodes"});
  expect_at(with_elements4("1 10 20 30 31\n", 1), 21, {"element 1", "node 31"});
  expect_at(with_elements4("1 10 20 30 x\n", 1), 21, {"'x'", "node"});
  expect_at(head4 + nodes4 + "$Elements\n1 1 1 1\n3 1 5 1\n1 1 1 1 1 1 1 1 1\n$EndElements\n", 20,
            {"type 5", "hexahedron", "4 nodes"});
  expect_at(head4 + nodes4 + "$Elements\n1 1 1 1\n3 1 11 1\n", 20, {"type 11", "10 nodes"});
  expect_at(head4 + nodes4 + "$Elements\n1 1 1 1\n3 1 77 1\n", 20, {"type 77", "unknown"});
  const std::string twice = "$Nodes\n1 2 1 2\n3 1 0 2\n7\n7\n0 0 0\n1 0 0\n$EndNodes\n";
  expect_at(head4 + twice + "$Elements\n0 0 0 0\n$EndElements\n", 15, {"tag 7"});
}

TEST(Msh, FaultsOfBinaryFilesNameTheByte) {
  std::ostringstream out;
  write_msh(out, {{"a", make_box({1, 1, 1}, 1)}}, {.binary = true});
  const std::string good = out.str();
  EXPECT_TRUE(parse_msh(good, "a.msh").binary);

  std::string bad_order = good;
  bad_order[good.find("4.1 1 8\n") + 8] = 2;
  expect_parts(refusal(bad_order), {"a.msh: byte 20: ", "byte order"});

  std::string bad_count = good;
  const std::size_t block = good.find("$Nodes\n") + 7 + 32 + 12;
  bad_count[block + 6] = 1;
  expect_parts(refusal(bad_count), {"a.msh: byte " + std::to_string(block + 8), "nodes", "truncated"});

  std::string not_a_number = good;
  const std::size_t x = block + 8 + 8 * 8;
  for (int i = 0; i < 8; ++i) not_a_number[x + i] = static_cast<char>(0xff);
  expect_parts(refusal(not_a_number), {"a.msh: byte " + std::to_string(x) + ": ", "finite"});
}

TEST(Msh, EveryFormatReadsBackTheSame) {
  const std::vector<NamedTets> parts{{"left \"one\"", make_sphere(0.1, 0.05)},
                                     {"right", make_box({1, 1, 1}, 0.5)}};
  for (const bool binary : {false, true})
    for (const bool version2 : {false, true}) {
      SCOPED_TRACE(std::string(binary ? "binary " : "text ") + (version2 ? "2.2" : "4.1"));
      std::ostringstream out;
      write_msh(out, parts, {binary, version2});
      const MshContent content = parse_msh(out.str(), "a.msh");
      std::vector<Vec3d> nodes = parts[0].mesh.nodes;
      nodes.insert(nodes.end(), parts[1].mesh.nodes.begin(), parts[1].mesh.nodes.end());
      EXPECT_EQ(content.nodes, nodes);
      ASSERT_EQ(content.tets.size(), parts[0].mesh.tets.size() + parts[1].mesh.tets.size());
      EXPECT_EQ(content.tets[0], parts[0].mesh.tets[0]);
      EXPECT_EQ(content.tets.back(),
                parts[1].mesh.tets.back() + Vec4i::filled(static_cast<int>(parts[0].mesh.nodes.size())));
    }
}

TEST(Msh, TheOtherByteOrderIsRead) {
  std::string bytes = "$MeshFormat\n4.1 1 8\n";
  const auto sizes = [&](std::initializer_list<std::uint64_t> values) {
    for (const std::uint64_t v : values) append(bytes, v, true);
  };
  const auto integers = [&](std::initializer_list<std::int32_t> values) {
    for (const std::int32_t v : values) append(bytes, v, true);
  };
  integers({1});
  bytes += "\n$EndMeshFormat\n$Nodes\n";
  sizes({1, 4, 1, 4});
  integers({3, 1, 0});
  sizes({4, 1, 2, 3, 4});
  for (int node = 0; node < 4; ++node)
    for (int c = 0; c < 3; ++c) append(bytes, node == c + 1 ? 2.5 : 0.0, true);
  bytes += "\n$EndNodes\n$Elements\n";
  sizes({1, 1, 1, 1});
  integers({3, 1, 4});
  sizes({1, 1, 1, 2, 3, 4});
  bytes += "\n$EndElements\n";
  EXPECT_NEAR(volume(checked_solid(parse_msh(bytes, "a.msh"), "a.msh")), 2.5 * 2.5 * 2.5 / 6, 1e-14);
}

/// Truncates a file at every byte: it is refused or, if only white space is missing, read as before.
void truncate_everywhere(const std::string& good) {
  for (std::size_t length = 0; length + 1 < good.size(); ++length) {
    SCOPED_TRACE(length);
    expect_parts(refusal(good.substr(0, length)), {"a.msh"});
  }
  EXPECT_NO_THROW(parse_msh(good.substr(0, good.size() - 1), "a.msh"));
}

TEST(Msh, TruncatedAnywhereIsRefused) {
  truncate_everywhere(head4 + nodes4 + tets4);
  for (const bool version2 : {false, true})
    for (const bool binary : {false, true}) {
      std::ostringstream out;
      write_msh(out, {{"a", make_box({1, 1, 1}, 1)}}, {binary, version2});
      truncate_everywhere(out.str());
    }
}

TEST(Msh, DamagedBytesNeverDoMoreThanRefuse) {
  std::ostringstream out;
  write_msh(out, {{"a", make_box({1, 1, 1}, 1)}}, {.binary = true});
  std::string bytes = out.str();
  ::testing::internal::CaptureStderr();  // warnings about nodes without a tet
  std::mt19937 random(7);
  int refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (int trial = 0; trial < 4; ++trial) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(random());
      try {
        checked_solid(parse_msh(damaged, "a.msh"), "a.msh");
      } catch (const InputError&) {
        ++refused;
      }
    }
  ::testing::internal::GetCapturedStderr();
  EXPECT_GT(refused, 1000);
}

class StateFile : public MeshFiles {};

TEST_F(StateFile, HoldsTheLinearPartsOfTenNodeTets) {
  Model model;
  const Object& cube =
      fixtures::add_box(model, "cube", {1, 1, 1}, {0, 0, 0}, 2, 0, {0, 0, 0}, fixtures::BoxBody::ten_node);
  finalize(model);
  std::vector<Vec3d> positions = model.positions;
  for (Vec3d& p : positions) p = 2.0 * p + Vec3d{0, 0.1 * p[0] * p[0], 0};
  write_state(folder_ / "state.msh", model, positions);
  const TetMesh mesh = load_solid(folder_ / "state.msh");
  EXPECT_EQ(mesh.tets.size(), 8u * 6 * 8);
  ASSERT_EQ(mesh.nodes.size(), static_cast<std::size_t>(cube.node_end));
  for (std::size_t i = 0; i < positions.size(); ++i) EXPECT_EQ(mesh.nodes[i], positions[i]);
  EXPECT_NEAR(volume(mesh), 8, 0.1);
  EXPECT_EQ(boundary_surface(mesh).triangles.size(), model.triangles.size());
}

// The lines of the file, read here by its letters, join the nodes of the model in the order of the segments:
// an open strand, a closed one, which returns to its first node, and no ghosts.
TEST_F(StateFile, HasTheStrandsOfRodsAsLines) {
  Model model;
  fixtures::add_box(model, "cube", {1, 1, 1}, {0, 0, 0}, 1);
  const std::vector<Vec3d> nodes{{3, 0, 0}, {3, 1, 0}, {3, 2, 0}, {5, 0, 0}, {6, 0, 0}, {5, 1, 0}};
  add_rods(model, "rods", nodes, {{0, 1}, {1, 2}, {3, 4}, {4, 5}, {5, 3}}, 0, 0.01);
  finalize(model);
  write_state(folder_ / "state.obj", model, model.positions);
  std::ifstream file(folder_ / "state.obj");
  std::string object;
  std::vector<Vec3d> points;
  std::vector<std::vector<Vec3d>> lines;
  std::size_t before = 0;
  for (std::string text; std::getline(file, text);) {
    std::istringstream row(text);
    std::string letter;
    row >> letter;
    if (letter == "o") row >> object, before = points.size();
    if (letter == "v") {
      Vec3d p;
      row >> p[0] >> p[1] >> p[2];
      points.push_back(p);
    }
    if (letter != "l") continue;
    EXPECT_EQ(object, "rods");
    lines.emplace_back();
    for (std::size_t i = 0; row >> i;) lines.back().push_back(points.at(i - 1));
  }
  EXPECT_EQ(points.size() - before, nodes.size()) << "no ghosts";
  const std::vector<std::vector<Vec3d>> expected{{nodes[0], nodes[1], nodes[2]},
                                                 {nodes[3], nodes[4], nodes[5], nodes[3]}};
  ASSERT_EQ(lines.size(), expected.size());
  for (std::size_t k = 0; k < lines.size(); ++k) EXPECT_TRUE(lines[k] == expected[k]) << k;
  // Readers of surfaces skip lines, and find the cube.
  EXPECT_EQ(load_surface(folder_ / "state.obj").triangles.size(), model.triangles.size());
}

TEST(Msh, OthersMeshesAreRead) {
  const std::filesystem::path folder = stickslip::testing::shared_data() / "ipc/input/tetMeshes";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no shared data beside the checkout";
  int read = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".msh") continue;
    SCOPED_TRACE(entry.path());
    const TetMesh mesh = load_solid(entry.path());
    EXPECT_GT(volume(mesh), 0);
    EXPECT_GE(load_surface(entry.path()).triangles.size(), 4u);
    ++read;
  }
  EXPECT_GT(read, 20);
}

}  // namespace
}  // namespace stickslip
