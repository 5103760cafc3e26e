#include "app/io/file/temporary_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>
#include <system_error>

#include "app/io/file/output_file.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStem = "stickslip-";

/// The process in the name of a temporary folder, "stickslip-PID-XXXXXX"; 0: it is no such name.
pid_t maker_of(const std::string& name) {
  if (!name.starts_with(kStem)) return 0;
  pid_t maker = 0;
  const char *first = name.data() + kStem.size(), *last = name.data() + name.size();
  const auto [end, error] = std::from_chars(first, last, maker);
  return error == std::errc() && maker > 0 && last - end == 7 && *end == '-' ? maker : 0;
}

}  // namespace

int remove_stale_folders(const fs::path& place) {
  int removed = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(place, error)) {
    const pid_t maker = maker_of(entry.path().filename().string());
    struct stat info {};
    const bool is_own = maker > 0 && lstat(entry.path().c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
                        info.st_uid == geteuid();
    if (!is_own || std::time(nullptr) - info.st_mtime < kStaleAfter) continue;
    if (kill(maker, 0) == 0 || errno != ESRCH) continue;
    std::error_code failed;
    fs::remove_all(entry.path(), failed);
    removed += !failed;
  }
  return removed;
}

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  std::string name = (place / (std::string(kStem) + std::to_string(getpid()) + "-XXXXXX")).string();
  if (error || mkdtemp(name.data()) == nullptr)
    throw OutputError("there is no folder for temporary files that can be written: set TMPDIR");
  path_ = name;
  [[maybe_unused]] static const int once = remove_stale_folders(place);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace stickslip
