#include "app/io/ipc/ipc_words.h"

#include <charconv>
#include <cmath>
#include <sstream>

#include "app/io/file/byte_cursor.h"

namespace stickslip {

std::vector<IpcLine> split_ipc_lines(const std::string& text) {
  std::vector<IpcLine> lines;
  std::istringstream stream(text.substr(byte_order_mark(text)));
  std::string row;
  bool joined = false;
  for (int number = 1; std::getline(stream, row); ++number) {
    if (!joined) lines.push_back({number, {}});
    joined = false;
    bool comment = false;
    std::istringstream words(row);
    for (std::string word; words >> word; joined = word == "\\") {
      comment = comment || word[0] == '#';
      if (!comment && word != "\\") lines.back().words.push_back(word);
    }
  }
  std::erase_if(lines, [](const IpcLine& line) { return line.words.empty(); });
  return lines;
}

std::string IpcWords::rest() const {
  std::string text;
  for (std::size_t i = next_; i < line_.words.size(); ++i) text += (text.empty() ? "" : " ") + line_.words[i];
  return text;
}

std::string IpcWords::word(const char* what) {
  if (done()) fail(std::string("ends where ") + what + " should be");
  return line_.words[next_++];
}

double IpcWords::number(const char* what, double low, double high) {
  const std::string text = word(what);
  double value = 0;
  const char* const end = text.data() + text.size();
  const char* const begin = text.data() + (text[0] == '+');
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end)
    fail(shown(text) + " is no number, and " + what + " should be one");
  if (!(value >= low && value <= high)) {
    std::ostringstream range;
    range << what << " = " << text << " is out of range [" << low << ", " << high << "]";
    fail(range.str());
  }
  return value;
}

int IpcWords::whole(const char* what, int low, int high) {
  const double value = number(what, low, high);
  if (value != std::floor(value)) fail(std::string(what) + " must be a whole number");
  return static_cast<int>(value);
}

Vec<double, 3> IpcWords::vec3(const char* what) {
  Vec<double, 3> v{};
  for (int c = 0; c < 3; ++c) v[c] = number(what);
  return v;
}

bool IpcWords::at_number() const {
  if (done()) return false;
  const char c = line_.words[next_][0];
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.';
}

void IpcWords::fail(const std::string& what) const {
  throw InputError(file_.string() + ":" + std::to_string(line_.number) + ": " + command_ + ": " + what);
}

}  // namespace stickslip
