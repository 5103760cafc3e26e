// A real window: an X server without a screen, keys from xdotool, a fake engine.
#include <gtest/gtest.h>
#include <stb_image.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "app/io/report/step_race.h"
#include "app/viewer/viewer.h"
#include "tests/app/fake_engine.h"
#include "tests/app/x_display.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::eventually;
using test::XDisplay;

class LongWindowTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!display_.ready()) GTEST_SKIP() << "needs Xvfb and xdotool";
    folder_ = fs::temp_directory_path() / ("stickslip-window-" + std::to_string(getpid()));
    fs::create_directories(folder_);
    before_ = fs::current_path();
    fs::current_path(folder_);

    options_.make_engine = [this] {
      auto engine = std::make_unique<test::FakeEngine>();
      engine->on_share = [](const PositionTarget&) { return Sharing{ShareKind::mapped, ""}; };
      engine->on_step = [this](int) {
        ++steps_started_;
        while (hold_) std::this_thread::sleep_for(1ms);
        ++steps_done_;
      };
      return engine;
    };
    options_.load_scene = [this](const std::string& name, const std::string&) {
      ++loads_;
      return test::two_tets(name);
    };
    options_.scene = "a";
    options_.backend = "cpu";
    options_.validation = true;
    options_.paused = true;
  }
  void TearDown() override {
    if (folder_.empty()) return;
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

  static void keys(const std::string& arguments) {
    ASSERT_TRUE(XDisplay::xdotool(arguments)) << arguments;
    std::this_thread::sleep_for(200ms);
  }
  static bool window_is_there() { return !XDisplay::window("stickslip - a - cpu").empty(); }
  /// Runs the window here, and `user` in parallel once the window has drawn a picture.
  int run(const std::function<void()>& user) {
    std::atomic<bool> over = false;
    std::thread hands([&] {
      if (!eventually([&] { return over || window_is_there(); }) || over) return;
      keys("mousemove 640 360");
      user();
      hold_ = false;
      keys("key --clearmodifiers ctrl+q");
    });
    int code = -1;
    try {
      code = run_viewer(options_);
    } catch (const NoDeviceError& error) {
      no_device_ = error.what();
    }
    over = true;
    hands.join();
    return code;
  }
  std::size_t pictures() const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      count += entry.path().extension() == ".png" && fs::file_size(entry.path()) > 1000;
    return count;
  }

  XDisplay display_;
  fs::path folder_, before_;
  ViewOptions options_;
  std::atomic<int> loads_ = 0, steps_started_ = 0, steps_done_ = 0;
  std::atomic<bool> hold_ = false;
  std::string no_device_;
};

TEST_F(LongWindowTest, KeysStepPlayResetSwitchSceneAndQuit) {
  options_.script.screenshot = folder_ / "end.png";
  const int code = run([&] {
    EXPECT_EQ(steps_done_, 0) << "it started paused";
    keys("key period key Right");
    EXPECT_TRUE(eventually([&] { return steps_done_ == 2; }));
    keys("key space");
    EXPECT_TRUE(eventually([&] { return steps_done_ >= 12; }));
    keys("key p");
    const int paused_at = steps_done_;
    std::this_thread::sleep_for(200ms);
    EXPECT_LE(steps_done_, paused_at + 1);
    const int loads = loads_;
    keys("key bracketright");
    EXPECT_TRUE(eventually([&] { return loads_ == loads + 1; }));
    keys("key c key n key v key Tab key Tab key l key F1 key Escape key r key f");
    keys("mousemove 600 300 mousedown 1 mousemove 640 340 mousemove 700 360 mouseup 1");
  });
  if (!no_device_.empty()) GTEST_SKIP() << no_device_;
  EXPECT_EQ(code, 0) << "validation messages";
  EXPECT_EQ(pictures(), 1u);
}

// Ctrl+Shift+F races all steppers in engines of their own, while the window draws and the scene can step.
TEST_F(LongWindowTest, RacesSteppersFromThePresentState) {
  std::atomic<int> raced = 0, raced_steps = 0;
  options_.make_race_engine = [&] {
    ++raced;
    auto engine = std::make_unique<test::FakeEngine>();
    engine->on_step = [&](int) { ++raced_steps; };
    return engine;
  };
  const int code = run([&] {
    keys("key period");
    EXPECT_TRUE(eventually([&] { return steps_done_ == 1; }));
    keys("key --clearmodifiers ctrl+shift+f");
    EXPECT_TRUE(eventually([&] { return raced == static_cast<int>(all_steppers().size()); }));
    EXPECT_GT(raced_steps, 0);
    keys("key F12");
    EXPECT_TRUE(eventually([&] { return pictures() == 1; }));
    keys("key period");
    EXPECT_TRUE(eventually([&] { return steps_done_ == 2; }));
  });
  if (!no_device_.empty()) GTEST_SKIP() << no_device_;
  EXPECT_EQ(code, 0);
}

