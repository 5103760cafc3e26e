// Picture sequences and videos, one frame at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/render/image.h"

namespace stickslip {

/// Records frames of one size. Throws std::runtime_error with the path when a write fails (OutputError: a
/// full disk, an encoder that fails or hangs).
class Recorder {
 public:
  virtual ~Recorder() = default;  // without finish(): removes the temporary files
  virtual void add(const Image& frame) = 0;
  /// Completes the output; adding a frame afterwards is an error. Throws if `add` failed to write.
  virtual void finish() = 0;
  /// Path of the output after finish().
  virtual std::filesystem::path output() const = 0;
  /// One line for the user if the output differs from the request; else empty.
  virtual std::string note() const { return {}; }
};

/// folder/frame_00000.png, ... The folder is made if missing. The first picture removes those of an earlier
/// recording: the PNG files of these names, without a gap from 0 on, which note() tells. Others stay.
std::unique_ptr<Recorder> record_images(const std::filesystem::path& folder);

/// An H.264 video through the program `ffmpeg` (name or path). Odd sizes lose their last row or column. If
/// the program is missing, PNG pictures go to a folder (`file` without its extension, plus "_frames"), and
/// note() reports it.
std::unique_ptr<Recorder> record_video(const std::filesystem::path& file, double frames_per_second,
                                       const std::string& ffmpeg = "ffmpeg");

}  // namespace stickslip
