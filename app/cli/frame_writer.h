// Images and video of a run, drawn without a window.
#pragma once

#include <memory>
#include <string>

#include "app/cli/cli.h"

namespace stickslip {

class FrameWriter {
 public:
  virtual ~FrameWriter() = default;
  /// Draws the engine's current state. Called once per frame with the same engine, the start included. Throws
  /// OutputError when a picture cannot be written; the failed output then takes no more pictures.
  virtual void add(Engine& engine) = 0;
  /// Completes the files under their names and prints the paths on stderr; one failure does not stop the
  /// others. Without finish(), incomplete files are removed. Throws as Failures does.
  virtual void finish() = 0;
};

/// Of a run of `frames` steps. Null if the options request no pictures. Throws InputError for options that do
/// not go together, a bad size or path, DeviceError without Vulkan.
std::unique_ptr<FrameWriter> make_frame_writer(const RunOptions& options, const Scene& scene, int frames);

}  // namespace stickslip
