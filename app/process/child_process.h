// A child process that reads data from its standard input.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stickslip {

/// The path at which the shell would find `program`; empty if it would find none.
std::optional<std::filesystem::path> find_program(const std::string& program);

class ChildProcess {
 public:
  using Limit = std::chrono::duration<double>;
  /// Process group of the child. Ctrl+C reaches `same` only; a program that must read its input to the end
  /// needs `own`.
  enum class Group { same, own };

  /// Throws std::runtime_error when the program cannot be started. Its error output is captured, its standard
  /// output discarded.
  ChildProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
               Group group = Group::same);
  /// Kills the process if it still runs, and its own group with it.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// False when the program has closed its input, or has read nothing for `limit`; 0: no limit.
  bool write(std::span<const std::uint8_t> bytes, Limit limit = {});
  /// Closes the program's input and waits. Returns true if it exits with 0. After `limit` (0: none) it is
  /// killed, and `timed_out` is true.
  bool finish(Limit limit = {});
  /// Whether the program exceeded its limit, to read or to end.
  bool timed_out() const { return timed_out_; }
  /// Its error output, after finish().
  const std::string& errors() const { return errors_; }

 private:
  void stop();

  pid_t pid_ = -1;
  int input_ = -1, error_output_ = -1;
  bool timed_out_ = false, own_group_;
  std::string errors_;
};

}  // namespace stickslip
