// A file that appears under its name only when it is complete.
#pragma once

#include <filesystem>
#include <fstream>
#include <ostream>

namespace stickslip {

/// Throws InputError when `path` could not be written: a missing folder, a folder in its place, no
/// permission.
void check_writable(const std::filesystem::path& path);

class OutputFile {
 public:
  /// Opens a temporary file beside `path`. Throws InputError naming the path.
  explicit OutputFile(std::filesystem::path path);
  /// Removes what was not committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream() { return stream_; }
  /// Gives the file its name. Throws std::runtime_error when something could not be written.
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  std::ofstream stream_;
};

}  // namespace stickslip
