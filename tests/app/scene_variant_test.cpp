#include "app/io/scene/scene_variant.h"

#include <gtest/gtest.h>

#include <functional>

#include "app/io/scene/settings.h"

namespace stickslip {
namespace {

const std::string scene_text =
    "frames = 50\n[[material]]\nname = 'soft'\nmu = 0.4\n[[half_space]]\n"
    "[[object]]\nname = 'box'\nshape = 'box'\nsize = [1, 1, 1]\nedge = 1\nposition = [0, 2, 0]\n"
    "[expect]\nintersections = 0\n[[expect.height]]\nobject = 'box'\nat = 1\nlow = 0\n";
const std::string variant =
    "[[variant]]\nname = 'slippery'\ndescription = 'D'\nset = ['mu=0.1', 'dt=0.02']\nframes = 9\n"
    "[variant.expect]\ngap_positive = true\n";

Scene parse_variants(const std::string& text) { return parse_scene(text, "folder/test.toml"); }

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SceneVariant, LeavesTheSceneAloneUntilItIsChosen) {
  Scene scene = parse_variants(scene_text + variant);
  EXPECT_EQ(scene.model.materials[0].mu, 0.4);
  EXPECT_EQ(scene.expect.size(), 2u);
  choose_variant(scene, "slippery");
  EXPECT_EQ(scene.model.materials[0].mu, 0.1);
  EXPECT_EQ(scene.model.half_spaces[0].mu, 0.1);
  EXPECT_EQ(scene.params.dt, 0.02);
  EXPECT_EQ(scene.frames, 9);
  ASSERT_EQ(scene.expect.size(), 1u) << "instead of the scene's";
  EXPECT_TRUE(std::holds_alternative<ExpectPositiveGap>(scene.expect[0]));
}

TEST(SceneVariant, SetsParametersOfTheContactSolvers) {
  Scene scene = parse_variants(scene_text +
                               "[[variant]]\nname = 'sharp'\ndescription = 'D'\n"
                               "set = ['contact.tolerance=1e-6', 'contact.r_strategy=local']\n");
  EXPECT_EQ(scene.contact_params.tolerance, stepping_lab_params().tolerance);
  choose_variant(scene, "sharp");
  EXPECT_EQ(scene.contact_params.tolerance, 1e-6);
  EXPECT_EQ(scene.contact_params.r_strategy, RFactorStrategy::local);
  const std::string unknown = message_of([&] { apply_setting(scene, "contact.tolerence=1"); });
  EXPECT_NE(unknown.find("did you mean 'tolerance'"), std::string::npos) << unknown;
  const std::string bad = message_of([&] { apply_setting(scene, "contact.tolerance=2"); });
  EXPECT_NE(bad.find("contact.tolerance=2"), std::string::npos) << bad;
}

TEST(SceneVariant, ErrorsSayWhatThereIs) {
  Scene scene = parse_variants(scene_text + variant);
  const std::string unknown = message_of([&] { choose_variant(scene, "slipery"); });
  EXPECT_NE(unknown.find("slippery"), std::string::npos) << unknown;

  // Checked also if the variant is not chosen.
  const std::string setting =
      message_of([] { parse_variants(scene_text + "[[variant]]\nname = 'bad'\nset = ['muu=1']\n"); });
  for (const char* part : {"test.toml:20: ", "set", "muu", "'mu'"})
    EXPECT_NE(setting.find(part), std::string::npos) << setting;
  EXPECT_THROW(parse_variants(scene_text + "[[variant]]\nname = 'bad'\nset = ['softt.mu=1']\n"), InputError);

  EXPECT_THROW(parse_variants(scene_text + variant + variant), InputError) << "the same name twice";
  EXPECT_THROW(parse_variants(scene_text + "[[variant]]\nname = 'x'\n"), InputError) << "nothing set";
  EXPECT_THROW(parse_variants(scene_text + "[[variant]]\nname = 'x'\nset = []\n"), InputError);
}

TEST(SceneVariant, CollidersStandInArrays) {
  const Scene scene = parse_variants(scene_text +
                                     "[[collider]]\nname = 'peg'\nshape = 'spike'\nsize = [1, 1, 1]\n"
                                     "position = [5, 0, 0]\ncount = [2, 1, 3]\nspacing = [2, 0, 3]\n"
                                     "colors = [[1, 0, 0], [0, 1, 0]]\n");
  int pegs = 0;
  for (const Object& object : scene.model.objects) {
    if (object.name.substr(0, 4) != "peg.") continue;
    double left = 1e9;
    for (std::int32_t i = object.node_begin; i < object.node_end; ++i)
      left = std::min(left, scene.model.positions[i][0]);
    EXPECT_NEAR(left, 4.5 + 2 * (pegs % 2), 1e-12);
    EXPECT_EQ(object.color[pegs % 2], 1);
    ++pegs;
  }
  EXPECT_EQ(pegs, 6);
}

}  // namespace
}  // namespace stickslip
