// Turns Ctrl+C into a flag that loops poll.
#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace stickslip {

/// During the guard's lifetime, the first SIGINT, SIGTERM or SIGHUP only sets a flag; the second ends the
/// process as usual. Signals that the process was started to ignore stay ignored (nohup, or the background of
/// a shell script). Writing to a pipe without a reader, or beyond the file size limit, gives an error code
/// and does not end the process.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  bool requested() const { return flag(); }
  /// For loops in other parts of the program that poll the flag themselves.
  const std::atomic<bool>& flag() const;

 private:
  static constexpr std::array kNoted{SIGINT, SIGTERM, SIGHUP};
  static constexpr std::array kIgnored{SIGPIPE, SIGXFSZ};
  std::array<struct sigaction, kNoted.size()> noted_before_;
  std::array<struct sigaction, kIgnored.size()> ignored_before_;
};

}  // namespace stickslip
