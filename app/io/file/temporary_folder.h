// A folder of this process among the temporary files.
#pragma once

#include <filesystem>

namespace stickslip {

/// Removed with its content when the object goes.
class TemporaryFolder {
 public:
  /// Throws OutputError: it cannot be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace stickslip
