// The program in real use: `stickslip view` in a window on an X server, with real keys and a real mouse, or
// with a script. Tests read its journal and its screenshots.
#pragma once

#include <gtest/gtest.h>
#include <stb_image.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/process/child_process.h"
#include "app/render/image.h"
#include "tests/app/x_display.h"

namespace stickslip::test {

namespace fs = std::filesystem;
using nlohmann::json;

/// A ball that lies on the ground; fast enough for the address sanitizer.
inline constexpr const char* program_scene = R"(
[camera]
position = [0.0, 0.6, 2.2]
target = [0.0, 0.35, 0.0]
[[material]]
name = "rubber"
young = 1e5
density = 200
mu = 0.1
[[half_space]]
point = [0, 0, 0]
[[object]]
name = "ball"
shape = "sphere"
radius = 0.06
edge = 0.03
position = [0.0, 0.0602, 0.0]
color = [0.95, 0.40, 0.05]
)";

struct Pixel {
  double x = 0, y = 0;
};

struct Box {
  int left, right, top, bottom;
};
/// Area between the panels of a 1280x720 window, whichever panels are open beside and below the scene.
inline constexpr Box scene_area{440, 840, 20, 540};
inline constexpr Box left_panel{0, 400, 0, 690};

struct Screenshot {
  Image image;
  int frame = -1;
  double time = 0;

  bool same_pixel(const Screenshot& other, int x, int y) const {
    return std::equal(image.pixel(x, y), image.pixel(x, y) + 3, other.image.pixel(x, y));
  }
  int difference(const Screenshot& other, const Box& box) const {
    int pixels = 0;
    for (int y = box.top; y < box.bottom; ++y)
      for (int x = box.left; x < box.right; ++x) pixels += !same_pixel(other, x, y);
    return pixels;
  }
  int colours() const {
    std::set<std::array<std::uint8_t, 3>> all;
    for (int y = 0; y < image.height; ++y)
      for (int x = 0; x < image.width; ++x) {
        const std::uint8_t* p = image.pixel(x, y);
        all.insert({p[0], p[1], p[2]});
      }
    return static_cast<int>(all.size());
  }
  /// Centre of the orange pixels in a part of the picture: the ball.
  std::optional<Pixel> ball(const Box& within) const {
    double x_sum = 0, y_sum = 0, count = 0;
    for (int y = within.top; y < within.bottom; ++y)
      for (int x = within.left; x < within.right; ++x)
        if (const std::uint8_t* p = image.pixel(x, y); p[0] > p[2] + 70) x_sum += x, y_sum += y, ++count;
    if (count < 200) return std::nullopt;
    return Pixel{x_sum / count, y_sum / count};
  }
  std::optional<Pixel> ball() const {
    return ball({scene_area.left, scene_area.right, scene_area.top, image.height - 40});
  }
};

/// Loads a picture file written by the window.
inline Image load_png(const std::string& file) {
  Image image;
  int channels = 0;
  std::uint8_t* pixels = stbi_load(file.c_str(), &image.width, &image.height, &channels, 4);
  if (!pixels) return image;
  image.rgba.assign(pixels, pixels + 4 * static_cast<std::size_t>(image.width) * image.height);
  stbi_image_free(pixels);
  return image;
}

class ProgramWindowTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!display_.ready()) GTEST_SKIP() << "needs Xvfb and xdotool";
    folder_ = fs::temp_directory_path() / ("stickslip-program-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "assets" / "scenes");
    for (const char* name : {"ball.toml", "other.toml"})
      std::ofstream(folder_ / "assets" / "scenes" / name) << program_scene;
    before_ = fs::current_path();
    fs::current_path(folder_);
    setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
    setenv("STICKSLIP_ASSETS", (folder_ / "assets").c_str(), 1);
  }
  void TearDown() override {
    if (folder_.empty()) return;
    program_.reset();
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("STICKSLIP_ASSETS");  // other tests of the process have their own scenes
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

  /// Starts `stickslip view ball --paused` with more `arguments`; ChildProcess stores its messages.
  void open(const std::vector<std::string>& arguments = {}) {
    std::vector<std::string> words{"-c",       "exec \"$0\" \"$@\" >&2", started_,    "view",      "ball",
                                   "--paused", "--validation",           "--journal", "done.jsonl"};
    if (shows_panels_) words.push_back("--panels");
    words.insert(words.end(), arguments.begin(), arguments.end());
    program_.emplace("/bin/sh", words);
    ASSERT_TRUE(eventually([&] { return !window().empty(); }));
    ASSERT_TRUE(happened("load"));
    hands("mousemove --window " + window() + " 640 60");
  }
  void close_and_check() {
    hands("key ctrl+q");
    ASSERT_TRUE(eventually([&] { return window().empty(); }));
    const bool good = program_->finish();
    EXPECT_TRUE(good) << program_->errors();
    EXPECT_EQ(program_->errors().find("validation"), std::string::npos) << program_->errors();
  }
  /// Whether a window with these arguments and script ends well; its journal is done.jsonl.
  bool view(const std::vector<std::string>& arguments, const std::string& script) {
    std::ofstream("actions.txt") << script;
    std::vector<std::string> words{"-c", before_program_ + "exec \"$0\" \"$@\" >&2", STICKSLIP_PROGRAM,
                                   "view"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    for (const char* word :
         {"--paused", "--validation", "--journal", "done.jsonl", "--script", "actions.txt"})
      words.emplace_back(word);
    program_.emplace("/bin/sh", words);
    return program_->finish();
  }

  /// What `stickslip replay --verify` says of a journal or bundle.
  static std::string replayed(const std::string& file) {
    ChildProcess replay("/bin/sh", {"-c", "exec \"$0\" \"$@\" >&2", STICKSLIP_PROGRAM, "replay", file,
                                    "--verify", "--quiet"});
    EXPECT_TRUE(replay.finish()) << replay.errors();
    return replay.errors();
  }

  static std::string window(const std::string& scene = "ball|other") {
    return XDisplay::window("^stickslip - (" + scene + ") - cpu$");
  }
  static void hands(const std::string& words) { ASSERT_TRUE(XDisplay::xdotool(words)) << words; }
  void mouse_to(const Pixel& at) const {
    hands("mousemove --window " + window() + " " + std::to_string(std::lround(at.x)) + " " +
          std::to_string(std::lround(at.y)));
  }

  std::vector<json> events(const std::string& name) const {
    std::vector<json> found;
    std::ifstream stream("done.jsonl");
    for (std::string line; std::getline(stream, line) && !stream.eof();)
      if (json event = json::parse(line); event["event"] == name) found.push_back(std::move(event));
    return found;
  }
  /// Of the states at the ends of steps.
  std::vector<std::string> hashes() const {
    std::vector<std::string> all;
    for (const json& step : events("step")) all.push_back(step["hash"]);
    return all;
  }
  bool happened(const std::string& name, std::size_t count = 1) const {
    return eventually([&] { return events(name).size() >= count; });
  }
  Screenshot screenshot() const {
    const std::size_t before = events("screenshot").size();
    hands("key F12");
    if (!happened("screenshot", before + 1)) {
      ADD_FAILURE() << "no screenshot was written";
      return {};
    }
    return screenshot_of(events("screenshot").back());
  }
  /// The first screenshot for which `good` is true, or the last one taken.
  template <class Good>
  Screenshot screenshot_when(Good&& good) const {
    Screenshot shot;
    EXPECT_TRUE(eventually([&] { return good(shot = screenshot()); }));
    return shot;
  }
  /// The picture that this event of the journal names.
  static Screenshot screenshot_of(const json& event) {
    return {load_png(event["file"]), event["frame"], event["time"]};
  }
  /// A screenshot of the simulation at rest.
  Screenshot still_screenshot() const {
    int frame = -2;
    return screenshot_when(
        [&](const Screenshot& shot) { return std::exchange(frame, shot.frame) == shot.frame; });
  }

  XDisplay display_;
  fs::path folder_, before_;
  bool shows_panels_ = true;                 // pictures do
  std::string started_ = STICKSLIP_PROGRAM;  // by `open`
  std::string before_program_;               // of `view`: settings of the shell
  std::optional<ChildProcess> program_;
};

}  // namespace stickslip::test
