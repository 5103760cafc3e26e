// Examples of command lines, which end the help of each command. tests/install runs them.
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace stickslip {

/// Appends to the footer of every command of `app` its examples.
void add_examples(CLI::App& app);

}  // namespace stickslip
