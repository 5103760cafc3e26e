// The scenes of a window's simulation.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "app/viewer/simulation.h"

namespace stickslip {

/// A loader of scenes, and another one that takes its place for a while. Loads are on the simulation's
/// thread, replacements on the window's.
class SceneSource {
 public:
  explicit SceneSource(Simulation::SceneLoader usual)
      : usual_(std::make_shared<Simulation::SceneLoader>(std::move(usual))) {}

  Scene load(const std::string& name, const std::string& variant) {
    std::shared_ptr<Simulation::SceneLoader> loader;
    {
      const std::lock_guard lock(mutex_);
      loader = other_ ? other_ : usual_;
    }
    return (*loader)(name, variant);
  }
  /// Of later loads; nullptr: by the usual loader again.
  void replace(Simulation::SceneLoader other) {
    const std::lock_guard lock(mutex_);
    other_ = other ? std::make_shared<Simulation::SceneLoader>(std::move(other)) : nullptr;
  }

 private:
  const std::shared_ptr<Simulation::SceneLoader> usual_;
  std::mutex mutex_;
  std::shared_ptr<Simulation::SceneLoader> other_;  // null: none
};

}  // namespace stickslip
