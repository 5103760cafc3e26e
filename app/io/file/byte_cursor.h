// A walk through the bytes of a mesh file, as text or as binary numbers, whose complaints name the place.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "app/io/file/input_error.h"

namespace stickslip {

/// Its length. Throws InputError when it is missing, no regular file, not readable or empty.
std::uintmax_t size_of_readable(const std::filesystem::path& file);

/// The whole file. Throws InputError as `size_of_readable`, and when it would fill the memory.
std::string read_bytes(const std::filesystem::path& file);

/// A word of a file as a message shows it: in quotes, short, and without bytes that upset a terminal.
std::string shown(std::string_view word);

/// Bytes of the mark (U+FEFF in UTF-8) that some editors put before a text: 3 or 0.
constexpr std::size_t byte_order_mark(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
}

class ByteCursor {
 public:
  /// `name` is the file's in messages; `bytes` must outlive the cursor.
  ByteCursor(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  /// At the beginning of a text: moves behind the mark (U+FEFF in UTF-8) that some editors put there.
  void skip_byte_order_mark() { at_ += byte_order_mark(bytes_); }

  std::size_t offset() const { return at_; }
  std::size_t remaining() const { return bytes_.size() - at_; }
  void go_to(std::size_t offset) { at_ = offset; }
  /// From now on places are byte offsets; `swapped`: numbers have the other byte order.
  void set_binary(bool swapped) { binary_ = true, swapped_ = swapped; }
  void set_text() { binary_ = false; }

  /// Text: the rest of the line without its end; empty at the end of the file.
  std::string_view line();
  /// Text: the next word, empty at the end of the file. `what` is what a message calls it.
  std::string_view word();
  double number(const char* what);
  std::int64_t whole(const char* what, std::int64_t low, std::int64_t high);
  /// Text: whether only white space is left, which this skips; in the file, or before the line's end or
  /// comment (a backslash at the end joins the next line).
  bool ended();
  bool line_ended();
  /// Text: the next word, which must be this one.
  void expect(std::string_view word);
  /// Moves behind the next occurrence of `text`; false (and no move) when there is none.
  bool skip_past(std::string_view text);

  /// Binary: the next number.
  template <class T>
  requires std::integral<T> || std::floating_point<T> T binary(const char* what) {
    if (remaining() < sizeof(T)) fail("the file ends where " + std::string(what) + " should be");
    char raw[sizeof(T)];
    for (std::size_t i = 0; i < sizeof(T); ++i) raw[swapped_ ? sizeof(T) - 1 - i : i] = bytes_[at_ + i];
    at_ += sizeof(T);
    T value;
    std::memcpy(&value, raw, sizeof(T));
    return value;
  }

  /// Throws when `count` things of at least `least_bytes` each cannot follow.
  void check_count(const char* what, std::uint64_t count, std::size_t least_bytes) const;
  /// Throws InputError "file:line: what", or "file: byte N: what" for binary.
  [[noreturn]] void fail(const std::string& what) const { fail_at(at_, what); }
  [[noreturn]] void fail_at(std::size_t offset, const std::string& what) const;

 private:
  void skip_space();

  std::string_view bytes_;
  std::string name_;
  std::size_t at_ = 0;
  bool binary_ = false, swapped_ = false;
};

}  // namespace stickslip
