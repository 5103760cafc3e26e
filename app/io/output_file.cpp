#include "app/io/output_file.h"

#include <unistd.h>

#include "app/io/input_error.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

void check_writable(const fs::path& path) {
  std::error_code error;
  const fs::path folder = folder_of(path);
  if (path.filename().empty() || fs::is_directory(path, error))
    throw InputError(path.string() + ": is a folder, not a file");
  if (!fs::is_directory(folder, error))
    throw InputError(path.string() + ": there is no folder " + folder.string());
  if (access(folder.c_str(), W_OK) != 0) throw InputError(path.string() + ": no permission to write there");
}

PendingFile::PendingFile(fs::path path) : path_(std::move(path)) {
  check_writable(path_);
  temporary_ = path_;
  temporary_ += ".part" + std::to_string(getpid());
}

PendingFile::~PendingFile() {
  if (temporary_.empty()) return;
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void PendingFile::commit() {
  fs::rename(temporary_, path_);
  temporary_.clear();
}

OutputFile::OutputFile(fs::path path)
    : file_(std::move(path)), stream_(file_.temporary(), std::ios::binary | std::ios::trunc) {
  if (!stream_) throw InputError(file_.path().string() + ": cannot be written");
}

void OutputFile::commit() {
  stream_.close();
  if (!stream_) throw std::runtime_error(file_.path().string() + ": writing failed");
  file_.commit();
}

}  // namespace stickslip
