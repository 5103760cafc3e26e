// Cursor over the bytes of a mesh file, as text or binary numbers. Its errors give the place in the file.
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

/// Size of the file. Throws InputError when it is missing, not a regular file, not readable or empty.
std::uintmax_t size_of_readable(const std::filesystem::path& file);

/// Reads the whole file. Throws InputError as `size_of_readable` does, and when the file would fill the
/// memory.
std::string read_bytes(const std::filesystem::path& file);

/// A word of a file, formatted for a message: quoted, shortened, without bytes that disturb a terminal.
std::string shown(std::string_view word);

/// Length of the byte order mark (U+FEFF in UTF-8) at the start of a text: 3 or 0.
constexpr std::size_t byte_order_mark(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
}

class ByteCursor {
 public:
  /// `name` is the file's name in messages; `bytes` must outlive the cursor.
  ByteCursor(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  /// At the start of a text: skips the byte order mark (U+FEFF in UTF-8).
  void skip_byte_order_mark() { at_ += byte_order_mark(bytes_); }

  std::size_t offset() const { return at_; }
  std::size_t remaining() const { return bytes_.size() - at_; }
  void go_to(std::size_t offset) { at_ = offset; }
  /// Makes later messages give byte offsets; `swapped`: numbers have the other byte order.
  void set_binary(bool swapped) { binary_ = true, swapped_ = swapped; }
  void set_text() { binary_ = false; }

  /// Text: the rest of the line without its end; empty at the end of the file.
  std::string_view line();
  /// Text: the next word; empty at the end of the file. Messages call the word `what`.
  std::string_view word();
  double number(const char* what);
  std::int64_t whole(const char* what, std::int64_t low, std::int64_t high);
  /// Text: skips white space and returns whether it was all that was left, in the file or before the line's
  /// end or comment (a backslash at the end joins the next line).
  bool ended();
  bool line_ended();
  /// Text: reads the next word; throws unless it is `word`.
  void expect(std::string_view word);
  /// Moves behind the next occurrence of `text`; false, without a move, if there is none.
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

  /// Throws if the rest of the file is too short for `count` items of at least `least_bytes` each.
  void check_count(const char* what, std::uint64_t count, std::size_t least_bytes) const;
  /// Text: the line of an offset, counted from 1.
  std::size_t line_of(std::size_t offset) const;
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
