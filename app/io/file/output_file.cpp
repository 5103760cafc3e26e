#include "app/io/file/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "app/io/file/input_error.h"
#include "app/io/file/output_buffer.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Follows a chain of links; the target need not exist.
fs::path followed(const fs::path& path) {
  fs::path at = path;
  std::error_code error;
  for (int links = 0; links < kMostLinks; ++links) {
    if (!fs::is_symlink(fs::symlink_status(at, error))) return at;
    const fs::path next = fs::read_symlink(at, error);
    at = next.is_absolute() ? next : folder_of(at) / next;
  }
  throw InputError(path.string() + ": is a link that leads in a circle");
}

bool same_node(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// 1 or 2 if the node is this process's standard output or error and is writable. main() puts an unwritable
/// one in the place of a closed stream.
int stream_of(const struct stat& node) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat own {};
    const int mode = fcntl(stream, F_GETFL);
    if (mode < 0 || (mode & O_ACCMODE) == O_RDONLY) continue;
    if (fstat(stream, &own) == 0 && same_node(node, own)) return stream;
  }
  return -1;
}

std::string cause(int error) { return error == 0 ? std::string() : std::string(": ") + std::strerror(error); }

/// Opens a device, a pipe or a stream of this process for writing.
int open_node(const OutputPlace& place) {
  return place.stream >= 0 ? fcntl(place.stream, F_DUPFD_CLOEXEC, 3)
                           : open(place.target.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
}

/// Equal for two spellings of one place.
std::string identity(const OutputPlace& place) {
  if (!place.is_file) return "node " + std::to_string(place.device) + " " + std::to_string(place.inode);
  std::error_code error;
  const fs::path folder = fs::canonical(folder_of(place.target), error);
  return (error ? folder_of(place.target) : folder) / place.target.filename();
}

/// Folder of this process alone, for an output to `path`.
fs::path private_folder(const fs::path& path) {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "stickslip_XXXXXX").string();
  if (error || !mkdtemp(name.data()))
    throw InputError(path.string() +
                     ": there is no folder for temporary files that can be written: set TMPDIR");
  return name;
}

fs::path temporary_for(const OutputPlace& place, PendingFile::Mark mark) {
  const std::string part = ".part" + std::to_string(getpid());
  const fs::path beside = place.is_file ? place.target : private_folder(place.path) / place.path.filename();
  fs::path name = beside;
  if (mark == PendingFile::Mark::at_end) return name += part;
  // The extension of the given path determines the format; a link's target may lack it.
  return name.replace_filename(beside.stem().string() + part + place.path.extension().string());
}

}  // namespace

OutputPlace find_output(const fs::path& path) {
  const auto refuse = [&](const std::string& what) { throw InputError(path.string() + ": " + what); };
  OutputPlace place{path, path};
  struct stat node {};
  const bool there = stat(path.c_str(), &node) == 0;
  if (path.filename().empty() || (there && S_ISDIR(node.st_mode))) refuse("is a folder, not a file");
  if (there) place.stream = stream_of(node);
  if (there && (place.stream >= 0 || !S_ISREG(node.st_mode))) {
    place.is_file = false;
    place.device = node.st_dev;
    place.inode = node.st_ino;
    place.drops = S_ISCHR(node.st_mode) && node.st_rdev == makedev(1, 3);
    if (S_ISSOCK(node.st_mode) && place.stream < 0)
      refuse("is a socket: give a file, a pipe or a character device");
    if (S_ISBLK(node.st_mode)) refuse("is a disk: give a file, a pipe or a character device");
    if (place.stream < 0 && access(path.c_str(), W_OK) != 0) refuse("no permission to write there");
    return place;
  }
  place.target = followed(path);
  std::error_code error;
  const fs::path folder = folder_of(place.target);
  if (!fs::is_directory(folder, error)) refuse("there is no folder " + folder.string());
  if (access(folder.c_str(), W_OK) != 0) refuse("no permission to write there");
  return place;
}

void check_writable(const fs::path& path) { find_output(path); }

void check_distinct(const std::vector<NamedOutput>& outputs) {
  std::vector<std::pair<std::string, const NamedOutput*>> seen;
  for (const NamedOutput& output : outputs) {
    if (output.path.empty()) continue;
    const OutputPlace found = find_output(output.path);
    if (found.drops) continue;
    const std::string place = identity(found);
    for (const auto& [other, first] : seen)
      if (other == place)
        throw InputError(output.option + " " + output.path.string() + ": is the same file as " +
                         first->option + " " + first->path.string() + "; each output needs its own");
    seen.emplace_back(place, &output);
  }
}

