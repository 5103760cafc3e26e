// Rewinding, journals and bundles of the program in real use, and their replay.
#include <gtest/gtest.h>

#include "app/io/bundle/bundle.h"
#include "tests/app/window_program.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Pixel;
using test::program_scene;
using test::ProgramWindowTest;
using test::scene_area;
using test::Screenshot;

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

  const std::string verdict = replayed("done.jsonl");
  EXPECT_NE(verdict.find("\"differing\":0"), std::string::npos) << verdict;
}

TEST_F(ProgramWindowTest, DoesWhatAScriptSays) {
  EXPECT_TRUE(view({"ball"},
                   "steps 5\nset mu=0.5\nkeep_state\nsteps 3\nrewind 2\nscreenshot\nsave_report\n"
                   "save_bundle\nquit\n"))
      << program_->errors();
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
  const std::string verdict = replayed(bundle);
  EXPECT_NE(verdict.find("\"equal\":8,"), std::string::npos) << verdict;
}

/// With the options of then, as the window's own scene or in place of another.
TEST_F(ProgramWindowTest, ReplaysAJournal) {
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
TEST_F(ProgramWindowTest, ReplaysABundleWithAllItsScenes) {
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

}  // namespace
}  // namespace stickslip
