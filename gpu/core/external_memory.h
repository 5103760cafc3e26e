// Memory and a semaphore that a graphics driver allocated and exported, used from this backend.
#pragma once

#include "gpu/core/context.h"
#include "gpu/core/unique_fd.h"

namespace stickslip::STICKSLIP_BACKEND {

/// An imported allocation. The CPU backend imports nothing: its constructor throws.
class ExternalMemory {
 public:
  /// `fd`: opaque, of an allocation of `bytes` on the device that this backend runs on; `dedicated` when it
  /// was made for one buffer alone. The descriptor is the driver's once this succeeds and is closed when it
  /// fails. Throws std::runtime_error.
  ExternalMemory(UniqueFd fd, std::size_t bytes, bool dedicated);
  /// What was launched with `data()` must be done.
  ~ExternalMemory();
  ExternalMemory(const ExternalMemory&) = delete;
  ExternalMemory& operator=(const ExternalMemory&) = delete;

  std::byte* data() const { return data_; }

 private:
#if STICKSLIP_ON_CUDA
  cudaExternalMemory_t memory_ = nullptr;
#endif
  std::byte* data_ = nullptr;
};

/// An imported timeline semaphore: a value that only grows.
class ExternalTimeline {
 public:
  /// As ExternalMemory, of a timeline semaphore.
  explicit ExternalTimeline(UniqueFd fd);
  /// What was signalled must have happened.
  ~ExternalTimeline();
  ExternalTimeline(const ExternalTimeline&) = delete;
  ExternalTimeline& operator=(const ExternalTimeline&) = delete;

  /// Sets `value`, larger than all before, once everything launched so far is done.
  void signal(Context& ctx, std::uint64_t value);

 private:
#if STICKSLIP_ON_CUDA
  cudaExternalSemaphore_t semaphore_ = nullptr;
#endif
};

}  // namespace stickslip::STICKSLIP_BACKEND
