#include "app/cli/interrupt.h"

namespace stickslip {
namespace {

// A signal handler can reach nothing but static storage.
std::atomic<bool> interrupt_seen{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not wait");

extern "C" void note_interrupt(int) { interrupt_seen = true; }

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupt_seen = false;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

const std::atomic<bool>& InterruptGuard::flag() const { return interrupt_seen; }

}  // namespace stickslip
