// stickslip_kernel_bench [--backend cpu|cuda] [--threads N] [--json FILE] [--full]
// [NAME...]: the library's benches.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "bench/bench.h"

namespace {

int run(const std::vector<std::string>& arguments) {
  using namespace stickslip;
  Backend backend = choose_backend("auto");
  int threads = 0;
  bool full = false;
  std::string json;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    if (!option.starts_with("--")) {
      names.push_back(option);
      continue;
    }
    if (option == "--full") {
      full = true;
      continue;
    }
    if (++i == arguments.size()) throw std::invalid_argument(option + " needs a value");
    if (option == "--backend") backend = choose_backend(arguments[i]);
    else if (option == "--threads") threads = std::atoi(arguments[i].c_str());
    else if (option == "--json") json = arguments[i];
    else throw std::invalid_argument("unknown option " + option);
  }
  if (names.empty()) names = list_benches();
  std::string all;
  for (const std::string& name : names) {
    const BenchResult result = run_bench(name, backend, threads, full);
    std::fputs(bench_text(result).c_str(), stdout);
    std::fflush(stdout);
    all += (all.empty() ? "[" : ",\n") + bench_json(result);
  }
  if (json.empty()) return 0;
  std::ofstream file(json);
  file << all << "]\n";
  file.close();
  if (!file) throw std::runtime_error("cannot write " + json);
  return 0;
}

}  // namespace

int main(int count, char** values) {
  try {
    return run({values + 1, values + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stickslip_kernel_bench: %s\n", error.what());
    return 2;
  }
}
