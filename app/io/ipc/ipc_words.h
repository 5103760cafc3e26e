// The lines and words of an IPC scene script.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/io/file/input_error.h"
#include "gpu/math/vec.h"

namespace stickslip {

struct IpcLine {
  int number = 0;
  std::vector<std::string> words;
};

/// Splits the text into lines, without comments and empty lines. A lone \ at the end of a line joins the next
/// one.
std::vector<IpcLine> split_ipc_lines(const std::string& text);

/// Reads the words of one command. The reading functions throw InputError "file:line: command: what is
/// wrong"; messages call the word `what`.
class IpcWords {
 public:
  /// Starts after the first `first` words. File and line must outlive this object.
  IpcWords(const std::filesystem::path& file, const IpcLine& line, std::string command, std::size_t first)
      : file_(file), line_(line), command_(std::move(command)), next_(first) {}

  int line() const { return line_.number; }
  const std::string& command() const { return command_; }
  bool done() const { return next_ >= line_.words.size(); }
  /// The words not read yet.
  std::string rest() const;
  void skip() { next_ = line_.words.size(); }

  std::string word(const char* what);
  double number(const char* what, double low = -1e300, double high = 1e300);
  int whole(const char* what, int low, int high);
  Vec<double, 3> vec3(const char* what);
  bool at_number() const;
  [[noreturn]] void fail(const std::string& what) const;

 private:
  const std::filesystem::path& file_;
  const IpcLine& line_;
  std::string command_;
  std::size_t next_;
};

}  // namespace stickslip
