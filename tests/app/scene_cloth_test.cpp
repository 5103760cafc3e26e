#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "app/io/mesh/mesh_gen.h"
#include "app/io/scene/scene.h"
#include "gpu/model/element_group.h"
#include "gpu/model/scene_traits.h"

namespace stickslip {
namespace {

const std::string kMaterial = "[[material]]\nname = \"cotton\"\nyoung = 1e6\nyoung_weft = 5e5\n";
const std::string kSheet =
    "[[object]]\nname = \"sheet\"\nbody = \"cloth\"\nshape = \"sheet\"\nsize = [1, 0.8]\nedge = 0.1\n";
const std::string kThickness = "thickness = 1e-3\n";

Scene parse_cloth(const std::string& text) { return parse_scene(text, "folder/test.toml"); }

void expect_cloth_error(const std::string& text, std::initializer_list<const char*> parts) {
  std::string error;
  try {
    parse_cloth(text);
  } catch (const InputError& fault) {
    error = fault.what();
  }
  ASSERT_FALSE(error.empty()) << "accepted:\n" << text;
  for (const char* part : parts) EXPECT_NE(error.find(part), std::string::npos) << part << " in: " << error;
}

TEST(SceneCloth, ASheetHasItsAreaThicknessAndWarp) {
  const Model model = parse_cloth(kMaterial + kSheet + kThickness +
                                  "rotation = [0, 90, 0]\nposition = [0, 2, 0]\nwarp = [0, 0, 1]\n"
                                  "velocity = [0, 0, 3]\ncount = [1, 2, 1]\nspacing = [0, 1, 0]\n")
                          .model;
  ASSERT_EQ(model.objects.size(), 2U);
  const Object& sheet = model.objects[1];
  EXPECT_EQ(sheet.name, "sheet.1");
  EXPECT_TRUE(sheet.is_cloth());
  EXPECT_NEAR(solid_volume(model, sheet), 0.8e-3, 1e-15);
  EXPECT_LT(norm(sheet.warp - Vec<double, 3>{1, 0, 0}), 1e-12);
  EXPECT_EQ(model.velocities[static_cast<std::size_t>(sheet.node_begin)], (Vec<double, 3>{0, 0, 3}));
  Vec<double, 3> least{9, 9, 9}, most{-9, -9, -9};
  for (std::int32_t i = sheet.node_begin; i < sheet.node_end; ++i) {
    least = min(least, model.positions[static_cast<std::size_t>(i)]);
    most = max(most, model.positions[static_cast<std::size_t>(i)]);
  }
  EXPECT_LT(norm(most - least - Vec<double, 3>{0.8, 0, 1}), 1e-12);
  EXPECT_NEAR(least[1], 3, 1e-12);
  // Each triangle stretches, and bends with its neighbours.
  const std::vector<ElementGroup> groups = element_groups(model);
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[0].kind, ElementKind::membrane);
  EXPECT_EQ(groups[0].stencils.size(), triangles_of(model, sheet).size());
  EXPECT_EQ(groups[1].kind, ElementKind::bend);
}

TEST(SceneCloth, PinsHoldItsNodes) {
  const Model model =
      parse_cloth(kMaterial + kSheet + kThickness +
                  "[[pin]]\nobject = 'sheet'\nbox = { min = [-0.51, -1, -1], max = [-0.49, 1, 1] }\n")
          .model;
  ASSERT_EQ(model.scripted.size(), 1U);
  EXPECT_EQ(model.scripted[0].nodes.size(), 10U);  // ends of all rows
}

TEST(SceneCloth, BadClothIsRefused) {
  expect_cloth_error(kMaterial + kSheet, {"test.toml:5", "cloth needs its thickness"});
  expect_cloth_error(kMaterial + kSheet + "thickness = 0\n", {"thickness", "0"});
  expect_cloth_error(kMaterial + kSheet + "thickness = -1\n", {"thickness", "-1"});
  expect_cloth_error(kMaterial + kSheet + "thickness = 0.2\n",
                     {"test.toml", "thickness", "below the length of the edges", "0.09"});
  expect_cloth_error(kMaterial + kSheet + kThickness + "warp = [0, 0, 0]\n", {"warp", "must not be zero"});
  expect_cloth_error(kMaterial + kSheet + kThickness + "element = 'tet10'\n", {"element", "unknown key"});
  expect_cloth_error(
      kMaterial + "[[object]]\nname = 'a'\nbody = 'cloth'\nshape = 'box'\nsize = [1, 1, 1]\nedge = 0.1\n" +
          kThickness,
      {"no shape of cloth 'box'", "sheet"});
  expect_cloth_error(
      kMaterial + "[[object]]\nname = 'a'\nbody = 'cloth'\nshape = 'sheet'\nsize = [1]\nedge = 0.1\n",
      {"size", "2"});
  expect_cloth_error(kMaterial +
                         "[[object]]\nname = 'a'\nbody = 'cloth'\nshape = 'sheet'\nsize = [1, -1]\nedge = "
                         "0.1\n" +
                         kThickness,
                     {"size"});
}

TEST(SceneCloth, FilesMayHaveBordersButNoBadTriangles) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "stickslip_cloth.obj";
  const auto scene = [&](const std::string& obj) {
    std::ofstream(file) << obj;
    return kMaterial + "[[object]]\nname = 'a'\nbody = 'cloth'\nfile = '" + file.string() + "'\n" +
           kThickness;
  };
  const std::string nodes = "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 0 1\nv 2 0 2\n";
  EXPECT_EQ(parse_cloth(scene(nodes + "f 1 3 2\nf 2 3 4\n")).model.triangles.size(), 2U);
  expect_cloth_error(scene(nodes + "f 1 3 2\nf 2 3 4\nf 2 3 5\n"), {"'a'", "edge between nodes 1 and 2"});
  expect_cloth_error(scene(nodes + "f 1 3 2\nf 2 4 3\n"), {"'a'", "opposite orientations"});
  expect_cloth_error(scene(nodes + "f 1 3 2\nf 2 3 4\nf 1 4 5\n"), {"triangle 2", "area"});
  std::filesystem::remove(file);
}

