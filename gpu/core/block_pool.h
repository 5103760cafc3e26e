// BlockPool: the memory of one context, kept for reuse.
#pragma once

#include <array>
#include <bit>
#include <mutex>
#include <vector>

#include "gpu/core/backend.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Reuses returned blocks in the order of the context's stream, so that no thread waits. A solver needs the
/// same temporary memory in every step, and memory from the system costs page faults or a wait for the
/// device. Keeps up to `most_kept` unused bytes. Callable from any thread.
class BlockPool {
 public:
  BlockPool() = default;
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// Throws OutOfMemory. `fresh`: whether the memory is new from the system.
  void* take(std::size_t bytes, bool& fresh);
  /// `bytes` as they were asked for.
  void give(void* block, std::size_t bytes) noexcept;
  /// 256 MiB; 0 under the address sanitizer and where the environment has STICKSLIP_KEEP_NO_MEMORY, so that
  /// checkers of memory see every release.
  static std::size_t most_kept();

  /// Unused bytes.
  std::size_t kept() noexcept;
  /// Returns unused memory to the system.
  void release() noexcept;

 private:
  void* take_kept(std::size_t size);
  bool keep(void* block, std::size_t size) noexcept;

  std::mutex mutex_;
  std::array<std::vector<void*>, 4 * 64> lists_;  // by size class
  std::size_t kept_ = 0;                          // bytes
};

}  // namespace stickslip::STICKSLIP_BACKEND
