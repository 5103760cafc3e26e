// ForkJoin tells ThreadSanitizer what oneTBB, whose library it cannot look into, synchronises: a task sees
// what was written before the fork, and after the join the caller sees what the tasks wrote. Nothing in other
// builds.
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
