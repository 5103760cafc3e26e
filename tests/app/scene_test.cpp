#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "app/io/scene/scene.h"
#include "gpu/model/element_group.h"

namespace stickslip {
namespace {

const std::string material = "[[material]]\nname = \"soft\"\nmu = 0.4\n";
const std::string box =
    "[[object]]\nname = \"box\"\nshape = \"box\"\nsize = [1, 1, 1]\nedge = 0.5\nposition = [0, 2, 0]\n";

Scene parse(const std::string& text) { return parse_scene(text, "folder/test.toml"); }

std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void expect_error(const std::string& text, std::initializer_list<const char*> parts) {
  const std::string error = error_of(text);
  ASSERT_FALSE(error.empty()) << "accepted:\n" << text;
  for (const char* part : parts) EXPECT_NE(error.find(part), std::string::npos) << part << " in: " << error;
}

TEST(Scene, ReadsEveryTable) {
  const Scene scene = parse(
      "title = 'T'\ndescription = 'D'\nframes = 7\nsolver = 'ipc'\n"
      "[params]\ndt = 0.01\nfriction_update = 'lagged'\ncheck_intersections = true\nnewton_iterations = 5\n"
      "[camera]\nposition = [1, 2, 3]\ntarget = [0, 1, 0]\nfov = 50\n" +
      material + box +
      "velocity = [1, 0, 0]\nangular_velocity = [0, 0, 2]\ncolor = [0.1, 0.2, 0.3]\nrotation = [0, 90, "
      "0]\nscale = 2\n"
      "[[collider]]\nname = 'wall'\nshape = 'plane'\nsize = [2, 3]\n"
      "motion = { velocity = [0, 1, 0], start = 1, end = 2, key = [{ time = 1 }, { time = 2, translation = "
      "[1, 0, 0] }] }\n"
      "[[half_space]]\nnormal = [0, 2, 0]\npoint = [5, 0.5, 0]\nmu = 0.7\n"
      "[[pin]]\nobject = 'box'\nbox = { min = [-9, 2.9, -9], max = [9, 3.1, 9] }\n"
      "[expect]\nintersections = 0\ngap_positive = true\nconverged = 0.9\nenergy = { after = 1, tolerance = "
      "0.1 }\n"
      "momentum = { tolerance = 1e-3 }\n"
      "[[expect.height]]\nobject = 'box'\nat = 1\nlow = 0\n"
      "[[expect.displacement]]\nobject = 'box'\ndirection = [2, 0, 0]\nto = 1\nhigh = 1\n"
      "[[expect.acceleration]]\nobject = 'box'\ndirection = [0, -1, 0]\nto = 1\nvalue = 9.81\n");
  EXPECT_EQ(scene.name, "test");
  EXPECT_EQ(scene.title, "T");
  EXPECT_EQ(scene.description, "D");
  EXPECT_EQ(scene.frames, 7);
  EXPECT_EQ(scene.params.dt, 0.01);
  EXPECT_EQ(scene.params.friction_update, FrictionUpdate::lagged);
  EXPECT_TRUE(scene.params.check_intersections);
  EXPECT_EQ(scene.params.newton_iterations, 5);
  EXPECT_EQ(scene.camera.fov, 50);
  ASSERT_EQ(scene.model.materials.size(), 1u);
  EXPECT_EQ(scene.model.materials[0].mu, 0.4);
  ASSERT_EQ(scene.model.objects.size(), 2u);
  const Object& object = scene.model.objects[0];
  EXPECT_EQ(object.color[1], 0.2f);
  EXPECT_EQ(object.node_end - object.node_begin, 27);
  for (int i = object.node_begin; i < object.node_end; ++i) {
    const auto x = scene.model.positions[i], v = scene.model.velocities[i];
    EXPECT_LE(std::abs(x[0]), 1 + 1e-12);  // scaled to two metres
    EXPECT_NEAR(v[0], 1 - 2 * (x[1] - 2), 1e-12);
    EXPECT_NEAR(v[1], 2 * x[0], 1e-12);
  }
  ASSERT_EQ(scene.model.scripted.size(), 2u);
  EXPECT_EQ(scene.model.scripted[0].motion.keys.size(), 2u);
  EXPECT_EQ(scene.model.scripted[0].motion.apply({0, 0, 0}, 5), (Vec<double, 3>{1, 1, 0}));
  EXPECT_EQ(scene.model.scripted[1].nodes.size(), 9u);
  ASSERT_EQ(scene.model.half_spaces.size(), 1u);
  EXPECT_EQ(scene.model.half_spaces[0].offset, 0.5);
  EXPECT_EQ(scene.model.half_spaces[0].mu, 0.7);
  EXPECT_EQ(scene.expect.size(), 8u);
  EXPECT_FALSE(scene.model.edges.empty()) << "the model must come out finalized";
}

TEST(Scene, ArraysRepeatAndJitterWithTheirSeed) {
  const std::string array = material + box + "count = [2, 3, 1]\nspacing = [2, 2, 2]\njitter = 0.1\n";
  const Scene a = parse(array + "seed = 4\n"), b = parse(array + "seed = 4\n"),
              c = parse(array + "seed = 5\n");
  ASSERT_EQ(a.model.objects.size(), 6u);
  EXPECT_EQ(a.model.objects[5].name, "box.5");
  EXPECT_TRUE(a.model.positions == b.model.positions);
  EXPECT_FALSE(a.model.positions == c.model.positions);
  const auto offset = a.model.positions[a.model.objects[5].node_begin] - a.model.positions[0];
  EXPECT_NEAR(offset[0], 2, 0.2);
  EXPECT_NEAR(offset[1], 4, 0.2);
  EXPECT_NEAR(offset[2], 0, 0.2);
  const Scene pinned = parse(array + "[[pin]]\nobject = 'box'\nnodes = [0, 26]\n");
  EXPECT_EQ(pinned.model.scripted[0].nodes.size(), 12u);
  const Scene colored =
      parse(material + box + "count = [3, 1, 1]\nspacing = [2, 0, 0]\ncolors = [[1, 0, 0], [0, 1, 0]]\n");
  EXPECT_EQ(colored.model.objects[1].color[1], 1.0f);
  EXPECT_EQ(colored.model.objects[2].color[0], 1.0f);
}

TEST(Scene, AffineBodiesHaveControlNodesThatMoveWithThem) {
  const Model model = parse(material + box +
                            "body = 'affine'\nvelocity = [1, 0, 0]\nangular_velocity = [0, 0, 2]\n"
                            "count = [2, 1, 1]\nspacing = [3, 0, 0]\n")
                          .model;
  ASSERT_EQ(model.objects.size(), 2u);
  for (const Object& object : model.objects) {
    ASSERT_TRUE(object.is_affine());
    const double center = &object == &model.objects[0] ? 0 : 3;
    for (int i = object.control_begin; i < object.control_begin + 4; ++i) {
      EXPECT_NEAR(model.velocities[i][0], 1 - 2 * (model.positions[i][1] - 2), 1e-12);
      EXPECT_NEAR(model.velocities[i][1], 2 * (model.positions[i][0] - center), 1e-12);
    }
  }
  EXPECT_FALSE(parse(material + box + "body = 'deformable'\n").model.objects[0].is_affine());
  expect_error(material + box + "body = 'rigit'\n", {"body", "no kind of body 'rigit'", "rigid"});
  expect_error(material + box + "body = 'affine'\n[[pin]]\nobject = 'box'\nnodes = [0]\n",
               {"pin", "'box', an affine body", "[[collider]]"});
}

TEST(Scene, ElementChoosesLinearOrTenNodeTets) {
  const std::string top = "[[pin]]\nobject = 'box'\nbox = { min = [-9, 2.49, -9], max = [9, 2.51, 9] }\n";
  const Model linear = parse(material + box + "element = 'tet4'\n" + top).model;
  EXPECT_EQ(count_tets(linear).ten_node, 0u);
  EXPECT_EQ(count_tets(parse(material + box).model).linear, count_tets(linear).linear);
  const Model model =
      parse(material + box + "element = 'tet10'\ncount = [2, 1, 1]\nspacing = [3, 0, 0]\n" + top).model;
  EXPECT_EQ(count_tets(model).linear, 0u);
  EXPECT_EQ(count_tets(model).ten_node, 2 * count_tets(linear).linear);
  EXPECT_EQ(model.triangles.size(), 2 * 4 * linear.triangles.size());
  // The top face has three nodes along each edge, and five with the middles of edges.
  EXPECT_EQ(linear.scripted[0].nodes.size(), 9u);
  EXPECT_EQ(model.scripted[0].nodes.size(), 2u * 25);
  expect_error(material + box + "element = 'tet11'\n",
               {"test.toml:", "element", "no kind of element", "'tet10'"});
  expect_error(material + box + "body = 'affine'\nelement = 'tet10'\n", {"element", "deformable", "affine"});
  expect_error(material + box + "body = 'rigid'\nelement = 'tet10'\n", {"element", "unknown key"});
}

TEST(Scene, RingsTurnEachInstanceAboutTheirCenter) {
  const std::string ring = "velocity = [1, 0, 0]\nring = { count = 4, turn = [0, 90, 0]";
  const Scene scene = parse(material + box + ring + ", center = [-2, 0, 0] }\n");
  const Model& model = scene.model;
  ASSERT_EQ(model.objects.size(), 4u);
  EXPECT_EQ(model.objects[3].name, "box.3");
  const Vec<double, 3> places[] = {{0, 2, 0}, {-2, 2, -2}, {-4, 2, 0}, {-2, 2, 2}};
  const Vec<double, 3> velocities[] = {{1, 0, 0}, {0, 0, -1}, {-1, 0, 0}, {0, 0, 1}};
  for (int i = 0; i < 4; ++i) {
    const Object& object = model.objects[i];
    Vec<double, 3> center{0, 0, 0};
    for (int n = object.node_begin; n < object.node_end; ++n)
      center += model.positions[n] / double(object.node_end - object.node_begin);
    EXPECT_LT(norm(center - places[i]), 1e-12) << i;
    EXPECT_LT(norm(model.velocities[object.node_begin] - velocities[i]), 1e-12) << i;
  }
  const Scene in_place = parse(material + box + ring + " }\n");
  EXPECT_NEAR(in_place.model.velocities.back()[2], 1, 1e-12) << "without a center it is the position";
}

TEST(Scene, ErrorsNameFileLineKeyAndTheNearestKnownKey) {
  expect_error("titel = 'x'\n" + material + box, {"folder/test.toml:1", "titel", "did you mean 'title'"});
  expect_error("[params]\ngravty = -9\n" + material + box, {"test.toml:2", "[params] gravty", "'gravity'"});
  expect_error("[params]\n\n\ndt = 50\n" + material + box, {"test.toml:4", "dt", "[1e-06, 10] s"});
  expect_error("[params]\ndt = '0.01'\n" + material + box, {"test.toml:2", "must be a number, not a string"});
  expect_error("[params]\nccd = 'exact'\n" + material + box, {"test.toml:2", "additive, cubic"});
  expect_error(material + "yuong = 1e5\n" + box, {"test.toml:4", "[[material]] yuong", "'young'"});
  expect_error(material + "poisson = nan\n" + box, {"test.toml:4", "poisson"});
  expect_error(material + box + "radius = 1\n", {"[[object]] radius", "unknown key"});
  expect_error(material + box + "postion = [0, 0, 0]\n", {"did you mean 'position'"});
  expect_error(material + box + "rotation = [0, 0]\n", {"rotation", "[3 numbers], not an array of 2"});
  expect_error(material + box + "velocity = [0, inf, 0]\n", {"velocity", "not finite"});
  expect_error(material + box + "velocity = [0, 'x', 0]\n", {"velocity", "a string"});
  expect_error(material + box + "scale = 0\n", {"scale", "positive"});
  expect_error(material + box + "color = [2, 0, 0]\n", {"color", "[0, 1]"});
  expect_error(material + box + "material = 'sotf'\n", {"no material 'sotf'", "'soft'"});
  expect_error(material + box + "jitter = 0.1\n", {"jitter", "count"});
  expect_error(material + box + "ring = { turn = [0, 9, 0] }\n", {"ring count", "whole number"});
  expect_error(material + box + "ring = { count = 2 }\n", {"ring", "turn"});
  expect_error(material + box + "count = [2, 1, 1]\nring = { count = 2, turn = [0, 9, 0] }\n", {"either"});
  expect_error(material +
                   "[[object]]\nname = 'a'\nshape = 'voussoir'\nradius = 1\nthickness = 1\ndepth = 1\n"
                   "angle = 200\nedge = 1\n",
               {"angle", "between 0 and 180"});
  expect_error("frames = 10\npicture = 11\n" + material + box, {"test.toml:2", "picture", "[0, 10]"});
  expect_error(material + box + box, {"another object"});
  expect_error(material + "[[object]]\nname = 'a'\nshape = 'bux'\n", {"no shape 'bux'", "'box'"});
  expect_error(material + "[[object]]\nname = 'a'\nshape = 'box'\nsize = [1, 1, 1]\n",
               {"test.toml:4", "needs the number edge"});
  expect_error(material + "[[object]]\nname = 'a'\nfile = 'a.obj'\n",
               {"file", "folder/a.obj", "no such file"});
  expect_error(box, {"needs a [[material]]"});
  expect_error(material, {"no [[object]]"});
  expect_error("a = = 1\n", {"folder/test.toml:1"});
  expect_error(material + box + "[[collider]]\nname = 'c'\nfile = 'none.obj'\n",
               {"file", "folder/none.obj", "no such file"});
  expect_error(
      material + box + "[[collider]]\nname = 'c'\nshape = 'plane'\nsize = [1, 1]\nmotion = { sped = 1 }\n",
      {"[[collider]] motion sped", "unknown key"});
  expect_error(material + box + "[[half_space]]\nnormal = [0, 0, 0]\n", {"normal", "zero"});
  expect_error(material + box + "[[pin]]\nobject = 'bax'\nnodes = [0]\n", {"no object 'bax'", "'box'"});
  expect_error(material + box + "[[pin]]\nobject = 'box'\nnodes = [27]\n", {"nodes", "0 to 26"});
  expect_error(material + box + "[[pin]]\nobject = 'box'\nbox = { min = [8, 8, 8], max = [9, 9, 9] }\n",
               {"holds no node"});
  expect_error(material + box + "[camera]\nfov = 400\n", {"fov", "[5, 120]"});
  expect_error(material + box + "[expect]\nintersection = 0\n", {"[expect] intersection", "'intersections'"});
  expect_error(material + box + "[[expect.height]]\nobject = 'bx'\nat = 1\nlow = 0\n",
               {"no object 'bx'", "'box'"});
  expect_error(material + box + "[[expect.height]]\nobject = 'box'\nat = 1\n", {"low, high or both"});
  expect_error("solver = 'magic'\n" + material + box, {"test.toml:1", "no solver 'magic'"});
  expect_error(
      "[[material]]\nname = 'm'\nrolling_resistance = 0.01\ntorsion_radius = 0.01\n"
      "[[object]]\nname = 'ball'\nbody = 'rigid'\nshape = 'sphere'\nradius = 0.1\nmaterial = 'm'\n",
      {"rolling_resistance and torsion_radius exclude each other", "'m'"});
}

TEST(Scene, EveryShippedSceneLoads) {
  const std::vector<SceneInfo> scenes = list_scenes();
  std::set<std::string> names;
  for (const SceneInfo& info : scenes) {
    SCOPED_TRACE(info.name);
    names.insert(info.name);
    const Scene scene = load_scene(info.name);
    EXPECT_EQ(scene.title, info.title);
    EXPECT_FALSE(scene.expect.empty());
    EXPECT_FALSE(scene.description.empty());
    std::set<SceneKind> kinds;
    for (const Object& object : scene.model.objects)
      if (!object.is_collider())
        kinds.insert(object.is_rigid()  ? SceneKind::rigid
                     : object.is_thin() ? SceneKind::thin
                                        : SceneKind::solids);
    EXPECT_EQ(info.kind, kinds.size() == 1 ? *kinds.begin() : SceneKind::mixed);
    EXPECT_EQ(load_scene(info.file.string()).model.node_count(), scene.model.node_count());
  }
  for (const char* name : {"drop", "slope", "slope-ramp", "stack", "twist"})
    EXPECT_TRUE(names.count(name)) << name;
  const Scene drop = load_scene("drop");
  EXPECT_GE(drop.model.node_count(), 1500u);
  EXPECT_LE(drop.model.node_count(), 2500u);
  EXPECT_LE(drop.model.tets.size(), 8000u);
}

TEST(Scene, UnknownNamesAndFilesAreInputErrors) {
  try {
    load_scene("slpe");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'slope'"), std::string::npos) << error.what();
  }
  EXPECT_THROW(load_scene("no/such/file.toml"), InputError);
  EXPECT_THROW(load_scene("/"), InputError);
}

}  // namespace
}  // namespace stickslip
