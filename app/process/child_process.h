// A program that is fed through its standard input.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stickslip {

/// Where the shell would find `program`; nothing when it would not.
std::optional<std::filesystem::path> find_program(const std::string& program);

class ChildProcess {
 public:
  /// Throws std::runtime_error when it cannot be started. Its error output is kept, its standard output
  /// dropped.
  ChildProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments);
  /// Kills it when it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// False when the program no longer reads.
  bool write(std::span<const std::uint8_t> bytes);
  /// Ends its input and waits; true when it exits with 0.
  bool finish();
  /// What it said on its error output, after finish().
  const std::string& errors() const { return errors_; }

 private:
  pid_t pid_ = -1;
  int input_ = -1, error_output_ = -1;
  std::string errors_;
};

}  // namespace stickslip
