// The program in real use: `stickslip view` in a window on an X server, with real keys and a real mouse. The
// tests read its journal and its screenshots.
#include <gtest/gtest.h>
#include <stb_image.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "app/io/bundle/bundle.h"
#include "app/render/image.h"
#include "tests/app/file_drop.h"
#include "tests/app/frozen_boxes.h"
#include "tests/app/x_display.h"
#include "tests/app/x_picture.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::eventually;
using test::XDisplay;

/// A ball that lies on the ground; fast enough for the address sanitizer.
constexpr const char* program_scene = R"(
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
constexpr Box scene_area{440, 840, 20, 540};
constexpr Box left_panel{0, 400, 0, 690};

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
  /// Centre of the orange pixels: the ball.
  std::optional<Pixel> ball() const {
    double x_sum = 0, y_sum = 0, count = 0;
    for (int y = scene_area.top; y < image.height - 40; ++y)
      for (int x = scene_area.left; x < scene_area.right; ++x)
        if (const std::uint8_t* p = image.pixel(x, y); p[0] > p[2] + 70) x_sum += x, y_sum += y, ++count;
    if (count < 200) return std::nullopt;
    return Pixel{x_sum / count, y_sum / count};
  }
};

/// Loads a picture file written by the window.
Image load_png(const std::string& file) {
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
    std::vector<std::string> words{
        "-c",       "exec \"$0\" \"$@\" >&2", STICKSLIP_PROGRAM, "view",      "ball",
        "--paused", "--validation",           "--journal",       "done.jsonl"};
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
    const json event = events("screenshot").back();
    return {load_png(event["file"]), event["frame"], event["time"]};
  }
  /// The first screenshot for which `good` is true, or the last one taken.
  template <class Good>
  Screenshot screenshot_when(Good&& good) const {
    Screenshot shot;
    EXPECT_TRUE(eventually([&] { return good(shot = screenshot()); }));
    return shot;
  }
  /// A screenshot of the simulation at rest.
  Screenshot still_screenshot() const {
    int frame = -2;
    return screenshot_when(
        [&](const Screenshot& shot) { return std::exchange(frame, shot.frame) == shot.frame; });
  }

  XDisplay display_;
  fs::path folder_, before_;
  bool shows_panels_ = true;  // pictures do
  std::optional<ChildProcess> program_;
};

TEST_F(ProgramWindowTest, PlaysShowsItsOverlaysPullsABodyAndCloses) {
  open();
  const Screenshot start = screenshot();
  ASSERT_EQ(start.image.width, 1280);
  ASSERT_EQ(start.image.height, 720);
  EXPECT_GT(start.colours(), 100) << "the picture is blank";
  EXPECT_EQ(start.frame, 0) << "it was to wait";

  hands("key space");
  const Screenshot later = screenshot_when([](const Screenshot& shot) { return shot.frame >= 5; });
  EXPECT_GT(later.time, 0.05);
  EXPECT_GT(later.difference(start, left_panel), 0) << "the panel shows the time";
  hands("key space");
  const Screenshot plain = still_screenshot();

  const Box all{0, 1280, 0, 720};
  for (const auto& [key, where] : {std::pair{"c", scene_area},
                                   {"n", scene_area},
                                   {"v", scene_area},
                                   {"Tab", left_panel},
                                   {"l", all},
                                   {"F1", scene_area}}) {
    SCOPED_TRACE(key);
    hands(std::string("key ") + key);
    screenshot_when([&](const Screenshot& shot) { return shot.difference(plain, where) > 20; });
    hands(std::string("key ") + key);
    EXPECT_EQ(screenshot().difference(plain, scene_area), 0) << "it stays";
  }

  const std::optional<Pixel> ball = plain.ball();
  ASSERT_TRUE(ball);
  hands("key space");
  mouse_to(*ball);
  hands("keydown ctrl mousedown 1 keyup ctrl");
  ASSERT_TRUE(happened("drag_start"));
  EXPECT_EQ(events("drag_start")[0]["object"], "ball");
  for (const Pixel& by : {Pixel{60, -60}, Pixel{120, -180}, Pixel{-120, -120}}) {
    const Pixel to{ball->x + by.x, ball->y + by.y};
    mouse_to(to);
    Pixel seen;
    EXPECT_TRUE(eventually([&] {
      seen = screenshot().ball().value_or(Pixel{});
      return std::hypot(seen.x - to.x, seen.y - to.y) < 45;
    })) << "the ball is at "
        << seen.x << ", " << seen.y << " and the pointer at " << to.x << ", " << to.y;
  }
  hands("mouseup 1");
  EXPECT_TRUE(happened("drag_end"));
  // It falls from 120 pixels above its place, and may roll out of sight: its speed depends on the machine's.
  screenshot_when([&](const Screenshot& shot) {
    const std::optional<Pixel> fallen = shot.ball();
    return !fallen || fallen->y > ball->y - 80;
  });
  close_and_check();
}

