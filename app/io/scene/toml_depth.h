// What is checked of a TOML text before the parser sees it.
#pragma once

#include <filesystem>
#include <string_view>

namespace stickslip {

/// The parser and its tables recurse once for every part of a dotted key and every bracket: a deep text would
/// end the stack. Throws InputError "file:line: what" for keys of more than 16 parts and brackets in more
/// than 32 others; a scene has 3 of either.
void check_toml_depth(std::string_view text, const std::filesystem::path& file);

}  // namespace stickslip
