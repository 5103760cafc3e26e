// Timer: wall time on the host. DeviceTimer: time of a stretch of the stream, for benches.
#pragma once

#include <chrono>

#include "gpu/core/context.h"

namespace stickslip {

class Timer {
 public:
  Timer() : start_(Clock::now()) {}
  void restart() { start_ = Clock::now(); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Measures what is launched between start() and seconds(); only seconds() waits. Events on CUDA, wall time
/// on the CPU.
class DeviceTimer {
 public:
#if STICKSLIP_ON_CUDA
  explicit DeviceTimer(Context& ctx) : ctx_(ctx) {
    SS_CUDA(cudaEventCreate(&start_));
    SS_CUDA(cudaEventCreate(&stop_));
    start();
  }
  ~DeviceTimer() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  void start() { SS_CUDA(cudaEventRecord(start_, ctx_.stream())); }
  double seconds() {
    SS_CUDA(cudaEventRecord(stop_, ctx_.stream()));
    SS_CUDA(cudaEventSynchronize(stop_));
    float milliseconds = 0;
    SS_CUDA(cudaEventElapsedTime(&milliseconds, start_, stop_));
    return 1e-3 * milliseconds;
  }
#else
  explicit DeviceTimer(Context& ctx) : ctx_(ctx) {}
  void start() { timer_.restart(); }
  double seconds() {
    ctx_.synchronize();
    return timer_.seconds();
  }
#endif
  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;

 private:
  Context& ctx_;
#if STICKSLIP_ON_CUDA
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
#else
  Timer timer_;
#endif
};

}  // namespace stickslip::STICKSLIP_BACKEND
