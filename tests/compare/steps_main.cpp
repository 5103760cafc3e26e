// stickslip_steps [--backend cpu|cuda] [--threads N] [--full] [--warm N] [--steps N] [--json FILE]
// [SCENE...]: `stickslip bench steps` without the program, for machines with only a compiler.
#include <cstdio>
#include <fstream>
#include <iostream>

#include "bench/program/bench_steps.h"

namespace {

int whole(const std::string& option, const std::string& text) {
  std::size_t used = 0;
  const int number = std::stoi(text, &used);
  if (used != text.size() || number < 0) throw std::invalid_argument(option + " " + text + ": not a number");
  return number;
}

int run(const std::vector<std::string>& words) {
  using namespace stickslip;
  StepBenchOptions options;
  std::string backend = "auto", json;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with("--")) {
      options.scenes.push_back(word);
      continue;
    }
    if (word == "--full") {
      options.full = true;
      continue;
    }
    if (++i == words.size()) throw std::invalid_argument(word + " needs a value");
    if (word == "--backend") backend = words[i];
    else if (word == "--threads") options.threads = whole(word, words[i]);
    else if (word == "--warm") options.warm = whole(word, words[i]);
    else if (word == "--steps") options.steps = std::max(1, whole(word, words[i]));
    else if (word == "--json") json = words[i];
    else throw std::invalid_argument("unknown option " + word);
  }
  const Backend chosen = choose_backend(backend);
  for (const BackendInfo& info : list_backends()) {
    if (info.backend != chosen) continue;
    if (!info.available)
      throw std::runtime_error("backend " + info.name + " is not available: " + info.reason);
    const BenchResult result = bench_sized_steps(info, options, make_engine);
    std::fputs(bench_text(result).c_str(), stdout);
    if (json.empty()) return 0;
    std::ofstream file(json);
    file << "[" << bench_json(result) << "]\n";
    file.close();
    if (!file) throw std::runtime_error("cannot write " + json);
  }
  return 0;
}

}  // namespace

int main(int count, char** values) {
  try {
    return run({values + 1, values + count});
  } catch (const std::exception& error) {
    std::cerr << "stickslip_steps: " << error.what() << "\n";
    return 2;
  }
}
