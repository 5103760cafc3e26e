// A file that appears under its name only when it is complete.
#pragma once

#include <filesystem>
#include <fstream>
#include <ostream>

namespace stickslip {

/// Throws InputError when `path` could not be written: a missing folder, a folder in its place, no
/// permission.
void check_writable(const std::filesystem::path& path);

/// The temporary name beside `path` under which somebody writes the file.
class PendingFile {
 public:
  /// Throws InputError naming the path.
  explicit PendingFile(std::filesystem::path path);
  /// Removes what was not committed.
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& temporary() const { return temporary_; }
  /// Gives the file, which is written and closed, its name.
  void commit();

 private:
  std::filesystem::path path_, temporary_;
};

class OutputFile {
 public:
  /// Opens a temporary file beside `path`, removed when it is not committed. Throws InputError naming the
  /// path.
  explicit OutputFile(std::filesystem::path path);

  std::ostream& stream() { return stream_; }
  /// Gives the file its name. Throws std::runtime_error when something could not be written.
  void commit();

 private:
  PendingFile file_;
  std::ofstream stream_;  // closed before the file is removed
};

}  // namespace stickslip
