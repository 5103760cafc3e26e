// The named animations of IPC scene scripts: nodes that they hold, move, push and start, on a cube with a
// node spacing of a quarter.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <set>

#include "app/io/ipc/ipc_animation.h"
#include "app/io/ipc/ipc_script.h"
#include "app/io/scene/scene.h"
#include "tests/app/ipc_fixture.h"

namespace stickslip {
namespace {

using testing::IpcFolder;
using Vec3d = Vec<double, 3>;
using Where = std::function<bool(const Vec3d&)>;

constexpr double kPi = std::numbers::pi;

bool near(double a, double b) { return std::abs(a - b) < 1e-9; }
Where at(int axis, double value) {
  return [=](const Vec3d& p) { return near(p[axis], value); };
}
Where both(const Where& a, const Where& b) {
  return [=](const Vec3d& p) { return a(p) && b(p); };
}

class IpcAnimationTest : public ::testing::Test {
 protected:
  IpcFolder folder;
  Scene scene;

  /// Applies the animation to a cube [0, 1]^3, dt = 0.1 s for 100 s unless `more` changes that.
  void run(const std::string& name, const std::string& more = "") {
    load("size 1\ntime 100 0.1\n" + more + "\nscript " + name +
         "\nshapes input 1\ninput/tetMeshes/grid.msh 0 0 0  0 0 0  1 1 1\n");
  }
  void load(const std::string& text) { scene = load_ipc_script(folder.script(text)); }

