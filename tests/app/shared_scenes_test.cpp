// Published scenes and meshes run without an intersection, and come to rest or fall as expected.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "app/io/scene/scene.h"
#include "gpu/engine.h"
#include "tests/fixtures/shared_data.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using Vec3d = Vec<double, 3>;

class LongSharedScene : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(testing::shared_data() / "ipc")) GTEST_SKIP() << "the shared scenes are not at hand";
  }

  /// Steps the scene on the CPU. Every step must be free of intersections, and of inverted elements if the
  /// energy forbids them. Returns the final positions.
  std::vector<Vec3d> run(const Scene& scene, int frames) {
    Params params = scene.params;
    params.check_intersections = true;
    const std::unique_ptr<Engine> engine = make_engine(Backend::cpu);
    engine->set_params(params);
    engine->load(scene.model);
    const bool no_inversion =
        std::all_of(scene.model.materials.begin(), scene.model.materials.end(),
                    [](const Material& material) { return material.model == ElasticModel::neo_hookean; });
    int converged = 0, contacts = 0;
    for (int i = 0; i < frames && !HasFailure(); ++i) {
      const StepReport report = engine->step();
      EXPECT_EQ(report.intersections, 0) << scene.name << ", frame " << report.frame;
      if (no_inversion) {
        EXPECT_GT(report.volume_ratio_min, 0) << scene.name << ", frame " << report.frame;
      }
      converged += report.converged;
      contacts = std::max(contacts, report.contacts);
    }
    EXPECT_GE(converged, 9 * frames / 10) << scene.name;
    touched = contacts > 0;
    return engine->state().positions;
  }

  std::vector<Vec3d> run_script(const std::string& name, int frames) {
    scene = load_scene((testing::shared_data() / ("ipc/input/paperExamples/" + name)).string());
    return run(scene, frames);
  }

  /// A mesh of the collection falls on a plane of 20 degrees.
  std::vector<Vec3d> run_on_slope(const std::string& mesh, double scale, const Vec3d& position, int frames) {
    const std::string file = (testing::shared_data() / ("ipc/input/tetMeshes/" + mesh)).string();
    std::ostringstream text;
    text << "title = \"slope\"\n[params]\ndt = 0.02\n[[material]]\nname = \"rubber\"\nyoung = 2e5\n"
            "poisson = 0.4\nmodel = \"neo_hookean\"\n[[object]]\nname = \"body\"\nfile = \""
         << file << "\"\nmaterial = \"rubber\"\nscale = " << scale << "\nposition = [" << position[0] << ", "
         << position[1] << ", " << position[2]
         << "]\n[[half_space]]\nnormal = [0.34202, 0.93969, 0]\npoint = [0, 0, 0]\nmu = 0.3\n";
    scene = parse_scene(text.str(), "slope.toml");
    return run(scene, frames);
  }

  Scene scene;
  bool touched = false;
};

TEST_F(LongSharedScene, SmallSolidsFallOnEachOther) {
  for (const char* name : {"10_tetTet.txt", "10_cubeStack.txt"}) {
    run_script(name, 100);
    EXPECT_TRUE(touched) << name;
  }
}

TEST_F(LongSharedScene, SharpFeaturesFallOnSharpFeatures) {
  for (const char* name : {"11_erleben/spikeWedgeCO.txt", "11_erleben/cubeCliffCO.txt"}) {
    run_script(name, 100);
    EXPECT_TRUE(touched) << name;
  }
}

TEST_F(LongSharedScene, TheMasonryArchStands) {
  const std::vector<Vec3d> end = run_script("7_masonryArch.txt", 50);
  EXPECT_TRUE(touched);
  double low = 1e30, high = -1e30, moved = 0;
  for (const Object& object : scene.model.objects) {
    if (!object.is_solid()) continue;
    for (int i = object.node_begin; i < object.node_end; ++i) {
      low = std::min(low, scene.model.positions[i][1]);
      high = std::max(high, scene.model.positions[i][1]);
      moved = std::max(moved, norm(end[i] - scene.model.positions[i]));
    }
  }
  EXPECT_LT(moved, 0.05 * (high - low));
}

TEST_F(LongSharedScene, MatsAreTwistedCutAndHit) {
  run_script("21_scalability/mat40x40_twist.txt", 20);
  run_script("2_matKnives.txt", 20);
  EXPECT_TRUE(touched);
  run_script("12_sphereOnMat.txt", 20);
}

TEST_F(LongSharedScene, RodsAreTwisted) { run_script("4_rodsTwist.txt", 20); }

TEST_F(LongSharedScene, MeshesOfAnimalsFallOnASlope) {
  run_on_slope("bunny.msh", 0.1, {0, 0.16, 0}, 30);
  EXPECT_TRUE(touched);
  run_on_slope("Armadillo13K.msh", 0.003, {0, 0.27, 0}, 30);
  EXPECT_TRUE(touched);
}

}  // namespace
}  // namespace stickslip
