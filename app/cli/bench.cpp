// stickslip bench: starts the benchmark program, a separate binary.
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "app/cli/cli.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBenchProgram = "stickslip-bench";

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
  const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& folder : {beside, beside.parent_path() / "bench"}) {
    fs::path program = folder / kBenchProgram;
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  throw InputError(how_to_build(beside));
}

}  // namespace

int command_bench(int argc, const char* const* argv) {
  const std::string program = bench_program().string();
  std::vector<char*> line{const_cast<char*>(program.c_str())};
  for (int i = 0; i < argc; ++i) line.push_back(const_cast<char*>(argv[i]));
  line.push_back(nullptr);
  execv(program.c_str(), line.data());
  throw std::system_error(errno, std::generic_category(), program);
}

}  // namespace stickslip
