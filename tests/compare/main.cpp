// stickslip_compare: checks that two backends give the same results for the shipped scenes, and that one
// backend repeats its results.
#include <chrono>
#include <cstdio>
#include <iostream>
#include <limits>
#include <optional>
#include <set>

#include "gpu/core/real.h"
#include "tests/compare/compare_runs.h"
#include "tests/compare/order_cost.h"

namespace stickslip::compare {
namespace {

constexpr const char* usage =
    "usage: stickslip_compare [options] [SCENE...]   default: every shipped scene\n"
    "  --first R --second R  cpu, cpu:THREADS or cuda; default: cpu against cuda\n"
    "  --steps N             whose positions are compared; default 5\n"
    "  --then N              further steps, after which energies and contacts are compared; default 0\n"
    "  --nudge E             start the second from E sizes of the scene away: what rounding grows to\n"
    "  --runs N              instead: N runs of each runner, all of the same bits\n"
    "  --order-cost R        instead: what sums in a fixed order cost there, against atomics\n"
    "  --brief               few iterations of Newton's method and PCG: for checked runs\n"
    "  --limit S             start no scene after S seconds\n"
    "  --list                the shipped scenes\n"
    "exit code: 0 they agree, 1 they do not, 2 bad usage, 3 a runner's device does not answer\n";

struct Options {
  Runner first{"cpu", Backend::cpu, 0}, second{"cuda", Backend::cuda, 0};
  Lengths lengths;
  int runs = 0;
  double limit = 1e9;
  std::optional<Runner> order_cost;
  bool list = false, brief = false;
  std::vector<std::string> scenes;
};

double number(const std::string& option, const std::string& text, double low) {
  try {
    std::size_t used = 0;
    const double value = std::stod(text, &used);
    if (used == text.size() && value >= low) return value;
  } catch (const std::exception&) {
  }
  throw InputError(option + " " + text + ": must be a number of at least " + std::to_string(low));
}

Options parse(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--list") {
      options.list = true;
      continue;
    }
    if (word == "--brief") {
      options.brief = true;
      continue;
    }
    if (word.rfind("--", 0) != 0) {
      options.scenes.push_back(word);
      continue;
    }
    static const std::set<std::string> known{"--order-cost", "--first", "--second", "--steps",
                                             "--then",       "--nudge", "--runs",   "--limit"};
    if (!known.count(word) || i + 1 == words.size())
      throw InputError(word + (known.count(word) ? ": needs a value" : ": unknown option"));
    const std::string& value = words[++i];
    if (word == "--first") options.first = parse_runner(value);
    if (word == "--second") options.second = parse_runner(value);
    if (word == "--order-cost") options.order_cost = parse_runner(value);
    if (word == "--steps") options.lengths.steps = static_cast<int>(number(word, value, 1));
    if (word == "--then") options.lengths.then = static_cast<int>(number(word, value, 0));
    if (word == "--nudge") options.lengths.nudge = number(word, value, 0);
    if (word == "--runs") options.runs = static_cast<int>(number(word, value, 2));
    if (word == "--limit") options.limit = number(word, value, 0);
  }
  if (options.scenes.empty())
    for (const SceneInfo& scene : list_scenes()) options.scenes.push_back(scene.name);
  return options;
}

bool is_present(const Runner& runner) {
  for (const BackendInfo& info : list_backends())
    if (info.backend == runner.backend && !info.available) {
      std::cerr << "stickslip_compare: " << info.name << ": " << info.reason << "\n";
      return false;
    }
  return true;
}

/// Prints one row; true if the scene passes.
bool compare_scene(const Options& options, const Scene& scene) {
  const Outcome o = compare(scene, options.first, options.second, options.lengths);
  const double steps = options.lengths.steps + options.lengths.then;
  std::string note = o.fault;
  if (o.by_rounding > 0) {
    char text[64];
    std::snprintf(text, sizeof text, "%sby rounding alone %.1e", note.empty() ? "" : "; ", o.by_rounding);
    note += text;
  }
  std::printf("%-26s %-6s %9.1e %9.1e %6d %6d %7ld %7ld %8.1e %9.1f %9.1f  %s\n", scene.name.c_str(),
              o.fault.empty() ? "good" : "FAILED", o.distance, o.tolerance, o.first_contacts,
              o.second_contacts, o.first_iterations, o.second_iterations, o.energy_apart,
              1e3 * o.first_seconds / steps, 1e3 * o.second_seconds / steps, note.c_str());
  return o.fault.empty();
}

