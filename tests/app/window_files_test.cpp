// The folder of outputs in the desktop's program for folders.
#include "app/viewer/window_files.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "app/io/file/temporary_folder.h"
#include "app/viewer/log_buffer.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

/// Programs are found only in a folder of its own.
class OpenFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(programs_);
    setenv("PATH", programs_.c_str(), 1);
  }
  void TearDown() override { setenv("PATH", path_.c_str(), 1); }
  void install(const std::string& script) const {
    std::ofstream(programs_ / "xdg-open") << "#!/bin/sh\n" << script;
    fs::permissions(programs_ / "xdg-open", fs::perms::owner_all);
  }
  std::string said() {
    std::string text;
    log_->visit([&](const LogLine& line) { text += line.text + "\n"; });
    return text;
  }
  /// Whether it is true within half a minute; the window watches the program meanwhile.
  bool follows(const std::function<bool()>& done) {
    for (int i = 0; i < 30000 && !done(); ++i) {
      files_.watch_folder();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return done();
  }

  const TemporaryFolder root_;
  const fs::path programs_ = root_ / "programs", outputs_ = root_ / "outputs here", note_ = root_ / "note";
  const std::string path_ = std::getenv("PATH");
  const std::shared_ptr<LogBuffer> log_ = std::make_shared<LogBuffer>();
  const LogCapture capture_{log_};
  WindowFiles files_{outputs_};
};

TEST_F(OpenFolder, OnlyOnceItExists) {
  install("exit 1\n");
  files_.open_folder();
  EXPECT_NE(said().find("nothing was written to " + outputs_.string()), std::string::npos) << said();
}

TEST_F(OpenFolder, SaysWhereTheOutputsAreIfThereIsNoProgram) {
  fs::create_directories(outputs_);
  files_.open_folder();
  EXPECT_NE(said().find("not installed: the outputs are in " + outputs_.string()), std::string::npos)
      << said();
}

TEST_F(OpenFolder, StartsTheProgramWithTheFolder) {
  fs::create_directories(outputs_);
  install("echo \"$#:$1\" > '" + note_.string() + ".part'\nexec /bin/mv '" + note_.string() + ".part' '" +
          note_.string() + "'\n");
  files_.open_folder();
  ASSERT_TRUE(follows([&] { return fs::exists(note_); }));
  std::ostringstream text;
  text << std::ifstream(note_).rdbuf();
  EXPECT_EQ(text.str(), "1:" + outputs_.string() + "\n");
}

TEST_F(OpenFolder, SaysThatTheProgramFailed) {
  fs::create_directories(outputs_);
  install("exit 4\n");
  files_.open_folder();
  EXPECT_TRUE(follows([&] { return said().find("xdg-open has failed with 4") != std::string::npos; }))
      << said();
}

}  // namespace
}  // namespace stickslip
