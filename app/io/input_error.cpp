#include "app/io/input_error.h"

#include <algorithm>

namespace stickslip {
namespace {

constexpr std::size_t kLongestWord = 300, kWordEnd = 100, kLongestMessage = 6000;

}  // namespace

std::string shortened(std::string_view message) {
  constexpr std::string_view spaces = " \t\r\n";
  std::string text;
  for (std::size_t at = 0; at < message.size() && text.size() <= kLongestMessage;) {
    const std::size_t end = std::min(message.find_first_of(spaces, at), message.size());
    const std::string_view word = message.substr(at, end - at);
    if (word.size() <= kLongestWord) text += word;
    else
      text.append(word.substr(0, kLongestWord - kWordEnd))
          .append("...")
          .append(word.substr(word.size() - kWordEnd));
    if (end < message.size()) text += message[end];
    at = end + 1;
  }
  if (text.size() > kLongestMessage) text.append("...");
  return text;
}

}  // namespace stickslip
