// Screenshots and videos of the program in real use.
#include <gtest/gtest.h>

#include <csignal>

#include "app/process/child_process.h"
#include "tests/app/window_program.h"
#include "tests/app/x_picture.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using test::eventually;
using test::left_panel;
using test::ProgramWindowTest;
using test::scene_area;
using test::Screenshot;
using test::XDisplay;

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

/// Without an encoder a video is a folder of pictures: the ball rises from one to the next.
TEST_F(ProgramWindowTest, AVideoHasAPictureOfEveryStepOfItsRate) {
  before_program_ = "PATH=/nowhere ";
  std::string script = "set dt=0.02\nset gravity=5\ntoggle_video\n";
  // A screenshot waits until the window has drawn the step; the video has that picture, too.
  for (int i = 0; i < 12; ++i) script += "steps 1\nscreenshot\n";
  ASSERT_TRUE(view({"ball"}, script + "toggle_video\nquit\n")) << program_->errors();
  std::vector<fs::path> pictures;
  for (const fs::directory_entry& entry : fs::directory_iterator("stickslip-output/stickslip-ball-1_frames"))
    if (entry.path().extension() == ".png") pictures.push_back(entry.path());
  std::ranges::sort(pictures);
  EXPECT_GE(pictures.size(), 7u) << "0.24 s at 30 pictures a second";
  EXPECT_LE(pictures.size(), 9u);
  double above = 1e9;
  for (const fs::path& picture : pictures) {
    const Screenshot shot{test::load_png(picture)};
    ASSERT_EQ(shot.image.width, 1280) << picture;
    const std::optional<test::Pixel> ball = shot.ball();
    ASSERT_TRUE(ball) << picture;
    EXPECT_LE(ball->y, above) << picture;
    above = ball->y;
  }
  ASSERT_TRUE(Screenshot{test::load_png(pictures.front())}.ball()->y > above + 20);
}

/// The encoder's file is read by the encoder's own reader.
TEST_F(ProgramWindowTest, AVideoIsReadAgain) {
  if (!find_program("ffmpeg")) GTEST_SKIP() << "needs ffmpeg";
  std::string script = "set dt=0.02\nset gravity=5\ntoggle_video\n";
  for (int i = 0; i < 12; ++i) script += "steps 1\nscreenshot\n";
  ASSERT_TRUE(view({"ball"}, script + "toggle_video\nquit\n")) << program_->errors();
  ChildProcess reader(
      "/bin/sh", {"-c", "exec ffmpeg -v error -i stickslip-output/stickslip-ball-1.mp4 read-%d.png >&2"});
  ASSERT_TRUE(reader.finish()) << reader.errors();
  ASSERT_TRUE(fs::exists("read-7.png"));
  const auto first = Screenshot{test::load_png("read-1.png")}.ball(),
             last = Screenshot{test::load_png("read-7.png")}.ball();
  ASSERT_TRUE(first && last);
  EXPECT_LT(last->y, first->y - 20);
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

}  // namespace
}  // namespace stickslip
