#include "gpu/core/arena.h"

#if STICKSLIP_HAS_TBB
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#else
#include <algorithm>
#include <thread>

#include "gpu/core/thread_pool.h"
#endif

namespace stickslip {

#if STICKSLIP_HAS_TBB

struct Arena::Threads {
  explicit Threads(int threads) : arena(threads) {}
  tbb::task_arena arena;
  tbb::task_group helpers;
};

int Arena::allowed_threads() { return tbb::this_task_arena::max_concurrency(); }

Arena::Arena(int threads) : threads_(new Threads(threads)) {}

void Arena::run_pieces(std::size_t n, std::size_t grain, Piece piece, const void* object) {
  using Range = tbb::blocked_range<std::size_t>;
  threads_->arena.execute([&] {
    tbb::parallel_for(Range(0, n, grain),
                      [&](const Range& range) SS_UNWATCHED { piece(object, range.begin(), range.end()); });
  });
}

void Arena::start_helpers(int count, void (*f)(void* object), void* object) {
  threads_->arena.execute([&] {
    for (int k = 0; k < count; ++k) threads_->helpers.run([f, object]() SS_UNWATCHED { f(object); });
  });
}

void Arena::join_helpers() {
  threads_->arena.execute([&] { threads_->helpers.wait(); });
}

#else

struct Arena::Threads {
  ThreadPool pool;
};

int Arena::allowed_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

Arena::Arena(int threads) : threads_(new Threads{ThreadPool(threads)}) {}

void Arena::run_pieces(std::size_t n, std::size_t grain, Piece piece, const void* object) {
  threads_->pool.run(n, grain, [&](std::size_t begin, std::size_t end) { piece(object, begin, end); });
}

void Arena::start_helpers(int count, void (*f)(void* object), void* object) {
  threads_->pool.start(static_cast<std::size_t>(count), f, object);
}

void Arena::join_helpers() { threads_->pool.finish(); }

#endif

Arena::~Arena() = default;

}  // namespace stickslip
