#include "gpu/core/thread_pool.h"

#include <algorithm>
#include <system_error>

namespace stickslip {

ThreadPool::ThreadPool(int threads) {
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {
    // The machine grants no more threads: those that there are do the work.
  }
}

ThreadPool::~ThreadPool() {
  ending_ = true;
  ++round_;
  round_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run_job(Job job) {
  // A few pieces per thread, so that one slow piece holds up little.
  job.piece = std::max({job.piece, job.n / (4 * (workers_.size() + 1)), std::size_t{1}});
  open(job);
  finish();
}

void ThreadPool::start(std::size_t count, void (*f)(void* object), void* object) {
  call_ = {f, object};
  open({[](const void* call, std::size_t begin, std::size_t end) {
          const Call& c = *static_cast<const Call*>(call);
          for (std::size_t k = begin; k < end; ++k) c.f(c.object);
        },
        &call_, count, 1});
}

void ThreadPool::open(Job job) {
  job_ = job;
  next_ = 0;
  busy_ = static_cast<std::uint32_t>(workers_.size());
  ++round_;
  round_.notify_all();
}

void ThreadPool::finish() {
  take_pieces();
  for (std::uint32_t busy = busy_; busy != 0; busy = busy_) busy_.wait(busy);
}

void ThreadPool::take_pieces() {
  for (std::size_t begin = next_.fetch_add(job_.piece); begin < job_.n; begin = next_.fetch_add(job_.piece))
    job_.call(job_.object, begin, std::min(job_.n, begin + job_.piece));
}

void ThreadPool::serve() {
  for (std::uint32_t seen = 0;; ++seen) {
    round_.wait(seen);
    if (ending_) return;
    take_pieces();
    if (--busy_ == 0) busy_.notify_one();
  }
}

}  // namespace stickslip
