#include "tests/device/faults.h"

#include <cxxabi.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>

namespace stickslip::emulation {
namespace {

std::mutex mutex;
bool places = true;
std::vector<Fault>& all() {
  static std::vector<Fault> faults;
  return faults;
}

}  // namespace

std::uintptr_t load_address() {
  std::uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<std::uintptr_t*>(out) = info->dlpi_addr;
        return 1;  // the program itself comes first
      },
      &base);
  return base;
}

const char* name(FaultKind kind) {
  switch (kind) {
    case FaultKind::address:
      return "address";
    case FaultKind::unwritten:
      return "unwritten";
    case FaultKind::race:
      return "race";
    case FaultKind::barrier:
      return "barrier";
    case FaultKind::limit:
      return "limit";
    case FaultKind::capture:
      return "capture";
    case FaultKind::call:
      return "call";
    case FaultKind::host_access:
      return "host access";
    case FaultKind::trap:
      return "trap";
    case FaultKind::release:
      return "release";
  }
  return "?";
}

void report_fault(FaultKind kind, const std::string& text) {
  const std::lock_guard lock(mutex);
  all().push_back({kind, text});
  static std::set<std::string> printed;
  constexpr std::size_t kMostPrinted = 50;
  if (printed.size() < kMostPrinted && printed.insert(text).second)
    std::fprintf(stderr, "emulated device: %s: %s\n", name(kind), text.c_str());
}

const std::vector<Fault>& faults() { return all(); }
void forget_faults() {
  const std::lock_guard lock(mutex);
  all().clear();
}

namespace {
bool keeps_exit_code = false;
}
void keep_exit_code() { keeps_exit_code = true; }
void end_with_error_on_faults() {
  static_cast<void>(all());  // destroyed after this handler has run
  std::atexit([] {
    if (keeps_exit_code || all().empty()) return;
    std::fprintf(stderr, "emulated device: %zu faults\n", all().size());
    std::fflush(nullptr);
    _exit(4);
  });
}

void find_places(bool on) { places = on; }

std::string place_of(const void* address, bool is_return_address) {
  if (!places) return "?";
  static std::map<const void*, std::string> known;
  const auto found = known.find(address);
  if (found != known.end()) return found->second;
  const std::uintptr_t offset =
      reinterpret_cast<std::uintptr_t>(address) - load_address() - (is_return_address ? 1 : 0);
  char command[128];
  std::snprintf(command, sizeof command, "addr2line -f -C -i -e /proc/%d/exe %#zx 2>/dev/null", getpid(),
                offset);
  std::FILE* pipe = popen(command, "r");
  if (pipe == nullptr) return "?";
  // Pairs of lines, innermost call first. The machinery of launches says nothing about the caller.
  std::string text, fallback, function;
  char line[4096];
  for (bool is_function = true; std::fgets(line, sizeof line, pipe) != nullptr; is_function = !is_function) {
    std::string read(line);
    while (!read.empty() && read.back() == '\n') read.pop_back();
    if (is_function) {
      function = read.substr(0, 200);
      continue;
    }
    const std::size_t folder = std::min(read.rfind("/gpu/"), read.rfind("/tests/"));
    const std::string where = folder == std::string::npos ? read : read.substr(folder + 1);
    const bool machinery = where.starts_with("gpu/core/") || (where.starts_with("tests/device/") &&
                                                              where.find("_test.cu:") == std::string::npos);
    if (fallback.empty()) fallback = where + " in " + function;
    if (machinery) continue;
    text += (text.empty() ? "" : ", from ") + where;
  }
  pclose(pipe);
  return known[address] = text.empty() ? (fallback.empty() ? "?" : fallback) : text;
}

std::string kernel_name(const void* function) {
  char command[128];
  std::snprintf(command, sizeof command, "addr2line -f -e /proc/%d/exe %#zx 2>/dev/null", getpid(),
                reinterpret_cast<std::uintptr_t>(function) - load_address());
  std::FILE* pipe = popen(command, "r");
  if (pipe == nullptr) return "?";
  std::string mangled;
  for (int c = std::fgetc(pipe); c != EOF && c != '\n'; c = std::fgetc(pipe))
    mangled.push_back(static_cast<char>(c));
  pclose(pipe);
  int status = 0;
  char* plain = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? plain : mangled;
  std::free(plain);
  for (const char* part : {"void ", "stickslip::", "cuda::", "cub::", "emulation::", "detail::", "sweep_",
                           "(anonymous namespace)::", "launch_kernel<", "reduce_kernel<", "grid_kernel<",
                           "team_kernel<", "one_lane<", "double, ", "BelowCount<"})
    for (std::size_t at = name.find(part); at != std::string::npos && at < 400; at = name.find(part, at))
      name.erase(at, std::string(part).size());
  // Of kernels that begin with the type of a sum, what is summed.
  while (name.starts_with("Vec<") || name.starts_with("PcgSquares")) {
    const std::size_t comma = name.find(", ");
    if (comma == std::string::npos) break;
    name.erase(0, comma + 2);
  }
  name = name.substr(0, std::min<std::size_t>(name.find_first_of("(,'"), 60));
  for (const char* types : {"<thrust", "<unsigned"}) name = name.substr(0, name.find(types));
  while (name.ends_with('<')) name.pop_back();
  // Brackets of what was removed above.
  while (name.ends_with('>') &&
         std::count(name.begin(), name.end(), '<') < std::count(name.begin(), name.end(), '>')) {
    name.pop_back();
    while (name.ends_with(' ')) name.pop_back();
  }
  return name;
}

}  // namespace stickslip::emulation
