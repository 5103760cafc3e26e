// Edits of a running scene in the program in real use: objects, pins and forks, and what is left of them in
// files.
#include <gtest/gtest.h>

#include <csignal>

#include "app/io/scene/scene.h"
#include "tests/app/window_program.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Box;
using test::eventually;
using test::Pixel;
using test::ProgramWindowTest;
using test::scene_area;
using test::Screenshot;
using test::XDisplay;

constexpr Box whole_picture{0, 1280, 0, 720};

TEST_F(ProgramWindowTest, AForkStaysBehindInAPaneOfItsOwn) {
  ASSERT_TRUE(view({"ball"},
                   "steps 2\nfork\nset gravity=5\nsteps 20\nscreenshot\nfork_panes\nscreenshot\nfork_panes\n"
                   "screenshot\nquit\n"))
      << program_->errors();
  EXPECT_EQ(events("fork").size(), 1u);
  const std::vector<json> shots = events("screenshot");
  ASSERT_EQ(shots.size(), 3u);
  const Screenshot outlines = screenshot_of(shots[0]), panes = screenshot_of(shots[1]);
  const std::optional<Pixel> run = panes.ball({0, 630, 20, 700}), fork = panes.ball({650, 1280, 20, 700});
  ASSERT_TRUE(run && fork);
  EXPECT_LT(run->y, fork->y - 20) << "the ball of the run falls upwards, that of the fork lies on the ground";
  EXPECT_EQ(screenshot_of(shots[2]).difference(outlines, whole_picture), 0);
  const std::string verdict = replayed("done.jsonl");
  EXPECT_NE(verdict.find("\"differing\":0"), std::string::npos) << verdict;
}

TEST_F(ProgramWindowTest, PinsAddsUndoesAndSavesASceneThatIsOpenedAgain) {
  open();
  const std::optional<Pixel> ball = still_screenshot().ball();
  ASSERT_TRUE(ball);
  mouse_to(*ball);
  hands("click 1 key t");
  ASSERT_TRUE(happened("add_pin"));
  EXPECT_EQ(events("add_pin")[0]["object"], "ball");
  mouse_to({640, 60});
  const Screenshot pinned = still_screenshot();
  hands("key o");
  ASSERT_TRUE(happened("add_object"));
  screenshot_when([&](const Screenshot& shot) { return shot.difference(pinned, scene_area) > 500; });
  hands("key ctrl+z");
  ASSERT_TRUE(happened("go_to_content"));
  screenshot_when([&](const Screenshot& shot) { return shot.difference(pinned, scene_area) == 0; });
  hands("key ctrl+shift+s");
  const std::string saved = "stickslip-output/stickslip-ball-1.toml";
  ASSERT_TRUE(eventually([&] { return fs::exists(saved); }));
  close_and_check();
  const Scene scene = load_scene(fs::absolute(saved).string());
  EXPECT_EQ(scene.model.objects.size(), 1u);
  EXPECT_EQ(scene.model.scripted.size(), 1u) << "the pin";

  // Without the pin the ball would fall upwards, out of sight.
  ASSERT_TRUE(view({saved, "--panels"}, "set gravity=40\nsteps 30\nscreenshot\nquit\n"))
      << program_->errors();
  const std::optional<Pixel> held = screenshot_of(events("screenshot").at(0)).ball();
  ASSERT_TRUE(held);
  EXPECT_LT(std::hypot(held->x - ball->x, held->y - ball->y), 60);
}

/// The checkpoint of F5 has the object that was added, which is in no scene file.
TEST_F(ProgramWindowTest, AKeptStateOfAnEditedSceneSurvivesAKill) {
  open();
  hands("key o");
  ASSERT_TRUE(happened("add_object"));
  hands("key period");
  ASSERT_TRUE(happened("step"));
  hands("key F5");
  const std::string kept = "stickslip-output/stickslip-ball-kept.hdf5";
  ASSERT_TRUE(eventually([&] { return fs::exists(kept); }));
  hands("key F9");
  ASSERT_TRUE(happened("return_to_kept"));
  for (const std::size_t steps : {2, 3}) {
    hands("key period");
    ASSERT_TRUE(happened("step", steps));
  }
  const std::vector<std::string> went_on = hashes();
  kill(static_cast<pid_t>(XDisplay::process_of(window())), SIGKILL);
  EXPECT_FALSE(program_->finish());
  fs::remove("assets/scenes/ball.toml");

  ASSERT_TRUE(view({kept}, "steps 2\nquit\n")) << program_->errors();
  EXPECT_EQ(hashes(), std::vector(went_on.begin() + 1, went_on.end()));
}

}  // namespace
}  // namespace stickslip
