// Output files that appear under their name only when complete. Devices and pipes are written directly.
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

/// A write failed, for example on a full disk: a failure of the run, not of its input.
struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Target of the bytes written to a path.
struct OutputPlace {
  std::filesystem::path path;    // as given
  std::filesystem::path target;  // with links followed
  bool is_file = true;           // a regular file, existing or to be created; else a device or a pipe
  bool drops = false;            // the null device: several outputs may use it
  int stream = -1;               // 1 or 2 where the path is this process's own standard output or error
  dev_t device = 0;              // of the node, unless it is a file
  ino_t inode = 0;
};

/// Throws InputError when `path` is not writable: a missing folder, a folder, disk or socket of that name, a
/// cycle of links, no permission.
OutputPlace find_output(const std::filesystem::path& path);
void check_writable(const std::filesystem::path& path);

/// An output of a command and the option that asks for it.
struct NamedOutput {
  std::string option;
  std::filesystem::path path;
};
/// Throws InputError when two outputs, under any name, are the same file, pipe or device (except the null
/// device), or when one is not writable. Empty paths are skipped.
void check_distinct(const std::vector<NamedOutput>& outputs);
/// Throws InputError when an output is the command's input file; messages call that input `what`.
void check_not_input(const std::vector<NamedOutput>& outputs, const std::filesystem::path& input,
                     const std::string& what);
/// The same for every file named in the text of a scene, relative to the scene's folder or absolute.
void check_not_named_in(const std::vector<NamedOutput>& outputs, const std::filesystem::path& scene);

/// Temporary name under which another program or library writes a file.
class PendingFile {
 public:
  /// Position of the temporary mark: after the whole name, or before the extension.
  enum class Mark { at_end, before_extension };
  /// Throws InputError with the path. The temporary file is beside the target; for a device or a pipe it is
  /// in a folder of its own among the temporary files. With the mark before the extension it has the
  /// extension of `path`, also if `path` is a link.
  explicit PendingFile(std::filesystem::path path, Mark mark = Mark::at_end);
  /// Removes an uncommitted file.
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::filesystem::path& path() const { return place_.path; }
  const std::filesystem::path& temporary() const { return temporary_; }
  /// Renames the written and closed file, or copies it to the device or pipe. Throws OutputError.
  void commit();

 private:
  void remove();

  OutputPlace place_;
  std::filesystem::path temporary_;  // empty: renamed or removed
};

class OutputBuffer;

/// A file that this program writes. Devices and pipes receive the bytes immediately.
class OutputFile {
 public:
  /// Opens a temporary file beside `path`; it is removed unless committed. Throws InputError with the path
  /// where find_output does, OutputError if opening fails nevertheless.
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream() { return stream_; }
  /// Writes the stream's content and `tail`; together they are a complete file. The next bytes overwrite the
  /// tail, so the temporary file is complete after every call. A device or a pipe gets the tail once, at the
  /// end. Throws OutputError when a write fails; the file then gets its name with the state of the previous
  /// checkpoint.
  void checkpoint(std::string_view tail = {});
  /// Renames the file. Throws OutputError when a write failed; does nothing if that was already thrown.
  void commit();

 private:
  [[noreturn]] void fail();

  OutputPlace place_;
  std::optional<PendingFile> file_;  // empty for a device or a pipe
  std::unique_ptr<OutputBuffer> buffer_;
  std::ostream stream_;
  std::string tail_;
  bool checked_ = false, done_ = false;
};

}  // namespace stickslip
