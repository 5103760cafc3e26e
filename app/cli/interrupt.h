// Ctrl+C as a question that a loop asks, instead of the end of the process.
#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace stickslip {

/// While one lives, the first SIGINT, SIGTERM or SIGHUP is only noted; the second of them ends the process as
/// usual. What the process was started to ignore stays ignored, as by nohup or in the background of a shell
/// script. Writing to a pipe without a reader or beyond the limit of a file's size is an error code, not the
/// end of the process.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  bool requested() const { return flag(); }
  /// For loops elsewhere, which look at it themselves.
  const std::atomic<bool>& flag() const;

 private:
  static constexpr std::array kNoted{SIGINT, SIGTERM, SIGHUP};
  static constexpr std::array kIgnored{SIGPIPE, SIGXFSZ};
  std::array<struct sigaction, kNoted.size()> noted_before_;
  std::array<struct sigaction, kIgnored.size()> ignored_before_;
};

}  // namespace stickslip
