// stickslip-bench ARGUMENTS...: started by `stickslip bench ARGUMENTS...`.
#include <csignal>
#include <vector>

#include "bench/program/options.h"

int main(int argc, char** argv) {
  // Exceeding the file size limit then fails as a write error, which has a message.
  std::signal(SIGXFSZ, SIG_IGN);
  std::vector<const char*> line{"stickslip", "bench"};
  line.insert(line.end(), argv + 1, argv + argc);
  return stickslip::run_bench_cli(static_cast<int>(line.size()), line.data());
}
