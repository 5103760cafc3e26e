// Colours of surfaces.
#include "app/viewer/surface_colors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "app/io/scene/scene.h"
#include "app/io/scene/settings.h"
#include "app/render/overlays.h"
#include "app/viewer/scene_layers.h"
#include "gpu/engine.h"

namespace stickslip {
namespace {

TEST(SurfaceColorsTable, IsIndexedByItsEnum) {
  for (std::size_t i = 0; i < surface_colors_table().size(); ++i)
    EXPECT_EQ(static_cast<std::size_t>(surface_colors_table()[i].colors), i);
}

TEST(OfferedColors, AreThoseThatTheSceneHas) {
  const std::string cube = "[[object]]\nname = \"a\"\nmaterial = \"m\"\nshape = \"box\"\nsize = [1, 1, 1]\n";
  const std::string head = "[[material]]\nname = \"m\"\n";
  const Model rigid = parse_scene(head + cube + "body = \"rigid\"\n", "/a.toml").model,
              soft = parse_scene(head + cube + "edge = 1\n", "/a.toml").model;
  for (const SurfaceColorsInfo& info : surface_colors_table()) {
    const bool is_of_thin = info.colors == SurfaceColors::bending || info.colors == SurfaceColors::twist;
    EXPECT_EQ(offered_colors(info.colors, soft), is_of_thin ? SurfaceColors::objects : info.colors);
    EXPECT_EQ(offered_colors(info.colors, rigid), info.is_scale ? SurfaceColors::objects : info.colors);
  }
  EXPECT_EQ(next_offered(SurfaceColors::objects, rigid), SurfaceColors::islands);
  EXPECT_EQ(next_offered(SurfaceColors::islands, rigid), SurfaceColors::objects);
  EXPECT_EQ(next_offered(SurfaceColors::stretch, soft), SurfaceColors::stiffness);
  Overlays all;
  all.contacts = all.joints = all.pins = all.tree = true;
  const Overlays left = offered_overlays(all, rigid);
  EXPECT_TRUE(left.contacts && left.tree);
  EXPECT_FALSE(left.joints || left.pins);
}

/// A box, a sheet and a rod, each stretched by another share: one scale for all of them.
TEST(SceneLayers, SolidsClothAndRodsShareTheScalesOfStretchAndStress) {
  auto scene = std::make_shared<Scene>(parse_scene(R"([[material]]
name = "m"
[[object]]
name = "box"
shape = "box"
size = [1, 1, 1]
edge = 1
material = "m"
[[object]]
name = "sheet"
body = "cloth"
thickness = 0.01
shape = "sheet"
size = [1, 1]
edge = 0.5
material = "m"
position = [5, 0, 0]
[[object]]
name = "rod"
body = "rods"
diameter = 0.01
shape = "strand"
length = 1
segments = 4
material = "m"
position = [9, 0, 0]
)",
                                                   "/somewhere/layers.toml"));
  const Model& model = scene->model;
  SimulationFrame frame{scene, {}};
  const double stretched[] = {1.1, 1.2, 1.4};
  for (std::size_t i = 0; i < model.node_count(); ++i)
    frame.snapshot.positions.push_back(
        (stretched[model.node_object[i]] * model.rest_positions[i]).cast<float>());
  SceneLayers layers;
  const auto expect = [&](SurfaceColors what, double most, double box, double sheet, double rod) {
    const std::span<const float> heat = layers.heat(*scene, what, frame, model.materials);
    ASSERT_EQ(heat.size(), model.node_count());
    EXPECT_NEAR(layers.most_heat(), most, 1e-4 + 1e-3 * most);
    const double wanted[] = {box, sheet, rod};
    for (std::size_t i = 0; i < heat.size(); ++i) {
      const auto o = static_cast<std::size_t>(model.node_object[i]);
      const Object& object = model.objects[o];
      const bool is_ghost =
          object.is_rods() &&
          static_cast<std::int32_t>(i) < object.node_begin + object.segment_end - object.segment_begin;
      EXPECT_NEAR(heat[i], is_ghost ? -1 : wanted[o], 2e-3) << object.name;
    }
    const std::vector<float> of_fork = layers.heat_of(what, frame.snapshot, model.materials);
    EXPECT_TRUE(std::ranges::equal(of_fork, heat)) << "another run at the same places";
  };
  expect(SurfaceColors::stretch, 0.4, 0.25, 0.5, 1);
  // The box is blown up alike in all directions, which von Mises' measure does not count.
  const Material& m = model.materials[0];
  const double of_sheet = m.young * 0.2 / (1 - m.poisson) / 1.2, of_rod = m.young * 0.4;
  const double most = std::max(of_sheet, of_rod);
  expect(SurfaceColors::stress, most, 0, of_sheet / most, of_rod / most);
  layers.forget();
  const std::span<const float> twist = layers.heat(*scene, SurfaceColors::twist, frame, model.materials);
  ASSERT_EQ(twist.size(), model.node_count());
  EXPECT_LT(twist.front(), 0) << "the box has none";
  EXPECT_GE(twist.back(), 0);
}

TEST(PlaceOnScale, IsTheShareOfTheLargest) {
  std::vector<float> places;
  place_on_scale(std::vector<float>{-1, 0, 5, 20}, 10, places);
  EXPECT_EQ(places, (std::vector<float>{-1, 0, 0.5f, 1}));
  place_on_scale(std::vector<float>{-1, 0}, 0, places);
  EXPECT_EQ(places, (std::vector<float>{-1, 0}));
}

TEST(SurfaceColors, DecadesHoldAllValuesAboveZero) {
  const std::vector<float> values{-1, 0, 30, 2e5F, 100};
  const Decades decades = decades_of(values);
  EXPECT_FLOAT_EQ(decades.low, 10);
  EXPECT_FLOAT_EQ(decades.high, 1e6F);
  std::vector<float> places;
  place_on_decades(values, decades, places);
  EXPECT_LT(places[0], 0);
  EXPECT_LT(places[1], 0);
  EXPECT_NEAR(places[2], std::log10(3.0) / 5, 1e-6);
  EXPECT_NEAR(places[3], (4 + std::log10(2.0)) / 5, 1e-6);
  EXPECT_NEAR(places[4], 0.2, 1e-6);
  EXPECT_FLOAT_EQ(decades_of(std::vector<float>{1000, 1000}).high, 1e4F) << "one decade at least";
  EXPECT_EQ(decades_of(std::vector<float>{-1, 0}).high, 0);
}

/// A box of two materials that hangs free, and a rigid one: inertia is the least that a node resists with.
TEST(SurfaceColors, StiffnessIsThatOfTheLastLinearSystem) {
  for (const char* solver : {"ipc", "nsgs"}) {
    SCOPED_TRACE(solver);
    const std::string text = R"([params]
dt = 0.01
[[material]]
name = "soft"
young = 1e4
[[material]]
name = "stiff"
young = 1e7
[[object]]
name = "soft"
shape = "box"
size = [0.1, 0.1, 0.1]
edge = 0.05
material = "soft"
position = [0, 1, 0]
[[object]]
name = "stiff"
shape = "box"
size = [0.1, 0.1, 0.1]
edge = 0.05
material = "stiff"
position = [1, 1, 0]
[[object]]
name = "rigid"
body = "rigid"
shape = "box"
size = [0.1, 0.1, 0.1]
material = "soft"
position = [2, 1, 0]
[[collider]]
name = "wall"
shape = "box"
size = [0.1, 0.1, 0.1]
edge = 0.1
material = "stiff"
position = [3, 1, 0]
)";
    const Scene scene = parse_scene(text, "box.toml");
    const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 1);
    Params params = scene.params;
    set_solver(params, solver);
    engine->set_params(params);
    engine->load(scene.model);
    Snapshot snapshot;
    snapshot.wants_stiffness = true;
    engine->snapshot(snapshot);
    EXPECT_TRUE(snapshot.stiffness.empty()) << "before the first step";
    engine->step();
    engine->snapshot(snapshot);
    ASSERT_EQ(snapshot.stiffness.size(), scene.model.node_count());
    float least[2] = {1e30F, 1e30F};
    double sum[2] = {0, 0};
    for (std::size_t i = 0; i < snapshot.stiffness.size(); ++i) {
      const std::int32_t object = scene.model.node_object[i];
      if (scene.model.objects[object].is_rigid() || scene.model.objects[object].is_collider()) {
        EXPECT_LT(snapshot.stiffness[i], 0);
        continue;
      }
      EXPECT_GT(snapshot.stiffness[i], 0);
      sum[object] += static_cast<double>(snapshot.stiffness[i]);
      least[object] = std::min(least[object], snapshot.stiffness[i]);
    }
    EXPECT_GT(sum[0], 1.0 / (params.dt * params.dt)) << "the inertia of 1 kg";
    EXPECT_GT(least[1], 100 * least[0]) << "Young's moduli differ by a factor of 1000";
    snapshot.wants_stiffness = false;
    engine->snapshot(snapshot);
    EXPECT_TRUE(snapshot.stiffness.empty());
  }
}

}  // namespace
}  // namespace stickslip
