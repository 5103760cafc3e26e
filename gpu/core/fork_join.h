// ForkJoin declares to ThreadSanitizer the synchronisation inside oneTBB, whose library is not instrumented:
// writes before the fork are visible to a task, and writes of tasks are visible to the caller after the join.
// Empty in other builds.
#pragma once

#if defined(__SANITIZE_THREAD__)

#include <sanitizer/tsan_interface.h>

// For the bridge between a task object, which oneTBB hands from thread to thread unseen, and our code.
#define SS_UNWATCHED __attribute__((no_sanitize("thread")))

namespace stickslip::cpu {

class ForkJoin {
 public:
  ForkJoin() { __tsan_release(&fork_); }
  void task_begins() { __tsan_acquire(&fork_); }
  void task_ends() { __tsan_release(&join_); }
  ~ForkJoin() { __tsan_acquire(&join_); }
  ForkJoin(const ForkJoin&) = delete;
  ForkJoin& operator=(const ForkJoin&) = delete;

 private:
  alignas(8) char fork_ = 0;
  alignas(8) char join_ = 0;
};

}  // namespace stickslip::cpu

#else

#define SS_UNWATCHED

namespace stickslip::cpu {

struct ForkJoin {
  void task_begins() {}
  void task_ends() {}
};

}  // namespace stickslip::cpu

#endif
