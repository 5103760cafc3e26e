// OutputBuffer: a stream buffer over a file descriptor that remembers why a write failed and can go back to
// the last whole state of the file. Used by output_file.cpp only.
#pragma once

#include <cstddef>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

namespace stickslip {

class OutputBuffer final : public std::streambuf {
 public:
  /// Takes over the open descriptor. `rewinds`: a regular file of its own, of which parts are written again.
  OutputBuffer(int file, bool rewinds);
  ~OutputBuffer() override;
  OutputBuffer(const OutputBuffer&) = delete;
  OutputBuffer& operator=(const OutputBuffer&) = delete;

  /// The file is whole with `tail` behind what was written; the next bytes replace the tail. False when
  /// writing failed. A tail needs a file that rewinds.
  bool mark(std::string_view tail);
  /// After a failure: the file as the last mark left it. Needs no space on the disk, since the bytes of the
  /// tail were there before.
  bool restore();
  /// False when something could not be written.
  bool close();
  /// Of the first write that failed (errno); 0: none.
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
  long long written_ = 0, whole_ = 0;  // bytes in the file; of them, those of the last mark without its tail
  std::string tail_;
};

}  // namespace stickslip
