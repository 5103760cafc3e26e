// The program in real use: its keys, panels, scenes and overlays.
#include <gtest/gtest.h>

#include <thread>

#include "app/render/overlays.h"
#include "tests/app/file_drop.h"
#include "tests/app/frozen_boxes.h"
#include "tests/app/window_program.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Box;
using test::eventually;
using test::left_panel;
using test::Pixel;
using test::program_scene;
using test::ProgramWindowTest;
using test::scene_area;
using test::Screenshot;

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

/// Two boxes that touch, a joint and a pin: a scene in which each has something to show.
TEST_F(ProgramWindowTest, EachOverlayIsSeenAndGoesAgain) {
  std::ofstream("all.toml")
      << test::boxes_toml("young = 1e6\n")
      << "[[joint]]\nname = 'pivot'\nkind = 'ball'\nbetween = ['still', 'world']\nanchor = [0, 0.4, 0]\n"
         "[[object]]\nname = 'soft'\nshape = 'box'\nsize = [0.4, 0.4, 0.4]\nedge = 0.4\n"
         "material = 'wood'\nposition = [-1, 0.6, 0]\n[[pin]]\nobject = 'soft'\nnodes = [0]\n";
  std::string script = "steps 3\nscreenshot\n";
  for (const OverlayInfo& overlay : overlay_table())
    for (const char* on : {"true", "false"})
      script.append("view ").append(overlay.name).append("=").append(on).append("\nscreenshot\n");
  ASSERT_TRUE(view({"all.toml"}, script + "quit\n")) << program_->errors();
  const std::vector<json> shots = events("screenshot");
  ASSERT_EQ(shots.size(), 1 + 2 * overlay_table().size());
  const Screenshot plain = screenshot_of(shots[0]);
  constexpr Box everything{0, 1280, 0, 720};
  std::size_t at = 0;
  for (const OverlayInfo& overlay : overlay_table()) {
    SCOPED_TRACE(overlay.name);
    EXPECT_GT(screenshot_of(shots[++at]).difference(plain, everything), 20);
    EXPECT_EQ(screenshot_of(shots[++at]).difference(plain, everything), 0);
  }
  std::set<std::string> recorded;
  for (const json& event : events("view"))
    for (const auto& [name, value] : event["set"].items()) recorded.insert(name);
  EXPECT_TRUE(recorded.contains("tree"));
  EXPECT_EQ(events("view").size(), shots.size()) << "the view at the start, and each change";
}

/// With a race, a fork and plots, so that each has something to show; the validation layers watch all of it.
TEST_F(ProgramWindowTest, EverySectionIsDrawnOpenAndClosed) {
  std::ofstream("boxes.toml") << test::boxes_toml();
  const auto drawn = [&](bool is_open) {
    json sections;
    for (const char* title : {"Add",
                              "Expectations",
                              "Forks",
                              "Run",
                              "Presets",
                              "Matrix D + L + C",
                              "Last step",
                              "Trace",
                              "Judge",
                              "Contact solves",
                              "Matrix W",
                              "Energy",
                              "Stage times",
                              "Convergence",
                              "Stiffness groups",
                              "Effort and contacts",
                              "Scene",
                              "Selected contact",
                              "Selected",
                              "Time",
                              "Tracked",
                              "View",
                              "Parameters",
                              "Materials",
                              "Contact solver"})
      sections[title] = is_open;
    fs::create_directories("config/stickslip");
    std::ofstream("config/stickslip/window.json") << json{{"sections", sections}};
    EXPECT_TRUE(
        view({"boxes.toml", "--panels"},
             "select sliding\ntrack_selected\nsteps 2\nfork\nset mu=0.1\nsteps 2\nfreeze\nscreenshot\n"
             "toggle_log\nscreenshot\nquit\n"))
        << program_->errors();
    EXPECT_EQ(events("freeze").size(), 1u);
    return screenshot_of(events("screenshot").at(0));
  };
  const Screenshot opened = drawn(true), closed = drawn(false);
  EXPECT_GT(opened.difference(closed, left_panel), 5000);
  EXPECT_GT(opened.difference(closed, {960, 1280, 0, 690}), 5000);
}