void check_not_input(const std::vector<NamedOutput>& outputs, const fs::path& input,
                     const std::string& what) {
  std::error_code error;
  for (const NamedOutput& output : outputs)
    if (!output.path.empty() && fs::equivalent(output.path, input, error))
      throw InputError(output.option + " " + output.path.string() + ": is the same file as " + what);
}

void check_not_named_in(const std::vector<NamedOutput>& outputs, const fs::path& scene) {
  std::vector<NamedOutput> present;
  std::error_code error;
  for (const NamedOutput& output : outputs)
    if (!output.path.empty() && fs::is_regular_file(output.path, error)) present.push_back(output);
  if (present.empty()) return;
  check_not_input(present, scene, "the scene");
  // Any word of the text may be a file name: test each against the file system.
  std::ifstream text(scene);
  std::string word;
  const auto check = [&] {
    if (!word.empty() && word.size() < PATH_MAX)
      check_not_input(present, folder_of(scene) / word, word + ", which the scene names");
    word.clear();
  };
  bool quoted = false;
  for (char c = 0; text.get(c);) {
    const bool quote = c == '"' || c == '\'', space = c == ' ' || c == '\t' || c == '\r';
    if (quote) quoted = !quoted;
    if (c == '\n') quoted = false;
    if (quote || c == '\n' || (space && !quoted)) check();
    else word += c;
  }
  check();
}

PendingFile::PendingFile(fs::path path, Mark mark)
    : place_(find_output(path)), temporary_(temporary_for(place_, mark)) {}

PendingFile::~PendingFile() {
  if (!temporary_.empty()) remove();
}

void PendingFile::remove() {
  std::error_code ignored;
  fs::remove(temporary_, ignored);
  if (!place_.is_file) fs::remove(temporary_.parent_path(), ignored);
  temporary_.clear();
}

void PendingFile::commit() {
  const auto fail = [&](const std::string& why) {
    throw OutputError(place_.path.string() + ": writing failed" + why);
  };
  if (place_.is_file) {
    std::error_code error;
    const fs::file_status now = fs::symlink_status(place_.target, error);
    if (fs::exists(now) && !fs::is_regular_file(now)) fail(": there is something else than a file now");
    fs::rename(temporary_, place_.target, error);
    if (error) fail(": " + error.message());
    temporary_.clear();
  } else {
    OutputBuffer out(open_node(place_), false);
    std::ifstream in(temporary_, std::ios::binary);
    std::ostream to(&out);
    to << in.rdbuf() << std::flush;
    if (!in || !to || !out.close()) fail(cause(out.error()));
    remove();
  }
}

OutputFile::OutputFile(fs::path path) : place_(find_output(path)), stream_(nullptr) {
  int file = -1;
  if (place_.is_file) {
    file_.emplace(place_.path);
    file = open(file_->temporary().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  } else {
    file = open_node(place_);
  }
  if (file < 0) throw OutputError(place_.path.string() + ": cannot be written" + cause(errno));
  buffer_ = std::make_unique<OutputBuffer>(file, place_.is_file);
  stream_.rdbuf(buffer_.get());
}

OutputFile::~OutputFile() = default;

void OutputFile::checkpoint(std::string_view tail) {
  if (done_) return;
  tail_ = tail;
  if (!stream_ || !buffer_->mark(place_.is_file ? tail : std::string_view())) fail();
  checked_ = true;
}

void OutputFile::commit() {
  if (done_) return;
  if (!place_.is_file) stream_ << tail_;
  checkpoint(place_.is_file ? std::string(tail_) : std::string());
  if (!buffer_->close()) fail();
  if (file_) file_->commit();
  done_ = true;
}

void OutputFile::fail() {
  done_ = true;
  const int error = buffer_->error();
  const bool kept = file_ && checked_ && buffer_->restore() && buffer_->close();
  if (kept) file_->commit();
  throw OutputError(place_.path.string() + ": writing failed" + cause(error) +
                    (kept ? "; it has what was written until then" : ""));
}

}  // namespace stickslip
