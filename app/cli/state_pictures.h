// Pictures of states of one scene, drawn without a window.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "app/io/scene/scene.h"

namespace stickslip {

class StatePictures {
 public:
  virtual ~StatePictures() = default;
  /// Draws the scene at `positions` [m], one per node, into NAME.png of the folder. Throws OutputError.
  virtual void write(std::span<const Vec<float, 3>> positions, const std::string& name) = 0;
};

/// Null for an empty folder. Creates the folder with the first picture. Throws InputError if nothing can be
/// written there, DeviceError without Vulkan.
std::unique_ptr<StatePictures> make_state_pictures(const std::string& folder, const Scene& scene);

}  // namespace stickslip
