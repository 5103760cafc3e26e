// A program that is fed through its standard input.
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

/// Where the shell would find `program`; nothing when it would not.
std::optional<std::filesystem::path> find_program(const std::string& program);

class ChildProcess {
 public:
  using Limit = std::chrono::duration<double>;
  /// Which keys of the terminal reach it: a program that is fed until its end must outlive a Ctrl+C.
  enum class Group { same, own };

  /// Throws std::runtime_error when it cannot be started. Its error output is kept, its standard output
  /// dropped.
  ChildProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
               Group group = Group::same);
  /// Kills it when it still runs, and with it the group of its own.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// False when the program no longer reads, or has read nothing for `limit`; 0: no limit.
  bool write(std::span<const std::uint8_t> bytes, Limit limit = {});
  /// Ends its input and waits; true when it exits with 0. After `limit` (0: none) it is killed, and
  /// `timed_out` holds.
  bool finish(Limit limit = {});
  /// Whether it did not end, or did not read, within its limit.
  bool timed_out() const { return timed_out_; }
  /// What it said on its error output, after finish().
  const std::string& errors() const { return errors_; }

 private:
  void stop();

  pid_t pid_ = -1;
  int input_ = -1, error_output_ = -1;
  bool timed_out_ = false, own_group_;
  std::string errors_;
};

}  // namespace stickslip
