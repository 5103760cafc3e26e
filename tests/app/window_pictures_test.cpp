// Files that the window writes: their folder and names, and what the log says of a failure.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/viewer/log_buffer.h"
#include "app/viewer/video.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

class WindowPicturesTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override {
    if (!path_.empty()) setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }
  void hide_the_encoder() {
    path_ = std::getenv("PATH");
    setenv("PATH", folder_.c_str(), 1);
  }
  /// Whether a message of at least `level` contains `part`.
  bool said(const std::string& part, spdlog::level::level_enum level) {
    bool found = false;
    log_->visit([&](const LogLine& line) {
      found |= line.level >= level && line.text.find(part) != std::string::npos;
    });
    return found;
  }
  Snapshot at(double time) const {
    Snapshot snapshot;
    snapshot.time = time;
    return snapshot;
  }

  const fs::path folder_ = fs::temp_directory_path() / ("stickslip-pictures-" + std::to_string(getpid()));
  const fs::path output_ = folder_ / "a" / "b";
  const Image picture_{4, 4, std::vector<std::uint8_t>(64, 200)};
  std::shared_ptr<LogBuffer> log_ = std::make_shared<LogBuffer>();
  LogCapture capture_{log_};
  std::string path_;
};

TEST_F(WindowPicturesTest, ThePicturesFolderIsMadeWhenFirstNeeded) {
  WindowPictures pictures(output_);
  EXPECT_FALSE(fs::exists(output_));
  pictures.ask_screenshot();
  const fs::path first = pictures.take(picture_, at(0), "x");
  EXPECT_EQ(first, output_ / "stickslip-x-1.png");
  EXPECT_GT(fs::file_size(first), 0u);
  pictures.ask_screenshot();
  EXPECT_EQ(pictures.take(picture_, at(0), "x"), output_ / "stickslip-x-2.png");
  EXPECT_TRUE(said("wrote " + first.string(), spdlog::level::info));
}

TEST_F(WindowPicturesTest, AFolderThatCannotBeMadeIsAnErrorWithItsReason) {
  std::ofstream(folder_ / "a") << "a file";
  WindowPictures pictures(output_);
  pictures.ask_screenshot();
  EXPECT_TRUE(pictures.take(picture_, at(0), "x").empty());
  EXPECT_TRUE(said("cannot make the folder " + output_.string(), spdlog::level::err));
  pictures.toggle_video("x");
  EXPECT_TRUE(pictures.recording().empty());
  pictures.stop_video();
  EXPECT_FALSE(said("wrote", spdlog::level::trace));
}

TEST_F(WindowPicturesTest, WithoutAnEncoderEachVideoHasAFolderOfItsOwn) {
  hide_the_encoder();
  WindowPictures pictures(output_);
  for (const char* name : {"stickslip-x-1_frames", "stickslip-x-2_frames"}) {
    pictures.toggle_video("x");
    pictures.take(picture_, at(0), "x");
    pictures.take(picture_, at(0.1), "x");
    pictures.stop_video();
    EXPECT_TRUE(fs::exists(output_ / name / "frame_00002.png")) << name;
    EXPECT_TRUE(said("wrote " + (output_ / name).string(), spdlog::level::info));
  }
  EXPECT_TRUE(said("is not there to make a video", spdlog::level::warn));
}

TEST_F(WindowPicturesTest, AVideoWithoutPicturesOrWithLostOnesIsNotCalledWritten) {
  hide_the_encoder();
  WindowPictures pictures(output_);
  pictures.toggle_video("x");
  pictures.stop_video();
  EXPECT_TRUE(said("no video was written", spdlog::level::err));
  pictures.toggle_video("y");
  pictures.take(picture_, at(0), "y");
  fs::remove_all(output_ / "stickslip-y-1_frames");
  pictures.take(picture_, at(0.1), "y");
  EXPECT_TRUE(pictures.recording().empty());
  pictures.stop_video();
  EXPECT_TRUE(said("stickslip-y-1_frames", spdlog::level::err));
  EXPECT_FALSE(said("wrote", spdlog::level::trace));
}

// The status line shows the last message only: it has to have the reason of the failed step.
TEST_F(WindowPicturesTest, AVideoWithoutPicturesAfterAFailedStepNamesTheFailure) {
  hide_the_encoder();
  WindowPictures pictures(output_);
  pictures.toggle_video("x", 30, "an older failure");
  EXPECT_FALSE(said("an older failure", spdlog::level::trace)) << "a start has no failure";
  pictures.toggle_video("x", 30, "NaN at node 3");
  EXPECT_NE(log_->last().text.find("no video was written"), std::string::npos) << log_->last().text;
  EXPECT_NE(log_->last().text.find("NaN at node 3"), std::string::npos) << log_->last().text;
  EXPECT_TRUE(pictures.recording().empty());
  pictures.toggle_video("y");
  pictures.take(picture_, at(0), "y");
  pictures.stop_video("NaN at node 4");
  EXPECT_TRUE(said("wrote", spdlog::level::info)) << "the pictures up to the failure are kept";
  EXPECT_FALSE(said("NaN at node 4", spdlog::level::trace));
}

}  // namespace
}  // namespace stickslip
