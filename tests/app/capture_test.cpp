// Pictures and videos on disk.
#include <gtest/gtest.h>
#include <stb_image.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "app/capture/camera_path.h"
#include "app/capture/png.h"
#include "app/capture/recorder.h"
#include "app/capture/supersample.h"
#include "app/io/file/input_error.h"
#include "app/process/child_process.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

class CaptureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::temp_directory_path() /
             (std::string("stickslip_") + test->name() + "_" + std::to_string(getpid()));
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::recursive_directory_iterator(folder), {}));
  }
  fs::path folder;
};

Image pattern(int width, int height, int shift) {
  Image image{width, height, {}};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (const int v : {x * 3 + shift, y * 5, x + y, 255})
        image.rgba.push_back(static_cast<std::uint8_t>(v));
  return image;
}

std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* pipe = popen(command.c_str(), "r");
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  pclose(pipe);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// "width,height,frames" as ffprobe counts them.
std::string probe(const fs::path& file) {
  return output_of(
      "ffprobe -v error -count_frames -select_streams v:0 -show_entries "
      "stream=width,height,nb_read_frames -of csv=p=0 '" +
      file.string() + "'");
}

TEST_F(CaptureTest, PngComesBackBitForBit) {
  Image image{37, 11, std::vector<std::uint8_t>(4 * 37 * 11)};
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (auto& byte : image.rgba) byte = static_cast<std::uint8_t>(random());
  write_png(folder / "a.png", image);
  int width = 0, height = 0, channels = 0;
  std::uint8_t* read = stbi_load((folder / "a.png").c_str(), &width, &height, &channels, 4);
  ASSERT_TRUE(read);
  EXPECT_EQ(width, 37);
  EXPECT_EQ(height, 11);
  EXPECT_TRUE(std::equal(image.rgba.begin(), image.rgba.end(), read));
  stbi_image_free(read);
  EXPECT_EQ(files(), 1u) << "no temporary file is left";
}

TEST_F(CaptureTest, PngNamesAPlaceItCannotWrite) {
  const fs::path file = folder / "missing" / "a.png";
  try {
    write_png(file, pattern(4, 4, 0));
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find(file.string()), std::string::npos);
  }
  EXPECT_THROW(write_png(folder / "a.png", Image{}), std::runtime_error);
  EXPECT_EQ(files(), 0u);
}

TEST_F(CaptureTest, ImageSequenceIsNumbered) {
  const auto recorder = record_images(folder / "frames");
  for (int i = 0; i < 3; ++i) recorder->add(pattern(8, 8, i));
  recorder->finish();
  EXPECT_EQ(recorder->output(), folder / "frames");
  EXPECT_TRUE(recorder->note().empty());
  for (const char* name : {"frame_00000.png", "frame_00001.png", "frame_00002.png"})
    EXPECT_TRUE(fs::exists(folder / "frames" / name));
}

TEST_F(CaptureTest, PicturesOfAnEarlierRecordingGo) {
  const fs::path frames = folder / "frames";
  const auto earlier = record_images(frames);
  for (int i = 0; i < 5; ++i) earlier->add(pattern(8, 8, i));
  std::ofstream(frames / "frame_00003.txt") << "mine";
  std::ofstream(frames / "frame_00005.png") << "no picture";
  write_png(frames / "frame_00007.png", pattern(8, 8, 0));
  const auto recorder = record_images(frames);
  EXPECT_TRUE(fs::exists(frames / "frame_00004.png")) << "until there is a picture to replace them";
  for (int i = 0; i < 2; ++i) recorder->add(pattern(4, 4, i));
  recorder->finish();
  EXPECT_NE(recorder->note().find("5 pictures of an earlier recording"), std::string::npos)
      << recorder->note();
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(frames)) left.insert(entry.path().filename());
  EXPECT_EQ(left, (std::set<std::string>{"frame_00000.png", "frame_00001.png", "frame_00003.txt",
                                         "frame_00005.png", "frame_00007.png"}));
}

