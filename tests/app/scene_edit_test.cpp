// Scene files with other settings.
#include "app/io/scene/scene_edit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "app/io/scene/scene_variant.h"
#include "app/io/scene/settings.h"

namespace stickslip {
namespace {

const char* const kText = R"(# A scene, größer als andere.
title = "Two boxes"
[params]
dt = 0.01          # [s] short
gravity = -9.81

[[material]]
name = "soft"      # jelly
young = 1e5
mu = 0.3

[[material]]
name = "hard"

[[half_space]]
mu = 0.5   # the ground

[[object]]
name = "box"
shape = "box"
size = [1, 1, 1]
edge = 0.5
material = "soft"
position = [0, 1, 0]

[[object]]
name = "other"
shape = "box"
size = [1, 1, 1]
edge = 0.5
material = "hard"
position = [0, 3, 0]
)";

SceneSettings settings_in(const Scene& scene) {
  SceneSettings settings{scene.params, scene.contact_params, scene.model.materials, {}};
  for (const HalfSpace& plane : scene.model.half_spaces) settings.half_space_mu.push_back(plane.mu);
  return settings;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Lines of `now` that are not in `before`.
std::vector<std::string> new_lines(const std::string& now, const std::string& before) {
  std::vector<std::string> added, old = lines_of(before);
  for (const std::string& line : lines_of(now))
    if (std::ranges::find(old, line) == old.end()) added.push_back(line);
  return added;
}

TEST(SceneEdit, WithoutChangesTheTextIsTheSame) {
  const Scene scene = parse_scene(kText, "/somewhere/a.toml");
  EXPECT_EQ(with_settings(kText, "/somewhere/a.toml", settings_in(scene)), kText);
}

TEST(SceneEdit, ChangesTheLinesOfTheSettingsAlone) {
  const Scene scene = parse_scene(kText, "/somewhere/a.toml");
  SceneSettings wanted = settings_in(scene);
  wanted.params.dt = 0.005;
  wanted.params.d_hat = 4e-3;
  wanted.params.newton_stop = NewtonStop::gradient;
  wanted.materials[0].young = 2e6;
  wanted.materials[1].mu = 0.7;
  wanted.half_space_mu[0] = 0.125;
  wanted.contact_params.omega = 1.25;
  const std::string text = with_settings(kText, "/somewhere/a.toml", wanted);
  EXPECT_EQ(new_lines(text, kText),
            (std::vector<std::string>{"d_hat = 0.004", "newton_stop = \"gradient\"",
                                      "dt = 0.005          # [s] short", "young = 2e+06", "mu = 0.7",
                                      "mu = 0.125   # the ground", "[contact]", "omega = 1.25"}))
      << text;
  const SceneSettings seen = settings_in(parse_scene(text, "/somewhere/a.toml"));
  EXPECT_EQ(seen.params.dt, 0.005);
  EXPECT_EQ(seen.params.newton_stop, NewtonStop::gradient);
  EXPECT_EQ(seen.materials[0].young, 2e6);
  EXPECT_EQ(seen.materials[0].mu, 0.3);
  EXPECT_EQ(seen.materials[1].mu, 0.7);
  EXPECT_EQ(seen.half_space_mu[0], 0.125);
  EXPECT_EQ(seen.contact_params.omega, 1.25);
}

TEST(SceneEdit, TheSolverStandsAtTheTop) {
  const Scene scene = parse_scene(kText, "/somewhere/a.toml");
  SceneSettings wanted = settings_in(scene);
  wanted.params.solver = SolverKind::barrier_al;
  const std::string text = with_settings(kText, "/somewhere/a.toml", wanted);
  EXPECT_EQ(lines_of(text).front(), "solver = \"barrier_al\"");
  set_solver(wanted.params, "spg");
  const std::string again = with_settings(text, "/somewhere/a.toml", wanted);
  EXPECT_EQ(lines_of(again).front(), "solver = \"spg\"");
  EXPECT_EQ(lines_of(again).size(), lines_of(text).size());
}

TEST(SceneEdit, OfAVariantTheSettingsBecomeTheScenesOwn) {
  const Scene slippery = load_variant("card-house", "slippery");
  const std::string text = edited_scene(slippery, settings_in(slippery));
  const Scene seen = parse_scene(text, "/elsewhere/b.toml");
  EXPECT_EQ(seen.variant, "");
  for (std::size_t m = 0; m < seen.model.materials.size(); ++m)
    EXPECT_EQ(seen.model.materials[m].mu, slippery.model.materials[m].mu);
}

TEST(SceneEdit, PathsLeadToTheSameFiles) {
  const Scene scene = load_scene("long-hair");
  SceneSettings wanted = settings_in(scene);
  wanted.params.gravity = -1;
  const Scene seen = parse_scene(edited_scene(scene, wanted), "/elsewhere/b.toml");
  EXPECT_EQ(seen.model.node_count(), scene.model.node_count());
  EXPECT_EQ(seen.params.gravity, -1);
}

TEST(SceneEdit, TheDensityIsSaved) {
  const Scene scene = load_scene("hairy-ball", {}, 0.5);
  const Scene seen = parse_scene(edited_scene(scene, settings_in(scene)), "/elsewhere/b.toml");
  EXPECT_EQ(seen.density, 0.5);
  EXPECT_EQ(seen.model.node_count(), scene.model.node_count());
}

TEST(SceneEdit, EveryShippedSceneCanBeSaved) {
  for (const SceneInfo& info : list_scenes()) {
    SCOPED_TRACE(info.name);
    const Scene scene = load_scene(info.name);
    SceneSettings wanted = settings_in(scene);
    wanted.params.gravity = -1.5;
    for (Material& material : wanted.materials) material.mu = 0.625;
    for (double& mu : wanted.half_space_mu) mu = 0.375;
    try {
      edited_scene(scene, wanted);
    } catch (const InputError& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(SceneEdit, RefusesWhatIsNoSceneOfThese) {
  const Scene scene = parse_scene(kText, "/somewhere/a.toml");
  SceneSettings wanted = settings_in(scene);
  wanted.materials.resize(1);
  EXPECT_THROW(with_settings(kText, "/somewhere/a.toml", wanted), InputError);
  EXPECT_THROW(with_settings("title = ", "/somewhere/a.toml", settings_in(scene)), InputError);
  Scene other = scene;
  other.source.clear();
  EXPECT_THROW(edited_scene(other, settings_in(scene)), InputError);
}

}  // namespace
}  // namespace stickslip