TEST(SceneCloth, ItsMaterialReadsTheKeysOfCloth) {
  const Scene scene =
      parse_cloth("[[material]]\nname = \"foam\"\n" + kMaterial + kSheet + kThickness +
                  "material = \"cotton\"\n[[object]]\nname = \"box\"\nshape = \"box\"\nsize = [1, 1, "
                  "1]\nedge = 0.5\nposition = [0, 2, 0]\nmaterial = \"foam\"\n");
  const MaterialUse foam = material_use(scene.model, scene.model.materials, 0, SolverKind::ipc);
  const MaterialUse cotton = material_use(scene.model, scene.model.materials, 1, SolverKind::ipc);
  const auto inactive = [&](const char* name, const MaterialUse& use) {
    const Params params;
    const LabParams lab;
    return inactive_reason(*find_param(material_table(), name),
                           {params, lab, scene_traits(scene.model), use}) != "";
  };
  for (const char* name : {"young", "poisson", "density", "damping", "mu"}) {
    EXPECT_FALSE(inactive(name, foam)) << name;
    EXPECT_FALSE(inactive(name, cotton)) << name;
  }
  for (const char* name : {"young_weft", "shear", "bending"}) {
    EXPECT_TRUE(inactive(name, foam)) << name;
    EXPECT_FALSE(inactive(name, cotton)) << name;
  }
  EXPECT_FALSE(inactive("model", foam));
  EXPECT_TRUE(inactive("model", cotton));
}

TEST(MeshGen, SheetsFaceUpAndHaveNearlyEquilateralTriangles) {
  const SurfaceMesh sheet = make_sheet(1.5, 1, 0.1);
  double area = 0;
  int right_angled = 0;
  for (const Vec3i& t : sheet.triangles) {
    const Vec<double, 3>&a = sheet.nodes[t[0]], &b = sheet.nodes[t[1]], &c = sheet.nodes[t[2]];
    const Vec<double, 3> n = cross(b - a, c - a);
    EXPECT_GT(n[1], 0);
    area += norm(n) / 2;
    const double longest = std::max({norm(b - a), norm(c - b), norm(a - c)});
    const double shortest = std::min({norm(b - a), norm(c - b), norm(a - c)});
    right_angled += longest > 1.2 * shortest ? 1 : 0;
  }
  EXPECT_NEAR(area, 1.5, 1e-12);
  EXPECT_EQ(right_angled, 2 * 12) << "half triangles at the ends of the rows";
  EXPECT_THROW(make_sheet(1, std::nan(""), 0.1), std::invalid_argument);
  EXPECT_THROW(make_sheet(1, 1, 0), std::invalid_argument);
}

}  // namespace
}  // namespace stickslip
