// ThreadPool: runs the CPU backend where oneTBB is not installed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace stickslip {

/// A fixed set of threads that share out index ranges. One caller at a time, no calls from within a piece,
/// and pieces must not throw.
class ThreadPool {
 public:
  /// `threads` >= 1, the caller's own among them.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Calls f(begin, end) for pieces that cover [0, n), at least `grain` long but for the last, in any order
  /// and in parallel; returns when all are done.
  template <class F>
  void run(std::size_t n, std::size_t grain, const F& f) {
    run_job({[](const void* object, std::size_t begin, std::size_t end) {
               (*static_cast<const F*>(object))(begin, end);
             },
             &f, n, grain});
  }

  /// Calls f(object) `count` times on threads of the pool and returns; until `finish`, which waits for all
  /// calls and may make some of them itself, the pool takes no other work.
  void start(std::size_t count, void (*f)(void* object), void* object);
  void finish();

 private:
  struct Job {
    void (*call)(const void* object, std::size_t begin, std::size_t end) = nullptr;
    const void* object = nullptr;
    std::size_t n = 0, piece = 1;
  };
  void run_job(Job job);
  void open(Job job);
  void take_pieces();
  void serve();

  struct Call {
    void (*f)(void* object) = nullptr;
    void* object = nullptr;
  };

  Job job_;
  Call call_;                            // of `start`
  std::atomic<std::size_t> next_{0};     // first index that no thread has taken
  std::atomic<std::uint32_t> round_{0};  // one more for each job, and for the end
  std::atomic<std::uint32_t> busy_{0};   // workers that have not finished the round
  std::atomic<bool> ending_{false};
  std::vector<std::thread> workers_;
};

}  // namespace stickslip
