// Memory of the emulated device: an address range of its own, which the host cannot touch, with the state of
// every byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace stickslip::emulation {

/// State of four bytes: a bit each for "allocated" (upper half) and "written" (lower half).
using WordState = std::uint8_t;

/// One per process. Not thread safe: the runtime's lock covers it.
class Memory {
 public:
  /// `limit`: bytes of the device.
  explicit Memory(std::size_t limit);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  bool contains(const void* p) const { return offset(p) < kRange; }

  /// 256-byte aligned, filled with a pattern, unreadable for the host; nullptr beyond the limit. Freed
  /// addresses come back as late as possible.
  void* allocate(std::size_t bytes);
  enum class Freed { yes, twice, never_allocated };
  Freed free(void* p);
  std::size_t used() const { return used_; }
  std::size_t limit() const { return limit_; }

  /// Why [p, p + bytes), within the range, may not be accessed; nullptr if it may. `must_be_written`: reads
  /// need written bytes.
  const char* fault(const void* p, std::size_t bytes, bool must_be_written) const;
  void mark_written(const void* p, std::size_t bytes);
  void mark_unwritten(const void* p, std::size_t bytes);
  /// Copies the marks of [from, from + bytes) with the contents.
  void copy_marks(const void* to, const void* from, std::size_t bytes);
  /// What is known of the allocation around or before an address, for messages.
  struct Block {
    const char* begin = nullptr;
    std::size_t bytes = 0;
    bool live = false;
  };
  Block block_of(const void* p) const;

  /// Whether the host may touch device memory: while kernels run and the runtime copies.
  void open();
  void close();

  static constexpr std::size_t kRange = std::size_t{1} << 36;
  const char* base() const { return base_; }

 private:
  std::size_t offset(const void* p) const {
    return static_cast<std::size_t>(static_cast<const char*>(p) - base_);
  }
  void set_marks(std::size_t begin, std::size_t end, std::uint8_t bits, bool on);

  char* base_ = nullptr;
  WordState* states_ = nullptr;
  std::size_t limit_, used_ = 0, top_ = 0;  // top_: end of the addresses ever used
  bool open_ = false;
  std::map<const char*, std::size_t> live_;   // begin -> bytes
  std::map<const char*, std::size_t> freed_;  // gaps that may be used again, begin -> bytes
};

}  // namespace stickslip::emulation
