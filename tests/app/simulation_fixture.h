// Helpers for tests of the simulation's thread: steps that wait, scripted engines, and polling like a
// window's.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>

#include "app/viewer/simulation.h"
#include "tests/app/rigid_scene.h"

namespace stickslip::test {

inline double elapsed(Simulation::Clock::time_point since) {
  return std::chrono::duration<double>(Simulation::Clock::now() - since).count();
}

/// Blocks steps until it is opened.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void wait_for_arrival() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return arrived_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int arrived_ = 0;
};

using Setup = std::function<void(FakeEngine&)>;

inline Simulation::EngineFactory fake(Setup setup = {}) {
  return [setup] {
    auto engine = std::make_unique<FakeEngine>();
    if (setup) setup(*engine);
    return engine;
  };
}

/// Polls as a window does until `done` is true; false after half a minute.
inline bool reached(Simulation& simulation, const std::function<bool()>& done) {
  const Simulation::Clock::time_point start = Simulation::Clock::now();
  while (elapsed(start) < 30) {
    simulation.update();
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

inline bool at_rest_after(Simulation& simulation, int frame) {
  return reached(simulation, [&] {
    return simulation.status().activity == SimulationStatus::Activity::idle &&
           simulation.frame().snapshot.frame == frame && simulation.history().size() == std::size_t(frame);
  });
}

/// Another value in the row's range.
inline double other_value(const ParamInfo& info, double value) {
  return value == info.low ? info.high : info.low;
}

}  // namespace stickslip::test
