// The key `lattice` of scenes, and the cells that it makes.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "app/io/mesh/mesh_gen.h"
#include "app/io/mesh/mesh_lattice.h"
#include "app/io/scene/scene.h"
#include "gpu/model/element_group.h"
#include "gpu/model/lattice.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

const std::string kSoft = "[[material]]\nname = \"soft\"\n";
const std::string kBall =
    "[[object]]\nname = \"ball\"\nshape = \"sphere\"\nradius = 0.5\nedge = 0.25\nposition = [0, 2, 0]\n";

Scene parse_lattice(const std::string& text) { return parse_scene(text, "folder/test.toml"); }

std::string lattice_error(const std::string& text) {
  try {
    parse_lattice(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void expect_lattice_parts(const std::string& error, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(error.find(part), std::string::npos) << part << " in: " << error;
}

TEST(SceneLattice, EmbedsTheSurfaceOfAShape) {
  const Model model = parse_lattice(kSoft + kBall +
                                    "lattice = 0.3\nvelocity = [1, 0, 0]\nangular_velocity = [0, 0, 2]\n"
                                    "count = [2, 1, 1]\nspacing = [3, 0, 0]\n")
                          .model;
  const SurfaceMesh surface = boundary_surface(make_sphere(0.5, 0.25));
  ASSERT_EQ(model.objects.size(), 2u);
  for (const Object& ball : model.objects) {
    ASSERT_TRUE(ball.is_embedded());
    EXPECT_EQ(static_cast<std::size_t>(ball.node_end - ball.collides_from), surface.nodes.size());
    EXPECT_EQ(static_cast<std::size_t>(ball.triangle_end - ball.triangle_begin), surface.triangles.size());
    const double x = &ball == &model.objects[0] ? 0 : 3;
    for (std::int32_t i = ball.node_begin; i < ball.node_end; ++i) {
      EXPECT_NEAR(model.velocities[i][0], 1 - 2 * (model.positions[i][1] - 2), 1e-12);
      EXPECT_NEAR(model.velocities[i][1], 2 * (model.positions[i][0] - x), 1e-12);
    }
    for (std::int32_t i = ball.collides_from; i < ball.node_end; ++i)
      EXPECT_NEAR(norm(model.positions[i] - Vec3d{x, 2, 0}), 0.5, 1e-12);
  }
  // As the solid of that surface, whose tets fill it.
  const Model plain = parse_lattice(kSoft + kBall).model;
  EXPECT_NEAR(solid_volume(model, model.objects[1]), solid_volume(plain, plain.objects[0]), 1e-12);
}

TEST(SceneLattice, CellsThatFitABoxAreThoseOfItsMesh) {
  const TetMesh box = make_box({0.6, 0.4, 0.2}, 0.2);
  const TetMesh cells = cover_with_cells(boundary_surface(box), 0.2);
  ASSERT_EQ(cells.nodes.size(), box.nodes.size());
  for (std::size_t i = 0; i < box.nodes.size(); ++i)
    EXPECT_NEAR(norm(cells.nodes[i] - box.nodes[i]), 0, 1e-12);
  EXPECT_EQ(cells.tets, box.tets);
  const Model model = parse_lattice(kSoft +
                                    "[[object]]\nname = 'box'\nshape = 'box'\nsize = [0.6, 0.4, 0.2]\n"
                                    "edge = 0.2\nlattice = 0.2\n")
                          .model;
  for (const double share : tet_shares(model, model.objects[0])) EXPECT_NEAR(share, 1, 1e-12);
}

TEST(SceneLattice, TheScaleOfTheSceneRefinesIt) {
  const Model coarse = parse_lattice(kSoft + kBall + "lattice = 0.3\n").model;
  const Model fine = parse_lattice("scale = 2\n" + kSoft + kBall + "lattice = 0.3\n").model;
  EXPECT_GT(fine.tets.size(), 4 * coarse.tets.size());
  EXPECT_GT(fine.triangles.size(), 3 * coarse.triangles.size());
}

TEST(SceneLattice, EmbedsTheSurfaceOfAFile) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "stickslip_lattice";
  std::filesystem::create_directories(folder);
  {
    std::ofstream out(folder / "tetrahedron.obj");
    out << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::ofstream open(folder / "open.obj");
    open << "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n";
  }
  const auto text = [&](const std::string& file, const std::string& keys) {
    return kSoft + "[[object]]\nname = 'solid'\nfile = '" + (folder / file).string() + "'\n" + keys;
  };
  const Model model = parse_lattice(text("tetrahedron.obj", "lattice = 0.25\nscale = [2, 1, -1]\n")).model;
  const Object& solid = model.objects[0];
  EXPECT_EQ(solid.node_end - solid.collides_from, 4);
  EXPECT_NEAR(solid_volume(model, solid), 2.0 / 6, 1e-12);
  expect_lattice_parts(lattice_error(text("open.obj", "lattice = 0.25\n")), {"not closed", "closed surface"});
  expect_lattice_parts(lattice_error(text("tetrahedron.obj", "lattice = 0.25\nedge = 0.1\n")),
                       {"edge", "keeps"});
  expect_lattice_parts(lattice_error(text("tetrahedron.obj", "lattice = 0.25\nmesher = 'lattice'\n")),
                       {"mesher"});
  std::filesystem::remove_all(folder);
}

TEST(SceneLattice, PinsAndForcesTakeLatticeNodesInABox) {
  const std::string ball = kSoft + kBall + "lattice = 0.3\n";
  const std::string all = "object = 'ball'\nbox = { min = [-9, -9, -9], max = [9, 9, 9] }\n";
  const Model model =
      parse_lattice(ball + "[[pin]]\n" + all + "[[force]]\n" + all +
                    "acceleration = [1, 0, 0]\n[[velocity]]\n" + all + "velocity = [0, 1, 0]\n")
          .model;
  const Object& object = model.objects[0];
  const auto count = static_cast<std::size_t>(object.collides_from - object.node_begin);
  EXPECT_EQ(model.scripted[0].nodes.size(), count);
  EXPECT_EQ(model.forces[0].nodes.size(), count);
  for (std::int32_t i = object.node_begin; i < object.node_end; ++i)
    EXPECT_NEAR(norm(model.velocities[i] - Vec3d{0, 1, 0}), 0, 1e-12) << "those of the surface follow";
  expect_lattice_parts(lattice_error(ball + "[[pin]]\nobject = 'ball'\nnodes = [0]\n"),
                       {"nodes", "lattice", "box"});
}

TEST(SceneLattice, WhatHasNoLatticeIsRefused) {
  expect_lattice_parts(lattice_error(kSoft + kBall + "lattice = 0.3\nelement = 'tet10'\n"),
                       {"lattice", "linear tets"});
  expect_lattice_parts(lattice_error(kSoft + kBall + "lattice = 0.3\nbody = 'affine'\n"),
                       {"lattice", "deformable"});
  expect_lattice_parts(lattice_error(kSoft + kBall + "lattice = -1\n"), {"lattice"});
  expect_lattice_parts(lattice_error(kSoft + kBall + "lattice = 1e-4\n"), {"elements"});
  expect_lattice_parts(
      lattice_error(kSoft + "[[object]]\nname = 'p'\nshape = 'plane'\nsize = [1, 1]\nlattice = 0.3\n"),
      {"closed surface"});
}

}  // namespace
}  // namespace stickslip
