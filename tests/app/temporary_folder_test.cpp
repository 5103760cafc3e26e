// Temporary folders, and those that killed processes leave.
#include "app/io/file/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <set>
#include <string>

namespace stickslip {
namespace {

namespace fs = std::filesystem;

/// The number of a process that has ended.
pid_t ended_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

TEST(TemporaryFolder, IsRemovedWithItsContent) {
  fs::path path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    std::ofstream(folder / "a") << "b";
    EXPECT_TRUE(fs::exists(path / "a"));
    EXPECT_NE(path.filename().string().find("-" + std::to_string(getpid()) + "-"), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolder, OnlyOldOnesOfEndedProcessesAreStale) {
  const TemporaryFolder place;
  const auto make = [&](const std::string& name, long age) {
    fs::create_directory(place.path() / name);
    std::ofstream(place.path() / name / "in.smesh") << "0";
    fs::last_write_time(place.path() / name, fs::file_time_type::clock::now() - std::chrono::seconds(age));
  };
  const std::string ended = "stickslip-" + std::to_string(ended_process());
  const std::string own = "stickslip-" + std::to_string(getpid());
  make(ended + "-Stale1", kStaleAfter + 60);
  make(ended + "-Fresh1", kStaleAfter - 60);
  make(own + "-Alive1", kStaleAfter + 60);
  make(ended + "-other", kStaleAfter + 60);
  make("stickslip-mine-folder", kStaleAfter + 60);
  make("target", kStaleAfter + 60);
  fs::create_directory_symlink(place / "target", place.path() / (ended + "-Linked"));
  EXPECT_EQ(remove_stale_folders(place.path()), 1);
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(place.path())) left.insert(entry.path().filename());
  EXPECT_EQ(left, (std::set<std::string>{ended + "-Fresh1", own + "-Alive1", ended + "-other",
                                         ended + "-Linked", "stickslip-mine-folder", "target"}));
  EXPECT_TRUE(fs::exists(place / "target/in.smesh"));
  EXPECT_EQ(remove_stale_folders(place / "nowhere"), 0);
}

}  // namespace
}  // namespace stickslip
