// `stickslip reproduce`: its arguments, and its list. The runs are in bench/program/reproduce.
#pragma once

#include <string>
#include <vector>

#include "app/io/claims/claims.h"

namespace CLI {
class App;
}  // namespace CLI

namespace stickslip {

struct ReproduceOptions {
  std::vector<std::string> names;  // of claims or papers; empty: all claims that have a run
  bool list = false, json = false, quick = false;
  std::string out = "reproduction", backend = "auto";
  int threads = 0;
};

CLI::App* add_reproduce(CLI::App& app, ReproduceOptions& options);

/// Checks the names, prints the list if it is asked for and returns exit_good; else starts the benchmark
/// program with `arguments`, those after `stickslip`, in place of this one. Throws InputError.
int command_reproduce(const ReproduceOptions& options, const std::vector<std::string>& arguments);

/// Whether the options ask for the list, which is then printed. Throws InputError for --json without --list
/// and for names with it.
bool listed_claims(const std::vector<ClaimedPaper>& papers, const ReproduceOptions& options);

/// All claims by paper, those without a run with the reason; with options.json one JSON document.
void list_claims(const std::vector<ClaimedPaper>& papers, bool json);

}  // namespace stickslip