  Vec3d moved(const ScriptedNodes& group, std::int32_t node, double time) const {
    const Vec3d& p = scene.model.positions[node];
    return group.motion.apply(p, time) - p;
  }
  /// The group that holds exactly the nodes at `where`.
  const ScriptedNodes& group(const Where& where) const {
    std::set<std::int32_t> wanted;
    for (std::size_t i = 0; i < scene.model.node_count(); ++i)
      if (where(scene.model.positions[i])) wanted.insert(static_cast<std::int32_t>(i));
    EXPECT_FALSE(wanted.empty());
    for (const ScriptedNodes& group : scene.model.scripted)
      if (std::set<std::int32_t>(group.nodes.begin(), group.nodes.end()) == wanted) return group;
    ADD_FAILURE() << "no group of exactly these " << wanted.size() << " nodes";
    static const ScriptedNodes none;
    return none;
  }
  void expect_moved(const ScriptedNodes& group, double time, const Vec3d& by) const {
    for (const std::int32_t node : group.nodes) {
      const Vec3d way = moved(group, node, time);
      for (int c = 0; c < 3; ++c) EXPECT_NEAR(way[c], by[c], 1e-9) << "at " << time << " s, component " << c;
    }
  }
  void expect_held(const Where& where) const { expect_moved(group(where), 7, {0, 0, 0}); }
  void expect_groups(std::size_t count) const { EXPECT_EQ(scene.model.scripted.size(), count); }
};

TEST_F(IpcAnimationTest, NothingIsScriptedWhereBodiesFall) {
  for (const char* name : {"fall", "fallNoShift", "DCOFix", "null"}) {
    run(name);
    expect_groups(0);
    const double lift = std::string(name) == "fall" ? 0.5 * std::sqrt(3) : 0;
    double lowest = 9;
    for (const Vec3d& p : scene.model.positions) lowest = std::min(lowest, p[1]);
    EXPECT_NEAR(lowest, lift, 1e-12) << name;
  }
}

TEST_F(IpcAnimationTest, Holds) {
  run("hang2");
  expect_held(at(1, 1));
  run("stand");
  expect_held(at(1, 0));
  run("fixLowerHalf");
  expect_held([](const Vec3d& p) { return p[1] < 0.4; });  // 0.5 itself is excluded
  run("topbottomfix");
  expect_held(at(1, 0));
  expect_held(at(1, 1));
  run("corner");
  expect_held([](const Vec3d& p) { return near(p[0], 0) || near(p[1], 0) || near(p[2], 0); });
  run("hangLeft");
  expect_held(at(0, 0));
  run("stamp", "handleRatio 0.3");
  expect_held([](const Vec3d& p) { return p[0] < 0.3; });
  run("stampBoth");
  expect_held(at(0, 0));
  expect_held(at(0, 1));
  run("stampTopLeft");
  expect_held(both(at(0, 0), at(1, 1)));
  run("hangTopLeft");
  expect_held(
      [](const Vec3d& p) { return near(p[0], 0) && near(p[1], 1) && (near(p[2], 0) || near(p[2], 1)); });
  run("swing");
  expect_held(at(0, 0));
  for (const std::int32_t i : scene.model.scripted[0].nodes) EXPECT_GT(scene.model.positions[i][1], 1.29);
}

TEST_F(IpcAnimationTest, SingleNodes) {
  run("hang");
  expect_groups(2);
  for (const int side : {0, 1}) {
    ASSERT_EQ(scene.model.scripted[side].nodes.size(), 1u);
    std::int32_t last = -1;  // the last node of its end
    for (std::size_t i = 0; i < scene.model.node_count(); ++i)
      if (near(scene.model.positions[i][0], side)) last = static_cast<std::int32_t>(i);
    EXPECT_EQ(scene.model.scripted[side].nodes[0], last);
  }
  for (const auto& [name, velocity] : {std::pair{"fixRightMost1", 0.0}, std::pair{"pushRightMost1", -0.15}}) {
    run(name);
    expect_groups(1);
    std::int32_t first = 0;
    while (!near(scene.model.positions[first][0], 1)) ++first;
    EXPECT_EQ(scene.model.scripted[0].nodes, std::vector<std::int32_t>{first});
    expect_moved(scene.model.scripted[0], 2, {2 * velocity, 0, 0});
  }
}

TEST_F(IpcAnimationTest, EndsMoveApartAndTogether) {
  for (const auto& [name, speed] : {std::pair{"stretch", -0.1}, std::pair{"squash", 0.03}}) {
    run(name);
    expect_groups(2);
    expect_moved(group(at(0, 0)), 50, {50 * speed, 0, 0});
    expect_moved(group(at(0, 1)), 50, {-50 * speed, 0, 0});
  }
}

TEST_F(IpcAnimationTest, TwistTurnsTheEndsAboutTheCenter) {
  run("twist", "turnOffGravity");
  expect_groups(2);
  for (const int side : {0, 1}) {
    const ScriptedNodes& end = group(at(0, side));
    const double angle = (side == 0 ? -1 : 1) * 0.4 * kPi * 0.5;
    for (const std::int32_t node : end.nodes) {
      const Vec3d p = scene.model.positions[node], q = end.motion.apply(p, 0.5);
      const double y = p[1] - 0.5, z = p[2] - 0.5;
      EXPECT_NEAR(q[0], p[0], 1e-12);
      EXPECT_NEAR(q[1], 0.5 + std::cos(angle) * y - std::sin(angle) * z, 1e-12);
      EXPECT_NEAR(q[2], 0.5 + std::sin(angle) * y + std::cos(angle) * z, 1e-12);
    }
  }
}

TEST_F(IpcAnimationTest, TurningPointsAreFollowedStepByStep) {
  // 1.2 m/s in steps of 0.1 s: after 10 steps (with rounding perhaps 11) the end has moved 1.2 and reverses,
  // to 0.4 and back.
  run("twistnsns");
  const ScriptedNodes& left = group(at(0, 0));
  const ScriptedNodes& right = group(at(0, 1));
  const auto x = [&](double t) { return left.motion.apply({0, 0.5, 0.5}, t)[0]; };
  EXPECT_NEAR(x(0.95), -1.14, 1e-9);
  double lowest = 0, highest = 0;
  for (double t = 0; t < 20; t += 0.01) {
    lowest = std::min(lowest, x(t));
    highest = std::max(highest, x(t));
    EXPECT_NEAR(right.motion.apply({1, 0.5, 0.5}, t)[0], 1 - x(t), 1e-9);
  }
  EXPECT_GE(lowest, -1.2 - 0.12 - 1e-9);
  EXPECT_LE(lowest, -1.2 + 1e-9);
  EXPECT_GE(highest, 0.4 - 1e-9);
  EXPECT_LE(highest, 0.4 + 0.12 + 1e-9);
  EXPECT_NEAR(left.motion.angular_velocity[0], -0.4 * kPi, 1e-12);
}

TEST_F(IpcAnimationTest, OtherEnds) {
  run("twistnstretch");
  EXPECT_NEAR(group(at(0, 0)).motion.angular_velocity[0], -0.1 * kPi, 1e-12);
  EXPECT_NEAR(group(at(0, 1)).motion.velocity[0], 0.1, 1e-12);
  run("twistnsns_old");
  EXPECT_NEAR(group(at(0, 0)).motion.apply({0, 0.5, 0.5}, 0.8)[0], -0.72, 1e-9);
  run("stretchnsquash");
  expect_moved(group(at(0, 0)), 0.8, {-0.72, 0, 0});
  expect_moved(group(at(0, 0)), 1.0, {-0.72, 0, 0});  // beyond -0.8 at 0.9 s, reversed since then
  run("upndown");
  expect_moved(group(at(0, 0)), 0.3, {0, 0.54, 0});
  expect_moved(group(at(0, 1)), 0.3, {0, -0.54, 0});
  expect_moved(group(at(0, 0)), 0.5, {0, 0.54, 0});
  run("undstamp");
  expect_groups(1);
  expect_moved(group(at(0, 0)), 0.3, {0, 0.54, 0});
}

TEST_F(IpcAnimationTest, BendTurnsAboutTheLastNodeOfAnEnd) {
  run("bend");
  expect_groups(4);
  std::size_t held = 0;
  for (const ScriptedNodes& g : scene.model.scripted) {
    if (g.nodes.size() == 1) {
      ++held;
      expect_moved(g, 3, {0, 0, 0});
      continue;
    }
    EXPECT_EQ(g.nodes.size(), 24u);
    const bool left = near(scene.model.positions[g.nodes[0]][0], 0);
    EXPECT_NEAR(g.motion.angular_velocity[2], (left ? -0.05 : 0.05) * kPi, 1e-12);
    EXPECT_NEAR(g.motion.center[0], left ? 0 : 1, 1e-9);
  }
  EXPECT_EQ(held, 2u);
}

TEST_F(IpcAnimationTest, StretchAndPauseStopsBelowTheMark) {
  run("stretchAndPause");  // 0.1 a step from x = 0: at -0.3 it is below -0.28 for the first time
  expect_moved(group(at(0, 0)), 0.2, {-0.2, 0, 0});
  expect_moved(group(at(0, 0)), 50, {-0.3, 0, 0});
  expect_moved(group(at(0, 1)), 50, {0.3, 0, 0});
}

TEST_F(IpcAnimationTest, PushAndTear) {
  run("push", "time 100 0.125");
  expect_held(at(1, 0));
  expect_moved(group(at(1, 1)), 0.25, {0, -0.25, 0});
  expect_moved(group(at(1, 1)), 50, {0, -0.5, 0});
  run("tear", "time 100 0.125");
  expect_held(at(1, 0));
  expect_moved(group(at(1, 1)), 0.875, {-4.375, 0, 0});  // beyond -4 for the first time
  expect_moved(group(at(1, 1)), 1.875, {0.625, 0, 0});   // and back at the same speed
}

TEST_F(IpcAnimationTest, PullsLetGo) {
  run("rubberBandPull", "time 100 0.125");
  const ScriptedNodes& waist = group(at(1, 0.5));
  expect_moved(waist, 1, {-2.5, 0, 0});
  EXPECT_NEAR(waist.end, 2, 1e-12);
  expect_moved(group(at(1, 1)), 50, {0, 0.4, 0});  // held after the waist is released
  expect_moved(group(at(1, 0)), 50, {0, -0.4, 0});
  EXPECT_GE(group(at(1, 1)).end, 1e30);

  run("toggleTop", "time 100 0.0625");
  EXPECT_NEAR(group(at(1, 1)).end, 0.25, 1e-12);  // 0.125 m at 0.5 m/s: the first step past 0.1
  expect_moved(group(at(1, 1)), 0.125, {-0.0625, 0, 0});

  run("headTailPull", "time 100 0.125");
  expect_held(at(2, 0.5));
  expect_moved(group(at(2, 0)), 1, {3.5, 0, 0});
  EXPECT_NEAR(group(at(2, 0)).end, 1.375, 1e-12);
  EXPECT_NEAR(group(at(2, 1)).end, 1.375, 1e-12);

  run("fourLegPull", "time 100 0.125");
  expect_held(both(at(1, 1), at(0, 0)));
  expect_moved(group(both(at(1, 1), at(0, 1))), 1, {2.5, 0, 0});
  expect_moved(group(both(at(1, 0), at(0, 1))), 1, {2.5, -3.5, 0});  // 0.75 is outside the last quarter
  expect_moved(group(both(at(1, 0), at(0, 0))), 1, {0, -3.5, 0});
  EXPECT_NEAR(group(both(at(1, 0), at(0, 0))).end, 1.5, 1e-12);
}

TEST_F(IpcAnimationTest, Drags) {
  run("dragright");
  expect_moved(group(at(0, 1)), 2, {1, 0, 0});
  run("dragdown");
  const double floor = 0.5 * std::sqrt(3);
  expect_moved(group([&](const Vec3d& p) { return near(p[0], 0.5) && near(p[1], floor); }), 2, {0, -3, 0});
  run("curtain", "handleRatio 0.2");
  expect_groups(2);  // of the eight spots, k / 7 along x, only the first and the last contain nodes
  expect_moved(group(both(at(0, 0), at(1, 1))), 10, {0.4, 0, 0});
  expect_moved(group(both(at(0, 1), at(1, 1))), 10, {0, 0, 0});
}

TEST_F(IpcAnimationTest, StartVelocities) {
  const auto expect_velocities = [&](const std::function<Vec3d(const Vec3d&)>& expected) {
    for (std::size_t i = 0; i < scene.model.node_count(); ++i)
      EXPECT_EQ(scene.model.velocities[i], expected(scene.model.positions[i]));
    expect_groups(0);
  };
  run("leftHitRight");
  expect_velocities([](const Vec3d& p) { return p[0] < 0.4 ? Vec3d{1, 0, 0} : Vec3d{0, 0, 0}; });
  run("drop");
  expect_velocities([](const Vec3d&) { return Vec3d{0, -1, 0}; });
  run("XYRotate");
  expect_velocities([](const Vec3d& p) {
    return Vec3d{near(p[1], 0) ? 1.0 : near(p[1], 1) ? -1.0 : 0.0, 0, 0};
  });
  run("DCOBallHitWall 1 67");
  expect_velocities([](const Vec3d&) { return Vec3d{67, 0, 0}; });
  run("DCOBallHitWall");
  expect_velocities([](const Vec3d&) { return Vec3d{1000, 0, 0}; });
}

TEST_F(IpcAnimationTest, PushedTops) {
  for (const auto& [name, acceleration] : {std::pair{"NMFixBottomDragLeft", Vec3d{-600, 0, 0}},
                                           std::pair{"NMFixBottomDragForward", Vec3d{0, 0, 600}},
                                           std::pair{"utopiaComparison", Vec3d{0, -1.5, 0}}}) {
    run(name);
    expect_held(at(1, 0));
    ASSERT_EQ(scene.model.forces.size(), 1u) << name;
    EXPECT_EQ(scene.model.forces[0].acceleration, acceleration);
    EXPECT_EQ(scene.model.forces[0].nodes.size(), 25u);
    for (const std::int32_t i : scene.model.forces[0].nodes)
      EXPECT_NEAR(scene.model.positions[i][1], 1, 1e-12);
  }
}

/// Kinematic planes at given heights, then a solid far away.
std::string planes(std::initializer_list<const char*> placements) {
  std::string text = "shapes input " + std::to_string(placements.size() + 1) + "\n";
  for (const char* placement : placements)
    text += "input/triMeshes/plane.obj " + std::string(placement) + "\n";
  return text + "input/tetMeshes/grid.msh 50 50 50  0 0 0  1 1 1\n";
}

TEST_F(IpcAnimationTest, KinematicShapesTurn) {
  const char* here = "1 2 3  0 0 0  1 1 1";
  load("time 1 0.1\nscript DCORotCylinders\n" + planes({here, here, here, here, here}));
  expect_groups(5);
  const double quarter = kPi / 2;
  const Vec3d rates[] = {{quarter, 0, 0}, {-quarter, 0, 0}, {0, 0, -quarter}, {0, 0, quarter}, {0, 0, 0}};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(scene.model.scripted[i].motion.angular_velocity, rates[i]);
    const Vec3d center = scene.model.scripted[i].motion.apply({1, 2, 3}, 0.5);
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(center[c], c + 1, 1e-12);
  }
  load("time 1 0.1\nscript DCOVerschoorRoller\n" + planes({here, here, here, here, here, here}));
  const Vec3d rollers[] = {{0, 0, -4}, {0, 0, -2}, {0, 0, 2}, {0, 0, 4}, {2, 0, 0}, {-2, 0, 0}};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(scene.model.scripted[i].motion.angular_velocity, rollers[i]);
}

TEST_F(IpcAnimationTest, KinematicShapesSquash) {
  const auto plane = [](const char* x) { return std::string(x) + "  0 0 90  1 1 1"; };
  const std::string left = plane("-1 0 0"), right = plane("1 0 0");
  load("time 10 0.1\nscript DCOSquash\n" + planes({left.c_str(), right.c_str()}));
  expect_moved(scene.model.scripted[0], 0.9, {0.9, 0, 0});
  expect_moved(scene.model.scripted[1], 0.9, {-0.9, 0, 0});
  expect_moved(scene.model.scripted[0], 1.9, {0.1, 0, 0});  // at a gap of 0 < 0.1 they separate
  load("time 10 0.1\nscript DCOSquash6\n" +
       planes({left.c_str(), right.c_str(), left.c_str(), right.c_str(), left.c_str(), right.c_str()}));
  for (int pair = 0; pair < 3; ++pair) {
    Vec3d way{0, 0, 0};
    way[pair] = 0.9;
    expect_moved(scene.model.scripted[2 * pair], 0.9, way);
    expect_moved(scene.model.scripted[2 * pair + 1], 0.9, -way);
  }
}

TEST_F(IpcAnimationTest, KinematicShapesComeDown) {
  load("time 10 0.125\nscript DCOSegBedSquash\n" +
       planes({"0 0 0  0 0 0  1 1 1", "0 0 0  0 0 0  1 1 1", "0 0 0  0 0 0  1 1 1", "0 1 0  0 0 0  1 1 1"}));
  // Shapes 4 and 5 move: gap 1, which is at most 0.1 for the first time after 8 steps.
  expect_moved(scene.model.scripted[2], 9, {0, 0, 0});
  expect_moved(scene.model.scripted[3], 0.5, {0, -0.5, 0});
  expect_moved(scene.model.scripted[3], 9, {0, -1, 0});
  EXPECT_THROW(load("time 10 0.125\nscript DCOSqueezeOut\n" +
                    std::string("shapes input 1\ninput/tetMeshes/grid.msh 0 0 0 0 0 0 1 1 1\n")),
               InputError);
  load("time 10 0.1\nscript DCOSqueezeOut\n" + planes({"0 1 0  0 0 0  1 1 1", "0 0 0  0 0 90  3.8 1 1"}));
  // The second spans -1.9 to 1.9: the first comes down to -1.9 + 0.9.
  expect_moved(scene.model.scripted[0], 1, {0, -0.3, 0});
  EXPECT_NEAR(scene.model.scripted[0].motion.apply({0, 1, 0}, 10)[1], -1, 0.0301);
  load("time 10 0.1\nscript DCOCut\n" + planes({"0 0 0  0 0 0  1 1 1", "0 0.451 0  0 0 0  1 1 1"}));
  expect_moved(scene.model.scripted[1], 0.3, {0, -0.3, -0.3});
  expect_moved(scene.model.scripted[1], 9, {0, -0.5, -0.5});
  load("time 10 0.01\nscript DCOHammerWalnut\n" + planes({"0 0 0  0 0 0  1 1 1", "0 0.55 0  0 0 0  1 1 1"}));
  // Rotation about (0.5, 0.55, 0): the far edge sinks by sin(angle) until it is at 0.05.
  EXPECT_NEAR(scene.model.scripted[1].motion.apply({-0.5, 0.55, 0}, 10)[1], 0.05, 0.006);
  EXPECT_NEAR(scene.model.scripted[1].motion.apply({0.5, 0.55, 0.5}, 10)[1], 0.55, 1e-12);
}

TEST_F(IpcAnimationTest, MeshCollidersMove) {
  const std::string solid = "shapes input 1\ninput/tetMeshes/grid.msh 50 50 50  0 0 0  1 1 1\n";
  const auto mesh = [](const char* origin) {
    return "meshCO input/triMeshes/wedge.obj " + std::string(origin) + "  2  50  0\n";
  };
  load("time 10 0.1\nscript MCOSquash\n" + solid + mesh("-1 0 0") + mesh("1 0 0"));
  expect_moved(scene.model.scripted[0], 0.3, {0.3, 0, 0});  // at 1.4 < 1.5 they separate
  expect_moved(scene.model.scripted[1], 0.3, {-0.3, 0, 0});
  expect_moved(scene.model.scripted[0], 0.6, {0, 0, 0});
  load("time 10 0.1\nscript MCORotSquash\n" + solid + mesh("0 0 0") + mesh("0 9 0"));
  for (const int i : {0, 1}) {
    EXPECT_NEAR(scene.model.scripted[i].motion.angular_velocity[2], kPi, 1e-12);
    EXPECT_NEAR(scene.model.scripted[i].motion.center[1], i == 0 ? 1 : 8, 1e-12);
  }
  load("time 10 0.1\nscript MCORotCylinders\n" + solid + mesh("0 0 0") + mesh("9 0 0") + mesh("0 9 0") +
       mesh("0 0 9"));
  EXPECT_NEAR(scene.model.scripted[2].motion.angular_velocity[2], -kPi / 2, 1e-12);
  EXPECT_NEAR(scene.model.scripted[3].motion.center[2], 9, 1e-12);
}

const std::string grid = "input/tetMeshes/grid.msh 0 0 0  0 0 0  1 1 1 ";

TEST_F(IpcAnimationTest, ShapesWithVelocities) {
  load("shapes input 3\n" + grid + "linearVelocity 1 2 3 angularVelocity 0 0 90\n" +
       "input/tetMeshes/grid.msh 9 0 0  0 0 0  2 2 2  initVel 1 0 0  0 0 180\n" +
       "input/triMeshes/plane.obj 0 5 0  0 0 0  1 1 1  angularVelocity 0 180 0\n");
  ASSERT_EQ(scene.model.scripted.size(), 2u);
  const ScriptedNodes& plane = scene.model.scripted[0];  // colliders come first
  EXPECT_NEAR(plane.motion.angular_velocity[1], kPi, 1e-12);
  const ScriptedNodes& solid = scene.model.scripted[1];
  EXPECT_EQ(solid.nodes.size(), 125u);
  const Vec3d q = solid.motion.apply({0.5, 0, 0}, 1);  // a quarter turn about the moving origin
  EXPECT_NEAR(q[0], 1, 1e-12);
  EXPECT_NEAR(q[1], 2.5, 1e-12);
  EXPECT_NEAR(q[2], 3, 1e-12);
  const Object& free = scene.model.objects[1];
  for (int i = free.node_begin; i < free.node_end; ++i) {
    const Vec3d p = scene.model.positions[i], v = scene.model.velocities[i];
    EXPECT_NEAR(v[0], 1 - kPi * p[1], 1e-12);
    EXPECT_NEAR(v[1], kPi * (p[0] - 9), 1e-12);
  }
}

TEST_F(IpcAnimationTest, DirichletBoxesAreRelativeToTheFileAndTakeTheBoundaryOnly) {
  // The box refers to the file, whatever the placement; 0.26 along x: two layers of the boundary.
  load(
      "time 1 0.1\nshapes input 1\ninput/tetMeshes/grid.msh 7 7 7  0 0 90  3 1 1  DBC -0.1 -0.1 -0.1  0.26 "
      "1.1 1.1  0 1 0  0 0 0\n");
  ASSERT_EQ(scene.model.scripted.size(), 1u);
  EXPECT_EQ(scene.model.scripted[0].nodes.size(), 25u + 16u);  // the second layer without its 9 inner nodes
  expect_moved(scene.model.scripted[0], 0.5, {0, 0.5, 0});
  for (const std::int32_t i : scene.model.scripted[0].nodes) EXPECT_LT(scene.model.positions[i][1], 6.3);
}

TEST_F(IpcAnimationTest, DirichletTimesAreThoseOfStepStarts) {
  load("time 1 0.1\nDBCTimeRange 0.2 0.7\nshapes input 1\n" + grid +
       "DBC 0 0 0  0.1 1 1  0 1 0  0 0 0  0.25 5\n");
  ASSERT_EQ(scene.model.scripted.size(), 1u);
  EXPECT_NEAR(scene.model.scripted[0].begin, 0.3, 1e-12);  // the first step that starts at 0.25 or later
  EXPECT_NEAR(scene.model.scripted[0].end, 0.7, 1e-12);
  expect_moved(scene.model.scripted[0], 0.5, {0, 0.2, 0});
}

TEST_F(IpcAnimationTest, VelocitiesOnSharedNodesAdd) {
  load("time 1 0.1\nshapes input 1\n" + grid +
       "DBC 0 0 0  0.1 1 1  0 1 0  0 0 0  DBC 0 0 0  1 0.1 1  2 0 0  0 0 0  0 0.5\n");
  const Where left = at(0, -0.5), bottom = at(1, -0.5);
  const auto only = [](const Where& a, const Where& b) -> Where {
    return [=](const Vec3d& p) { return a(p) && !b(p); };
  };
  expect_moved(group(only(left, bottom)), 0.4, {0, 0.4, 0});
  expect_moved(group(only(bottom, left)), 0.4, {0.8, 0, 0});
  std::size_t shared = 0;
  for (const ScriptedNodes& g : scene.model.scripted)
    if (left(scene.model.positions[g.nodes[0]]) && bottom(scene.model.positions[g.nodes[0]])) {
      ++shared;
      EXPECT_EQ(g.nodes.size(), 5u);
      EXPECT_EQ(g.motion.velocity, g.begin == 0 ? (Vec3d{2, 1, 0}) : (Vec3d{0, 1, 0}));
      EXPECT_EQ(g.begin == 0 ? g.end : g.begin, 0.5);
    }
  EXPECT_EQ(shared, 2u);
  try {
    load("shapes input 1\n" + grid + "DBC 0 0 0  1 1 1  0 0 0  90 0 0  DBC 0 0 0  1 1 1  0 0 0  0 90 0\n");
    FAIL() << "two axes at once";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("scene.txt:2: shape"), std::string::npos) << error.what();
  }
}

