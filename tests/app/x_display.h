// An X server without a screen, with xdotool for input: real windows and real input events for tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "app/process/child_process.h"

namespace stickslip::test {

/// Waits for `done`, at most two minutes: a loaded machine is slow, and that is not a failure.
inline bool eventually(const std::function<bool()>& done) {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::minutes(2)) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

class XDisplay {
 public:
  /// Starts Xvfb and sets $DISPLAY; `ready()` is false if Xvfb or xdotool is missing.
  XDisplay() {
    const auto server = find_program("Xvfb");
    if (!server || !find_program("xdotool")) return;
    static int servers = 0;  // a display number is safely free only some time after its server ended
    const std::string name = ":" + std::to_string(100 + 10 * (getpid() % 800) + servers++);
    server_.emplace(*server, std::vector<std::string>{name, "-screen", "0", "1280x720x24", "-nolisten", "tcp",
                                                      "-noreset"});
    setenv("DISPLAY", name.c_str(), 1);
    ready_ = eventually([] { return xdotool("getdisplaygeometry"); });
  }
  bool ready() const { return ready_; }

  /// Runs `xdotool words`; false when that fails.
  static bool xdotool(const std::string& words) {
    return std::system(("timeout 60 xdotool " + words + " >/dev/null 2>&1").c_str()) == 0;
  }
  /// The visible window whose title matches `pattern`, or "".
  static std::string window(const std::string& pattern) {
    const std::string command =
        "timeout 60 xdotool search --onlyvisible --name '" + pattern + "' 2>/dev/null | head -n 1";
    FILE* pipe = popen(command.c_str(), "r");
    if (!pipe) return "";
    std::string id;
    for (int c; (c = std::fgetc(pipe)) != EOF && c != '\n';) id += static_cast<char>(c);
    pclose(pipe);
    return id;
  }

  /// The number of the process that owns the window, as it says itself; 0: it does not say.
  static long process_of(const std::string& window) {
    FILE* pipe = popen(("timeout 60 xdotool getwindowpid " + window + " 2>/dev/null").c_str(), "r");
    if (!pipe) return 0;
    long process = 0;
    if (std::fscanf(pipe, "%ld", &process) != 1) process = 0;
    pclose(pipe);
    return process;
  }

 private:
  std::optional<ChildProcess> server_;
  bool ready_ = false;
};

}  // namespace stickslip::test
