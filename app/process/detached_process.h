// A program of the desktop that outlives this one.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace stickslip {

/// Runs in a session of its own, without input and output.
class DetachedProcess {
 public:
  /// Throws std::runtime_error when the program cannot be started.
  DetachedProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments);
  DetachedProcess(const DetachedProcess&) = delete;
  DetachedProcess& operator=(const DetachedProcess&) = delete;

  /// Its exit code once it has ended, or 128 plus the signal that ended it; asked again the same. Does not
  /// wait.
  std::optional<int> exit_code();

 private:
  pid_t pid_ = -1;
  std::optional<int> code_;
};

}  // namespace stickslip
