// stickslip-bench ARGUMENTS...: what `stickslip bench ARGUMENTS...` starts.
#include <csignal>
#include <vector>

#include "bench/program/options.h"

int main(int argc, char** argv) {
  // A file above the limit of its size is an error of the write, which has a message.
  std::signal(SIGXFSZ, SIG_IGN);
  std::vector<const char*> line{"stickslip", "bench"};
  line.insert(line.end(), argv + 1, argv + argc);
  return stickslip::run_bench_cli(static_cast<int>(line.size()), line.data());
}
