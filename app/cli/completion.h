// `stickslip completion`: scripts for shells, made from the options that the command line declares.
#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace stickslip {

/// Completes commands, options, choices, scenes, variants, solvers and parameters of `app`. The shell is
/// bash, zsh or fish.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace stickslip
