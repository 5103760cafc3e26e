// BackgroundJob: one job at a time on a thread of the lowest priority, with a status that the window reads.
#pragma once

#include <spdlog/spdlog.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace stickslip {

/// Puts the calling thread below the window and the simulation. Threads that it starts inherit it.
inline void run_below_all_others() {
#ifdef __linux__
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 15);
#endif
}

/// `Status` has the members `running` and `error`. All functions but `publish` and `cancelled` are for the
/// caller's thread, and return at once.
template <class Job, class Status>
class BackgroundJob {
 public:
  /// `work` does a job on the thread; its exceptions end the job and become `error`. `on_change` is called on
  /// the thread whenever `update` has new data. `name` begins messages in the log.
  BackgroundJob(std::string name, std::function<void(const Job&)> work, std::function<void()> on_change)
      : name_(std::move(name)),
        work_(std::move(work)),
        on_change_(std::move(on_change)),
        thread_([this] { run(); }) {}
  /// Waits until the job has noticed the cancellation.
  ~BackgroundJob() {
    {
      const std::lock_guard lock(mutex_);
      quit_ = true;
      cancel_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  BackgroundJob(const BackgroundJob&) = delete;
  BackgroundJob& operator=(const BackgroundJob&) = delete;

  /// Cancels the current job and starts another.
  void start(Job job, Status status) {
    {
      const std::lock_guard lock(mutex_);
      cancel_ = true;
      status_ = std::move(status);
      status_.running = true;
      news_ = true;
      next_ = std::move(job);
    }
    wake_.notify_one();
  }
  void cancel() {
    const std::lock_guard lock(mutex_);
    cancel_ = true;
    if (!std::exchange(next_, std::nullopt)) return;
    status_.running = false;
    news_ = true;
  }
  /// Takes over the status published by the thread; true when it is new.
  bool update() {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(news_, false)) return false;
    seen_ = status_;
    return true;
  }
  /// Valid and unchanged until the next `update`.
  const Status& status() const { return seen_; }

  /// For the job: changes the status under the lock and calls `on_change`.
  void publish(const std::function<void(Status&)>& change) {
    {
      const std::lock_guard lock(mutex_);
      if (next_ || quit_) return;  // the status already belongs to the next job
      change(status_);
      news_ = true;
    }
    if (on_change_) on_change_();
  }
  /// For the job: whether it shall end.
  const std::atomic<bool>& cancelled() const { return cancel_; }

 private:
  void run() {
    run_below_all_others();
    while (true) {
      std::optional<Job> job;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return quit_ || next_; });
        if (quit_) return;
        job = std::exchange(next_, std::nullopt);
        cancel_ = false;
      }
      try {
        work_(*job);
      } catch (const std::exception& error) {
        spdlog::error("{}: {}", name_, error.what());
        publish([&](Status& status) { status.error = error.what(); });
      }
      publish([](Status& status) { status.running = false; });
    }
  }

  std::string name_;
  std::function<void(const Job&)> work_;
  std::function<void()> on_change_;
  std::atomic<bool> cancel_ = false;

  std::mutex mutex_;  // guards the following members; held only briefly
  std::condition_variable wake_;
  std::optional<Job> next_;
  Status status_;
  bool news_ = false, quit_ = false;

  Status seen_;  // used only by the caller's thread
  std::thread thread_;
};

}  // namespace stickslip
