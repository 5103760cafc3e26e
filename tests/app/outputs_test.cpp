// Targets of outputs, and their state after a failed write.
#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "app/capture/png.h"
#include "app/capture/recorder.h"
#include "app/io/file/output_file.h"
#include "app/io/report/trace_file.h"
#include "app/process/child_process.h"
#include "app/viewer/log_buffer.h"
#include "app/viewer/video.h"
#include "mesh_fixture.h"
#include "tests/app/full_disk.h"

namespace stickslip {
namespace {

namespace outputs_fs = std::filesystem;

class Outputs : public MeshFiles {
 protected:
  void put(const outputs_fs::path& file, const std::string& bytes) const {
    OutputFile out(file);
    out.stream() << bytes;
    out.commit();
  }
  bool is_link(const char* name) const { return outputs_fs::is_symlink(folder_ / name); }
  /// Reads from a pipe while `f` writes into it.
  template <class F>
  std::string through_pipe(const char* name, F&& f) const {
    const outputs_fs::path pipe = folder_ / name;
    EXPECT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::string bytes;
    std::thread reader([&] { bytes = read(pipe); });
    f(pipe);
    reader.join();
    EXPECT_TRUE(outputs_fs::is_fifo(pipe));
    return bytes;
  }
  /// A character device to write to. If this user could replace the machine's device, the test creates its
  /// own. Empty if that is impossible.
  outputs_fs::path device(const std::string& name, unsigned minor_number) const {
    const outputs_fs::path own = folder_ / ("device_" + name);
    if (access("/dev", W_OK) != 0) return "/dev/" + name;
    if (mknod(own.c_str(), S_IFCHR | 0600, makedev(1, minor_number)) != 0) return {};
    const int opened = open(own.c_str(), O_WRONLY | O_CLOEXEC);
    if (opened < 0) return {};
    close(opened);
    return own;
  }
  /// Calls `f` in a child process, whose streams it may change. True when `f` throws nothing.
  template <class F>
  static bool works_in_child(F&& f) {
    const pid_t child = fork();
    if (child == 0) {
      try {
        f();
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  static Image noise(int width, int height, std::uint32_t state = 1) {
    Image image{width, height, std::vector<std::uint8_t>(4 * static_cast<std::size_t>(width) * height)};
    for (std::uint8_t& byte : image.rgba)
      byte = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
    return image;
  }
};

TEST_F(Outputs, LinksStayAndTheirTargetsAreReplaced) {
  write("target", "old");
  outputs_fs::create_symlink("target", folder_ / "relative");
  outputs_fs::create_symlink(folder_ / "relative", folder_ / "chain");
  outputs_fs::create_symlink("not_there_yet", folder_ / "dangling");
  put(folder_ / "chain", "new");
  put(folder_ / "dangling", "made");
  EXPECT_TRUE(is_link("chain") && is_link("relative") && is_link("dangling"));
  EXPECT_EQ(read(folder_ / "target"), "new");
  EXPECT_EQ(read(folder_ / "not_there_yet"), "made");
  PendingFile pending(folder_ / "relative", PendingFile::Mark::before_extension);
  std::ofstream(pending.temporary()) << "pending";
  pending.commit();
  EXPECT_TRUE(is_link("relative"));
  EXPECT_EQ(read(folder_ / "target"), "pending");
  outputs_fs::create_symlink("round", folder_ / "round");
  expect_parts(refusal_of([&] { put(folder_ / "round", ""); }), {"round", "circle"});
  EXPECT_EQ(file_count(), 6u);
}

TEST_F(Outputs, ATemporaryNameHasTheExtensionThatWasGiven) {
  outputs_fs::create_symlink("clip", folder_ / "x.mp4");
  PendingFile pending(folder_ / "x.mp4", PendingFile::Mark::before_extension);
  EXPECT_EQ(pending.temporary().extension(), ".mp4");
  EXPECT_EQ(pending.temporary().parent_path(), folder_);
  std::ofstream(pending.temporary()) << "moving";
  pending.commit();
  EXPECT_EQ(read(folder_ / "clip"), "moving");
}

TEST_F(Outputs, AFileThatBecameAPipeIsNotReplaced) {
  PendingFile pending(folder_ / "a");
  std::ofstream(pending.temporary()) << "bytes";
  ASSERT_EQ(mkfifo((folder_ / "a").c_str(), 0600), 0);
  EXPECT_THROW(pending.commit(), OutputError);
  EXPECT_TRUE(outputs_fs::is_fifo(folder_ / "a"));
}

TEST_F(Outputs, WhatGoesToAPipeWaitsInAFolderOfItsOwn) {
  ASSERT_EQ(mkfifo((folder_ / "pipe.mp4").c_str(), 0600), 0);
  outputs_fs::path own;
  {
    const PendingFile pending(folder_ / "pipe.mp4", PendingFile::Mark::before_extension);
    EXPECT_EQ(pending.temporary().extension(), ".mp4");
    own = pending.temporary().parent_path();
    EXPECT_EQ(outputs_fs::status(own).permissions(), outputs_fs::perms::owner_all);
    std::ofstream(pending.temporary()) << "bytes";
  }
  EXPECT_FALSE(outputs_fs::exists(own));
}

TEST_F(Outputs, AStreamOfTheProcessCountsWhereItCanBeWritten) {
  // A closed standard stream is replaced by a node that is not writable.
  const outputs_fs::path file = write("a", "old");
  EXPECT_TRUE(works_in_child([&] {
    dup2(open(file.c_str(), O_RDONLY | O_CLOEXEC), STDERR_FILENO);
    put(file, "new");
  }));
  EXPECT_EQ(read(file), "new");
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  EXPECT_TRUE(works_in_child([&] {
    dup2(ends[1], STDOUT_FILENO);
    put("/proc/self/fd/1", "bytes");
  }));
  close(ends[1]);
  char bytes[8] = {};
  EXPECT_EQ(::read(ends[0], bytes, sizeof bytes), 5);
  EXPECT_STREQ(bytes, "bytes");
  close(ends[0]);
}

TEST_F(Outputs, ACheckpointIsOneWrite) {
  const auto writes = [] {
    const std::string counts = read("/proc/thread-self/io");
    const std::size_t at = counts.find("syscw: ");
    return at == std::string::npos ? -1 : std::stol(counts.substr(at + 7));
  };
  if (writes() < 0) GTEST_SKIP() << "the system does not count writes";
  OutputFile out(folder_ / "list");
  const long before = writes();
  for (int i = 0; i < 10; ++i) {
    out.stream() << i << ",\n";
    out.checkpoint("]\n");
  }
  EXPECT_EQ(writes() - before, 10);
}

TEST_F(Outputs, PipesAndDevicesAreWrittenThrough) {
  EXPECT_EQ(through_pipe("stream", [&](const outputs_fs::path& pipe) { put(pipe, "bytes"); }), "bytes");
  EXPECT_EQ(through_pipe("whole",
                         [](const outputs_fs::path& pipe) {
                           PendingFile pending(pipe);
                           std::ofstream(pending.temporary()) << "of a program";
                           pending.commit();
                         }),
            "of a program");
  const std::string trace = through_pipe("trace", [](const outputs_fs::path& pipe) {
    TraceFile file(pipe, "made up");
    file.commit();
  });
  EXPECT_EQ(nlohmann::json::parse(trace)["traceEvents"].size(), 2u);
  const std::string png =
      through_pipe("png", [](const outputs_fs::path& pipe) { write_png(pipe, noise(8, 8)); });
  EXPECT_EQ(png.substr(1, 3), "PNG");
  const outputs_fs::path null = device("null", 3);
  if (null.empty()) GTEST_SKIP() << "there is no device that a test may write to";
  outputs_fs::create_symlink(null, folder_ / "null");
  put(folder_ / "null", "bytes");
  EXPECT_TRUE(is_link("null"));
  EXPECT_TRUE(outputs_fs::is_character_file(null));
  check_distinct({{"--report", null}, {"--trace", folder_ / "null"}});
}

TEST_F(Outputs, AFullDeviceIsAnErrorThatSaysSo) {
  const outputs_fs::path full = device("full", 7);
  if (full.empty()) GTEST_SKIP() << "there is no device that a test may write to";
  outputs_fs::create_symlink(full, folder_ / "full.png");
  const auto error_of = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const OutputError& error) {
      return error.what();
    }
    return "";
  };
  expect_parts(error_of([&] { put(folder_ / "full.png", "bytes"); }),
               {"full.png", "writing failed", "No space"});
  expect_parts(error_of([&] { write_png(folder_ / "full.png", noise(8, 8)); }), {"full.png", "No space"});
  expect_parts(error_of([&] { TraceFile(folder_ / "full.png", "made up"); }), {"full.png", "No space"});
  EXPECT_TRUE(is_link("full.png"));
}

TEST_F(Outputs, PicturesThatDoNotFitLeaveNothingAndNoFalseSuccess) {
  EXPECT_TRUE(fails_beyond(1000, [&] { write_png(folder_ / "a.png", noise(64, 64)); }));
  EXPECT_EQ(file_count(), 0u);
  EXPECT_TRUE(fails_beyond(1000, [&] {
    const auto recorder = record_images(folder_ / "frames");
    recorder->add(noise(4, 4));
    recorder->add(noise(64, 64));
  }));
  EXPECT_TRUE(outputs_fs::exists(folder_ / "frames" / "frame_00000.png"));
  EXPECT_EQ(std::distance(outputs_fs::directory_iterator(folder_ / "frames"), {}), 1);
}

TEST_F(Outputs, AVideoThatDoesNotFitIsAnError) {
  if (!find_program("ffmpeg")) GTEST_SKIP() << "ffmpeg is not installed";
  write("a.mp4", "the one before");
  // The encoder exits with 0 if only the end of the file was not written.
  EXPECT_TRUE(fails_beyond(20000, [&] {
    const auto recorder = record_video(folder_ / "a.mp4", 30);
    for (std::uint32_t i = 1; i <= 20; ++i) recorder->add(noise(64, 48, i));
    recorder->finish();
  }));
  EXPECT_TRUE(read(folder_ / "a.mp4") == "the one before");
  EXPECT_EQ(file_count(), 1u);
}

TEST_F(Outputs, AWarningOfTheLoaderDoesNotDiscardAVideo) {
  const auto ffmpeg = find_program("ffmpeg");
  if (!ffmpeg) GTEST_SKIP() << "ffmpeg is not installed";
  const outputs_fs::path noisy =
      write("noisy", "#!/bin/sh\necho 'ld.so: an object cannot be preloaded' >&2\nexec '" + ffmpeg->string() +
                         "' \"$@\"\n");
  outputs_fs::permissions(noisy, outputs_fs::perms::owner_all);
  const auto recorder = record_video(folder_ / "a.mp4", 30, noisy);
  recorder->add(noise(64, 48));
  EXPECT_NO_THROW(recorder->finish());
  EXPECT_GT(outputs_fs::file_size(folder_ / "a.mp4"), 500u);
}

TEST_F(Outputs, WhatWasWholeStaysWhenTheDiskIsFull) {
  EXPECT_TRUE(fails_beyond(100, [&] {
    OutputFile out(folder_ / "lines");
    for (int i = 0; i < 100; ++i) {
      out.stream() << "line number " << 10 + i << "\n";  // 15 bytes
      out.checkpoint();
    }
  }));
  const std::string lines = read(folder_ / "lines");
  EXPECT_EQ(lines.size(), 90u) << lines;
  EXPECT_EQ(lines.substr(75), "line number 15\n");
  EXPECT_TRUE(fails_beyond(100, [&] {
    OutputFile out(folder_ / "list");
    out.stream() << "[0";
    for (int i = 0;; ++i) {
      out.checkpoint("\n]\n");
      out.stream() << ",\n" << 100000 + i;
    }
  }));
  EXPECT_EQ(nlohmann::json::parse(read(folder_ / "list")).size(), 12u);
  EXPECT_TRUE(fails_beyond(100, [&] { put(folder_ / "never_whole", std::string(1000, 'x')); }));
  EXPECT_EQ(file_count(), 2u);
}

TEST_F(Outputs, TheSamePlaceIsRefusedHoweverItIsSpelt) {
  outputs_fs::create_directory(folder_ / "sub");
  outputs_fs::create_symlink("a", folder_ / "link");
  outputs_fs::create_symlink(folder_, folder_ / "sub" / "up");
  const outputs_fs::path a = folder_ / "a";
  for (const outputs_fs::path& other :
       {a, folder_ / "." / "a", folder_ / "sub" / ".." / "a", folder_ / "link", folder_ / "sub" / "up" / "a"})
    expect_parts(refusal_of([&] {
                   check_distinct({{"--report", a}, {"--state", ""}, {"--trace", other}});
                 }),
                 {"--report", "--trace " + other.string(), "same file"});
  check_distinct({{"--report", a}, {"--state", ""}, {"--image", ""}, {"--trace", folder_ / "b"}});
}

TEST_F(Outputs, ATraceIsWholeAfterEveryStep) {
  TraceFile trace(folder_ / "trace.json", "made up");
  StepReport report;
  for (int i = 0; i < 5; ++i) {
    const outputs_fs::path part = outputs_fs::directory_iterator(folder_)->path();
    EXPECT_EQ(nlohmann::json::parse(read(part))["traceEvents"].is_array(), true) << i;
    report.trace = {{"step", 0, 0.1 * i, 0.1 * i + 0.05}};
    report.frame = i + 1;
    trace.add(report);
  }
  trace.commit();
  const nlohmann::json events = nlohmann::json::parse(read(folder_ / "trace.json"))["traceEvents"];
  EXPECT_EQ(std::count_if(events.begin(), events.end(), [](const auto& e) { return e["ph"] == "X"; }), 5);
}

TEST_F(Outputs, AVideoOfTheWindowThatFailsIsNotSaidToBeWritten) {
  const std::string path = std::getenv("PATH");
  const outputs_fs::path here = outputs_fs::current_path();
  write("ffmpeg", "#!/bin/sh\nexit 1\n");
  outputs_fs::permissions(folder_ / "ffmpeg", outputs_fs::perms::owner_all);
  setenv("PATH", folder_.c_str(), 1);
  outputs_fs::current_path(folder_);
  const auto log = std::make_shared<LogBuffer>();
  {
    const LogCapture capture(log);
    WindowPictures pictures(folder_);
    pictures.toggle_video("scene");
    Snapshot snapshot;
    for (int i = 0; i < 50 && !pictures.recording().empty(); ++i) {
      snapshot.time = i / 30.0;
      pictures.take(noise(640, 480), snapshot, "scene");
    }
    pictures.stop_video();
  }
  outputs_fs::current_path(here);
  setenv("PATH", path.c_str(), 1);
  bool failed = false;
  log->visit([&](const LogLine& line) {
    EXPECT_EQ(line.text.find("wrote"), std::string::npos) << line.text;
    failed |= line.level == spdlog::level::err && line.text.find(".mp4") != std::string::npos;
  });
  EXPECT_TRUE(failed);
}

TEST(ChildProcessLimits, AProgramThatHangsIsStopped) {
  using Limit = ChildProcess::Limit;
  ChildProcess sleeper("/bin/sh", {"-c", "exec sleep 600"});
  EXPECT_FALSE(sleeper.finish(Limit(0.05)));
  EXPECT_TRUE(sleeper.timed_out());
  ChildProcess deaf("/bin/sh", {"-c", "exec sleep 600"});
  EXPECT_FALSE(deaf.write(std::vector<std::uint8_t>(10'000'000), Limit(0.05)));
  EXPECT_TRUE(deaf.timed_out());
  ChildProcess good("/bin/sh", {"-c", "exec cat"});
  EXPECT_TRUE(good.write(std::vector<std::uint8_t>(1'000'000), Limit(60)));
  EXPECT_TRUE(good.finish(Limit(60)));
  EXPECT_FALSE(good.timed_out());
}

TEST(ChildProcessLimits, AProgramThatHangsIsStoppedWithItsGroup) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("stickslip_group_" + std::to_string(getpid()));
  ChildProcess sleeper("/bin/sh", {"-c", "sleep 600 & echo $! > '" + file.string() + "'; wait"},
                       ChildProcess::Group::own);
  pid_t grandchild = 0;
  for (int i = 0; i < 3000 && grandchild == 0; ++i) {
    std::ifstream(file) >> grandchild;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::filesystem::remove(file);
  ASSERT_GT(grandchild, 0);
  EXPECT_FALSE(sleeper.finish(ChildProcess::Limit(0.05)));
  const auto runs = [&] {
    std::string number, name, state = "Z";
    std::ifstream("/proc/" + std::to_string(grandchild) + "/stat") >> number >> name >> state;
    return state != "Z";
  };
  for (int i = 0; i < 500 && runs(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(runs());
  if (runs()) kill(grandchild, SIGKILL);
}

TEST(ChildProcessLimits, AGroupOfItsOwnKeepsTheTerminalsKeysAway) {
  const std::string leads = "read -r pid name state parent group rest < /proc/$$/stat; test $group = $$";
  EXPECT_TRUE(ChildProcess("/bin/sh", {"-c", leads}, ChildProcess::Group::own).finish());
  EXPECT_FALSE(ChildProcess("/bin/sh", {"-c", leads}).finish());
}

}  // namespace
}  // namespace stickslip
