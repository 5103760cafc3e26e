// The command `stickslip replay`.
#pragma once

#include <string>

#include "app/cli/cli.h"

namespace stickslip {

struct ReplayCommand {
  std::string journal, backend = "auto";
  int threads = 0;
  bool verify = false, quiet = false;
};

/// Declares the arguments of `replay`.
CLI::App* add_replay(CLI::App& app, ReplayCommand& options);
/// Does again what a journal, or that of a bundle, says. Returns exit_good; exit_failed when a step failed
/// that did not fail then, and with --verify when a state differs from the journal's.
int command_replay(const ReplayCommand& options, const EngineFactory& factory);

}  // namespace stickslip
