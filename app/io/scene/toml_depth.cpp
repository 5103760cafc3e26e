#include "app/io/scene/toml_depth.h"

#include <algorithm>
#include <string>

#include "app/io/file/input_error.h"

namespace stickslip {
namespace {

constexpr int kMostParts = 16, kMostBrackets = 32;

/// Position after the closing quotes of the string that begins at `at`. An unterminated string, which the
/// parser refuses, ends with its line or the text.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool basic = quote == '"';  // a backslash escapes the next character
  const std::string_view triple = basic ? "\"\"\"" : "\'\'\'";
  const bool lines = text.substr(at).starts_with(triple);
  std::size_t i = at + (lines ? 3 : 1);
  for (; i < text.size(); ++i) {
    if (basic && text[i] == '\\') {
      ++i;
    } else if (lines) {
      if (!text.substr(i).starts_with(triple)) continue;
      i += 3;
      for (int own = 0; own < 2 && i < text.size() && text[i] == quote; ++own) ++i;  // of the string's text
      return i;
    } else if (text[i] == quote) {
      return i + 1;
    } else if (text[i] == '\n') {
      return i;
    }
  }
  return text.size();
}

}  // namespace

void check_toml_depth(std::string_view text, const std::filesystem::path& file) {
  int line = 1, dots = 0, brackets = 0;
  const auto refuse = [&](const std::string& what) {
    throw InputError(file.string() + ":" + std::to_string(line) + ": " + what);
  };
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      const std::size_t end = end_of_string(text, i);
      for (; i < end; ++i) line += text[i] == '\n';
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '.') {
      // Dots in numbers do not matter: a number has only one.
      if (++dots >= kMostParts)
        refuse("a key of more than " + std::to_string(kMostParts) + " parts: tables may not be so deep");
    } else if (c == '[' || c == '{') {
      if (++brackets > kMostBrackets)
        refuse("more than " + std::to_string(kMostBrackets) + " brackets inside each other");
    } else if ((c == ']' || c == '}') && brackets > 0) {
      --brackets;
    }
    if (c == '\n' || c == '=' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}') dots = 0;
    line += c == '\n';
    ++i;
  }
}

}  // namespace stickslip
