// Arena: the threads of a CPU context.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace stickslip {

/// Threads that share out index ranges. One caller at a time, and no calls from within a piece. What a piece
/// throws reaches the caller after all others are done; of several exceptions, one.
///
/// The loops of a step are short and follow each other closely. So a thread waits for the next run a while
/// before it sleeps, and a run then costs about half a microsecond. The same indices go to the same thread in
/// every run, so that what it wrote is still in its cache; but a thread that is done takes what is left of
/// the others' shares, and one that comes late, or never, delays nothing.
class Arena {
 public:
  /// `threads` >= 1, the caller's own among them. The others start with the first run that needs them.
  explicit Arena(int threads);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Number of threads that the machine and limits on the process allow.
  static int allowed_threads();

  /// Calls f(begin, end) for pieces that cover [0, n), at least `grain` long but for the last of each
  /// thread's share, in any order and in parallel; returns when all are done.
  template <class F>
  void run(std::size_t n, std::size_t grain, const F& f) {
    run_job({[](const void* object, std::size_t begin, std::size_t end) {
               (*static_cast<const F*>(object))(begin, end);
             },
             &f, n, grain});
  }

  /// Calls f(i) for every i in [0, n): for few and long pieces of work.
  template <class F>
  void run_each(std::size_t n, const F& f) {
    run(n, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) f(i);
    });
  }

 private:
  struct Job {
    void (*call)(const void* object, std::size_t begin, std::size_t end) = nullptr;
    const void* object = nullptr;
    std::size_t n = 0, piece = 1;
  };
  /// The indices of one thread.
  struct alignas(64) Share {
    std::atomic<std::size_t> next{0};  // the first that no thread has taken; beyond `end`: none is left
    std::size_t end = 0;
  };

  void run_job(Job job);
  void start_workers();
  void open(const Job& job);
  void close();
  void take_pieces(std::size_t member);
  void serve(std::size_t member);

  Job job_;
  std::vector<Share> shares_;                         // by member; the caller is the first
  alignas(64) std::atomic<std::uint32_t> round_{0};   // odd while a job is open
  alignas(64) std::atomic<std::uint32_t> active_{0};  // workers that may touch the job
  std::atomic<std::uint32_t> asleep_{0};
  std::atomic<bool> ending_{false};
  std::vector<std::thread> workers_;
};

}  // namespace stickslip
