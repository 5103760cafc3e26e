// StageClock: splits the wall time of a step among its stages.
#pragma once

#include <chrono>

namespace stickslip {

/// Each `lap` adds the time since the previous one to a counter. On CUDA a stage that ends without a host
/// read passes its time on to the next one that has it; a trace (core/trace.h) tells them apart.
class StageClock {
 public:
  StageClock() : start_(Clock::now()), last_(start_) {}

  void lap(double& seconds) {
    const Clock::time_point now = Clock::now();
    seconds += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  double seconds_since_start() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_, last_;
};

}  // namespace stickslip
