// Files that appear under their name only when they are complete; devices and pipes, which are written to as
// they are.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace stickslip {

/// Writing failed, as on a full disk: a failure of the run, not of its input.
struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where the bytes for a path go.
struct OutputPlace {
  std::filesystem::path path;    // as given
  std::filesystem::path target;  // with links followed
  bool is_file = true;           // a regular file, there already or to be made; else a device or a pipe
  bool drops = false;            // the null device, which may take several outputs
  int stream = -1;               // 1 or 2 where the path is this process's own standard output or error
  dev_t device = 0;              // of the node, unless it is a file
  ino_t inode = 0;
};

/// Throws InputError when `path` could not be written: a missing folder, a folder, disk or socket in its
/// place, links in a circle, no permission.
OutputPlace find_output(const std::filesystem::path& path);
void check_writable(const std::filesystem::path& path);

/// An output of a command and the option that asks for it.
struct NamedOutput {
  std::string option;
  std::filesystem::path path;
};
/// Throws InputError when two of them are the same file, pipe or device but the null device, whatever they
/// are called, or when one could not be written. Empty paths are passed over.
void check_distinct(const std::vector<NamedOutput>& outputs);
/// Throws InputError when an output is the file that a command reads as `what`.
void check_not_input(const std::vector<NamedOutput>& outputs, const std::filesystem::path& input,
                     const std::string& what);
/// The same for every file that the text of a scene names, relative to the scene's folder or as it stands.
void check_not_named_in(const std::vector<NamedOutput>& outputs, const std::filesystem::path& scene);

/// The temporary name under which another program or library writes a file.
class PendingFile {
 public:
  /// Where the temporary name has its mark: behind the whole name, or in front of the extension.
  enum class Mark { at_end, before_extension };
  /// Throws InputError naming the path. The temporary file is beside the file; for a device or a pipe in a
  /// folder of its own among the temporary files. Marked in front of the extension it ends as `path` does,
  /// wherever that leads.
  explicit PendingFile(std::filesystem::path path, Mark mark = Mark::at_end);
  /// Removes what was not committed.
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::filesystem::path& path() const { return place_.path; }
  const std::filesystem::path& temporary() const { return temporary_; }
  /// Gives the file, which is written and closed, its name, or copies it to the device or pipe. Throws
  /// OutputError.
  void commit();

 private:
  void remove();

  OutputPlace place_;
  std::filesystem::path temporary_;  // empty: given its name, or removed
};

class OutputBuffer;

/// A file that this program writes. Devices and pipes get their bytes as they come.
class OutputFile {
 public:
  /// Opens a temporary file beside `path`, removed when it is not committed. Throws InputError naming the
  /// path where find_output does, OutputError when the file cannot be opened all the same.
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream() { return stream_; }
  /// What was put into the stream is whole, with `tail` behind it: writes both. The next bytes replace the
  /// tail, so that the temporary file is whole after every call; a device or a pipe gets the tail once, at
  /// the end. Throws OutputError when something could not be written; then the file has its name, with what
  /// the checkpoint before left.
  void checkpoint(std::string_view tail = {});
  /// Gives the file its name. Throws OutputError when something could not be written; nothing happens where
  /// that was said before.
  void commit();

 private:
  [[noreturn]] void fail();

  OutputPlace place_;
  std::optional<PendingFile> file_;  // unless it is a device or a pipe
  std::unique_ptr<OutputBuffer> buffer_;
  std::ostream stream_;
  std::string tail_;
  bool checked_ = false, done_ = false;
};

}  // namespace stickslip