TEST_F(CaptureTest, VideoHasItsFramesAndAnEvenSize) {
  if (!find_program("ffmpeg") || !find_program("ffprobe")) GTEST_SKIP() << "ffmpeg is not installed";
  const auto recorder = record_video(folder / "a.mp4", 30);
  for (int i = 0; i < 12; ++i) recorder->add(pattern(65, 49, 4 * i));
  EXPECT_FALSE(fs::exists(folder / "a.mp4")) << "the name appears when the video is complete";
  recorder->finish();
  EXPECT_TRUE(recorder->note().empty());
  EXPECT_EQ(probe(folder / "a.mp4"), "64,48,12");
  EXPECT_EQ(files(), 1u);
  EXPECT_THROW(recorder->add(pattern(65, 49, 0)), std::runtime_error);
}

TEST_F(CaptureTest, AnUnfinishedVideoLeavesNothing) {
  if (!find_program("ffmpeg")) GTEST_SKIP() << "ffmpeg is not installed";
  {
    const auto recorder = record_video(folder / "a.mp4", 30);
    recorder->add(pattern(64, 48, 0));
    EXPECT_THROW(recorder->add(pattern(32, 48, 0)), std::runtime_error) << "frames keep their size";
  }
  EXPECT_EQ(files(), 0u);
  EXPECT_THROW(record_video(folder / "b.mp4", 30)->finish(), std::runtime_error) << "no frames, no video";
  EXPECT_EQ(files(), 0u);
}

TEST_F(CaptureTest, WithoutTheProgramPicturesAreWritten) {
  const auto recorder = record_video(folder / "a.mp4", 30, "no-such-program");
  recorder->add(pattern(16, 16, 0));
  recorder->finish();
  EXPECT_EQ(recorder->output(), folder / "a_frames");
  EXPECT_TRUE(fs::exists(folder / "a_frames" / "frame_00000.png"));
  EXPECT_NE(recorder->note().find("no-such-program"), std::string::npos);
}

TEST_F(CaptureTest, AProgramThatFailsIsReported) {
  const auto fails = [&](const std::string& program, const fs::path& file) {
    const auto recorder = record_video(file, 30, program);
    try {
      for (int i = 0; i < 100; ++i) recorder->add(pattern(640, 480, i));
      recorder->finish();
      ADD_FAILURE() << "no error from " << program;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(file.string()), std::string::npos);
    }
  };
  fails("/bin/false", folder / "a.mp4");
  if (find_program("ffmpeg")) fails("ffmpeg", folder / "a.nonsense");
  EXPECT_EQ(files(), 0u);
  EXPECT_THROW(record_video(folder / "missing" / "a.mp4", 30), std::runtime_error);
}