TEST_F(IpcAnimationTest, NeumannBoxesAccelerate) {
  load("time 1 0.1\nNBCTimeRange 0 0.45\nscript stand\nshapes input 1\n" + grid +
       "NBC 0 0.9 0  1 1 1  3 0 0  0.1 9\n");
  ASSERT_EQ(scene.model.forces.size(), 1u);
  const NodeForce& force = scene.model.forces[0];
  EXPECT_EQ(force.acceleration, (Vec3d{3, 0, 0}));
  EXPECT_EQ(force.nodes.size(), 25u);
  EXPECT_NEAR(force.begin, 0.1, 1e-12);
  EXPECT_NEAR(force.end, 0.5, 1e-12);  // the step that starts at 0.4 is the last
}

TEST_F(IpcAnimationTest, PartsOfKinematicShapesCannotMove) {
  EXPECT_THROW(load("shapes input 2\n" + grid +
                    "\ninput/triMeshes/plane.obj 0 5 0  0 0 0  1 1 1  DBC 0 0 0  0.1 1 1  0 1 0  0 0 0\n"),
               InputError);
  load("shapes input 2\n" + grid +
       "\ninput/triMeshes/plane.obj 0 5 0  0 0 0  1 1 1  DBC 0 0 0  1 1 1  0 1 0  0 0 0  0 0.5\n");
  expect_moved(scene.model.scripted[0], 0.4, {0, 0.4, 0});
  expect_moved(scene.model.scripted[0], 9, {0, 0.5, 0});  // it then stays there
}