bool hash_scene(const Options& options, const Scene& scene) {
  std::set<std::uint64_t> hashes;
  for (const Runner& runner : {options.first, options.second})
    for (int i = 0; i < options.runs; ++i) {
      // Two backends need not agree bitwise.
      if (runner.backend != options.first.backend && i == 0 && hashes.size() == 1) hashes.clear();
      hashes.insert(hash_run(scene, runner, options.lengths.steps));
    }
  std::printf("%-26s %-6s", scene.name.c_str(), hashes.size() == 1 ? "good" : "FAILED");
  for (const std::uint64_t hash : hashes) std::printf(" %016lx", static_cast<unsigned long>(hash));
  std::printf("\n");
  return hashes.size() == 1;
}

/// Requires that both sums agree up to rounding; otherwise the measurement is invalid.
bool print_order_cost(const Runner& runner) {
  constexpr int kCells = 40;
#ifdef STICKSLIP_HAS_CUDA
  const OrderCost cost =
      runner.backend == Backend::cuda ? cuda::order_cost(kCells, 0) : cpu::order_cost(kCells, runner.threads);
#else
  const OrderCost cost = cpu::order_cost(kCells, runner.threads);
#endif
  const bool good = cost.apart < 1e3 * std::numeric_limits<Real>::epsilon();
  std::printf(
      "sums %s in a fixed order %.3f ms, by atomics %.3f ms (%.2f of them); %zu corners of %zu nodes, "
      "ordered in %.3f ms; "
      "apart by %.1e\n",
      good ? "good" : "FAILED", 1e3 * cost.gather, 1e3 * cost.atomics, cost.gather / cost.atomics,
      cost.corners, cost.nodes, 1e3 * cost.order, cost.apart);
  return good;
}

void print_head(const Options& options) {
  if (options.runs > 0) {
    std::printf("%d runs of %s and %s, %d steps each\n", options.runs, options.first.text.c_str(),
                options.second.text.c_str(), options.lengths.steps);
    return;
  }
  std::printf("%d steps on %s and %s, and %d more\n", options.lengths.steps, options.first.text.c_str(),
              options.second.text.c_str(), options.lengths.then);
  std::printf("%-26s %-6s %9s %9s %13s %15s %8s %19s\n", "scene", "", "apart", "allowed", "contacts",
              "iterations", "energy", "ms per step");
}

int run(const std::vector<std::string>& words) {
  const Options options = parse(words);
  if (options.list) {
    for (const SceneInfo& scene : list_scenes()) std::printf("%s\n", scene.name.c_str());
    return 0;
  }
  if (options.order_cost) {
    if (!is_present(*options.order_cost)) return 3;
    return print_order_cost(*options.order_cost) ? 0 : 1;
  }
  if (!is_present(options.first) || !is_present(options.second)) return 3;
  const auto start = std::chrono::steady_clock::now();
  int failed = 0, left = 0;
  print_head(options);
  for (const std::string& name : options.scenes) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > options.limit) {
      std::printf("%-26s not run: the time is up\n", name.c_str());
      ++left;
      continue;
    }
    try {
      Scene scene = load_scene(name);
      settle_for_comparison(scene);
      if (options.brief) make_brief(scene);
      failed += !(options.runs > 0 ? hash_scene(options, scene) : compare_scene(options, scene));
    } catch (const InputError&) {
      throw;
    } catch (const std::exception& error) {
      std::printf("%-26s FAILED %s\n", name.c_str(), error.what());
      ++failed;
    }
    std::fflush(stdout);
  }
  std::printf("%zu scenes, %d failed, %d not run\n", options.scenes.size(), failed, left);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace stickslip::compare

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && (words[0] == "--help" || words[0] == "-h"))
    return std::fputs(stickslip::compare::usage, stdout), 0;
  try {
    return stickslip::compare::run(words);
  } catch (const stickslip::InputError& error) {
    std::cerr << "stickslip_compare: " << error.what() << "\n" << stickslip::compare::usage;
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "stickslip_compare: " << error.what() << "\n";
    return 1;
  }
}
