// Images and video of a run, drawn without a window.
#pragma once

#include <memory>
#include <string>

#include "app/cli/cli.h"

namespace stickslip {

class FrameWriter {
 public:
  virtual ~FrameWriter() = default;
  /// The engine as it stands, once per frame and always the same one; the start included. Throws OutputError
  /// when a picture cannot be written; what failed takes no more of them.
  virtual void add(Engine& engine) = 0;
  /// Completes the files under their names and says on stderr where they are; those that fail do not keep
  /// the others from it. Without it no file is left behind that is not complete. Throws as Failures does.
  virtual void finish() = 0;
};

/// Null when the options ask for no pictures. Throws InputError for a bad size or place, DeviceError without
/// Vulkan.
std::unique_ptr<FrameWriter> make_frame_writer(const RunOptions& options, const Scene& scene);

}  // namespace stickslip
