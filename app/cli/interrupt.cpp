#include "app/cli/interrupt.h"

namespace stickslip {
namespace {

// A signal handler can access only static storage.
std::atomic<bool> interrupt_seen{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not wait");

extern "C" void note_interrupt(int signal_number) {
  if (!interrupt_seen.exchange(true)) return;
  // Delivered on return from the handler: a signal is blocked while its handler runs.
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupt_seen = false;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  for (std::size_t i = 0; i < kNoted.size(); ++i) {
    sigaction(kNoted[i], &action, &noted_before_[i]);
    if (noted_before_[i].sa_handler == SIG_IGN) signal(kNoted[i], SIG_IGN);
  }
  action.sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < kIgnored.size(); ++i) sigaction(kIgnored[i], &action, &ignored_before_[i]);
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kNoted.size(); ++i) sigaction(kNoted[i], &noted_before_[i], nullptr);
  for (std::size_t i = 0; i < kIgnored.size(); ++i) sigaction(kIgnored[i], &ignored_before_[i], nullptr);
}

const std::atomic<bool>& InterruptGuard::flag() const { return interrupt_seen; }

}  // namespace stickslip