/// The lowest rows of the left panel in which two screenshots differ.
std::optional<Box> lowest_difference(const Screenshot& a, const Screenshot& b) {
  const auto differ = [&](int y) {
    return a.difference(b, {left_panel.left, left_panel.right, y, y + 1}) > 0;
  };
  int bottom = left_panel.bottom;
  while (bottom > 0 && !differ(bottom - 1)) --bottom;
  int top = bottom;
  while (top > 0 && differ(top - 1)) --top;
  if (top == bottom) return std::nullopt;
  Box box{left_panel.right, left_panel.left, top, bottom};
  for (int y = top; y < bottom; ++y)
    for (int x = left_panel.left; x < left_panel.right; ++x)
      if (!a.same_pixel(b, x, y)) box.left = std::min(box.left, x), box.right = std::max(box.right, x);
  return box;
}

TEST_F(ProgramWindowTest, HoveringShowsTheStressBesideThePointerAndNotDuringAGesture) {
  open();
  hands("key space");
  ASSERT_TRUE(happened("step", 12));
  hands("key space");
  const std::optional<Pixel> ball = still_screenshot().ball();
  ASSERT_TRUE(ball);
  hands("key s");
  const Screenshot plain = still_screenshot();
  mouse_to({ball->x + 3, ball->y});
  mouse_to(*ball);
  const Box between_panels{330, 950, 20, 660};
  const Screenshot tip =
      screenshot_when([&](const Screenshot& shot) { return shot.difference(plain, between_panels) > 500; });
  const int x = static_cast<int>(ball->x), y = static_cast<int>(ball->y);
  EXPECT_EQ(tip.difference(plain, {x - 10, x + 10, y - 10, y + 10}), 0) << "it covers the place";
  hands("mousedown 3");
  screenshot_when([&](const Screenshot& shot) { return shot.difference(plain, between_panels) == 0; });
  hands("mouseup 3");
  screenshot_when([&](const Screenshot& shot) { return shot.difference(tip, between_panels) == 0; });
  mouse_to({640, 60});
  screenshot_when([&](const Screenshot& shot) { return shot.difference(plain, between_panels) == 0; });
  close_and_check();
}

TEST_F(ProgramWindowTest, PicturesShowTheSceneAlone) {
  shows_panels_ = false;
  open();
  const Screenshot alone = screenshot();
  EXPECT_EQ(alone.image.width, 1280);
  EXPECT_EQ(alone.image.height, 720);
  EXPECT_GT(alone.colours(), 100) << "the picture is blank";
  hands("key Tab");
  EXPECT_EQ(screenshot().difference(alone, left_panel), 0) << "whether panels are shown does not matter";
  close_and_check();
}

