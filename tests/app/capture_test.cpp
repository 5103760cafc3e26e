// Pictures and videos on disk.
#include <gtest/gtest.h>
#include <stb_image.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <random>

#include "app/capture/png.h"
#include "app/capture/recorder.h"
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

}  // namespace
}  // namespace stickslip
