#include "gpu/core/arena.h"

#include <algorithm>
#include <exception>
#include <system_error>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace stickslip {
namespace {

/// How often a thread looks before it sleeps: for 50 to 100 us. Waking one costs the caller about 5 us.
constexpr int kPatience = 4000;
/// Pieces of a thread's share, so that one slow piece holds up little.
constexpr std::size_t kPieces = 8;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

int Arena::allowed_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

Arena::Arena(int threads) : shares_(static_cast<std::size_t>(std::max(1, threads))) {}

Arena::~Arena() {
  ending_ = true;
  round_ += 2;
  round_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Arena::start_workers() {
  workers_.reserve(shares_.size() - 1);
  try {
    while (workers_.size() < shares_.size() - 1)
      workers_.emplace_back([this, member = workers_.size() + 1] { serve(member); });
  } catch (const std::system_error&) {
    // The machine grants no more threads: those that there are do the work.
  }
}

void Arena::run_job(Job job) {
  const std::size_t members = shares_.size();
  if (job.n == 0) return;
  if (members == 1) return job.call(job.object, 0, job.n);
  if (workers_.capacity() == 0) start_workers();
  // What a piece throws may leave neither its thread nor the job while others are at it.
  struct Guarded {
    Job job;
    std::atomic_flag failed{};
    std::exception_ptr error{};
  } guarded{job};
  const std::size_t piece = std::max({job.piece, job.n / (kPieces * members), std::size_t{1}});
  open({[](const void* object, std::size_t begin, std::size_t end) {
          auto& g = *const_cast<Guarded*>(static_cast<const Guarded*>(object));
          try {
            g.job.call(g.job.object, begin, end);
          } catch (...) {
            if (!g.failed.test_and_set()) g.error = std::current_exception();
          }
        },
        &guarded, job.n, piece});
  take_pieces(0);
  close();
  if (guarded.error) std::rethrow_exception(guarded.error);
}

void Arena::open(const Job& job) {
  job_ = job;
  const std::size_t members = shares_.size();
  for (std::size_t m = 0; m < members; ++m) {
    shares_[m].next.store(job.n * m / members, std::memory_order_relaxed);
    shares_[m].end = job.n * (m + 1) / members;
  }
  ++round_;
  if (asleep_ != 0) round_.notify_all();
}

/// Every piece is taken. A worker that took one stays active until it is done, and no other can enter.
void Arena::close() {
  ++round_;
  for (int k = 0; active_ != 0; ++k)
    if (k < kPatience) pause();
    else std::this_thread::yield();
}

void Arena::take_pieces(std::size_t member) {
  const std::size_t members = shares_.size();
  for (std::size_t k = 0; k < members; ++k) {
    Share& share = shares_[(member + k) % members];
    const std::size_t end = share.end;
    while (share.next.load(std::memory_order_relaxed) < end) {
      const std::size_t begin = share.next.fetch_add(job_.piece, std::memory_order_relaxed);
      if (begin < end) job_.call(job_.object, begin, std::min(end, begin + job_.piece));
    }
  }
}

void Arena::serve(std::size_t member) {
  std::uint32_t seen = 0;
  for (int k = 0; !ending_;) {
    const std::uint32_t round = round_;
    if (round != seen && round % 2 == 1) {
      ++active_;
      // The caller waits for those that were active before it closed the job.
      if (round_ == round) take_pieces(member);
      --active_;
      seen = round;
      k = 0;
    } else if (++k < kPatience) {
      pause();
    } else {
      ++asleep_;
      round_.wait(round);
      --asleep_;
      k = 0;
    }
  }
}

}  // namespace stickslip
