// Checks the nesting depth of a TOML text before parsing.
#pragma once

#include <filesystem>
#include <string_view>

namespace stickslip {

/// The parser and its tables recurse for every part of a dotted key and every bracket: deep nesting would
/// overflow the stack. Throws InputError "file:line: what" for keys of more than 16 parts and for brackets
/// inside more than 32 others. A scene has at most 3 of either.
void check_toml_depth(std::string_view text, const std::filesystem::path& file);

}  // namespace stickslip
