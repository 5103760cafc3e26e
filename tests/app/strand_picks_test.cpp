// Strands that are pulled, by a script's line and by the mouse, and pinned.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "app/viewer/action_script.h"
#include "app/viewer/pointer.h"
#include "tests/app/running_content.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

/// Six strands of 0.2 m in one object, held by their roots, on this ground, with these lines in front.
std::string hair_text(const std::string& ground, const std::string& front = "") {
  return front +
         "[[material]]\nname = 'fibre'\nyoung = 1e7\ndensity = 1000\n[[object]]\nname = 'hair'\n"
         "body = 'rods'\nshape = 'hair'\nstrands = 6\nlength = 0.2\nsegments = 8\ndiameter = 1e-3\n" +
         ground;
}

class StrandPicks : public test::RunningContent {
 protected:
  void SetUp() override {
    fs::create_directories(folder);
    // A scalp of 10 mm x 1 mm.
    std::ofstream(folder / "comb.obj")
        << "v 0 0 0\nv 0.01 0 0\nv 0.01 0 -0.001\nv 0 0 -0.001\nf 1 2 3\nf 1 3 4\n";
  }
  void TearDown() override {
    simulation.reset();
    fs::remove_all(folder);
  }
  /// Vertical strands, about 2 mm apart.
  Scene comb() const { return parse_scene(hair_text("scalp = 'comb.obj'\ngap = 1e-3\n"), folder / "a.toml"); }
  static std::vector<Vec3f> positions_of(const Model& model) {
    std::vector<Vec3f> positions;
    for (const auto& x : model.positions) positions.push_back(x.cast<float>());
    return positions;
  }
  void run(const std::string& lines) {
    std::ofstream(folder / "actions.txt") << lines;
    ActionScript script(folder / "actions.txt");
    ASSERT_TRUE(test::reached(*simulation, [&] {
      return !script.advance({*simulation, [](ActionId) {}, [](const std::string&) {},
                              [&] { simulation->update(); }, [] { return false; }});
    }));
    EXPECT_FALSE(script.has_failed());
  }
  Vec3f place_of(const Drag& drag) {
    return position_of({0, drag.triangle, drag.weights}, simulation->frame().positions());
  }
  const fs::path folder = fs::temp_directory_path() / ("stickslip-strands-" + std::to_string(getpid()));
};

TEST_F(StrandPicks, TheEndOfHairIsTheFarthestSegmentThatIsFree) {
  const Scene scene = comb();
  const std::vector<Vec3f> positions = positions_of(scene.model);
  const Object& hair = scene.model.objects[0];
  const Pick tip = end_towards(scene.model, "hair", positions, {0, 1, 0});
  EXPECT_EQ(tip.object, 0);
  EXPECT_NEAR(tip.point[1], 0.2f + 1e-3f - 0.0125f, 2e-3f) << "the middle of a last segment";
  // The roots are lower, but held.
  const Pick low = end_towards(scene.model, "hair", positions, {0, -1, 0});
  EXPECT_NEAR(low.point[1], 1e-3f + 1.5f * 0.025f, 2e-3f);
  for (const Pick& pick : {tip, low}) {
    EXPECT_LT(norm(pick.point - position_of(pick, positions)), 1e-7f);
    EXPECT_GE(pick.triangle[0], hair.collides_from);
    EXPECT_GE(pick.triangle[1], hair.collides_from);
    EXPECT_LT(pick.triangle[2], hair.collides_from) << "a ghost";
    EXPECT_EQ(pick.weights[2], 0);
  }
}

TEST_F(StrandPicks, ARodThatIsHeldEverywhereHasNoEnd) {
  const Scene scene = parse_scene(
      "[[material]]\nname = 'wire'\n[[object]]\nname = 'rod'\nbody = 'rods'\nshape = 'strand'\nlength = 1\n"
      "segments = 3\ndiameter = 0.01\n[[pin]]\nobject = 'rod'\nnodes = [0, 1, 2, 3]\n",
      "a.toml");
  try {
    end_towards(scene.model, "rod", positions_of(scene.model), {0, 1, 0});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("rod is held everywhere"), std::string::npos) << error.what();
  }
}

