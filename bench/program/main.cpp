// stickslip-bench ARGUMENTS...: started by `stickslip bench ARGUMENTS...`, and with the argument `reproduce`
// in front by `stickslip reproduce ARGUMENTS...`.
#include <csignal>
#include <string_view>
#include <vector>

#include "bench/program/options.h"
#include "bench/program/reproduce/reproduce.h"

int main(int argc, char** argv) {
  // Exceeding the file size limit then fails as a write error, which has a message.
  std::signal(SIGXFSZ, SIG_IGN);
  const bool reproduce = argc > 1 && std::string_view(argv[1]) == "reproduce";
  std::vector<const char*> line{"stickslip"};
  if (!reproduce) line.push_back("bench");
  line.insert(line.end(), argv + 1, argv + argc);
  const int count = static_cast<int>(line.size());
  return reproduce ? stickslip::run_reproduce_cli(count, line.data())
                   : stickslip::run_bench_cli(count, line.data());
}
