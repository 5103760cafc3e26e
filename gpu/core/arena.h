// Arena: the threads of a CPU context. oneTBB's headers cost a second in every file that includes them and
// its templates more in every loop, so they stand in arena.cpp alone.
#pragma once

#include <cstddef>
#include <memory>

#include "gpu/core/fork_join.h"

namespace stickslip {

/// A oneTBB arena or, where oneTBB is not installed, a ThreadPool.
class Arena {
 public:
  /// `threads` >= 1, the caller's own among them.
  explicit Arena(int threads);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Number of threads that the machine and limits on the process allow.
  static int allowed_threads();

  /// Calls f(begin, end) for pieces that cover [0, n), in any order and in parallel, on the arena's threads;
  /// pieces longer than `grain` may be halved.
  template <class F>
  void run(std::size_t n, std::size_t grain, const F& f) {
    run_pieces(
        n, grain,
        [](const void* object, std::size_t begin, std::size_t end)
            SS_UNWATCHED { (*static_cast<const F*>(object))(begin, end); },
        &f);
  }

  /// Calls f(object) `count` times on other threads of the arena, as far as it has them to spare, without
  /// waiting for them; `run` must not be called before `join_helpers`, which waits until all calls are done
  /// and may make some of them itself.
  void start_helpers(int count, void (*f)(void* object), void* object);
  void join_helpers();

 private:
  using Piece = void (*)(const void* object, std::size_t begin, std::size_t end);
  struct Threads;
  void run_pieces(std::size_t n, std::size_t grain, Piece piece, const void* object);

  std::unique_ptr<Threads> threads_;
};

}  // namespace stickslip
