// BlockPool: the memory of one context, kept for reuse.
#pragma once

#include <array>
#include <bit>
#include <mutex>
#include <vector>

#include "gpu/core/backend.h"

namespace stickslip::STICKSLIP_BACKEND {

/// What was given back is handed out again in the order of the context's stream, so that nobody waits: what a
/// solver needs for a while it needs again in the next step, and memory of the system costs page faults, or a
/// wait for the device. Keeps up to `most_kept` bytes that nobody uses. Callable from any thread.
class BlockPool {
 public:
  BlockPool() = default;
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// Throws OutOfMemory. `fresh`: whether it had to ask the system.
  void* take(std::size_t bytes, bool& fresh);
  /// `bytes` as they were asked for.
  void give(void* block, std::size_t bytes) noexcept;
  /// 256 MiB; 0 under the address sanitizer and where the environment has STICKSLIP_KEEP_NO_MEMORY, so that
  /// checkers of memory see every release.
  static std::size_t most_kept();

  /// Gives to the system what nobody uses.
  void release() noexcept;

 private:
  void* take_kept(std::size_t size);
  bool keep(void* block, std::size_t size) noexcept;

  std::mutex mutex_;
  std::array<std::vector<void*>, 4 * 64> lists_;  // by size class
  std::size_t kept_ = 0;                          // bytes
};

}  // namespace stickslip::STICKSLIP_BACKEND
