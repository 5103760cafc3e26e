// The scene tables for pins, forces, initial velocities and friction of nodes, and colliders of points and
// segments.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "app/cli/cli.h"
#include "app/io/scene/scene.h"
#include "gpu/model/friction_table.h"
#include "tests/app/ipc_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

const std::string bodies =
    "[[material]]\nname = 'soft'\nmu = 0.4\n[[material]]\nname = 'hard'\nmu = 0.9\n"
    "[[object]]\nname = 'a'\nshape = 'box'\nsize = [1, 1, 1]\nedge = 0.5\nmaterial = 'soft'\n"
    "[[object]]\nname = 'b.7'\nshape = 'box'\nsize = [1, 1, 1]\nedge = 0.5\nmaterial = 'hard'\nposition = "
    "[3, 0, 0]\n";
const std::string left = "box = { min = [-0.6, -1, -1], max = [-0.4, 1, 1] }\n";
const std::string floors = "box = { min = [-9, -0.6, -9], max = [9, -0.4, 9] }\n";

Scene parse_with_bodies(const std::string& text) { return parse_scene(bodies + text, "folder/test.toml"); }

void expect_error(const std::string& text, std::initializer_list<const char*> parts) {
  try {
    parse_with_bodies(text);
    ADD_FAILURE() << "accepted:\n" << text;
  } catch (const InputError& error) {
    for (const char* part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << " in: " << error.what();
  }
}

TEST(SceneScripts, PinsActForAWhileAndOverAllObjects) {
  const Scene scene = parse_with_bodies("[[pin]]\n" + floors + "from = 0.5\nto = 2\n[[pin]]\nobject = 'b'\n" +
                                        floors + "to = 0.5\n[[pin]]\nobject = 'a'\nnodes = [0]\nfrom = 3\n");
  ASSERT_EQ(scene.model.scripted.size(), 3u);
  EXPECT_EQ(scene.model.scripted[0].nodes.size(), 18u);  // of both
  EXPECT_EQ(scene.model.scripted[0].begin, 0.5);
  EXPECT_EQ(scene.model.scripted[0].end, 2);
  EXPECT_EQ(scene.model.scripted[1].nodes.size(), 9u);
  EXPECT_EQ(scene.model.scripted[1].begin, 0);
  EXPECT_EQ(scene.model.scripted[1].end, 0.5);
  EXPECT_GE(scene.model.scripted[2].end, 1e30);
  expect_error("[[pin]]\n" + floors + "from = 2\nto = 1\n", {"[[pin]]", "to", "after from"});
  expect_error("[[pin]]\n" + floors + "from = -1\n", {"from"});
  expect_error("[[pin]]\nnodes = [0]\n", {"object"});
  expect_error("[[pin]]\nobject = 'a'\n", {"either box"});
  expect_error("[[pin]]\nobject = 'c'\n" + floors, {"there is no object 'c'"});
  expect_error("[[pin]]\nbox = { min = [7, 7, 7], max = [8, 8, 8] }\n", {"holds no node of any object"});
  expect_error("[[pin]]\n" + floors + "[[pin]]\n" + left, {"two scripts at a time"});
}

TEST(SceneScripts, HeldEndsOfRodsFollowTheTrianglesOfACollider) {
  const testing::IpcFolder folder;
  std::filesystem::create_directories(folder.root / "moves");
  const std::string triangles = "f 1 3 2\nf 1 4 3\n";
  folder.write("plate.obj", "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\n" + triangles);
  // Turned by 90 degrees about y and lifted by 1, then twice as large.
  folder.write("moves/0.obj", "v -1 1 1\nv -1 1 -1\nv 1 1 -1\nv 1 1 1\n" + triangles);
  folder.write("moves/1.obj", "v -2 0 -2\nv 2 0 -2\nv 2 0 2\nv -2 0 2\n" + triangles);
  const std::string rods =
      "[[material]]\nname = 'm'\n[[object]]\nname = 'r'\nbody = 'rods'\nshape = 'strand'\nlength = 0.4\n"
      "segments = 4\ndiameter = 0.01\nmaterial = 'm'\nposition = [0.5, 0.1, 0.25]\nrotation = [180, 0, 0]\n";
  const std::string plate =
      "[[collider]]\nname = 'plate'\nfile = 'plate.obj'\nmaterial = 'm'\nsequence = { folder = 'moves', dt = "
      "0.5 }\n";
  const auto parse = [&](const std::string& text) { return parse_scene(text, folder.root / "test.toml"); };
  const Scene scene = parse(rods + "hold = 'root'\nfollow = 'plate'\n" + plate);
  ASSERT_EQ(scene.model.scripted.size(), 2u);
  const ScriptedNodes& script = scene.model.scripted[1];  // behind that of the collider
  ASSERT_EQ(script.nodes.size(), 3u) << "the ghost and the two points of the first segment";
  ASSERT_EQ(script.frames.size(), 2u);
  EXPECT_EQ(script.frame_dt, 0.5);
  for (const std::size_t k : {0, 1, 2}) {
    const Vec3d start = scene.model.positions[script.nodes[k]] - Vec3d{0.5, 0, 0.25};  // from the root's foot
    EXPECT_LT(norm(script.frames[0][k] - Vec3d{0.25 + start[2], 1 + start[1], -0.5 - start[0]}), 1e-12) << k;
    EXPECT_LT(norm(script.frames[1][k] - Vec3d{1 + start[0], start[1], 0.5 + start[2]}), 1e-12) << k;
  }

  const auto expect_refused = [&](const std::string& text, const std::string& part) {
    try {
      parse(text);
      ADD_FAILURE() << "accepted:\n" << text;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << " in: " << error.what();
    }
  };
  expect_refused(rods + "hold = 'root'\nfollow = 'plaet'\n" + plate, "did you mean 'plate'");
  expect_refused(rods + "hold = 'root'\nfollow = 'plate'\n", "no collider of this scene");
  expect_refused(rods + "hold = 'root'\nfollow = ''\n" + plate, "there is: plate");
  expect_refused(rods + "follow = 'plate'\n" + plate, "none are held");
  expect_refused(rods + "hold = 'root'\nfollow = 'plate'\nmotion = { velocity = [1, 0, 0] }\n" + plate,
                 "either a motion or follow");
  const std::string rigid = "[[object]]\nname = 'brick'\nbody = 'rigid'\nshape = 'box'\nsize = [1, 1, 1]\n";
  expect_refused(rods + rigid + "material = 'm'\n" + plate, "beside rigid bodies such as 'brick'");
  folder.write("moves/1.obj", "v 0 0 0\nv 0 0 0\nv 0 0 0\nv -2 0 2\n" + triangles);
  expect_refused(rods + "hold = 'root'\nfollow = 'plate'\n" + plate, "has no area at frame 1");
}

/// Held ends move as if they were glued to the body, wherever they are and in whichever order both are named.
TEST(SceneScripts, HeldEndsOfRodsFollowTheMotionOfABody) {
  const std::string material = "[[material]]\nname = 'm'\n";
  const std::string rods =
      "[[object]]\nname = 'r'\nbody = 'rods'\nshape = 'strand'\nlength = 0.4\nsegments = 4\ndiameter = 0.01\n"
      "material = 'm'\nposition = [0.5, 0.1, 0.25]\nrotation = [180, 0, 0]\nhold = 'root'\nfollow = 'head'\n";
  const std::string head = "name = 'head'\nshape = 'box'\nsize = [0.2, 0.2, 0.2]\nmaterial = 'm'\n";
  const std::string place = "position = [0.4, 0, 0.2]\n";
  const std::string turns =
      place +
      "motion = { velocity = [0.3, 0, 0], key = [{ time = 0 }, { time = 2, rotation = [0, 90, 0] }] }\n";
  const std::string brick =
      "[[object]]\nname = 'brick'\nbody = 'rigid'\nshape = 'box'\nsize = [1, 1, 1]\nmaterial = 'm'\n"
      "position = [0, 5, 0]\n";
  const auto parse = [](const std::string& text) { return parse_scene(text, "test.toml"); };
  for (const std::string& others :
       {"[[collider]]\n" + head + turns, "[[collider]]\n" + head + turns + brick}) {
    SCOPED_TRACE(others);
    for (const bool is_first : {false, true}) {
      const Model model = parse(material + (is_first ? others + rods : rods + others)).model;
      const auto found = std::ranges::find_if(model.scripted, [&](const ScriptedNodes& script) {
        return model.objects[model.node_object[script.nodes[0]]].name == "r";
      });
      ASSERT_NE(found, model.scripted.end());
      ASSERT_EQ(found->nodes.size(), 3u) << "the ghost and the two points of the first segment";
      for (const std::int32_t node : found->nodes) {
        // After 2 s the head has turned by 90 degrees about its own centre: x to -z, z to x.
        const Vec3d start = model.positions[node], arm = start - Vec3d{0.4, 0, 0.2};
        EXPECT_LT(norm(found->motion.apply(start, 2) - Vec3d{1 + arm[2], start[1], 0.2 - arm[0]}), 1e-12);
        EXPECT_LT(norm(found->motion.apply(start, 0) - start), 1e-12);
      }
    }
  }
  EXPECT_TRUE(parse(material + rods + "[[collider]]\n" + head + place).model.scripted.back().is_static());
  const auto expect_refused = [&](const std::string& text, const std::string& part) {
    try {
      parse(material + text);
      ADD_FAILURE() << "accepted:\n" << text;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << " in: " << error.what();
    }
  };
  expect_refused(rods + "[[object]]\nbody = 'rigid'\n" + head + place, "a rigid body that forces move");
  expect_refused(
      rods + brick + "[[collider]]\nname = 'haed'\nshape = 'box'\nsize = [1, 1, 1]\nmaterial = 'm'\n",
      "did you mean 'haed'");
}

/// The roots keep their places on a body that turns and moves while another rigid body falls past it.
TEST(SceneScripts, RootsStayOnAScriptedBodyBesideRigidOnes) {
  const Scene scene = parse_scene(
      "[params]\nsolver = 'velocity'\ndt = 0.01\n[[material]]\nname = 'm'\n"
      "[[collider]]\nname = 'head'\nshape = 'box'\nsize = [0.2, 0.2, 0.2]\nmaterial = 'm'\n"
      "position = [0.4, 1, 0.2]\nmotion = { velocity = [0.3, 0, 0], angular_velocity = [0, 5, 1] }\n"
      "[[object]]\nname = 'hair'\nbody = 'rods'\nshape = 'hair'\nradius = 0.17\nstrands = 4\nlength = 0.2\n"
      "segments = 4\ndiameter = 2e-3\nmaterial = 'm'\nposition = [0.4, 1, 0.2]\nfollow = 'head'\n"
      "[[object]]\nname = 'brick'\nbody = 'rigid'\nshape = 'box'\nsize = [0.1, 0.1, 0.1]\nmaterial = 'm'\n"
      "position = [2, 1, 0]\n",
      "test.toml");
  const Model& model = scene.model;
  const auto engine = make_engine(Backend::cpu, 1);
  load_into(*engine, scene);
  const State before = engine->state();
  for (int i = 0; i < 20; ++i) engine->step();
  const State after = engine->state();
  const auto body = static_cast<std::size_t>(
      std::ranges::find_if(model.bodies, [](const Body& b) { return !b.moves; }) - model.bodies.begin());
  const BodyState &from = before.bodies[body], &to = after.bodies[body];
  ASSERT_GT(norm(to.pose.x - from.pose.x), 0.05);
  std::size_t held = 0;
  for (const ScriptedNodes& script : model.scripted)
    for (const std::int32_t node : script.nodes) {
      const Vec3d arm = from.pose.apply_back(before.positions[node]);
      EXPECT_LT(norm(after.positions[node] - to.pose.apply(arm)), 1e-9) << node;
      ++held;
    }
  EXPECT_EQ(held, 4u * 3);
  EXPECT_LT(after.bodies[1 - body].pose.x[1], 0.9);
}

TEST(SceneScripts, ForcesAndVelocities) {
  const Scene scene = parse_with_bodies("[[force]]\n" + left +
                                        "acceleration = [1, 2, 3]\nto = 4\n[[velocity]]\nobject = 'a'\n" +
                                        left + "velocity = [5, 0, 0]\n");
  ASSERT_EQ(scene.model.forces.size(), 1u);
  EXPECT_EQ(scene.model.forces[0].acceleration, (Vec3d{1, 2, 3}));
  EXPECT_EQ(scene.model.forces[0].nodes.size(), 9u);
  EXPECT_EQ(scene.model.forces[0].end, 4);
  for (std::size_t i = 0; i < scene.model.node_count(); ++i)
    EXPECT_EQ(scene.model.velocities[i][0], scene.model.positions[i][0] < -0.4 ? 5 : 0);
  expect_error("[[force]]\n" + left, {"[[force]]", "acceleration"});
  expect_error("[[velocity]]\n" + left, {"[[velocity]]", "velocity"});
}

TEST(SceneScripts, FrictionOfPairsAndPlanes) {
  const Scene scene = parse_with_bodies(
      "[[friction]]\nbetween = ['hard', 'soft']\nmu = 0.1\n[[half_space]]\nmu = 0.2\nmu_of_pair = true\n"
      "[[half_space]]\nmu = 0.3\n[[half_space]]\nmu_of_body = true\n");
  ASSERT_EQ(scene.model.pair_friction.size(), 1u);
  EXPECT_EQ(scene.model.pair_friction[0].material_a, 1);
  EXPECT_EQ(scene.model.pair_friction[0].material_b, 0);
  EXPECT_EQ(scene.model.pair_friction[0].mu, 0.1);
  EXPECT_LT(scene.model.pair_friction[0].rolling_resistance, 0) << "that of the materials";
  EXPECT_TRUE(scene.model.half_spaces[0].mu_of_pair);
  EXPECT_FALSE(scene.model.half_spaces[1].mu_of_pair);
  EXPECT_FALSE(scene.model.half_spaces[1].mu_of_body);
  EXPECT_TRUE(scene.model.half_spaces[2].mu_of_body);
  // A row per material (soft, hard), a column per material and per half-space.
  const double soft = scene.model.materials[0].mu, hard = scene.model.materials[1].mu;
  const std::vector<double> mu = friction_coefficients(scene.model);
  EXPECT_EQ(mu, (std::vector<double>{soft, 0.1, 0.2, std::sqrt(soft * 0.3), soft,  //
                                     0.1, hard, 0.2, std::sqrt(hard * 0.3), hard}));
  expect_error("[[half_space]]\nmu_of_pair = true\nmu_of_body = true\n", {"mu_of_body", "mu_of_pair"});
  const Scene rolling =
      parse_with_bodies("[[friction]]\nbetween = ['hard', 'soft']\nmu = 0.1\nrolling_resistance = 0.02\n");
  EXPECT_EQ(rolling.model.pair_friction[0].rolling_resistance, 0.02);
  expect_error("[[friction]]\nbetween = ['hard', 'soft']\nmu = 0.1\nrolling_resistance = -1\n",
               {"rolling_resistance"});
  expect_error("[[friction]]\nbetween = ['hard', 'sft']\nmu = 0.1\n", {"between", "did you mean 'soft'?"});
  expect_error("[[friction]]\nbetween = ['hard']\nmu = 0.1\n", {"between", "[2 names]"});
  expect_error("[[friction]]\nbetween = ['hard', 'soft']\n", {"mu"});
  expect_error(
      "[[friction]]\nbetween = ['hard', 'soft']\nmu = 0.1\n[[friction]]\nbetween = ['soft', 'hard']\nmu = "
      "0.2\n",
      {"have their friction already"});
}

TEST(SceneScripts, ScaleOfEachAxisAndNames) {
  const Scene scene = parse_with_bodies(
      "[[object]]\nname = 'c'\nshape = 'box'\nsize = [1, 1, 1]\nedge = 2\nmaterial = 'soft'\n"
      "scale = [1, -2, 3]\nrotation = [0, 0, 90]\nposition = [9, 0, 0]\n");
  const Object& object = scene.model.objects.at(2);
  for (int i = object.node_begin; i < object.node_end; ++i) {
    const Vec3d p = scene.model.positions[i];
    EXPECT_NEAR(std::abs(p[0] - 9), 1, 1e-12);
    EXPECT_NEAR(std::abs(p[1]), 0.5, 1e-12);
    EXPECT_NEAR(std::abs(p[2]), 1.5, 1e-12);
  }
  const std::string next =
      "[[object]]\nshape = 'box'\nsize = [1, 1, 1]\nedge = 2\nmaterial = 'soft'\nposition = [9, 0, 0]\n";
  expect_error(next + "name = 'c'\nscale = [1, 0, 1]\n", {"scale", "zero"});
  expect_error(next + "name = 'b.7'\n", {"name", "another object"});
  expect_error(next + "name = 'b'\n", {"name", "another object"});
  for (const char* name : {"", "b.x", ".7", "b.", "b.7.8", "x y", "x=y"})
    expect_error(next + "name = '" + name + "'\n", {"name", "must not be empty"});
}

TEST(SceneScripts, CollidersOfPointsAndSegments) {
  const testing::IpcFolder folder;
  folder.write("loop.seg", "# a bent line and a point\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 5 5 5\ns 1 2\ns 2 3\n");
  folder.write("cloud.pt", "v 0 2 0\nv 1 2 0\n");
  const std::string start = "[[collider]]\nmaterial = 'soft'\nname = 'c'\n";
  const auto load = [&](const std::string& keys) {
    return parse_scene(bodies + start + keys, folder.root / "scene.toml").model;
  };
  const Model loop = load("file = 'loop.seg'\nposition = [0, 3, 0]\nscale = 2\n");
  EXPECT_EQ(loop.segments.size(), 2u);
  EXPECT_EQ(loop.objects[2].node_end - loop.objects[2].node_begin, 4);
  EXPECT_EQ(loop.positions[loop.objects[2].node_begin + 2], (Vec3d{2, 5, 0}));
  EXPECT_EQ(load("file = 'cloud.pt'\n").segments.size(), 0u);
  EXPECT_EQ(load("file = 'loop.seg'\nas = 'points'\n").segments.size(), 0u);
  EXPECT_EQ(load("file = 'input/triMeshes/plane.obj'\nas = 'segments'\n").segments.size(), 5u);
  EXPECT_EQ(load("file = 'input/triMeshes/plane.obj'\nas = 'points'\n").triangles.size(),
            load("file = 'loop.seg'\n").triangles.size());

  const auto refused = [&](const std::string& keys, const char* part) {
    try {
      load(keys);
      ADD_FAILURE() << "accepted: " << keys;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << " in: " << error.what();
    }
  };
  folder.write("bad.seg", "v 0 0 0\nv 1 0 0\ns 1 3\n");
  refused("file = 'bad.seg'\n", "bad.seg:3: names vertex 3 of 2");
  folder.write("bad.seg", "v 0 0 0\nv 1 0\n");
  refused("file = 'bad.seg'\n", "bad.seg:2: needs 'v x y z'");
  folder.write("bad.seg", "v 0 0 0\nv 1 0 nan\n");
  refused("file = 'bad.seg'\n", "bad.seg:2:");
  folder.write("bad.seg", "v 0 0 0\nv 1 0 0\ns 2 2\n");
  refused("file = 'bad.seg'\n", "bad.seg:3: joins a vertex to itself");
  refused("file = 'cloud.pt'\nas = 'segments'\n", "has no segments");
  folder.write("bad.pt", "# nothing\n");
  refused("file = 'bad.pt'\n", "has no vertices");
  refused("file = 'absent.seg'\n", "absent.seg");
  refused("file = 'cloud.pt'\ncount = [1000, 1000, 1000]\nspacing = [3, 3, 3]\n", "GiB of memory");
  refused("shape = 'plane'\nsize = [1, 1]\nas = 'points'\n", "needs a file");
  refused("file = 'loop.seg'\nas = 'lines'\n", "there is no kind of collider 'lines'");
}

}  // namespace
}  // namespace stickslip