TEST_F(ProgramWindowTest, ASmallWindowHasOneColumnOfPanelsAndATimeline) {
  open();
  hands("windowsize " + window() + " 800 600");
  screenshot_when([](const Screenshot& shot) { return shot.image.width == 800; });
  hands("key space");
  ASSERT_TRUE(happened("step", 12));
  hands("key space");
  const Screenshot late = still_screenshot();
  mouse_to({480, 558});
  hands("mousedown 1");
  ASSERT_TRUE(happened("rewind"));
  EXPECT_LT(events("rewind")[0]["to"], late.frame);
  hands("mouseup 1");
  mouse_to({600, 60});
  const Screenshot small = screenshot();
  const auto brightness = [&](int x, int y) {
    const std::uint8_t* p = small.image.pixel(x, y);
    return p[0] + p[1] + p[2];
  };
  for (const int y : {60, 300, 500}) {
    EXPECT_GT(brightness(395, y), 150) << "the scene has the right half of the window at least";
    EXPECT_GT(brightness(795, y), 150) << "no panel is on its right";
  }
  close_and_check();
}

// While a video is made, the window says so with and without its panels; no picture does, with panels or not.
TEST_F(ProgramWindowTest, TheWindowShowsThatAVideoIsMadeAndPicturesDoNot) {
  const auto marked = [](const Image& picture) {  // pixels of the mark's red in the scene's upper edge
    int pixels = 0;
    for (int y = 0; y < std::min(40, picture.height); ++y)
      for (int x = scene_area.left; x < picture.width; ++x)
        if (const std::uint8_t* p = picture.pixel(x, y); p[0] > 200 && p[1] < 130 && p[2] < 120) ++pixels;
    return pixels;
  };
  const auto window_marked = [&](bool wanted) {
    return eventually([&] { return (marked(test::shown_in_window(window())) > 40) == wanted; });
  };
  open();
  EXPECT_EQ(marked(screenshot().image), 0);
  EXPECT_TRUE(window_marked(false));
  hands("key ctrl+shift+r");
  EXPECT_TRUE(window_marked(true)) << "with panels";
  EXPECT_EQ(marked(screenshot().image), 0) << "a picture with panels";
  const Screenshot panels = screenshot();
  hands("key Tab");
  const Screenshot bare =
      screenshot_when([&](const Screenshot& shot) { return shot.difference(panels, left_panel) > 20; });
  EXPECT_EQ(marked(bare.image), 0) << "a picture of the window without panels";
  EXPECT_TRUE(window_marked(true)) << "without panels";
  hands("key ctrl+shift+r");
  EXPECT_TRUE(window_marked(false));
  close_and_check();
}

// As Ctrl+Q: what is under way is completed.
TEST_F(ProgramWindowTest, ASignalClosesTheWindowAndCompletesItsVideo) {
  open();
  hands("key ctrl+shift+r key space");
  ASSERT_TRUE(happened("step", 12));
  const long process = XDisplay::process_of(window());
  ASSERT_GT(process, 0);
  kill(static_cast<pid_t>(process), SIGTERM);
  EXPECT_TRUE(program_->finish()) << program_->errors();
  EXPECT_NE(program_->errors().find("wrote "), std::string::npos) << program_->errors();
  int complete = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator("stickslip-output")) {
    const std::string name = entry.path().filename();
    EXPECT_EQ(name.find(".part"), std::string::npos) << name;
    complete += entry.path().extension() == ".mp4" || name.ends_with("_frames");
  }
  EXPECT_EQ(complete, 1);
}

