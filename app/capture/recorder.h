// Picture sequences and videos, one frame at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/render/image.h"

namespace stickslip {

/// Takes frames of one size. Throws std::runtime_error, naming the file, when something cannot be written
/// (OutputError: a full disk, an encoder that fails or hangs).
class Recorder {
 public:
  virtual ~Recorder() = default;  // without finish(): what was begun is removed as far as it is temporary
  virtual void add(const Image& frame) = 0;
  /// Completes the output; later frames are an error. Throws where `add` has failed to write.
  virtual void finish() = 0;
  /// Where the output is, or will be after finish().
  virtual std::filesystem::path output() const = 0;
  /// One line for the user when the output is not what was asked for; else empty.
  virtual std::string note() const { return {}; }
};

/// folder/frame_00000.png, ... The folder is made if missing.
std::unique_ptr<Recorder> record_images(const std::filesystem::path& folder);

/// An H.264 video through the program `ffmpeg` (name or path). Odd sizes lose their last row or column. Where
/// the program is missing, a folder `file` without extension + "_frames" gets PNG pictures, and note() says
/// so.
std::unique_ptr<Recorder> record_video(const std::filesystem::path& file, double frames_per_second,
                                       const std::string& ffmpeg = "ffmpeg");

}  // namespace stickslip
