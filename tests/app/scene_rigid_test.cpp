#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "app/io/mesh/mesh_gen.h"
#include "app/io/mesh/solidify.h"
#include "app/io/scene/scene.h"
#include "app/io/scene/scene_variant.h"
#include "app/io/scene/settings.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

const std::string kStone = "[[material]]\nname = 'stone'\ndensity = 2000\n";  // 3 lines

Scene parse_rigid(const std::string& text) { return parse_scene(text, "folder/rigid.toml"); }

std::string rigid(const std::string& name, const std::string& rest) {
  return "[[object]]\nname = '" + name + "'\nbody = 'rigid'\n" + rest;
}
const std::string kCube = "shape = 'box'\nsize = [0.2, 0.4, 0.6]\n";

void expect_refused(const std::string& text, std::initializer_list<const char*> parts) {
  try {
    parse_rigid(text);
    ADD_FAILURE() << "accepted: " << text;
  } catch (const InputError& error) {
    for (const char* part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << error.what() << "\nlacks " << part;
  }
}

TEST(SceneRigid, ABoxIsABodyThatVelocityLevelSteppingMoves) {
  const Scene scene =
      parse_rigid(kStone + rigid("cube", kCube + "position = [1, 2, 3]\nrotation = [0, 90, 0]\n"
                                                 "velocity = [0, 1, 0]\nangular_velocity = [0, 0, 2]\n"
                                                 "grain = [0, 0, 2]\n"));
  EXPECT_EQ(scene.params.solver, SolverKind::velocity);
  ASSERT_EQ(scene.model.bodies.size(), 1u);
  const stickslip::Body& body = scene.model.bodies[0];
  EXPECT_TRUE(body.moves);
  EXPECT_NEAR(body.volume, 0.048, 1e-15);
  EXPECT_EQ(body.mass, 0) << "density gives it";
  EXPECT_NEAR(body.unit_inertia[0], (0.16 + 0.36) / 12, 1e-15);
  EXPECT_LT(norm(body.pose.x - Vec3d{1, 2, 3}), 1e-15);
  EXPECT_LT(norm(body.pose.q.rotate({1, 0, 0}) - Vec3d{0, 0, -1}), 1e-15);
  EXPECT_LT(norm(body.velocity - Vec3d{0, 1, 0}), 1e-15);
  EXPECT_LT(norm(body.grain - Vec3d{0, 0, 1}), 1e-15);
  EXPECT_EQ(scene.model.node_count(), 8u);
  EXPECT_EQ(scene.model.triangles.size(), 12u);
  EXPECT_TRUE(scene.model.edges.empty());
}

TEST(SceneRigid, ElasticSolidsMoveAmongRigidBodies) {
  const std::string both = kStone + rigid("cube", kCube) +
                           "[[object]]\nname = 'soft'\nshape = 'box'\nsize = [1, 1, 1]\nedge = 0.5\n";
  const Scene scene = parse_rigid(both);
  EXPECT_EQ(scene.params.solver, SolverKind::velocity);
  EXPECT_EQ(scene.model.bodies.size(), 1u);
  EXPECT_FALSE(scene.model.tets.empty());
  EXPECT_EQ(parse_rigid("solver = 'ipc'\n" + both).params.solver, SolverKind::ipc);
  expect_refused("[params]\nstabilisation = 'projection'\n" + both,
                 {"elastic solids", "projection", "baumgarte"});
  expect_refused("[params]\nsleeping = true\n" + both, {"elastic solids", "sleeping"});
  EXPECT_EQ(parse_rigid("[params]\ncontact_solver = 'penalty_explicit'\n" + both).params.contact_solver,
            ContactSolverKind::penalty_explicit);
  expect_refused("[params]\ncontact_solver = 'penalty_explicit'\npenetration_guard = true\n" + both,
                 {"elastic solids", "penetration_guard", "penalty_implicit"});
  const std::string midpoint = "[params]\nintegrator = 'midpoint'\n";
  expect_refused(midpoint + "geometric_correction = 'position'\n" + both,
                 {"elastic solids", "geometric_correction", "midpoint", "semi_implicit"});
  expect_refused(midpoint + "coupling = 'nodal_admm'\nadmm_search_every = 5\n" + both,
                 {"elastic solids", "admm_search_every", "midpoint", "semi_implicit"});
  EXPECT_EQ(parse_rigid(midpoint + "admm_search_every = 5\n" + both).params.admm_search_every, 5)
      << "rounds do not read it";
}

TEST(SceneRigid, EveryShapeHasItsMassAndAClosedSurface) {
  struct Case {
    const char* keys;
    ShapeKind kind;
    double volume, share;  // of the drawn surface, which is slightly smaller where it is round
  };
  const double pi = std::numbers::pi;
  for (const Case& c :
       {Case{"shape = 'sphere'\nradius = 0.3\n", ShapeKind::sphere, 4.0 / 3 * pi * 0.027, 0.03},
        {"shape = 'capsule'\nradius = 0.1\nheight = 0.4\n", ShapeKind::capsule,
         pi * 0.01 * 0.4 + 4.0 / 3 * pi * 0.001, 0.03},
        {"shape = 'capsule'\nradius = 0.1\nheight = 0\n", ShapeKind::capsule, 4.0 / 3 * pi * 0.001, 0.03},
        {"shape = 'cylinder'\nradius = 0.1\nheight = 0.4\n", ShapeKind::cylinder, pi * 0.004, 0.03},
        {"shape = 'bar'\nlength = 2\nwidth = 0.1\n", ShapeKind::box, 0.02, 1e-12},
        {"shape = 'wedge'\nsize = [1, 1, 1]\n", ShapeKind::hull, 0.5, 1e-12},
        {"shape = 'hull'\npoints = [[0,0,0],[1,0,0],[0,1,0],[0,0,1],[0.1,0.1,0.1]]\n", ShapeKind::hull,
         1.0 / 6, 1e-12},
        {"shape = 'torus'\nradius = 0.5\ntube_radius = 0.2\nedge = 0.2\ncells = 12\n", ShapeKind::mesh, -1,
         1e-12},
        {"shape = 'wedge'\nsize = [1, 1, 1]\ncollision = 'mesh'\ncells = 8\n", ShapeKind::mesh, 0.5,
         1e-12}}) {
    SCOPED_TRACE(c.keys);
    const Model model = parse_rigid(kStone + rigid("it", c.keys)).model;
    ASSERT_EQ(model.shapes.size(), 1u);
    EXPECT_EQ(model.shapes[0].kind, c.kind);
    const double drawn = enclosed_volume({model.positions, model.triangles});
    if (c.volume > 0) {
      EXPECT_NEAR(model.bodies[0].volume, c.volume, 1e-12);
    }
    EXPECT_NEAR(drawn, model.bodies[0].volume, c.share * model.bodies[0].volume);
    EXPECT_NO_THROW(checked_closed({model.positions, model.triangles}, "it"));
  }
  const Model bumpy =
      parse_rigid(kStone + rigid("it", "shape = 'jack'\nradius = 0.5\nwaist = 0.1\nedge = 0.1\ncells = 8\n"))
          .model;
  EXPECT_EQ(bumpy.shapes[0].kind, ShapeKind::mesh) << "what is not convex keeps its surface";
  EXPECT_TRUE(bumpy.shape_meshes[0].tree.empty());
  const Model adaptive = parse_rigid(kStone + rigid("it",
                                                    "shape = 'jack'\nradius = 0.5\nwaist = 0.1\nedge = 0.1\n"
                                                    "cells = 32\nfield_tolerance = 0.01\n"))
                             .model;
  ASSERT_FALSE(adaptive.shape_meshes[0].tree.empty());
  EXPECT_GE(adaptive.shape_meshes[0].levels, 3);
  expect_refused(
      kStone + rigid("it", "shape = 'torus'\nradius = 0.5\ntube_radius = 0.2\nfield_tolerance = -1\n"),
      {"field_tolerance", "must be at least 0"});
  expect_refused(
      kStone + rigid("it", "shape = 'torus'\nradius = 0.5\ntube_radius = 0.2\ncollision = 'hull'\n"),
      {"rigid.toml:10", "not convex", "lacks", "collision = \"mesh\""});
}

TEST(SceneRigid, PartsMakeOneBodyAboutItsCentre) {
  const std::string parts =
      "parts = [{ shape = 'box', size = [0.2, 0.2, 0.2], weight = 3, rotation = [0, 0, 90] },\n"
      "         { shape = 'sphere', radius = 0.1, position = [1, 0, 0] }]\n";
  const Model model = parse_rigid(kStone + rigid("pair", parts + "position = [0, 5, 0]\nmass = 7\n"
                                                                 "angular_velocity = [0, 0, 1]\n"))
                          .model;
  ASSERT_EQ(model.shapes.size(), 2u);
  const double box = 3 * 0.008, ball = 4.0 / 3 * std::numbers::pi * 0.001, center = ball / (box + ball);
  EXPECT_NEAR(model.bodies[0].volume, box + ball, 1e-15);
  EXPECT_EQ(model.bodies[0].mass, 7);
  EXPECT_LT(norm(model.bodies[0].pose.x - Vec3d{center, 5, 0}), 1e-14);
  EXPECT_NEAR(model.bodies[0].velocity[1], center, 1e-14) << "the position stands still, not the centre";
  EXPECT_LT(norm(model.bodies[0].pose.apply(model.shapes[1].pose.x) - Vec3d{1, 5, 0}), 1e-14);
  expect_refused(kStone + rigid("pair", parts + "shape = 'box'\n"), {"shape", "belongs into the parts"});
  expect_refused(kStone + rigid("p", "parts = [{ shape = 'sphere', radius = 1, weight = 0 }]\n"),
                 {"positive mass"});
  expect_refused(kStone + rigid("p", "parts = [{ shape = 'sphere', radios = 1 }]\n"),
                 {"[[parts]]", "radius"});
}

TEST(SceneRigid, PatternsOfArrays) {
  const auto bodies = [](const std::string& array) {
    return parse_rigid(kStone + rigid("brick", "shape = 'box'\nsize = [0.2, 0.1, 0.1]\n" + array))
        .model.bodies;
  };
  const auto wall = bodies("count = [4, 3, 1]\nspacing = [0.2, 0.1, 0]\npattern = 'wall'\n");
  ASSERT_EQ(wall.size(), 4u + 3 + 4);
  EXPECT_LT(norm(wall[4].pose.x - Vec3d{0.1, 0.1, 0}), 1e-15);
  EXPECT_LT(norm(wall[7].pose.x - Vec3d{0, 0.2, 0}), 1e-15);
  EXPECT_EQ(bodies("count = [3, 3, 3]\nspacing = [0.2, 0.1, 0.1]\npattern = 'pyramid'\n").size(), 9u + 4 + 1);
  const auto flat = bodies("count = [3, 3, 1]\nspacing = [0.2, 0.1, 0.1]\npattern = 'pyramid'\n");
  ASSERT_EQ(flat.size(), 6u);
  EXPECT_LT(norm(flat[5].pose.x - Vec3d{0.2, 0.2, 0}), 1e-15);
  const auto tower =
      bodies("count = [1, 2, 3]\nspacing = [0, 0.1, 0.1]\npattern = 'tower'\nposition = [1, 0, 1]\n");
  ASSERT_EQ(tower.size(), 6u);
  EXPECT_LT(norm(tower[3].pose.x - Vec3d{0.9, 0.1, 1.1}), 1e-15);
  EXPECT_LT(norm(tower[3].pose.q.rotate({1, 0, 0}) - Vec3d{0, 0, -1}), 1e-14);
  const auto ring = bodies(
      "position = [1, 0, 0]\nring = { count = 4, turn = [0, 90, 0], center = [0, 0, 0], layers = 2, rise = "
      "0.1 }\n");
  ASSERT_EQ(ring.size(), 8u);
  EXPECT_LT(norm(ring[4].pose.x - Vec3d{std::sqrt(0.5), 0.1, -std::sqrt(0.5)}), 1e-14);
  const auto rest = bodies("count = [3, 1, 1]\nspacing = [0.3, 0, 0]\nwithout = [1]\n");
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_LT(norm(rest[1].pose.x - Vec3d{0.6, 0, 0}), 1e-15);
  const std::string row = kCube + "count = [3, 1, 1]\nspacing = [0.3, 0, 0]\n";
  expect_refused(kStone + rigid("b", row + "without = [3]\n"), {"without", "0 to 2"});
  expect_refused(kStone + rigid("b", row + "without = [0, 1, 2]\n"), {"without", "no body"});
  expect_refused(kStone + rigid("b", kCube + "without = [0]\n"), {"without", "array"});
  expect_refused(kStone + rigid("b", kCube + "pattern = 'wall'\n"), {"pattern", "count"});
  expect_refused(kStone + rigid("b", kCube + "count = [1, 1, 1]\nspacing = [1, 1, 1]\npattern = 'wal'\n"),
                 {"no pattern 'wal'", "'wall'"});
}

TEST(SceneRigid, CollidersStandStillOrFollowTheirMotion) {
  const std::string colliders =
      "[[collider]]\nname = 'floor'\nshape = 'plane'\nsize = [4, 2]\nposition = [0, 1, 0]\n"
      "[[collider]]\nname = 'arm'\nshape = 'bar'\nlength = 2\nwidth = 0.1\nmotion = { angular_velocity = [0, "
      "1, 0] }\n"
      "[[collider]]\nname = 'flight'\nshape = 'stairs'\nsteps = 3\ntread = 0.3\nrise = 0.2\nwidth = 1\n"
      "[[collider]]\nname = 'bowl'\nshape = 'bowl'\nradius = 1\nheight = 0.5\nthickness = 0.2\n"
      "[[collider]]\nname = 'ramp'\nshape = 'ramp'\nlength = 1\nheight = 0.5\nwidth = 1\n";
  const Model model = parse_rigid(kStone + rigid("cube", kCube) + colliders).model;
  ASSERT_EQ(model.bodies.size(), 6u);
  EXPECT_TRUE(model.scripted.empty());
  for (int b = 1; b < 6; ++b) EXPECT_FALSE(model.bodies[b].moves);
  // A plane is a slab below it.
  EXPECT_NEAR(model.bodies[1].pose.x[1], 0.9, 1e-15);
  EXPECT_EQ(model.bodies[1].motion, -1);
  ASSERT_EQ(model.body_motions.size(), 1u);
  EXPECT_EQ(model.bodies[2].motion, 0);
  EXPECT_EQ(model.bodies[3].shape_end - model.bodies[3].shape_begin, 3);
  const Shape& tread = model.shapes[model.bodies[3].shape_begin];
  EXPECT_LT(norm(model.bodies[3].pose.apply(tread.pose.x) - Vec3d{-0.3, 0.3, 0}), 1e-14);
  EXPECT_EQ(model.shapes[model.bodies[4].shape_begin].kind, ShapeKind::mesh);
  EXPECT_EQ(model.shapes[model.bodies[5].shape_begin].kind, ShapeKind::hull);
  // Without a rigid object it remains a surface.
  const std::string soft =
      "[[object]]\nname = 'soft'\nshape = 'box'\nsize = [1, 1, 1]\nedge = 1\nposition = [0, 9, 0]\n";
  EXPECT_TRUE(parse_rigid(kStone + soft + colliders).model.bodies.empty());
  expect_refused(kStone + rigid("cube", kCube) +
                     "[[collider]]\nname = 'c'\nshape = 'box'\nsize = [1, 1, 1]\nas = 'points'\n",
                 {"points and segments"});
}

TEST(SceneRigid, JointsHoldBodiesArraysAndChains) {
  const std::string arm =
      "[[joint]]\nname = 'arm'\nkind = 'hinge'\nbetween = ['cube', 'world']\nanchor = [0, 1, 0]\n"
      "axis = [0, 0, -2]\nlow = -90\nhigh = 45\nmotor = { speed = 3, limit = 10 }\n";
  const std::string cube = rigid("cube", kCube + "position = [1, 1, 0]\nrotation = [10, 20, 30]\n");
  const Model one = parse_rigid(kStone + cube + arm).model;
  ASSERT_EQ(one.joints.size(), 1u);
  const Joint& joint = one.joints[0];
  EXPECT_EQ(joint.b, -1);
  EXPECT_NEAR(joint.high, std::numbers::pi / 4, 1e-15);
  EXPECT_EQ(joint.motor_speed, 3);
  EXPECT_LT(norm(joint.frame_b.q.rotate({1, 0, 0}) - Vec3d{0, 0, -1}), 1e-15);
  EXPECT_LT(norm((one.bodies[0].pose * joint.frame_a).x - Vec3d{0, 1, 0}), 1e-15);

  const std::string links = rigid("link", kCube + "count = [4, 1, 1]\nspacing = [0.5, 0, 0]\n");
  const std::string chain = "[[joint]]\nname = 'pin'\nkind = 'ball'\nchain = 'link'\n";
  const Model open = parse_rigid(kStone + links + chain).model;
  ASSERT_EQ(open.joints.size(), 3u);
  EXPECT_EQ(open.joints[2].name, "pin.2");
  EXPECT_LT(norm((open.bodies[3].pose * open.joints[2].frame_b).x - Vec3d{1.25, 0, 0}), 1e-15);
  EXPECT_EQ(parse_rigid(kStone + links + chain + "closed = true\n").model.joints.size(), 4u);

  const std::string net =
      rigid("knot", "shape = 'sphere'\nradius = 0.1\ncount = [3, 1, 2]\nspacing = [1, 0, 1]\n");
  const Model mesh =
      parse_rigid(kStone + net + "[[joint]]\nname = 'n'\nkind = 'ball'\nmesh = 'knot'\nreach = 1.1\n").model;
  ASSERT_EQ(mesh.joints.size(), 7u);
  for (const Joint& knot : mesh.joints) {
    EXPECT_NEAR(norm(knot.frame_a.x), 0.5, 1e-15);
    EXPECT_LT(norm(knot.frame_a.x + knot.frame_b.x), 1e-15);
  }

  const std::string wheels = rigid("wheel",
                                   "shape = 'cylinder'\nradius = 0.2\nheight = 0.1\nrotation = [90, 0, 0]\n"
                                   "count = [2, 1, 2]\nspacing = [2, 0, 2]\n");
  const Model car =
      parse_rigid(kStone + rigid("car", kCube) + wheels +
                  "[[joint]]\nname = 'axle'\nkind = 'hinge'\nbetween = ['wheel', 'car']\nanchor = [0, 0, 0]\n"
                  "axis = [0, 0, 1]\n")
          .model;
  ASSERT_EQ(car.joints.size(), 4u);
  EXPECT_LT(norm(car.joints[3].frame_b.x - Vec3d{2, 0, 2}), 1e-15) << "moved with its wheel";

  const Model rope =
      parse_rigid(kStone + rigid("a", kCube) + rigid("b", kCube + "position = [3, 4, 0]\n") +
                  "[[joint]]\nname = 'rope'\nkind = 'distance'\nbetween = ['a', 'b']\nlow = 0\n")
          .model;
  EXPECT_EQ(rope.joints[0].low, 0);
  EXPECT_NEAR(rope.joints[0].high, 5, 1e-15);
}

TEST(SceneRigid, BadJointsAreRefusedAtTheirLine) {
  const std::string two =
      kStone + rigid("a", kCube) + rigid("b", kCube + "position = [3, 4, 0]\n");  // to line 14
  const auto refused = [&](const std::string& keys, std::initializer_list<const char*> parts) {
    expect_refused(two + "[[joint]]\nname = 'j'\n" + keys, parts);
  };
  refused("kind = 'hing'\nbetween = ['a', 'b']\n", {"rigid.toml:17", "no kind of joint 'hing'", "'hinge'"});
  refused("kind = 'ball'\nbetween = ['a', 'c']\n", {"rigid.toml:18", "no rigid body or solid 'c'"});
  refused("kind = 'ball'\nbetween = ['a', 'a']\n", {"rigid.toml:18", "two different bodies", "'j'"});
  refused("kind = 'ball'\nbetween = ['world', 'world']\n", {"needs a body"});
  refused("kind = 'ball'\n", {"either between"});
  refused("kind = 'ball'\nchain = 'a'\n", {"array of two bodies"});
  refused("kind = 'hinge'\nbetween = ['a', 'b']\n", {"axis"});
  refused("kind = 'hinge'\nbetween = ['a', 'b']\naxis = [0, 0, 1]\nlow = 3\n", {"both low and high"});
  refused("kind = 'hinge'\nbetween = ['a', 'b']\naxis = [0, 0, 1]\nlow = 3\nhigh = 2\n",
          {"high", "in [3, 180]"});
  refused("kind = 'ball'\nbetween = ['a', 'b']\nmotor = { speed = 1, limit = 1 }\n",
          {"motor", "unknown key"});
  refused("kind = 'gear'\nbetween = ['a', 'b']\naxis = [0, 0, 1]\nratio = 0\n", {"ratio", "zero"});
  refused("kind = 'distance'\nbetween = ['a', 'b']\nanchor = [0, 0, 0]\nanchor_b = [0, 0, 0]\n",
          {"one point"});
  expect_refused(two +
                     "[[collider]]\nname = 'c'\nshape = 'box'\nsize = [1, 1, 1]\nposition = [0, 9, 0]\n"
                     "[[joint]]\nname = 'j'\nkind = 'ball'\nbetween = ['c', 'world']\n",
                 {"moves by itself"});
}

TEST(SceneRigid, SolversAndContactParameters) {
  const std::string scene = kStone + rigid("cube", kCube);
  EXPECT_EQ(parse_rigid("solver = 'velocity'\n" + scene).params.contact_solver, Params().contact_solver);
  const Scene named =
      parse_rigid("solver = 'prox_gs'\n[contact]\ntolerance = 1e-5\nomega = 0.8\n" + scene +
                  "[[variant]]\nname = 'soft'\nset = ['solver=penalty_implicit', 'contact.omega=1']\n");
  EXPECT_EQ(named.params.solver, SolverKind::velocity);
  EXPECT_EQ(named.params.contact_solver, ContactSolverKind::prox_gs);
  EXPECT_EQ(named.contact_params.tolerance, 1e-5);
  EXPECT_EQ(named.contact_params.max_iterations, stepping_lab_params().max_iterations);
  Scene soft = named;
  choose_variant(soft, "soft");
  EXPECT_EQ(soft.params.contact_solver, ContactSolverKind::penalty_implicit);
  EXPECT_EQ(soft.contact_params.omega, 1);
  const std::string rubber = kStone + rigid("cube", kCube + "material = 'stone'\n") +
                             "[[material]]\nname = 'rubber'\nrestitution = 0.5\n" +
                             rigid("ball", "shape = 'sphere'\nradius = 1\nmaterial = 'rubber'\n");
  EXPECT_EQ(parse_rigid("solver = 'ipc'\n" + scene).params.solver, SolverKind::ipc);
  EXPECT_EQ(parse_rigid("solver = 'ipc'\n[params]\ndrop_unsupported = true\n" + rubber).params.solver,
            SolverKind::ipc);
  expect_refused("solver = 'nsg'\n" + scene, {"rigid.toml:1", "'nsgs'"});
  expect_refused("[contact]\ntolerence = 1e-5\n" + scene,
                 {"rigid.toml:2", "[contact] tolerence", "'tolerance'"});
  expect_refused("solver = 'ipc'\n" + rubber, {"rigid.toml:1", "restitution of 'rubber'", "velocity"});
  expect_refused(rubber + "[[variant]]\nname = 'v'\nset = ['solver=barrier_al']\n",
                 {"set", "restitution of 'rubber'"});
  expect_refused("[[material]]\nname = 'contact'\n" + rigid("cube", kCube), {"rigid.toml:2", "contact.KEY"});
}

TEST(SceneRigid, BadBodiesAreRefusedAtTheirLine) {
  const auto refused = [](const std::string& keys, std::initializer_list<const char*> parts) {
    expect_refused(kStone + rigid("it", keys), parts);
  };
  refused("shape = 'capsul'\nradius = 1\n", {"rigid.toml:7", "no shape 'capsul'", "'capsule'"});
  refused(kCube + "mass = 0\n", {"rigid.toml:9", "mass", "positive"});
  refused(kCube + "grain = [0, 0, 0]\n", {"grain", "zero"});
  refused("shape = 'box'\nsize = [1, 0, 1]\n", {"size", "positive"});
  refused("shape = 'sphere'\nradius = 1\nscale = [1, 2, 1]\n", {"one scale"});
  refused("shape = 'hull'\npoints = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]\n",
          {"rigid.toml:4", "in a plane"});
  refused("shape = 'hull'\n", {"points"});
  refused("file = 'none.obj'\n", {"no such file"});
  refused(kCube + "mesher = 'lattice'\n", {"mesher", "unknown key"});
  // Each message names the faulty key.
  for (const char* key : {"position", "rotation", "velocity", "angular_velocity", "grain"})
    refused(kCube + key + " = [0, nan, 0]\n", {"rigid.toml:9", key, "not finite", "'it'"});
  for (const char* mass : {"0", "-1", "nan", "inf"})
    refused(kCube + "mass = " + mass + "\n", {"mass", "out of range", "'it'"});
  refused("shape = 'box'\nsize = [1, nan, 1]\n", {"size", "not finite", "'it'"});
  refused(kCube + "material = 'ston'\n", {"no material 'ston'", "'stone'", "'it'"});
  expect_refused("[[material]]\nname = 'air'\ndensity = 0\n" + rigid("it", kCube),
                 {"rigid.toml:3", "density", "'air'"});
  expect_refused(kStone + rigid("cube", kCube) + "[[pin]]\nobject = 'cube'\nnodes = [0]\n",
                 {"rigid body", "[[joint]]"});
  EXPECT_EQ(parse_rigid(kStone + rigid("it", "shape = 'wedge'\nsize = [1, 1, 1]\nscale = [-1, 1, 1]\n"))
                .model.hulls.size(),
            1u);
}

TEST(SceneRigid, DegenerateMeshesAreMendedOrRefused) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("stickslip-meshes-" + std::to_string(getpid()));
  fs::create_directories(folder);
  const auto scene_with = [&](const std::string& mesh) {
    std::ofstream(folder / "it.obj") << mesh;
    return kStone + rigid("it", "file = '" + (folder / "it.obj").string() + "'\n");
  };
  const std::string corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n",
                    whole = "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
  for (const std::string& mended :
       {corners + whole, corners + whole + "f 1 2 2\n", corners + "f 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n"}) {
    const Model model = parse_rigid(scene_with(mended)).model;
    EXPECT_NEAR(model.bodies.at(0).volume, 1.0 / 6, 1e-12) << mended;
    EXPECT_NEAR(enclosed_volume({model.positions, model.triangles}), 1.0 / 6, 1e-12) << "turned outwards";
  }
  expect_refused(scene_with(corners + "f 1 3 2\nf 1 2 4\nf 2 3 4\n"), {"rigid.toml:7", "it.obj", "'it'"});
  expect_refused(scene_with("v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\n" + whole), {"no volume", "'it'"});
  expect_refused(scene_with("v 0 0 0\nv nan 0 0\nv 0 1 0\nv 0 0 1\n" + whole),
                 {"it.obj:2", "not finite", "'it'"});
  expect_refused(scene_with(corners + "f 1 2 9\n"), {"it.obj:5", "'it'"});
  fs::remove_all(folder);
}

}  // namespace
}  // namespace stickslip
