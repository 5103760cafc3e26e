// The way of the camera through a run: keys from a file, and a turn about the target.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/render/camera.h"

namespace stickslip {

/// Where the camera is at a time.
struct CameraKey {
  double time;  // [s] simulated
  Vec3f eye, target;
  float fov;  // vertical [degrees]
};

/// A smooth way through keys (cubic Hermite splines with the slopes of Catmull and Rom); before the first and
/// after the last key the camera rests.
class CameraPath {
 public:
  CameraPath() = default;
  /// `keys`: at least one, with ascending times.
  explicit CameraPath(std::vector<CameraKey> keys) : keys_(std::move(keys)) {}

  bool empty() const { return keys_.empty(); }
  /// Throws std::logic_error when it is empty.
  Camera at(double time) const;

 private:
  std::vector<CameraKey> keys_;
};

/// A file with a key per line: time, eye x y z, target x y z, and the field of view, which may be left out
/// (`fov`: the first one's then). Blank lines and what follows a # do not count. Throws InputError with file
/// and line.
CameraPath read_camera_path(const std::filesystem::path& file, float fov);

/// The line of such a file.
std::string camera_line(const CameraKey& key);
/// Appends the line to the file, or makes the file. Throws OutputError.
void append_camera_key(const std::filesystem::path& file, const CameraKey& key);

}  // namespace stickslip
