// Pictures of `stickslip run`: what its options make of the files.
#include <gtest/gtest.h>
#include <stb_image.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "app/process/child_process.h"
#include "app/render/image.h"
#include "scripted_engine.h"
#include "tests/app/call_cli.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

/// A box above the ground, which does not move.
const char* const kScene = R"(
frames = 8
[params]
dt = 0.05
[camera]
position = [0, 1, 4]
target = [0, 0.5, 0]
[[material]]
name = "soft"
[[object]]
name = "box"
shape = "box"
size = [1, 1, 0.4]
edge = 0.5
material = "soft"
[[half_space]]
point = [0, -1, 0]
mu = 0.5
)";

class RunPictures : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("stickslip_pictures_" + std::to_string(getpid()) + "_" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    std::ofstream(folder_ / "scene.toml") << kScene;
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Runs the scene; returns what it wrote on stderr.
  std::string run(std::vector<std::string> options, int expected_code = 0) {
    std::vector<std::string> arguments{"stickslip", "run", path("scene.toml"), "--quiet"};
    if (std::ranges::find(options, "--size") == options.end())
      options.insert(options.end(), {"--size", "64x48"});
    arguments.insert(arguments.end(), options.begin(), options.end());
    std::vector<const char*> argv;
    for (const std::string& a : arguments) argv.push_back(a.c_str());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = call_cli(static_cast<int>(argv.size()), argv.data(), [](Backend, int) {
      return std::make_unique<ScriptedEngine>(ScriptedEngine::Script{});
    });
    ::testing::internal::GetCapturedStdout();
    std::string err = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(code, expected_code) << err;
    return err;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  Image read(const std::string& name) const {
    int width = 0, height = 0, channels = 0;
    std::uint8_t* bytes = stbi_load(path(name).c_str(), &width, &height, &channels, 4);
    if (!bytes) return {};
    Image image{width, height, {bytes, bytes + std::size_t{4} * width * height}};
    stbi_image_free(bytes);
    return image;
  }
  static double difference(const Image& a, const Image& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.rgba.size(); ++i) sum += std::abs(a.rgba[i] - b.rgba[i]);
    return sum / static_cast<double>(a.rgba.size());
  }
  fs::path folder_;
};

TEST_F(RunPictures, AWholeTurnEndsWhereItBegan) {
  run({"--images", path("turn"), "--turntable", "360", "--frames", "8"});
  const Image first = read("turn/frame_00000.png"), half = read("turn/frame_00004.png"),
              quarter = read("turn/frame_00002.png"), last = read("turn/frame_00008.png");
  ASSERT_EQ(first.width, 64);
  EXPECT_LT(difference(first, last), 0.5);
  EXPECT_GT(difference(first, quarter), 4) << "the box is narrow from its side";
  EXPECT_GT(difference(first, half), 0.5) << "the sun is on the other side";
}

TEST_F(RunPictures, TheCameraFollowsItsFile) {
  std::ofstream(folder_ / "way.txt") << "0.1 0 1 4 0 0.5 0\n0.3 0 1 12 0 0.5 0\n";
  run({"--images", path("way"), "--camera", path("way.txt")});
  run({"--images", path("still")});
  EXPECT_LT(difference(read("way/frame_00002.png"), read("still/frame_00002.png")), 0.5);
  EXPECT_GT(difference(read("way/frame_00006.png"), read("still/frame_00006.png")), 4);
  EXPECT_LT(difference(read("way/frame_00006.png"), read("way/frame_00008.png")), 0.5);
  std::ofstream(folder_ / "bad.txt") << "0 1\n";
  EXPECT_NE(run({"--image", path("a.png"), "--camera", path("bad.txt")}, 2).find("bad.txt:1"),
            std::string::npos);
}

TEST_F(RunPictures, TransparentPicturesShowTheBodiesAlone) {
  run({"--image", path("plain.png"), "--frames", "1"});
  run({"--image", path("clear.png"), "--frames", "1", "--transparent", "--supersample", "2"});
  const Image plain = read("plain.png"), clear = read("clear.png");
  ASSERT_EQ(clear.rgba.size(), plain.rgba.size());
  int drawn = 0, empty = 0, edges = 0;
  for (std::size_t i = 0; i < plain.rgba.size(); i += 4) {
    EXPECT_EQ(plain.rgba[i + 3], 255);
    const int alpha = clear.rgba[i + 3];
    ++(alpha == 255 ? drawn : alpha == 0 ? empty : edges);
    if (alpha < 255) continue;
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(clear.rgba[i + c], plain.rgba[i + c], 40);
  }
  EXPECT_EQ(clear.pixel(1, 1)[3], 0);
  EXPECT_GT(drawn, 100);
  EXPECT_GT(empty, 1000);
  EXPECT_GT(edges, 10) << "edges are smooth";
}

TEST_F(RunPictures, AVideoHasTheRateThatIsAskedFor) {
  if (!find_program("ffmpeg") || !find_program("ffprobe")) GTEST_SKIP() << "ffmpeg is not installed";
  const auto pictures = [&](const std::string& name) {
    const std::string command =
        "ffprobe -v error -count_frames -select_streams v:0 -show_entries "
        "stream=r_frame_rate,nb_read_frames -of csv=p=0 '" +
        path(name) + "'";
    std::string text;
    std::FILE* pipe = popen(command.c_str(), "r");
    for (int c = std::fgetc(pipe); c != EOF && c != '\n'; c = std::fgetc(pipe)) text += static_cast<char>(c);
    pclose(pipe);
    return text;
  };
  run({"--video", path("steps.mp4")});
  EXPECT_EQ(pictures("steps.mp4"), "20/1,9");
  run({"--video", path("fast.mp4"), "--fps", "60"});  // 8 steps of 1/20 s: pictures at 0 to 0.4 s
  EXPECT_EQ(pictures("fast.mp4"), "60/1,25");
  run({"--video", path("slow.mp4"), "--fps", "10"});
  EXPECT_EQ(pictures("slow.mp4"), "10/1,5");
}

TEST_F(RunPictures, OptionsThatDoNotGoTogetherAreRefused) {
  const auto expect_refused = [&](const std::vector<std::string>& options, const std::string& part) {
    const std::string err = run(options, 2);
    EXPECT_NE(err.find(part), std::string::npos) << err;
  };
  expect_refused({"--fps", "30", "--image", path("a.png")}, "--video is missing");
  expect_refused({"--transparent", "--video", path("a.mp4")}, "no transparency");
  expect_refused({"--transparent"}, "--image");
  expect_refused({"--turntable", "90"}, "--turntable and");
  expect_refused({"--supersample", "4", "--size", "4000x100", "--image", path("a.png")}, "[16, 2048]");
  expect_refused({"--supersample", "2"}, "--supersample need");
  expect_refused({"--quality", "best"}, "--quality");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

}  // namespace
}  // namespace stickslip