/// What check boxes and keys switch is recorded, and done again in the window.
TEST_F(ProgramWindowTest, AReplayShowsTheViewOfThen) {
  ASSERT_TRUE(view({"ball"},
                   "set tripwire.energy=true\nsteps 2\ntoggle_wireframe\nview surfaces=stress\nsteps 2\n"
                   "view clip=true\nscreenshot\nquit\n"))
      << program_->errors();
  const Screenshot then = screenshot_of(events("screenshot").at(0));
  EXPECT_EQ(events("view").at(1)["set"]["wireframe"], true);
  EXPECT_EQ(events("set").at(0)["key"], "tripwire.energy");
  const std::string verdict = replayed("done.jsonl");
  EXPECT_NE(verdict.find("\"equal\":4,"), std::string::npos) << verdict;
  fs::rename("done.jsonl", "old.jsonl");
  ASSERT_TRUE(view({"old.jsonl", "--fresh"}, "screenshot\nquit\n")) << program_->errors();
  EXPECT_EQ(screenshot_of(events("screenshot").at(0)).difference(then, {0, 1280, 0, 720}), 0);
  EXPECT_EQ(events("view").back()["set"]["clip"], true);
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

TEST_F(ProgramWindowTest, ShowsTheImpulsesOfIterationsUntilTheRunGoesOn) {
  std::ofstream("boxes.toml") << test::boxes_toml();
  // Pictures are of the scene alone: they differ by the contacts alone.
  EXPECT_TRUE(view({"boxes.toml"},
                   "toggle_contacts\ntoggle_arrows\nsteps 3\nfreeze\nwait 3\nscreenshot\n"
                   "lab_iteration nsgs 0\nscreenshot\nlab_iteration nsgs 1000000\nscreenshot\n"
                   "toggle_lab\nscreenshot\nquit\n"))
      << program_->errors();
  const std::vector<json> shots = events("screenshot");
  ASSERT_EQ(shots.size(), 4u) << program_->errors();
  const auto shot = [&](std::size_t i) { return screenshot_of(shots[i]); };
  const Screenshot own = shot(0);
  constexpr Box everything{0, 1280, 0, 720};
  EXPECT_GT(shot(1).difference(own, everything), 0) << "no forces yet";
  EXPECT_GT(shot(2).difference(shot(1), everything), 0);
  EXPECT_EQ(shot(3).difference(own, everything), 0) << "the lab is closed: the scene's own contacts";
}

TEST_F(ProgramWindowTest, ShowsTheIteratesOfAStepUntilTheRunGoesOn) {
  std::string falling = program_scene;
  falling.replace(falling.find("0.0602"), 6, "0.0615");
  std::ofstream("falling.toml") << falling << "velocity = [0, -3, 0]\n";
  EXPECT_TRUE(
      view({"falling.toml"},
           "screenshot\nstep_iterations\nstep_iteration 1\nscreenshot\nstep_iteration 1000\nscreenshot\n"
           "toggle_lab\nscreenshot\nquit\n"))
      << program_->errors();
  const std::vector<json> shots = events("screenshot");
  ASSERT_EQ(shots.size(), 4u) << program_->errors();
  const auto shot = [&](std::size_t i) { return screenshot_of(shots[i]); };
  const Screenshot own = shot(0);
  constexpr Box everything{0, 1280, 0, 720};
  EXPECT_GT(shot(1).difference(own, everything), 0) << "the outline of the first iterate";
  EXPECT_GT(shot(2).difference(shot(1), everything), 0) << "that of the last one";
  EXPECT_EQ(shot(3).difference(own, everything), 0) << "the lab is closed: the scene alone";
  EXPECT_EQ(events("step_iterations").size(), 1u);
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
