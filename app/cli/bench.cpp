// Commands that another program runs: `stickslip bench`, and commands with `--backend emulated`.
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/cli/cli.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBenchProgram = "stickslip-bench";
constexpr std::string_view kEmulated = "emulated";

fs::path own_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

/// Hint for a missing program: the command that builds it, in a build folder.
std::string how_to_build(const fs::path& beside) {
  const fs::path build = beside.parent_path();
  const bool built_here = fs::exists(build / "CMakeCache.txt");
  return "the benches are a program of their own, " + std::string(kBenchProgram) +
         ", which is not beside this one: " +
         (built_here ? "cmake --build " + build.string() + " --target " + kBenchProgram
                     : "install the package " + std::string(kBenchProgram) +
                           ", or in the source tree: cmake --preset release && cmake --build --preset "
                           "release --target " +
                           kBenchProgram);
}

/// Path beside this program or, in a build folder, in the folder of the benchmarks.
fs::path bench_program() {
  const fs::path beside = own_folder();
  for (const fs::path& folder : {beside, beside.parent_path() / "bench"}) {
    fs::path program = folder / kBenchProgram;
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  throw InputError(how_to_build(beside));
}

/// A program of the emulated CUDA device, in a build folder.
std::string device_program(const char* name) {
  const fs::path program = own_folder().parent_path() / "tests/device" / name;
  if (access(program.c_str(), X_OK) != 0)
    throw InputError(std::string("this build has no emulated device (no ") + program.string() +
                     "): it needs the tests, the program and the CUDA Toolkit, as in cmake --preset release");
  return program.string();
}

/// Replaces this program.
[[noreturn]] void start(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> line{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) line.push_back(const_cast<char*>(argument.c_str()));
  line.push_back(nullptr);
  execv(program.c_str(), line.data());
  throw std::system_error(errno, std::generic_category(), program);
}

}  // namespace

void command_bench(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "device-model")
    start(device_program("device_model"), {arguments.begin() + 1, arguments.end()});
  start(bench_program().string(), arguments);
}

void start_on_emulated_device(std::vector<std::string> arguments) {
  bool found = false;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string_view option = "--backend";
    std::string& word = arguments[i];
    std::size_t value = std::string::npos;
    if (word.starts_with(std::string(option) + "=")) value = option.size() + 1;
    else if (i > 0 && arguments[i - 1] == option) value = 0;
    if (value == std::string::npos || std::string_view(word).substr(value) != kEmulated) continue;
    word.replace(value, std::string::npos, "cuda");
    found = true;
  }
  if (found) start(device_program("emulated_stickslip"), arguments);
}

}  // namespace stickslip