TEST_F(LongWindowTest, StaysAliveThroughAnEndlessStep) {
  hold_ = true;
  const int code = run([&] {
    keys("key period");
    EXPECT_TRUE(eventually([&] { return steps_started_ == 1; }));
    // The window accepts input, draws and saves pictures while the step is blocked.
    keys("mousemove 600 300 mousedown 1 mousemove 700 360 mouseup 1");
    keys("key F12");
    EXPECT_TRUE(eventually([&] { return pictures() == 1; }));
    keys("key F1 key F12");
    EXPECT_TRUE(eventually([&] { return pictures() == 2; }));
    EXPECT_EQ(steps_done_, 0);
  });
  if (!no_device_.empty()) GTEST_SKIP() << no_device_;
  EXPECT_EQ(code, 0);
  EXPECT_EQ(steps_done_, 1);
}

/// Picture of the window with its panels at the third step.
TEST_F(LongWindowTest, SharedPositionsShowWhatCopiesShow) {
  std::vector<Image> shown;
  for (const Interop interop : {Interop::automatic, Interop::off}) {
    options_.interop = interop;
    options_.make_engine = [] {
      auto engine = std::make_unique<test::FakeEngine>();
      engine->on_share = [](const PositionTarget&) { return Sharing{ShareKind::mapped, ""}; };
      return engine;
    };
    std::string sharing;
    int asked = 0;
    options_.script.screenshot = folder_ / (interop == Interop::off ? "off.png" : "auto.png");
    options_.script.drive = [&](Simulation& simulation, const std::function<void(ActionId)>& act) {
      const Sharing& now = simulation.status().sharing;
      if (now.note.empty() && now.kind == ShareKind::staged) return true;  // not negotiated yet
      const int frame = simulation.frame().snapshot.frame;
      if (frame == asked && frame < 3) {
        ++asked;
        act(ActionId::step);
      }
      sharing = describe(now);
      return frame < 3;
    };
    try {
      EXPECT_EQ(run_viewer(options_), 0) << "validation messages";
    } catch (const NoDeviceError& error) {
      GTEST_SKIP() << error.what();
    }
    EXPECT_EQ(sharing, interop == Interop::off ? "staged: switched off" : "mapped (no copy)");
    Image image;
    int channels = 0;
    std::uint8_t* pixels =
        stbi_load(options_.script.screenshot.c_str(), &image.width, &image.height, &channels, 4);
    ASSERT_TRUE(pixels);
    image.rgba.assign(pixels, pixels + std::size_t{4} * image.width * image.height);
    stbi_image_free(pixels);
    shown.push_back(std::move(image));
  }
  // Panels are on both sides; the scene is between them.
  ASSERT_EQ(shown[0].width, shown[1].width);
  std::size_t different = 0;
  for (int y = 100; y < shown[0].height - 100; ++y)
    for (int x = shown[0].width * 2 / 5; x < shown[0].width * 3 / 5; ++x)
      different += !std::equal(shown[0].pixel(x, y), shown[0].pixel(x, y) + 4, shown[1].pixel(x, y));
  EXPECT_EQ(different, 0u);
}

TEST_F(LongWindowTest, AScriptEndsByItselfAndAFailedRunSaysSo) {
  options_.paused = false;
  options_.script = {.quit_after_frames = 5, .screenshot = folder_ / "five.png"};
  int code = -1;
  try {
    code = run_viewer(options_);
  } catch (const NoDeviceError& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(code, 0);
  EXPECT_GE(steps_done_, 5);
  EXPECT_EQ(pictures(), 1u);
  options_.make_engine = [] {
    auto engine = std::make_unique<test::FakeEngine>();
    engine->on_step = [](int) { throw SimulationError("NaN at node 3"); };
    return engine;
  };
  EXPECT_EQ(run_viewer(options_), 1);
}

TEST(Window, WithoutADisplayThereIsOneClearMessage) {
  setenv("DISPLAY", ":99999", 1);
  unsetenv("WAYLAND_DISPLAY");
  ViewOptions options;
  options.make_engine = [] { return std::make_unique<test::FakeEngine>(); };
  options.load_scene = test::two_tets;
  try {
    run_viewer(options);
    FAIL() << "a window opened";
  } catch (const NoDisplayError& error) {
    EXPECT_NE(std::string(error.what()).find("stickslip run"), std::string::npos) << error.what();
  }
}

TEST(Window, ABadFirstSceneIsReportedBeforeAnythingOpens) {
  ViewOptions options;
  options.make_engine = []() -> std::unique_ptr<Engine> { throw std::logic_error("not reached"); };
  options.load_scene = [](const std::string&, const std::string&) -> Scene {
    throw InputError("scene.toml:3: unknown key");
  };
  EXPECT_THROW(run_viewer(options), InputError);
}

}  // namespace
}  // namespace stickslip