TEST_F(ProgramWindowTest, RewindsGoesOnAndIsReplayedBitForBit) {
  open();
  hands("key space");
  ASSERT_TRUE(happened("step", 12));
  hands("key space");
  const Screenshot late = still_screenshot();
  hands("key Left");
  ASSERT_TRUE(happened("rewind"));
  EXPECT_EQ(events("rewind")[0]["to"], late.frame - 1);
  EXPECT_EQ(screenshot().frame, late.frame - 1);
  hands("key F5");
  ASSERT_TRUE(happened("keep_state"));
  hands("key Home");
  ASSERT_TRUE(happened("rewind", 2));
  EXPECT_EQ(screenshot().frame, 0);

  // The strip lies under the scene: a drag along it goes through the frames.
  const Pixel from{0.5 * (scene_area.left + scene_area.right), 678}, to{from.x + 120, from.y};
  mouse_to(from);
  hands("mousedown 1");
  ASSERT_TRUE(happened("rewind", 3));
  mouse_to(to);
  ASSERT_TRUE(happened("rewind", 4));
  hands("mouseup 1");
  EXPECT_GT(events("rewind").back()["to"], events("rewind")[2]["to"]);
  mouse_to({640, 60});
  const int from_frame = still_screenshot().frame;
  const std::size_t steps = events("step").size();
  hands("key period");
  ASSERT_TRUE(happened("step", steps + 1));
  EXPECT_EQ(events("step").back()["frame"], from_frame + 1);
  hands("key F9");
  ASSERT_TRUE(happened("return_to_kept"));
  EXPECT_EQ(screenshot().frame, late.frame - 1);
  EXPECT_TRUE(fs::exists("stickslip-output/stickslip-ball-kept.hdf5"));
  close_and_check();

  ChildProcess replay("/bin/sh", {"-c", "exec \"$0\" \"$@\" >&2", STICKSLIP_PROGRAM, "replay", "done.jsonl",
                                  "--verify", "--quiet"});
  EXPECT_TRUE(replay.finish()) << replay.errors();
  EXPECT_NE(replay.errors().find("\"differing\":0"), std::string::npos) << replay.errors();
}

TEST_F(ProgramWindowTest, KeepsItsSizeCameraAndViewForTheNextTime) {
  shows_panels_ = false;
  open();
  const Screenshot first = still_screenshot();
  hands("key c");
  hands("windowsize " + window() + " 1000 640");
  screenshot_when([](const Screenshot& shot) { return shot.image.width == 1000; });
  hands("mousemove --window " + window() + " 500 300 mousedown 1");
  hands("mousemove --window " + window() + " 560 300 mouseup 1");
  const Screenshot turned = still_screenshot();
  close_and_check();
  program_.reset();
  fs::remove("done.jsonl");
  open();
  const Screenshot again = still_screenshot();
  EXPECT_EQ(again.image.width, 1000);
  EXPECT_EQ(again.image.height, 640);
  EXPECT_EQ(again.difference(turned, {0, 1000, 0, 640}), 0) << "the same camera and overlays";
  close_and_check();
  program_.reset();
  fs::remove("done.jsonl");
  open({"--fresh"});
  const Screenshot fresh = still_screenshot();
  EXPECT_EQ(fresh.image.width, 1280);
  EXPECT_EQ(fresh.difference(first, {0, 1280, 0, 720}), 0);
  close_and_check();
}

TEST_F(ProgramWindowTest, DoesWhatAScriptSays) {
  std::ofstream("actions.txt")
      << "steps 5\nset mu=0.5\nkeep_state\nsteps 3\nrewind 2\nscreenshot\nsave_report\nsave_bundle\nquit\n";
  std::vector<std::string> words{"-c",
                                 "exec \"$0\" \"$@\" >&2",
                                 STICKSLIP_PROGRAM,
                                 "view",
                                 "ball",
                                 "--paused",
                                 "--journal",
                                 "done.jsonl",
                                 "--script",
                                 "actions.txt"};
  program_.emplace("/bin/sh", words);
  EXPECT_TRUE(program_->finish()) << program_->errors();
  EXPECT_EQ(events("step").size(), 8u);
  EXPECT_EQ(events("rewind").at(0)["to"], 2);
  EXPECT_EQ(events("screenshot").at(0)["frame"], 2);
  std::ifstream report("stickslip-output/stickslip-ball-1.jsonl");
  int steps = 0;
  for (std::string line; std::getline(report, line);) EXPECT_EQ(json::parse(line)["frame"], ++steps);
  EXPECT_EQ(steps, 8) << "also of the steps after the state that is shown";
  EXPECT_TRUE(fs::exists("stickslip-output/stickslip-ball-kept.hdf5"));

  fs::remove("assets/scenes/ball.toml");
  const std::string bundle = "stickslip-output/stickslip-ball-1.stickslip";
  const Bundle content = read_bundle(bundle);
  const std::string* picture = content.find(bundle_picture_name);
  ASSERT_NE(picture, nullptr);
  EXPECT_EQ(picture->substr(1, 3), "PNG");
  EXPECT_FALSE(content.origin.renderer.empty());
  ChildProcess replay("/bin/sh", {"-c", "exec \"$0\" \"$@\" >&2", STICKSLIP_PROGRAM, "replay", bundle,
                                  "--verify", "--quiet"});
  EXPECT_TRUE(replay.finish()) << replay.errors();
  EXPECT_NE(replay.errors().find("\"equal\":8,"), std::string::npos) << replay.errors();
}