TEST_F(IpcAnimationTest, EveryNameBecomesAScene) {
  // Kinematic shapes in the middle of a large solid, beyond the reach of animations of its sides.
  std::string shapes = "shapes input 7\ninput/triMeshes/plane.obj 20 20 20  0 0 0  1 1 1\n";
  for (int i = 0; i < 5; ++i) shapes += "input/triMeshes/plane.obj 25 20 20  0 0 0  1 1 1\n";
  shapes += "input/tetMeshes/grid.msh 0 0 0  0 0 0  100 100 100\n";
  std::string meshes;
  for (int i = 0; i < 4; ++i)
    meshes += "meshCO input/triMeshes/wedge.obj " + std::to_string(10 * i) + " 90 0  1  50  0\n";
  std::filesystem::create_directories(folder.root / "input/moves");
  std::filesystem::copy_file(folder.root / "input/triMeshes/plane.obj", folder.root / "input/moves/1.obj");
  for (const std::string& name : ipc_animation_names()) {
    const std::string argument = name == "meshSeqFromFile" ? " input/moves" : "";
    EXPECT_NO_THROW(load("time 1 0.1\nscript " + name + argument + "\nhandleRatio 0.1\n" + shapes + meshes))
        << name;
  }
}

}  // namespace
}  // namespace stickslip
