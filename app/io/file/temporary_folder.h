// A folder of this process among the temporary files.
#pragma once

#include <filesystem>

namespace stickslip {

/// [s] A killed process leaves its folders; those that have not changed for so long are removed. The time
/// guards folders of processes that this one cannot see, such as those of another container.
inline constexpr long kStaleAfter = 3600;

/// Removes the temporary folders of this user in `place` whose processes have ended, and returns their
/// number.
int remove_stale_folders(const std::filesystem::path& place);

/// Removed with its content when the object goes. The first one of a process also removes stale ones.
class TemporaryFolder {
 public:
  /// Throws OutputError: it cannot be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace stickslip
