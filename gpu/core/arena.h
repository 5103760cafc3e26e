// Arena: the threads of a CPU context.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace stickslip {

/// Threads that share out index ranges. One caller at a time, and no calls from within a piece. What a piece
/// throws reaches the caller after all others are done; of several exceptions, one.
///
/// The loops of a step are short and follow each other closely. So a thread waits for the next run a while
/// before it sleeps, and a run costs little more than a cache line's way to another thread and back: 0.5 to
/// 1 us. The same indices go to the same thread in every run, so that what it wrote is still in its cache;
/// but a thread that is done takes what is left of the others' shares, and one that comes late, or never,
/// delays nothing.
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
  /// Apart from what other threads write, also where a processor fetches lines in pairs.
  static constexpr std::size_t kApart = 128;
  /// The job of a round. A thread that sees a new round gets its job with the same cache line.
  struct alignas(kApart) Notice {
    std::atomic<std::uint64_t> round{0};
    std::atomic<void (*)(const void*, std::size_t, std::size_t)> call{nullptr};  // null: the threads end
    std::atomic<const void*> object{nullptr};
    std::atomic<std::size_t> n{0}, piece{1};
  };
  /// Numbers of pieces, with the round that they are of.
  struct Member {
    alignas(kApart) std::atomic<std::uint64_t> left{0};  // of its share, that no thread has taken
    alignas(kApart) std::atomic<std::uint64_t> done{0};  // of all shares, that it has done
  };

  void run_job(Job job);
  void start_workers();
  void post(const Job& job, std::uint64_t round);
  void wake();
  void wake_sleepers();
  void call(const Job& job, std::size_t begin, std::size_t end);
  bool take(std::size_t share, std::uint64_t round, std::size_t pieces, std::size_t& piece);
  std::size_t do_share(const Job& job, std::uint64_t round, std::size_t share);
  std::size_t do_other_shares(const Job& job, std::uint64_t round, std::size_t member);
  std::size_t done_by_others(std::uint64_t round) const;
  void serve(std::size_t member);
  void sleep_after(std::uint64_t round);

  Notice notice_;
  std::vector<Member> members_;  // the caller is the first
  alignas(kApart) std::atomic<std::uint32_t> asleep_{0};
  std::atomic<std::uint32_t> calls_{0};  // to those asleep
  std::atomic_flag failed_{};
  std::exception_ptr error_;
  std::vector<std::thread> workers_;
};

}  // namespace stickslip
