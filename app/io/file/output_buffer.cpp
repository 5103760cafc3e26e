#include "app/io/file/output_buffer.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace stickslip {

OutputBuffer::OutputBuffer(int file, bool rewinds) : file_(file), rewinds_(rewinds), bytes_(1 << 16) {
  setp(bytes_.data(), bytes_.data() + bytes_.size());
  if (file_ < 0) error_ = errno;
}

OutputBuffer::~OutputBuffer() {
  if (file_ >= 0) ::close(file_);
}

bool OutputBuffer::write(const char* bytes, std::size_t count) {
  if (error_ != 0) return false;
  while (count > 0) {
    const ssize_t done = ::write(file_, bytes, count);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      error_ = done < 0 ? errno : EIO;
      return false;
    }
    bytes += done;
    written_ += done;
    count -= static_cast<std::size_t>(done);
  }
  return true;
}

int OutputBuffer::sync() {
  const bool written = write(pbase(), static_cast<std::size_t>(pptr() - pbase()));
  setp(bytes_.data(), bytes_.data() + bytes_.size());
  return written ? 0 : -1;
}

OutputBuffer::int_type OutputBuffer::overflow(int_type c) {
  if (sync() != 0) return traits_type::eof();
  if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
  return traits_type::not_eof(c);
}

/// If the buffer holds all bytes before the tail, one system call writes both.
bool OutputBuffer::mark(std::string_view tail) {
  sputn(tail.data(), static_cast<std::streamsize>(tail.size()));
  if (sync() != 0) return false;
  whole_ = written_ - static_cast<long long>(tail.size());
  tail_ = tail;
  if (!rewinds_ || tail.empty()) return true;
  written_ = whole_;
  if (lseek(file_, whole_, SEEK_SET) == whole_) return true;
  error_ = errno;
  return false;
}

bool OutputBuffer::restore() {
  if (!rewinds_ || lseek(file_, whole_, SEEK_SET) != whole_) return false;
  const int first = std::exchange(error_, 0);
  // The tail first: its space is already allocated. Truncating first could give that space to another
  // program.
  const bool written =
      write(tail_.data(), tail_.size()) && ftruncate(file_, whole_ + static_cast<off_t>(tail_.size())) == 0;
  error_ = first;
  return written;
}

bool OutputBuffer::close() {
  const bool written = error_ != 0 || sync() == 0;  // the earlier failure has been reported
  const bool closed = ::close(std::exchange(file_, -1)) == 0;
  if (!closed && error_ == 0) error_ = errno;
  return written && closed;
}

}  // namespace stickslip
