// OutputBuffer: a stream buffer over a file descriptor. It stores the error of a failed write and can restore
// the last complete state of the file. Used by output_file.cpp only.
#pragma once

#include <cstddef>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

namespace stickslip {

class OutputBuffer final : public std::streambuf {
 public:
  /// Takes over the open descriptor. `rewinds`: a regular file of its own, parts of which are overwritten.
  OutputBuffer(int file, bool rewinds);
  ~OutputBuffer() override;
  OutputBuffer(const OutputBuffer&) = delete;
  OutputBuffer& operator=(const OutputBuffer&) = delete;

  /// Marks the file as complete with `tail` after the bytes so far; the next bytes overwrite the tail. False
  /// when writing failed. A tail requires a file that rewinds.
  bool mark(std::string_view tail);
  /// After a failure: restores the file to the last mark. Needs no space on the disk, because the tail was
  /// written before.
  bool restore();
  /// False when a write failed.
  bool close();
  /// errno of the first failed write; 0: none.
  int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override;
  int sync() override;

 private:
  bool write(const char* bytes, std::size_t count);

  int file_;
  bool rewinds_;
  int error_ = 0;
  std::vector<char> bytes_;
  long long written_ = 0, whole_ = 0;  // bytes in the file; bytes at the last mark, without the tail
  std::string tail_;
};

}  // namespace stickslip
