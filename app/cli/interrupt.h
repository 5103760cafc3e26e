// Ctrl+C as a question that a loop asks, instead of the end of the process.
#pragma once

#include <atomic>
#include <csignal>

namespace stickslip {

/// While one lives, the first SIGINT or SIGTERM is only noted; a second one ends the process as usual.
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
  struct sigaction old_interrupt_, old_terminate_;
};

}  // namespace stickslip
