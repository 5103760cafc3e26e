// RandomEdits: random user actions on a running scene, for soak tests.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "app/viewer/simulation.h"

namespace stickslip {

/// Edits the active controls (param_controls) within their slider ranges, mostly near their current values;
/// pulls bodies, freezes, and sometimes resets everything. The same seed and the same frames give the same
/// commands. Settings that could make one step last for minutes are not edited: time budgets, sizes of dense
/// matrices.
class RandomEdits {
 public:
  RandomEdits(std::shared_ptr<const Scene> scene, std::uint64_t seed);

  /// Commands of one moment: often none; one edit; the next move of a pull; or a reset with all settings of
  /// the scene.
  std::vector<Command> next(const Settings& settings, std::span<const Vec3f> positions);
  /// After a failed step: resets the scene and all settings.
  std::vector<Command> start_over(const Settings& settings);

 private:
  /// A row with the data needed to edit it.
  struct Control {
    const ParamInfo* info;
    double value, original;
    Command (*edit)(std::string_view name, double value, int material);
    int material = -1;
  };
  /// All controls, or only the active ones.
  std::vector<Control> controls(const Settings& settings, bool acting) const;
  Command turn(const Control& control);
  double uniform(double low, double high) { return low + (high - low) * draw_(rng_); }
  bool chance(double share) { return draw_(rng_) < share; }
  std::size_t index_below(std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(uniform(0, 1) * static_cast<double>(count)));
  }
  void pull(std::span<const Vec3f> positions, std::vector<Command>& commands);

  std::shared_ptr<const Scene> scene_;
  std::mt19937_64 rng_;
  std::uniform_real_distribution<double> draw_{0, 1};
  int pull_left_ = 0;  // moments until the pointer releases; 0: no pull
  Vec<double, 3> target_{0, 0, 0};
};

}  // namespace stickslip
