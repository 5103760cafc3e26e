#include "app/io/file/input_error.h"

#include <algorithm>

namespace stickslip {
namespace {

constexpr std::size_t kLongestWord = 300, kWordEnd = 100, kLongestMessage = 6000;

constexpr std::string_view kGap = "...";

/// Whether the byte at `at` continues a UTF-8 character.
bool is_inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0u) == 0x80u;
}

/// The first and the last bytes of a text, at most `first` and `last`, in whole characters.
std::string both_ends(std::string_view text, std::size_t first, std::size_t last) {
  std::size_t from = text.size() - last;
  while (first > 0 && is_inside_character(text, first)) --first;
  while (is_inside_character(text, from)) ++from;
  return std::string(text.substr(0, first)).append(kGap).append(text.substr(from));
}

}  // namespace

std::string shortened(std::string_view message) {
  constexpr std::string_view spaces = " \t\r\n";
  std::string text;
  for (std::size_t at = 0; at < message.size() && text.size() <= kLongestMessage;) {
    const std::size_t end = std::min(message.find_first_of(spaces, at), message.size());
    const std::string_view word = message.substr(at, end - at);
    if (word.size() <= kLongestWord) text += word;
    else text += both_ends(word, kLongestWord - kWordEnd - kGap.size(), kWordEnd);
    if (end < message.size()) text += message[end];
    at = end + 1;
  }
  if (text.size() > kLongestMessage) text = both_ends(text, kLongestMessage - kGap.size(), 0);
  return text;
}

}  // namespace stickslip