/// The message of reading `text` as a camera path; empty: it is one.
std::string fault_of_path(const fs::path& file, const std::string& text) {
  std::ofstream(file) << text;
  try {
    read_camera_path(file, 40);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST_F(CaptureTest, ACameraPathPassesThroughItsKeysAndRestsAtItsEnds) {
  std::ofstream(folder / "path.txt") << "# time, eye, target, field of view\n"
                                        "1  3 1 0  0 0 0  30\n\n"
                                        "2  0 1 3  0 1 0  50 # half way\r\n"
                                        "4  -3 1 0  0 0 0\n";
  const CameraPath path = read_camera_path(folder / "path.txt", 40);
  const auto expect_at = [&](double time, const Vec3f& eye, const Vec3f& target, float fov) {
    const Camera camera = path.at(time);
    EXPECT_LT(norm(camera.eye() - eye), 1e-5f) << time;
    EXPECT_LT(norm(camera.target - target), 1e-5f) << time;
    EXPECT_NEAR(camera.fov, fov, 1e-4f) << time;
  };
  expect_at(-5, {3, 1, 0}, {0, 0, 0}, 30);
  expect_at(1, {3, 1, 0}, {0, 0, 0}, 30);
  expect_at(2, {0, 1, 3}, {0, 1, 0}, 50);
  expect_at(4, {-3, 1, 0}, {0, 0, 0}, 30);
  expect_at(9, {-3, 1, 0}, {0, 0, 0}, 30);
  // Without a kink at the key: speeds on both sides agree.
  const float h = 1e-3f;
  const Vec3f before = (1 / h) * (path.at(2).eye() - path.at(2 - h).eye());
  const Vec3f after = (1 / h) * (path.at(2 + h).eye() - path.at(2).eye());
  EXPECT_LT(norm(before - after), 0.03f * norm(before));
  EXPECT_NEAR(before[0], -2, 0.02f) << "Catmull and Rom: (-3 - 3) / (4 - 1)";
}

TEST_F(CaptureTest, KeysAtAnEvenSpeedMakeAnEvenWay) {
  std::string text;
  for (int k = 0; k < 5; ++k) text += camera_line({0.5 * k, {1.f * k, 2, 3}, {1.f * k, 0, 0}, 40}) + "\n";
  EXPECT_EQ(fault_of_path(folder / "path.txt", text), "");
  const CameraPath path = read_camera_path(folder / "path.txt", 40);
  for (int k = 10; k <= 30; ++k) EXPECT_NEAR(path.at(0.05 * k).target[0], 0.1 * k, 1e-5) << k;
}

TEST_F(CaptureTest, ABadCameraPathIsRefusedWithItsLine) {
  const fs::path file = folder / "path.txt";
  const auto expect_fault = [&](const std::string& text, const std::string& part) {
    EXPECT_NE(fault_of_path(file, text).find(part), std::string::npos) << fault_of_path(file, text);
  };
  expect_fault("", "no key");
  expect_fault("# nothing\n", "no key");
  expect_fault("0 1 2 3 0 0 0\n1 1 2 x 0 0 0\n", "path.txt:2: 'x'");
  expect_fault("0 1 2 3 0 0\n", "path.txt:1: has 6 numbers");
  expect_fault("0 1 2 3 0 0 0 40 7\n", "has 9 numbers");
  expect_fault("0 1 2 3 0 0 nan\n", "'nan'");
  expect_fault("0 1 2 3 1 2 3\n", "the same point");
  expect_fault("0 1 2 3 0 0 0 180\n", "field of view");
  expect_fault("1 1 2 3 0 0 0\n1 1 2 4 0 0 0\n", "path.txt:2: times must ascend");
  EXPECT_THROW(read_camera_path(folder / "none.txt", 40), InputError);
}

TEST_F(CaptureTest, KeysAreAppendedToTheirFile) {
  const fs::path file = folder / "camera.txt";
  std::ofstream(file) << "0.5 1 2 3 0 0 0 40";  // by hand, without the end of the line
  append_camera_key(file, {1.5, {1, 2, 4}, {0, 1, 0}, 40});
  const CameraPath path = read_camera_path(file, 10);
  EXPECT_LT(norm(path.at(0.5).eye() - Vec3f{1, 2, 3}), 1e-5f);
  EXPECT_LT(norm(path.at(2).eye() - Vec3f{1, 2, 4}), 1e-5f);
  EXPECT_EQ(path.at(2).fov, 40);
  EXPECT_EQ(files(), 1u);
}

TEST(Supersample, IsTheMeanOfLight) {
  const Image image = pattern(12, 8, 40);
  EXPECT_EQ(reduced(image, 1).rgba, image.rgba);
  Image halves{4, 3, {}};  // the third row fills no square
  for (int i = 0; i < 12; ++i)
    for (const int v : {i % 2 == 0 ? 255 : 0, 100, 0, 255})
      halves.rgba.push_back(static_cast<std::uint8_t>(v));
  const Image mean = reduced(halves, 2);
  EXPECT_EQ(mean.width, 2);
  EXPECT_EQ(mean.height, 1);
  EXPECT_EQ(mean.rgba, (std::vector<std::uint8_t>{188, 100, 0, 255, 188, 100, 0, 255}));
}

TEST(Supersample, CountsColoursByTheirAlpha) {
  const Image image{2, 2, {200, 10, 30, 255, 0, 0, 0, 0, 0, 0, 0, 0, 200, 10, 30, 255}};
  EXPECT_EQ(reduced(image, 2).rgba, (std::vector<std::uint8_t>{200, 10, 30, 128}));
}

}  // namespace
}  // namespace stickslip
