// IPC scene scripts: commands, messages, and the resulting scenes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "app/cli/cli.h"
#include "app/io/ipc/ipc_script.h"
#include "app/io/scene/scene.h"
#include "tests/app/ipc_fixture.h"
#include "tests/fixtures/shared_data.h"

namespace stickslip {
namespace {

using testing::IpcFolder;
using Vec3d = Vec<double, 3>;

const std::string shape_line = "shapes input 1\ninput/tetMeshes/grid.msh 0 0 0  0 0 0  1 1 1";

Vec3d center_of(const Scene& scene, std::size_t object) {
  const Object& o = scene.model.objects.at(object);
  Vec3d low = scene.model.positions[o.node_begin], high = low;
  for (int i = o.node_begin; i < o.node_end; ++i) {
    low = min(low, scene.model.positions[i]);
    high = max(high, scene.model.positions[i]);
  }
  return 0.5 * (low + high);
}

void expect_near(const Vec3d& a, const Vec3d& b, double tolerance = 1e-12) {
  for (int c = 0; c < 3; ++c) EXPECT_NEAR(a[c], b[c], tolerance) << "component " << c;
}

class IpcScriptTest : public ::testing::Test {
 protected:
  IpcFolder folder;
  Scene load(const std::string& text, bool ignore_unknown = false) {
    return load_ipc_script(folder.script(text), {ignore_unknown});
  }
  std::string error_of(const std::string& text) {
    try {
      load(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  void expect_error(const std::string& text, std::initializer_list<const char*> parts) {
    const std::string error = error_of(text);
    EXPECT_FALSE(error.empty()) << "accepted:\n" << text;
    for (const char* part : parts) EXPECT_NE(error.find(part), std::string::npos) << part << " in: " << error;
  }
};

TEST_F(IpcScriptTest, DefaultsAreTheReferences) {
  const Scene scene = load(shape_line);
  EXPECT_EQ(scene.name, "scene");
  EXPECT_EQ(scene.frames, 200);  // 5 s of 0.025 s
  EXPECT_EQ(scene.params.dt, 0.025);
  EXPECT_EQ(scene.params.gravity, -9.80665);
  EXPECT_NEAR(scene.params.d_hat, 1e-3 * std::sqrt(3), 1e-15);
  EXPECT_NEAR(scene.params.eps_v, 1e-3 * std::sqrt(3), 1e-15);
  EXPECT_EQ(scene.params.newton_stop, NewtonStop::displacement);
  EXPECT_EQ(scene.params.newton_tolerance, 1e-2);
  ASSERT_EQ(scene.model.materials.size(), 1u);
  const Material& material = scene.model.materials[0];
  EXPECT_EQ(material.model, ElasticModel::neo_hookean);
  EXPECT_EQ(material.young, 1e5);
  EXPECT_EQ(material.poisson, 0.4);
  EXPECT_EQ(material.density, 1000);
  EXPECT_EQ(material.mu, 0);
  EXPECT_EQ(scene.model.objects[0].name, "grid");
  expect_near(center_of(scene, 0), {0, 0, 0});  // without `size` it is not moved
}

TEST_F(IpcScriptTest, SettingsOfTheRun) {
  const Scene scene = load(
      "energy FCR\ntimeIntegration BE\ntime 0.95 0.1\ndensity 500\nstiffness 2e4 0.3\nturnOffGravity\n"
      "dampingRatio 0.5\nselfFric 0.25\nuseAbsParameters\ntuning 6\n0\n1e-2 2e-3\n1e-9\n1e-1\n3e-4\ntol "
      "2\n1e-3\n4e-4\n"
      "fricIterAmt 3\n" +
      shape_line);
  EXPECT_EQ(scene.frames, 10);
  EXPECT_EQ(scene.params.dt, 0.1);
  EXPECT_EQ(scene.params.gravity, 0);
  EXPECT_EQ(scene.params.d_hat, 2e-3);
  EXPECT_EQ(scene.params.eps_v, 3e-4);
  EXPECT_EQ(scene.params.newton_tolerance, 4e-4);
  EXPECT_EQ(scene.params.friction_update, FrictionUpdate::lagged);
  EXPECT_EQ(scene.params.friction_lags, 3);
  const Material& material = scene.model.materials[0];
  EXPECT_EQ(material.model, ElasticModel::fixed_corotated);
  EXPECT_EQ(material.young, 2e4);
  EXPECT_EQ(material.poisson, 0.3);
  EXPECT_EQ(material.density, 500);
  EXPECT_EQ(material.mu, 0.25);
  EXPECT_NEAR(material.damping, 0.5 * 0.1 * 3 / 4, 1e-15);
}

TEST_F(IpcScriptTest, SingleValuesAndContinuousFriction) {
  const Scene scene = load("dHat 1e-4\nepsv 2e-5\nfricIterAmt -1\ndampingStiff 1e-5\n" + shape_line);
  EXPECT_NEAR(scene.params.d_hat, 1e-4 * std::sqrt(3), 1e-16);
  EXPECT_NEAR(scene.params.eps_v, 2e-5 * std::sqrt(3), 1e-16);
  EXPECT_EQ(scene.params.friction_update, FrictionUpdate::newton);
  EXPECT_NEAR(scene.model.materials[0].damping, 1e-5 / (0.025 * 0.025), 1e-12);
}

TEST_F(IpcScriptTest, ShortTuningLeavesTheTargetsDefaults) {
  const Scene scene = load("useAbsParameters\ntuning 2\n0\n1e-2\n" + shape_line);
  EXPECT_EQ(scene.params.d_hat, 1e-3);
  EXPECT_EQ(scene.params.eps_v, 1e-3);
}

TEST_F(IpcScriptTest, LinksStoredAsTextAreFollowed) {
  folder.script("time 1 0.1\n" + shape_line);
  std::filesystem::create_directories(folder.root / "links");
  const Scene scene = load_ipc_script(folder.write("links/other.txt", "../scene.txt"));
  EXPECT_EQ(scene.frames, 10);
  EXPECT_EQ(scene.name, "other");
}

TEST_F(IpcScriptTest, KappaAgreesWithOurBarrierAtItsOnset) {
  // kappa b(d^2) = -kappa (d^2 - h^2)^2 ln(d^2 / h^2) against dt^2 sigma (-(d - h)^2 ln(d / h)).
  const Scene scene = load("useAbsParameters\ntuning 3\n50\n1e-2\n1e-2\ntime 1 0.02\n" + shape_line);
  const double h = 1e-2, d = h * (1 - 1e-6), dt = 0.02;
  const double theirs = 50 * -(d * d - h * h) * (d * d - h * h) * std::log(d * d / (h * h));
  const double ours = dt * dt * scene.params.barrier_stiffness * -(d - h) * (d - h) * std::log(d / h);
  EXPECT_NEAR(ours / theirs, 1, 1e-5);
}

TEST_F(IpcScriptTest, ShapesArePlacedScaledAndTurned) {
  const Scene scene = load(
      "shapes input 3\n"
      "# a comment\n"
      "input/tetMeshes/grid.msh 1 2 3  90 0 0  1 2 3  material 10 20 0.1  # and another \\\n"
      "\n"
      "input/tetMeshes/grid.msh 0 0 0  0 0 0  1 1 1 \\\n"
      "  material 10 20 0.1\n"
      "input/triMeshes/plane.obj 0 -1 0  0 0 0  1 1 1\n");
  ASSERT_EQ(scene.model.objects.size(), 3u);
  EXPECT_EQ(scene.model.objects[0].name, "grid.0");
  EXPECT_EQ(scene.model.objects[1].name, "grid.1");
  EXPECT_EQ(scene.model.objects[2].name, "plane");
  expect_near(center_of(scene, 0), {1, 2, 3});
  // Scaled by (1, 2, 3), then turned by 90 degrees about x: (x, y, z) goes to (x, -z, y).
  const Object& first = scene.model.objects[0];
  const Object& second = scene.model.objects[1];
  for (int i = 0; i < first.node_end - first.node_begin; ++i) {
    const Vec3d p = scene.model.positions[second.node_begin + i];
    expect_near(scene.model.positions[first.node_begin + i], {1 + p[0], 2 - 3 * p[2], 3 + 2 * p[1]});
  }
  EXPECT_EQ(scene.model.materials[first.material].young, 20);
  EXPECT_EQ(first.material, second.material);
  EXPECT_EQ(scene.model.materials.size(), 2u);  // one for the solids, one for the kinematic shape
}

TEST_F(IpcScriptTest, EulerAnglesComposeAsRxRyRz) {
  const Scene scene = load(
      "shapes input 2\ninput/tetMeshes/grid.msh 0 0 0  90 90 0  1 1 1\ninput/tetMeshes/grid.msh 0 0 0  0 0 0 "
      " 1 1 1\n");
  const int nodes = scene.model.objects[0].node_end;
  for (int i = 0; i < nodes; ++i) {
    // Ry: (x, y, z) to (z, y, -x); then Rx: (x, y, z) to (x, -z, y).
    const Vec3d p = scene.model.positions[nodes + i];
    expect_near(scene.model.positions[i], {p[2], p[0], p[1]});
  }
}

TEST_F(IpcScriptTest, SizeRescalesAndMovesToTheOrigin) {
  const Scene scene = load(
      "size 2\nshapes input 2\ninput/tetMeshes/grid.msh 5 0 0  0 0 0  1 1 1\n"
      "input/triMeshes/plane.obj 5 3.5 0  0 0 0  1 1 1\nhalfSpace 0 -1 0  0 2 0  50 0.5\nground 0.1 -3\n");
  // y from -0.5 to 3.5: `size` halves it; x and z from -0.5 to 0.5 around 5 and 0.
  expect_near(center_of(scene, 0), {0.25, 0.25, 0.25});
  expect_near(center_of(scene, 1), {0.25, 2, 0.25});
  EXPECT_NEAR(scene.params.d_hat, 1e-3 * std::sqrt(3) / 2, 1e-15);  // of the solids only
  ASSERT_EQ(scene.model.half_spaces.size(), 2u);
  EXPECT_EQ(scene.model.half_spaces[0].offset, -1);  // planes are not moved
  EXPECT_EQ(scene.model.half_spaces[0].normal, (Vec3d{0, 1, 0}));
  EXPECT_EQ(scene.model.half_spaces[0].mu, 0.5);
  EXPECT_TRUE(scene.model.half_spaces[0].mu_of_pair);
  EXPECT_EQ(scene.model.half_spaces[1].offset, -3);
  EXPECT_EQ(scene.model.half_spaces[1].mu, 0.1);
}

TEST_F(IpcScriptTest, RotateModelTurnsEverythingFirst) {
  const Scene scene =
      load("size 1\nrotateModel 0 0 2 90\nshapes input 1\ninput/tetMeshes/grid.msh 7 0 0  0 0 0  4 2 1\n");
  expect_near(center_of(scene, 0), {0.25, 0.5, 0.125});  // 2 x 4 x 1, scaled to 0.5 x 1 x 0.25
  const Scene twisted = load(
      "size 1\nrotateModel 0 0 1 90\nscript stretch\nshapes input 1\ninput/tetMeshes/grid.msh 0 0 0  0 0 0  "
      "4 2 1\n");
  // The ends are selected before the rotation: now they lie at low and high y.
  ASSERT_EQ(twisted.model.scripted.size(), 2u);
  for (const std::int32_t i : twisted.model.scripted[0].nodes)
    EXPECT_NEAR(twisted.model.positions[i][1], 0, 1e-12);
  EXPECT_EQ(twisted.model.scripted[0].nodes.size(), 25u);
}

TEST_F(IpcScriptTest, ShapeMatrixRepeatsAShape) {
  const Scene scene =
      load(shape_line + "\nshapeMatrix input 2 1 3  0 10 0\ninput/segMeshes/edge.seg 1 1 2  0 0 90  1 1 1\n");
  ASSERT_EQ(scene.model.objects.size(), 7u);
  EXPECT_EQ(scene.model.segments.size(), 6u);
  EXPECT_EQ(scene.model.objects[6].name, "edge.5");
  expect_near(center_of(scene, 6), {1, 10.5, 4});  // the last: 1 step in x, 2 in z; its edge is vertical
}

TEST_F(IpcScriptTest, PointsAndSegmentsFallBackToTheSurface) {
  const Scene scene =
      load(shape_line.substr(0, 13) + "3" + shape_line.substr(14) +
           "\ninput/triMeshes/plane.seg 0 2 0  0 0 0  1 1 1\ninput/triMeshes/plane.pt 0 3 0  0 0 0  1 1 1\n");
  ASSERT_EQ(scene.model.objects.size(), 3u);
  const Object& segments = scene.model.objects[1];
  EXPECT_EQ(segments.segment_end - segments.segment_begin, 5);  // two triangles
  const Object& points = scene.model.objects[2];
  EXPECT_EQ(points.segment_end, points.segment_begin);
  EXPECT_EQ(points.node_end - points.node_begin, 4);
}

TEST_F(IpcScriptTest, MeshColliderIsCentredAndHasItsOwnFriction) {
  const Scene scene = load("selfFric 0.5\nsize 1\n" + shape_line +
                           "\nmeshCO input/triMeshes/wedge.obj 1 2 3  6  50  0.9  rotate 0 0 90\n");
  const Object& wedge = scene.model.objects.at(1);
  Vec3d mean{0, 0, 0}, low{9, 9, 9}, high{-9, -9, -9};
  for (int i = wedge.node_begin; i < wedge.node_end; ++i) {
    mean += 1.0 / (wedge.node_end - wedge.node_begin) * scene.model.positions[i];
    low = min(low, scene.model.positions[i]);
    high = max(high, scene.model.positions[i]);
  }
  expect_near(mean, {1, 2, 3});
  // The longest side of the file, x, is now along y and 6 long.
  EXPECT_NEAR((high - low)[1], 6, 1e-12);
  ASSERT_EQ(scene.model.pair_friction.size(), 1u);
  EXPECT_EQ(scene.model.pair_friction[0].mu, 0.9);
  EXPECT_EQ(scene.model.materials[wedge.material].mu, 0.9);
  EXPECT_EQ(scene.model.materials[scene.model.objects[0].material].mu, 0.5);
}

TEST_F(IpcScriptTest, SectionsOfOtherSolversAreSkipped) {
  const Scene scene =
      load(shape_line +
           "\ntime 1 0.1\nsection QP SQP\ntime 1 0.01\ngarbage\nsection end\n"
           "section SQP IP\nstiffness 7 0.2\nsection end\nsection SQP\nenergy FCR\nsection\ndensity 8\n");
  EXPECT_EQ(scene.params.dt, 0.1);
  EXPECT_EQ(scene.model.materials[0].young, 7);
  EXPECT_EQ(scene.model.materials[0].density, 8);
  EXPECT_EQ(scene.model.materials[0].model, ElasticModel::neo_hookean);
}

TEST_F(IpcScriptTest, SettingsWithoutMeaningArePassedOver) {
  const Scene scene = load(
      "warmStart 0\nconstraintSolver IP\nconstraintType graphics\nconstraintOffset 1e-3\nQPSolver OSQP\nzoom "
      "2\n"
      "cameraTracking\nplayBackSpeed 0.1\nappendStr x\ndisableCout\nCCDMethod y\nCCDTolerance 1e-6\nview "
      "orthographic\n"
      "selfCollisionOn\ntimeStepper Newton\nresolution 1000\n" +
      shape_line);
  EXPECT_EQ(scene.model.objects.size(), 1u);
  EXPECT_LT(scene.camera.fov, 20);
}

TEST_F(IpcScriptTest, UnsupportedCommandsAreListedTogether) {
  const std::string text =
      "zoom 1\nstretchy\nstifness 1e5 0.4\n" + shape_line +
      " meshSec folder\nrestart status10\nscript scaleF\nscript twits\nconstraintSolver QP\n"
      "density 1000 kg\n";
  expect_error(text, {"scene.txt: 9 commands", "--ignore-unknown", "line 2: 'stretchy'", "line 3: 'stifness'",
                      "did you mean 'stiffness'?", "line 5: 'meshSec'", "line 5: 'folder'", "line 6: restart",
                      "line 7: script 'scaleF'", "line 8: script 'twits'", "did you mean 'twist'?",
                      "line 9: constraintSolver 'QP'", "line 10: density: 'kg' at its end"});
  const Scene scene = load(text, true);
  EXPECT_EQ(scene.model.objects.size(), 1u);
  const std::string toml = ipc_script_to_toml(folder.root / "scene.txt", folder.root, {true});
  EXPECT_NE(toml.find("# Left out: line 2: 'stretchy'"), std::string::npos);
}

TEST_F(IpcScriptTest, NewmarkIsTheIntegratorOfTheScene) {
  Scene scene = load("timeIntegration NM\ntime 1 0.1\n" + shape_line);
  EXPECT_EQ(scene.params.time_integrator, TimeIntegrator::newmark);
  EXPECT_EQ(scene.params.newmark_beta, 0.25);
  EXPECT_EQ(scene.params.newmark_gamma, 0.5);
  const std::string kappa =
      "useAbsParameters\ntuning 3\n2 1 1e-2\ndampingRatio 0.5\ntime 1 0.1\n" + shape_line;
  scene = load("timeIntegration NM 0.5 0.75\n" + kappa);
  EXPECT_EQ(scene.params.newmark_beta, 0.5);
  EXPECT_EQ(scene.params.newmark_gamma, 0.75);
  const Scene euler = load("timeIntegration BE\n" + kappa);
  EXPECT_EQ(euler.params.time_integrator, TimeIntegrator::backward_euler);
  EXPECT_NEAR(scene.params.barrier_stiffness, 2 * euler.params.barrier_stiffness,
              1e-9 * scene.params.barrier_stiffness);
  EXPECT_NEAR(scene.model.materials[0].damping, 2 * euler.model.materials[0].damping, 1e-12);
  expect_error("timeIntegration NM 0.25 0.4\n" + shape_line, {"scene.txt:1: timeIntegration", "gamma = 0.4"});
  expect_error("timeIntegration RK\n" + shape_line,
               {"scene.txt:1: timeIntegration", "'RK' must be BE or NM"});
}

TEST_F(IpcScriptTest, WordsBehindGroundAndInexactSolveArePassedOver) {
  const Scene scene = load("ground 0.1 -3 0.5 stiff\ninexactSolve 1e-3\n" + shape_line);
  ASSERT_EQ(scene.model.half_spaces.size(), 1u);
  EXPECT_EQ(scene.model.half_spaces[0].mu, 0.1);
  const std::string toml = ipc_script_to_toml(folder.root / "scene.txt", folder.root);
  EXPECT_NE(toml.find("# Left out: line 1: ground: '0.5 stiff' at its end"), std::string::npos) << toml;
}

TEST_F(IpcScriptTest, AnObjWithoutFacesIsPointsOrSegments) {
  folder.write("points.obj", "# no faces\nv 0 0 0\nv 1 0 0\ns off\nv 0 1 0\n");
  folder.write("wires.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nl 1 2 3\n");
  const Scene scene = load(
      "shapes input 3\ninput/tetMeshes/grid.msh 0 0 0  0 0 0  1 1 1\n"
      "points.obj 0 3 0  0 0 0  1 1 1\nwires.obj 0 5 0  0 0 0  2 1 1\n");
  const Model& model = scene.model;
  ASSERT_EQ(model.objects.size(), 3u);
  EXPECT_EQ(model.objects[1].node_end - model.objects[1].node_begin, 3);
  EXPECT_EQ(model.objects[1].triangle_end, model.objects[1].triangle_begin);
  EXPECT_EQ(model.objects[1].segment_end, model.objects[1].segment_begin);
  EXPECT_EQ(model.objects[2].segment_end - model.objects[2].segment_begin, 2);
  expect_near(model.positions[model.objects[2].node_begin + 1], {2, 5, 0});
}

TEST_F(IpcScriptTest, SelfCollisionOffLeavesPlanesAndMeshCO) {
  const std::string text = "selfCollisionOff\nground 0.1 -9\n" + shape_line +
                           "\nmeshCO input/triMeshes/plane.obj 0 -5 0 3 100 0.2\n";
  const Scene scene = load(text);
  ASSERT_EQ(scene.model.objects.size(), 2u);
  EXPECT_EQ(scene.model.objects[0].no_contact_group, 1);
  EXPECT_EQ(scene.model.objects[1].no_contact_group, 0);
  EXPECT_EQ(load("selfCollisionOff\nselfCollisionOn\n" + shape_line).model.objects[0].no_contact_group, 0);
}

TEST_F(IpcScriptTest, AKinematicShapeFollowsASequenceOfMeshes) {
  std::filesystem::create_directories(folder.root / "input/moves");
  for (int i = 0; i < 3; ++i)
    folder.write("input/moves/" + std::to_string(i) + ".obj",
                 "v 0 " + std::to_string(i) + " 0\nv 1 0 0\nv 0 0 1\nv 0 0 2\nf 1 3 2\nf 1 4 3\n");
  const std::string solid = "time 1 0.1\nshapes input 2\ninput/tetMeshes/grid.msh 0 0 0  0 0 0  1 1 1\n";
  const std::string plane = "input/triMeshes/plane.obj 0 -4 0  0 0 0  1 1 1";
  for (const bool by_animation : {false, true}) {
    const Scene scene = load(by_animation ? "script meshSeqFromFile input/moves\n" + solid + plane
                                          : solid + plane + " meshSeq input/moves");
    ASSERT_EQ(scene.model.scripted.size(), 1u);
    const ScriptedNodes& script = scene.model.scripted[0];
    ASSERT_EQ(script.frames.size(), by_animation ? 2u : 3u) << "the animation begins with 1.obj";
    EXPECT_EQ(script.frame_dt, 0.1);
    expect_near(script.frames.back()[0], {0, 2, 0});
    expect_near(scene.model.positions[script.nodes[0]], {-0.5, -4, -0.5});
  }
  expect_error(solid + plane + " meshSeq input/nowhere", {"scene.txt:4: ", "no folder 'input/nowhere'"});
  expect_error("shapes input 1\ninput/tetMeshes/grid.msh 0 0 0  0 0 0  1 1 1 meshSeq input/moves",
               {"scene.txt:2: ", "solids cannot"});
  expect_error(solid + "input/triMeshes/wedge.obj 0 -4 0  0 0 0  1 1 1 meshSeq input/segMeshes",
               {"sequence", "no file"});
  folder.write("input/moves/4.obj", "v 0 4 0\nv 1 0 0\nv 0 0 1\nv 0 0 2\nf 1 3 2\nf 1 4 3\n");
  expect_error(solid + plane + " meshSeq input/moves", {"sequence", "a file 4, but none with number 3"});
  folder.write("input/moves/1.obj", "v 0 1 0\nv 1 0 0\nv 0 0 1\nv 0 0 2\nf 1 3 2\nf 2 4 3\n");
  expect_error(solid + plane + " meshSeq input/moves",
               {"sequence", "1.obj has other triangles than the collider"});
  folder.write("input/moves/1.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n");
  expect_error(solid + plane + " meshSeq input/moves", {"sequence", "1.obj has 3 nodes, and the collider 4"});
}

TEST_F(IpcScriptTest, ManyUnsupportedCommandsAreListedInPart) {
  std::string text = shape_line + "\n";
  for (int i = 0; i < 25; ++i) text += "\xff\x1b[2J\n";
  expect_error(text, {"25 commands", "line 3: '??[2J': unknown command", "line 22:", "\n  and 5 more"});
  EXPECT_EQ(error_of(text).find("line 23:"), std::string::npos);
  EXPECT_EQ(load(text, true).model.objects.size(), 1u);  // the TOML is valid
}

TEST_F(IpcScriptTest, TooManyNodesNameTheLine) {
  std::string cloud;
  for (int i = 0; i < 22000; ++i) cloud += "v " + std::to_string(i) + " 0 0\n";
  folder.write("cloud.pt", cloud);
  expect_error("shapeMatrix input 100000 1 1\ncloud.pt 0 1 0  0 0 0  1 1 1\n", {"scene.txt:2:", "nodes"});
}

TEST_F(IpcScriptTest, WrongValuesNameTheirLine) {
  expect_error("density 1000\ntime five 0.1\n" + shape_line, {"scene.txt:2: time", "'five' is no number"});
  expect_error("time 5 -1\n" + shape_line, {"scene.txt:1: time", "the time step = -1"});
  expect_error("time 5 nan\n" + shape_line, {"scene.txt:1: time"});
  expect_error("time 5\n" + shape_line, {"scene.txt:1: time: ends where the time step should be"});
  expect_error("energy XY\n" + shape_line, {"scene.txt:1: energy", "NH or FCR"});
  expect_error("density 0\n" + shape_line, {"scene.txt:1: density"});
  expect_error("stiffness 1e5 0.5\n" + shape_line, {"scene.txt:1: stiffness"});
  expect_error("handleRatio 0.5\n" + shape_line, {"scene.txt:1: handleRatio"});
  expect_error("halfSpace 0 0 0  0 0 0  50 0\n" + shape_line, {"scene.txt:1: halfSpace", "normal"});
  expect_error("tuning 3\n0\n1e-3\n", {"tuning", "the file ends"});
  expect_error("tol 1\n0\n" + shape_line, {"scene.txt:1: tol", "(0, 1]"});
  expect_error("shapes input 2\ninput/tetMeshes/grid.msh 0 0 0  0 0 0  1 1 1\n",
               {"scene.txt:1: shapes", "the file ends"});
  expect_error("shapes input 1\ninput/tetMeshes/grid.msh 0 0 0  0 0\n", {"scene.txt:2: shape"});
  expect_error("shapes input 1\ninput/tetMeshes/grid.msh 0 0 0  0 0 0  1 0 1\n",
               {"scene.txt:2: shape", "scale"});
  expect_error("shapes input 1\ninput/tetMeshes/nothing.msh 0 0 0  0 0 0  1 1 1\n",
               {"scene.txt:2:", "'input/tetMeshes/nothing.msh'", "folder"});
  expect_error("shapes input 1\ninput/tetMeshes/grid.abc 0 0 0  0 0 0  1 1 1\n",
               {"scene.txt:2: shape", ".msh, .obj"});
  expect_error("shapes input 1\ninput/triMeshes/plane.obj 0 0 0  0 0 0  1 1 1\n",
               {"scene.txt", "no shape is a .msh"});
  expect_error("time 1 0.1\n", {"scene.txt", "no shapes"});
  expect_error("script DCOSquash\n" + shape_line, {"scene.txt:1: script DCOSquash: needs at least 2 shapes"});
  expect_error("script MCOSquash\n" + shape_line, {"scene.txt:1: script MCOSquash: needs at least 2 meshCO"});
  expect_error("shapeMatrix input 1000 1000 1000\ninput/tetMeshes/grid.msh 1 1 1  0 0 0  1 1 1\n",
               {"scene.txt:1: shapeMatrix", "more than"});
}

TEST_F(IpcScriptTest, ValuesOutsideOfTheSolversRangeAreNotTakenForScriptLines) {
  expect_error("time 5 1e-9\n" + shape_line, {"scene.txt (as TOML)", "dt"});
}

TEST_F(IpcScriptTest, ConvertedSceneIsTheSame) {
  const std::filesystem::path script = folder.script(
      "size 1\nscript twistnsns\nselfFric 0.3\nshapes input 3\n"
      "input/tetMeshes/grid.msh 0 0 0  10 20 30  1 1.5 1  material 10 20 0.1\n"
      "input/tetMeshes/grid.msh 3 0 0  0 0 0  1 1 1\n"
      "input/triMeshes/plane.seg 0 -2 0  0 0 0  1 1 1\n"
      "meshCO input/triMeshes/wedge.obj 0 -3 0  1  50  0.9\nhalfSpace 0 -9 0  0 1 0  50 0.5\n");
  const Scene run = load_ipc_script(script);
  const std::filesystem::path elsewhere = folder.root / "a" / "b";
  std::filesystem::create_directories(elsewhere);
  const std::string toml = ipc_script_to_toml(script, elsewhere);
  EXPECT_NE(toml.find("file = \"../../input/tetMeshes/grid.msh\""), std::string::npos) << toml;
  const Scene converted = parse_scene(toml, elsewhere / "scene.toml");

  EXPECT_EQ(run.model.positions, converted.model.positions);
  EXPECT_EQ(run.model.velocities, converted.model.velocities);
  EXPECT_EQ(run.model.tets, converted.model.tets);
  EXPECT_EQ(run.model.edges, converted.model.edges);
  EXPECT_EQ(run.model.material_names, converted.model.material_names);
  ASSERT_EQ(run.model.scripted.size(), converted.model.scripted.size());
  for (std::size_t s = 0; s < run.model.scripted.size(); ++s) {
    EXPECT_EQ(run.model.scripted[s].nodes, converted.model.scripted[s].nodes);
    EXPECT_EQ(run.model.scripted[s].motion.apply({1, 2, 3}, 0.7),
              converted.model.scripted[s].motion.apply({1, 2, 3}, 0.7));
  }
  for (const ParamInfo& row : param_table())
    EXPECT_EQ(get_param(&run.params, row), get_param(&converted.params, row)) << row.name;
  for (std::size_t m = 0; m < run.model.materials.size(); ++m)
    for (const ParamInfo& row : material_table())
      EXPECT_EQ(get_param(&run.model.materials[m], row), get_param(&converted.model.materials[m], row))
          << row.name;
  EXPECT_EQ(run.frames, converted.frames);
  EXPECT_EQ(run.camera.position, converted.camera.position);
}

TEST_F(IpcScriptTest, CommandLine) {
  const std::string toml = (folder.root / "scene.toml").string();
  const auto convert = [&](const std::string& text, std::vector<std::string> flags) {
    std::vector<std::string> words{"stickslip", "convert", folder.script(text).string(), toml};
    words.insert(words.end(), flags.begin(), flags.end());
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    return run_cli(static_cast<int>(argv.size()), argv.data());
  };
  const std::string unknown = "unknown 1\n" + shape_line;
  EXPECT_EQ(convert(unknown, {}), 2);
  EXPECT_FALSE(std::filesystem::exists(toml));
  EXPECT_EQ(convert(unknown, {"--ignore-unknown"}), 0);
  EXPECT_EQ(load_scene(toml).model.objects.size(), 1u);
  EXPECT_EQ(load_scene(folder.script(shape_line).string()).frames, 200);
}

/// Numbers of nodes and elements in the sections of the mesh files.
struct SharedScript {
  const char* file;
  std::size_t nodes, tets, objects;
};

TEST_F(IpcScriptTest, SharedScriptsLoad) {
  const std::filesystem::path scripts = testing::shared_data() / "ipc" / "input" / "paperExamples";
  if (!std::filesystem::exists(scripts)) GTEST_SKIP() << scripts << " is not there";
  for (const SharedScript& expected :
       std::initializer_list<SharedScript>{{"10_tetTet.txt", 8, 2, 2},
                                           {"10_cubeStack.txt", 40, 30, 5},
                                           {"11_erleben/cubeCliffCO.txt", 8 + 8, 6, 2},
                                           {"11_erleben/spikeWedgeCO.txt", 5 + 6, 2, 2},
                                           {"7_masonryArch.txt", 25 * 8 + 2 * 8, 25 * 6, 27},
                                           {"2_matKnives.txt", 3200 + 9 * 3, 9126, 10},
                                           {"12_sphereOnMat.txt", 1760 + 3200, 6851 + 9126, 2},
                                           {"4_rodsTwist.txt", 4 * 13333, 4 * 50511, 4},
                                           {"21_scalability/mat40x40_twist.txt", 3200, 9126, 1}}) {
    SCOPED_TRACE(expected.file);
    const Scene scene = load_ipc_script(scripts / expected.file);
    EXPECT_EQ(scene.model.objects.size(), expected.objects);
    EXPECT_EQ(scene.model.node_count(), expected.nodes);
    EXPECT_EQ(scene.model.tets.size(), expected.tets);
  }
}

TEST_F(IpcScriptTest, SharedTetTetLiesWhereTheFormatPutsIt) {
  const std::filesystem::path file =
      testing::shared_data() / "ipc" / "input" / "paperExamples" / "10_tetTet.txt";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  const Scene scene = load_ipc_script(file);
  // Two unit tets, the second 1.1 above: 1 x 2.1 x 1, rescaled to a height of 1 and lifted by half the
  // diagonal.
  const double k = 1 / 2.1, lift = 0.5 * std::sqrt(1 + 2 * k * k);
  expect_near(scene.model.positions[0], {0, lift, 0});
  expect_near(scene.model.positions[1], {k, lift, 0});
  expect_near(scene.model.positions[2], {0, lift, k});
  expect_near(scene.model.positions[3], {0, lift + k, 0});
  expect_near(scene.model.positions[4], {0, lift + 1.1 * k, 0});
  EXPECT_NEAR(scene.params.d_hat, 1e-3 * 2 * lift, 1e-15);
  EXPECT_EQ(scene.frames, 200);
  EXPECT_EQ(scene.model.half_spaces.at(0).offset, 0);
}

}  // namespace
}  // namespace stickslip
