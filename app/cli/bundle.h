// The command `stickslip bundle`.
#pragma once

#include <string>

#include "app/cli/cli.h"

namespace stickslip {

struct BundleCommand {
  std::string file, extract;  // extract: a folder; empty: nothing is unpacked
};

/// Declares the arguments of `bundle`.
CLI::App* add_bundle(CLI::App& app, BundleCommand& options);
/// Prints what is in a bundle, and unpacks it on request.
int command_bundle(const BundleCommand& options);

}  // namespace stickslip