TEST_F(StrandPicks, APinHoldsTheStrandThatWasPickedAlone) {
  const Scene scene = comb();
  const std::vector<Vec3f> positions = positions_of(scene.model);
  const Object& hair = scene.model.objects[0];
  const Pick tip = end_towards(scene.model, "hair", positions, {0, 1, 0});
  const std::vector<std::int32_t> nodes = nodes_near(scene.model, tip, positions);
  // The first of the strand's nine: a tip has no segment that begins there.
  const std::int32_t last = tip.triangle[1] - hair.collides_from, first = last - 8;
  EXPECT_GE(nodes.size(), 2u);
  for (const std::int32_t node : nodes) {
    EXPECT_GE(node, first);
    EXPECT_LE(node, last);
  }
}

TEST_F(StrandPicks, APinOfARingIsWhereItWasPicked) {
  const Scene scene = parse_scene(
      "[[material]]\nname = 'wire'\n[[object]]\nname = 'ring'\nbody = 'rods'\nshape = 'ring'\nradius = 1\n"
      "segments = 100\ndiameter = 0.01\n",
      "a.toml");
  const std::vector<Vec3f> positions = positions_of(scene.model);
  const Pick end = end_towards(scene.model, "ring", positions, {1, 0, 0});
  const std::vector<std::int32_t> nodes = nodes_near(scene.model, end, positions);
  EXPECT_GE(nodes.size(), 2u);
  EXPECT_LE(nodes.size(), 8u) << "a twentieth of 2.8 m to both sides";
}

const char* const steppers[][2] = {
    {"Ipc", "[params]\ndt = 0.01"},
    {"Nsgs", "solver = 'nsgs'\n[params]\ndt = 0.01"},
    {"NodalAdmm", "solver = 'nsgs'\n[params]\ndt = 0.01\ncoupling = 'nodal_admm'"},
    {"NodalIntegrator",
     "solver = 'nsgs'\n[params]\ndt = 0.01\ncoupling = 'nodal_admm'\nnodal_integrator = 'admm'"}};

/// What follows is the same with barrier steps, with linearised ones, and with ADMM on nodes as a solver and
/// as the integrator.
/// Hair that hangs from a ball is pulled to the side.
class PulledStrands : public StrandPicks, public ::testing::WithParamInterface<int> {
 protected:
  void load_hair() {
    const std::string front = std::string(steppers[GetParam()][1]) + "\n";
    load([front] {
      return parse_scene(hair_text("radius = 0.03\ncap = 20\nrotation = [180, 0, 0]\n", front), "a.toml");
    });
  }
};

TEST_P(PulledStrands, FollowALineOfAScript) {
  load_hair();
  run("set drag_stiffness=20\ndrag hair 0.08 0 0\n");
  const Drag drag = std::get<DragStart>(simulation->journal().back().command).drag;
  const float before = place_of(drag)[0];
  EXPECT_NEAR(drag.target[0], before + 0.08f, 1e-6f);
  run("steps 30\n");
  const float pulled = place_of(drag)[0];
  EXPECT_GT(pulled, before + 0.06f);
  run("drag_end\nsteps 20\n");
  EXPECT_LT(place_of(drag)[0], pulled - 0.02f);
}

TEST_P(PulledStrands, FollowTheMouse) {
  load_hair();
  const Pick tip = end_towards(model(), "hair", simulation->frame().positions(), {1, 0, 0});
  Camera camera = Camera::look_at(tip.point + Vec3f{0, 0, 0.6f}, tip.point, 40);
  Pointer pointer(*simulation, camera);
  pointer.resize(400, 400);
  pointer.move(200, 200);
  pointer.press(Pointer::Button::left, {.control = true});
  ASSERT_TRUE(pointer.drag_line());
  pointer.move(280, 200);
  const DragLine before = *pointer.drag_line();
  const float way = before.to[0] - before.from[0];
  EXPECT_GT(way, 0.05f);
  post(ParamEdit{"drag_stiffness", 20.0});
  steps(30);
  EXPECT_GT(pointer.drag_line()->from[0], before.from[0] + 0.75f * way);
}

INSTANTIATE_TEST_SUITE_P(Steppers, PulledStrands, ::testing::Range(0, 4),
                         [](const auto& info) { return std::string(steppers[info.param][0]); });

}  // namespace
}  // namespace stickslip
