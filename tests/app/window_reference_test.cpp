// Pictures of the window are those of the folder tests/app/pictures, but for what differs between Vulkan
// devices and processors. After a change of what is drawn, and a check of it by eye, this makes them anew:
//   STICKSLIP_WRITE_PICTURES=1 build/release/tests/test_app --gtest_filter='*ProgramWindowLooks*'
#include <gtest/gtest.h>

#include <cstdlib>

#include "app/capture/png.h"
#include "tests/app/frozen_boxes.h"
#include "tests/app/window_program.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::ProgramWindowTest;

/// The pictures of the window are this many times as wide and high as those that are stored: means of so many
/// pixels differ less between devices than edges.
constexpr int kShrink = 4;

Image shrunk(const Image& picture) {
  Image small{picture.width / kShrink, picture.height / kShrink, {}};
  small.rgba.reserve(4 * static_cast<std::size_t>(small.width) * static_cast<std::size_t>(small.height));
  for (int y = 0; y < small.height; ++y)
    for (int x = 0; x < small.width; ++x)
      for (int channel = 0; channel < 4; ++channel) {
        int sum = 0;
        for (int k = 0; k < kShrink * kShrink; ++k)
          sum += picture.pixel(kShrink * x + k % kShrink, kShrink * y + k / kShrink)[channel];
        small.rgba.push_back(static_cast<std::uint8_t>((sum + kShrink * kShrink / 2) / (kShrink * kShrink)));
      }
  return small;
}

struct Unlikeness {
  double mean = 0;   // difference of a channel, of 255
  double share = 0;  // of pixels with a channel that differs by more than kVisible
  static constexpr int kVisible = 24;
  /// What other versions of a software device, and other rounding of the simulation, may change.
  bool is_alike() const { return mean < 1.0 && share < 0.002; }
};

Unlikeness unlikeness(const Image& a, const Image& b) {
  if (a.width != b.width || a.height != b.height || a.rgba.empty()) return {255, 1};
  Unlikeness result;
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width; ++x) {
      int most = 0;
      for (int channel = 0; channel < 3; ++channel) {
        const int by = std::abs(a.pixel(x, y)[channel] - b.pixel(x, y)[channel]);
        result.mean += by;
        most = std::max(most, by);
      }
      result.share += most > Unlikeness::kVisible;
    }
  const double pixels = static_cast<double>(a.width) * a.height;
  result.mean /= 3 * pixels;
  result.share /= pixels;
  return result;
}

struct Look {
  const char* name;
  std::string toml, script;
};
void PrintTo(const Look& look, std::ostream* out) { *out << look.name; }

std::string beam() {
  return "[params]\ndt = 0.02\n[camera]\nposition = [0.3, 0.5, 1.6]\ntarget = [0.3, 0.1, 0]\n"
         "[[material]]\nname = 'rubber'\nyoung = 1e5\ndensity = 1000\n[[half_space]]\npoint = [0, -0.2, 0]\n"
         "[[object]]\nname = 'beam'\nshape = 'bar'\nlength = 0.8\nwidth = 0.1\nedge = 0.05\nmaterial = "
         "'rubber'\n"
         "position = [0.4, 0.2, 0]\ncolor = [0.3, 0.6, 0.8]\n"
         "[[pin]]\nobject = 'beam'\nbox = { min = [-0.01, -1, -1], max = [0.04, 1, 1] }\n";
}

std::string pendulum() {
  const std::string bob =
      "[[object]]\nbody = 'rigid'\nshape = 'box'\nsize = [0.1, 0.5, 0.1]\nmaterial = 'wood'\n";
  return "[params]\ndt = 0.02\n[camera]\nposition = [0.4, 1.0, 1.6]\ntarget = [0, 0.95, 0]\n"
         "[[material]]\nname = 'wood'\ndensity = 500\n[[half_space]]\n" +
         bob + "name = 'upper'\nposition = [0, 1.2, 0]\nvelocity = [0.4, 0, 0]\n" + bob +
         "name = 'lower'\nposition = [0, 0.65, 0]\n"
         "[[joint]]\nname = 'pivot'\nkind = 'ball'\nbetween = ['upper', 'world']\nanchor = [0, 1.45, 0]\n"
         "[[joint]]\nname = 'knee'\nkind = 'hinge'\nbetween = ['upper', 'lower']\nanchor = [0, 0.92, "
         "0]\naxis = [0, 0, 1]\n";
}

const Look kLooks[] = {
    {"contacts", test::boxes_toml() + "[camera]\nposition = [2.7, 0.7, 1.2]\ntarget = [2.05, 0.2, 0]\n",
     "view contacts=true\nview normals=true\nview arrows=true\nview cones=true\n"},
    {"stress", beam(), "view surfaces=stress\nview wireframe=true\nview pins=true\n"},
    {"joints", pendulum(), "view joints=true\nview tree=true\nview tree_level=2\n"},
    {"clip", beam(), "view clip=true\nview heading=20\nview x_ray=true\nview opacity=0.5\n"},
};

class ProgramWindowLooks : public ProgramWindowTest, public ::testing::WithParamInterface<Look> {};

TEST_P(ProgramWindowLooks, AreThoseOfTheStoredPicture) {
  const Look& look = GetParam();
  std::ofstream("look.toml") << look.toml;
  ASSERT_TRUE(view({"look.toml", "--fresh", "--quality", "light"},
                   "steps 3\nscreenshot\n" + look.script + "wait 0\nscreenshot\nquit\n"))
      << program_->errors();
  const std::vector<json> shots = events("screenshot");
  ASSERT_EQ(shots.size(), 2u);
  const Image plain = shrunk(screenshot_of(shots[0]).image), seen = shrunk(screenshot_of(shots[1]).image);
  const std::string stored = std::string(STICKSLIP_TEST_PICTURES) + "/" + look.name + ".png";
  if (std::getenv("STICKSLIP_WRITE_PICTURES") != nullptr) {
    write_png(stored, seen);
    GTEST_SKIP() << "wrote " << stored;
  }
  const Image wanted = test::load_png(stored);
  ASSERT_EQ(wanted.width, 1280 / kShrink) << stored << " is missing";
  const Unlikeness now = unlikeness(seen, wanted);
  if (!now.is_alike()) {
    const fs::path kept = before_ / ("seen-" + std::string(look.name) + ".png");
    write_png(kept, seen);
    ADD_FAILURE() << "mean difference " << now.mean << ", " << 100 * now.share
                  << "% of the pixels differ: see " << kept << " beside " << stored;
  }
  const Unlikeness without = unlikeness(plain, wanted);
  EXPECT_FALSE(without.is_alike()) << "what the script switches on makes no difference: " << without.mean
                                   << ", " << without.share;
  RecordProperty("mean", std::to_string(now.mean));
  RecordProperty("share", std::to_string(now.share));
}

INSTANTIATE_TEST_SUITE_P(Of, ProgramWindowLooks, ::testing::ValuesIn(kLooks),
                         [](const auto& look) { return std::string(look.param.name); });

}  // namespace
}  // namespace stickslip