/// Runs that replay what an earlier one wrote.
class ReplayProgramWindowTest : public ProgramWindowTest {
 protected:
  /// Whether a window with these arguments and script ends well; its journal is done.jsonl.
  bool view(const std::vector<std::string>& arguments, const std::string& script) {
    std::ofstream("actions.txt") << script;
    std::vector<std::string> words{"-c", "exec \"$0\" \"$@\" >&2", STICKSLIP_PROGRAM, "view"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    for (const char* word : {"--paused", "--journal", "done.jsonl", "--script", "actions.txt"})
      words.emplace_back(word);
    program_.emplace("/bin/sh", words);
    return program_->finish();
  }
  std::vector<std::string> hashes() const {
    std::vector<std::string> all;
    for (const json& step : events("step")) all.push_back(step["hash"]);
    return all;
  }
};
/// With the options of then, as the window's own scene or in place of another.
TEST_F(ReplayProgramWindowTest, ReplaysAJournal) {
  ASSERT_TRUE(view({"ball", "--set", "gravity=-5"}, "steps 4\nset mu=0.5\nsteps 2\nquit\n"))
      << program_->errors();
  const std::vector<std::string> first = hashes();
  ASSERT_EQ(first.size(), 6u);
  fs::rename("done.jsonl", "old.jsonl");

  EXPECT_TRUE(view({"old.jsonl"}, "screenshot\nquit\n")) << program_->errors();
  EXPECT_NE(program_->errors().find("old.jsonl: all 6 states have the bits of the journal's"),
            std::string::npos)
      << program_->errors();
  EXPECT_EQ(hashes(), first);
  EXPECT_EQ(events("load").size(), 1u);
  EXPECT_EQ(events("screenshot").at(0)["frame"], 6) << "the script waits for the end of the replay";

  EXPECT_TRUE(view({"other"}, "steps 1\nopen actions.jsonl\nopen old.jsonl\nquit\n")) << program_->errors();
  EXPECT_NE(program_->errors().find("actions.jsonl: cannot be read"), std::string::npos)
      << program_->errors();
  EXPECT_NE(program_->errors().find("old.jsonl: all 6 states have the bits"), std::string::npos)
      << program_->errors();
  EXPECT_EQ(events("step").size(), 7u);

  EXPECT_FALSE(view({"old.jsonl", "--set", "mu=1"}, "quit\n"));
  EXPECT_NE(program_->errors().find("its own options"), std::string::npos) << program_->errors();
}

/// With each of its scenes as it was, when their files are gone or others have their names.
TEST_F(ReplayProgramWindowTest, ReplaysABundleWithAllItsScenes) {
  std::ofstream("assets/scenes/other.toml") << program_scene << "velocity = [1, 0, 0]\n";
  ASSERT_TRUE(view({"ball", "--set", "gravity=-5"}, "steps 3\nscene other\nsteps 2\nsave_bundle\nquit\n"))
      << program_->errors();
  const std::vector<std::string> first = hashes();
  ASSERT_EQ(first.size(), 5u);
  fs::rename("stickslip-output/stickslip-other-1.stickslip", "all.stickslip");
  fs::remove("assets/scenes/ball.toml");
  std::ofstream("assets/scenes/other.toml") << program_scene;

  EXPECT_TRUE(view({"all.stickslip"}, "save_bundle\nquit\n")) << program_->errors();
  EXPECT_NE(program_->errors().find("all.stickslip: all 5 states have the bits of the journal's"),
            std::string::npos)
      << program_->errors();
  EXPECT_EQ(hashes(), first);
  EXPECT_EQ(events("load").size(), 2u);

  EXPECT_TRUE(view({"other"}, "steps 1\nopen all.stickslip\nscene other\nsteps 1\nquit\n"))
      << program_->errors();
  EXPECT_NE(program_->errors().find("all 5 states have the bits"), std::string::npos) << program_->errors();
  const std::vector<std::string> again = hashes();
  ASSERT_EQ(again.size(), 7u);
  EXPECT_EQ(again.back(), again.front()) << "the scene of now, by its name";
  EXPECT_NE(again.back(), first[3]) << "which is another one than in the bundle";

  EXPECT_FALSE(view({"all.stickslip", "--set", "mu=1"}, "quit\n"));
  EXPECT_NE(program_->errors().find("its own options"), std::string::npos) << program_->errors();
}

TEST_F(ProgramWindowTest, ShowsTheImpulsesOfIterationsUntilTheRunGoesOn) {
  std::ofstream("boxes.toml") << test::boxes_toml();
  // Pictures are of the scene alone: they differ by the contacts alone.
  std::ofstream("actions.txt") << "toggle_contacts\ntoggle_arrows\nsteps 3\nfreeze\nwait 3\nscreenshot\n"
                                  "lab_iteration nsgs 0\nscreenshot\n"
                                  "lab_iteration nsgs 1000000\nscreenshot\n"
                                  "toggle_lab\nscreenshot\nquit\n";
  program_.emplace("/bin/sh", std::vector<std::string>{"-c", "exec \"$0\" \"$@\" >&2", STICKSLIP_PROGRAM,
                                                       "view", "boxes.toml", "--paused", "--journal",
                                                       "done.jsonl", "--script", "actions.txt"});
  EXPECT_TRUE(program_->finish()) << program_->errors();
  const std::vector<json> shots = events("screenshot");
  ASSERT_EQ(shots.size(), 4u) << program_->errors();
  const auto shot = [&](std::size_t i) {
    return Screenshot{load_png(shots[i]["file"]), shots[i]["frame"], shots[i]["time"]};
  };
  const Screenshot own = shot(0);
  constexpr Box everything{0, 1280, 0, 720};
  EXPECT_GT(shot(1).difference(own, everything), 0) << "no forces yet";
  EXPECT_GT(shot(2).difference(shot(1), everything), 0);
  EXPECT_EQ(shot(3).difference(own, everything), 0) << "the lab is closed: the scene's own contacts";
}

TEST_F(ProgramWindowTest, SwitchesScenesKeepsItsSettingsMovesMuAndResizes) {
  open({"--set", "rubber.mu=0.3"});
  const Screenshot first = screenshot();
  hands("key bracketright");
  ASSERT_TRUE(happened("load", 2));
  EXPECT_FALSE(window("other").empty());
  const Screenshot other = screenshot();
  hands("key bracketleft");
  ASSERT_TRUE(happened("load", 3));
  EXPECT_FALSE(window("ball").empty());
  const Screenshot again = screenshot();

  // The scenes differ only in the friction that --set gave to the first.
  const std::optional<Box> slider = lowest_difference(first, other);
  ASSERT_TRUE(slider);
  EXPECT_LT(slider->bottom - slider->top, 30);
  EXPECT_EQ(first.difference(again, {left_panel.left, left_panel.right, slider->top, slider->bottom}), 0)
      << "--set is forgotten";

  const Pixel grip{0.5 * (slider->left + slider->right), 0.5 * (slider->top + slider->bottom)};
  mouse_to(grip);
  hands("mousedown 1");
  ASSERT_TRUE(happened("set")) << "a slider jumps to where it is pressed";
  mouse_to({grip.x + 60, grip.y});
  EXPECT_TRUE(eventually([&] { return events("set").back()["value"] > 0.4; })) << events("set").back();
  hands("mouseup 1");
  EXPECT_EQ(events("set").back()["key"], "mu");
  EXPECT_GT(screenshot().difference(again, {left_panel.left, left_panel.right, slider->top, slider->bottom}),
            20);

  hands("windowsize " + window() + " 900 600");
  const Screenshot small = screenshot_when([](const Screenshot& shot) { return shot.image.width == 900; });
  EXPECT_EQ(small.image.height, 600);
  EXPECT_GT(small.colours(), 100);
  close_and_check();
}

// Files of a file manager: one with bytes that its address writes as %XX, several at once, of which one is
// none that the window opens, and a mesh.
TEST_F(ProgramWindowTest, OpensWhatIsDroppedOnIt) {
  open();
  const auto drop = [&](const std::vector<fs::path>& files) {
    return test::FileDrop(files).on(window(".*"), 640, 300);
  };
  fs::create_directories("a folder");
  const fs::path odd = fs::path("a folder") / "other 100% \xc3\xa4.toml";
  std::ofstream(odd) << program_scene;
  ASSERT_TRUE(drop({odd}));
  ASSERT_TRUE(happened("load", 2));
  EXPECT_EQ(events("load").back()["scene"], fs::absolute(odd).string());
  EXPECT_TRUE(eventually([&] { return !window("other 100% \xc3\xa4").empty(); }));

  std::ofstream("notes.md") << "no scene\n";
  ASSERT_TRUE(drop({"notes.md", folder_ / "assets" / "scenes" / "ball.toml"}));
  ASSERT_TRUE(happened("load", 3));
  EXPECT_TRUE(eventually([&] { return !window("ball").empty(); }));
  EXPECT_EQ(events("load").size(), 3u) << "notes are not opened";

  std::ofstream("tet.obj") << "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\n"
                              "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  ASSERT_TRUE(drop({"tet.obj"}));
  ASSERT_TRUE(happened("load", 4));
  EXPECT_EQ(events("load").back()["scene"], (folder_ / "tet.obj").string());
  EXPECT_TRUE(eventually([&] { return !window("tet").empty(); }));
  hands("key ctrl+q");
  ASSERT_TRUE(eventually([&] { return window(".*").empty(); }));
  const bool good = program_->finish();
  EXPECT_TRUE(good) << program_->errors();
  EXPECT_NE(program_->errors().find("notes.md is not opened"), std::string::npos) << program_->errors();
}

TEST_F(ProgramWindowTest, TheSolverSwitchesWithoutARestart) {
  open({"--set", "solver=barrier_al"});
  const Screenshot first = screenshot();
  hands("key bracketright");
  ASSERT_TRUE(happened("load", 2));
  const Screenshot other = screenshot();
  hands("key bracketleft space");
  ASSERT_TRUE(happened("load", 3));
  // The scenes differ only in the choice that --set made in the first.
  const std::optional<Box> choice = lowest_difference(first, other);
  ASSERT_TRUE(choice);

  const auto last_set = [&] {
    const std::vector<json> all = events("set");
    return all.empty() ? json() : all.back()["value"];
  };
  for (const char* wanted : {"ipc", "barrier_al"}) {
    SCOPED_TRACE(wanted);
    const int frame = screenshot().frame;
    // The list opens below the box; the test tries its rows from the top.
    for (int below = 12; below < 60 && last_set() != wanted; below += 6) {
      mouse_to({choice->left + 20.0, 0.5 * (choice->top + choice->bottom)});
      hands("click 1");
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      mouse_to({choice->left + 20.0, static_cast<double>(choice->bottom + below)});
      hands("click 1");
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    ASSERT_EQ(last_set(), wanted);
    EXPECT_EQ(events("set").back()["key"], "solver");
    EXPECT_GE(static_cast<int>(events("set").back()["frame"]), 0);
    screenshot_when([&](const Screenshot& shot) { return shot.frame > frame + 2; });
  }
  EXPECT_EQ(events("load").size(), 3u) << "nothing was loaded anew";
  EXPECT_EQ(events("reset").size(), 0u);
  close_and_check();
}

}  // namespace
}  // namespace stickslip
