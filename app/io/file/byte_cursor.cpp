#include "app/io/file/byte_cursor.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "app/io/file/memory.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

std::string shown(std::string_view word) {
  std::string text;
  for (const char c : word.substr(0, 24)) text += c >= ' ' && c <= '~' ? c : '?';
  return "'" + text + (word.size() > 24 ? "...'" : "'");
}

std::uintmax_t size_of_readable(const fs::path& file) {
  const auto refuse = [&](const std::string& what) { throw InputError(file.string() + ": " + what); };
  std::error_code error;
  if (fs::is_directory(file, error)) refuse("is a folder, not a file");
  if (!fs::exists(file, error)) refuse("no such file");
  if (!fs::is_regular_file(file, error)) refuse("is not a regular file");
  if (!std::ifstream(file, std::ios::binary)) refuse("cannot be opened: check its permissions");
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) refuse("cannot be read");
  if (size == 0) refuse("is empty");
  return size;
}

std::string read_bytes(const fs::path& file) {
  const std::uintmax_t size = size_of_readable(file);
  // Four times the length: the parsed result takes memory as well.
  if (const std::string shortage = memory_shortage(4.0 * static_cast<double>(size)); !shortage.empty())
    throw InputError(file.string() + ": " + shortage);
  std::string bytes(size, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(bytes.data(), static_cast<std::streamsize>(size));
  if (!stream) throw InputError(file.string() + ": cannot be read");
  return bytes;
}

void ByteCursor::skip_space() {
  while (at_ < bytes_.size() && is_space(bytes_[at_])) ++at_;
}

bool ByteCursor::ended() {
  skip_space();
  return at_ == bytes_.size();
}

bool ByteCursor::line_ended() {
  for (;;) {
    while (at_ < bytes_.size() && is_space(bytes_[at_]) && bytes_[at_] != '\n') ++at_;
    const std::string_view rest = bytes_.substr(at_);
    const std::size_t joint = rest.starts_with("\\\n") ? 2 : rest.starts_with("\\\r\n") ? 3 : 0;
    if (joint == 0) return rest.empty() || rest[0] == '\n' || rest[0] == '#';
    at_ += joint;
  }
}

std::string_view ByteCursor::line() {
  const std::size_t end = std::min(bytes_.find('\n', at_), bytes_.size());
  std::string_view text = bytes_.substr(at_, end - at_);
  at_ = std::min(end + 1, bytes_.size());
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

std::string_view ByteCursor::word() {
  skip_space();
  const std::size_t begin = at_;
  while (at_ < bytes_.size() && !is_space(bytes_[at_])) ++at_;
  return bytes_.substr(begin, at_ - begin);
}

double ByteCursor::number(const char* what) {
  std::string_view text = word();
  if (text.empty()) fail("the file ends where " + std::string(what) + " should be");
  const std::size_t begin = at_ - text.size();
  if (text.size() > 1 && text[0] == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument)
    fail_at(begin, shown(text) + " is no number; " + what + " should be here");
  // strtod handles out-of-range numbers: zero or infinity.
  return error == std::errc{} ? value : std::strtod(std::string(text).c_str(), nullptr);
}

std::int64_t ByteCursor::whole(const char* what, std::int64_t low, std::int64_t high) {
  const std::string_view text = word();
  if (text.empty()) fail("the file ends where " + std::string(what) + " should be");
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error != std::errc{} || value < low || value > high) {
    const std::string bounds = high == std::numeric_limits<std::int64_t>::max()
                                   ? "at least " + std::to_string(low)
                                   : "in [" + std::to_string(low) + ", " + std::to_string(high) + "]";
    fail_at(at_ - text.size(), shown(text) + " should be " + what + ", a whole number " + bounds);
  }
  return value;
}

void ByteCursor::expect(std::string_view wanted) {
  const std::string_view text = word();
  if (text == wanted) return;
  fail_at(at_ - text.size(), (text.empty() ? "the file ends" : shown(text) + " stands") + " where " +
                                 std::string(wanted) + " should be");
}

bool ByteCursor::skip_past(std::string_view text) {
  const std::size_t found = bytes_.find(text, at_);
  if (found == std::string_view::npos) return false;
  at_ = found + text.size();
  return true;
}

void ByteCursor::check_count(const char* what, std::uint64_t count, std::size_t least_bytes) const {
  // One byte of slack: the last word of a text needs no separator after it.
  if (count <= (remaining() + 1) / least_bytes) return;
  fail("says that " + std::to_string(count) + " " + what + " follow, but only " +
       std::to_string(remaining()) + " bytes do: is the file truncated?");
}

void ByteCursor::fail_at(std::size_t offset, const std::string& what) const {
  if (binary_) throw InputError(name_ + ": byte " + std::to_string(offset) + ": " + what);
  throw InputError(name_ + ":" + std::to_string(line_of(offset)) + ": " + what);
}

std::size_t ByteCursor::line_of(std::size_t offset) const {
  const auto end = bytes_.begin() + static_cast<std::ptrdiff_t>(offset);
  return static_cast<std::size_t>(std::count(bytes_.begin(), end, '\n')) + 1;
}

}  // namespace stickslip
