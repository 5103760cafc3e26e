// The place where work runs: a thread arena (CPU) or a device stream (CUDA), its scratch memory and its
// counters.
#pragma once

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/core/backend.h"
#include "gpu/core/block_pool.h"
#include "gpu/core/counters.h"

#if STICKSLIP_ON_CUDA
#include <cuda_runtime.h>
#else
#include "gpu/core/arena.h"
#endif

namespace stickslip {

/// A backend has no memory left; what() states the bytes requested.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::size_t bytes)
      : message_("out of memory: " + (bytes > 0 ? std::to_string(bytes) + " bytes asked for"
                                                : std::string("the device has none left"))) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// Bytes of backend memory that this process uses, and the most since `forget_memory_peak`; without what
/// contexts keep for reuse.
struct MemoryUse {
  std::size_t live = 0, peak = 0;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

#if STICKSLIP_ON_CUDA
/// Throws std::runtime_error naming the call and the place when `status` is an error.
void check(cudaError_t status, const char* call, const char* file, int line);
/// For calls that may fail. The runtime keeps the error of a failed call until it is asked for, and the next
/// launch would be blamed for it: this forgets it.
[[nodiscard]] bool succeeded(cudaError_t status) noexcept;
/// For calls whose failure cannot be handled, as in destructors: forgets their error.
inline void forget_error(cudaError_t status) noexcept { static_cast<void>(succeeded(status)); }
#define SS_CUDA(call) ::stickslip::cuda::check((call), #call, __FILE__, __LINE__)
#endif

/// Over all contexts of this backend; callable from any thread.
MemoryUse memory_use();
void forget_memory_peak();
/// From now on, an allocation that brings the live bytes beyond `bytes` throws OutOfMemory, as a smaller
/// device would; 0 lifts the limit.
void limit_memory(std::size_t bytes);
/// For BlockPool: throws OutOfMemory beyond the limit.
void count_allocation(std::size_t bytes);
void count_release(std::size_t bytes) noexcept;

class Trace;

/// One stream of work. Not thread safe: one host thread drives a context at a time.
class Context {
 public:
  /// `threads`: CPU worker threads, 0 for all cores; ignored on CUDA.
  explicit Context(int threads = 0);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Waits until everything launched so far is done.
  void synchronize();

  /// Temporary memory that primitives share; valid until the next call with the same slot. Only grows.
  void* scratch(int slot, std::size_t bytes);
  /// Returns that memory, and all other unused memory, to the system: after work on a larger scale than what
  /// follows.
  void free_scratch();

  /// Backend memory from this context's pool: device memory on CUDA, 64-byte aligned host memory on the CPU.
  /// Counts as an allocation where the pool had none. Throws OutOfMemory.
  void* allocate(std::size_t bytes);
  const std::shared_ptr<BlockPool>& pool() const { return pool_; }

  Counters& counters() { return counters_; }
  /// nullptr: tracing is off.
  Trace* trace() const { return trace_; }
  void attach_trace(Trace* trace) { trace_ = trace; }

  /// While launches are recorded into a graph (LoopGraph): nothing runs, so nothing may wait, read back or
  /// allocate.
  bool is_capturing() const { return capturing_; }
  void set_capturing(bool on) { capturing_ = on; }

  int threads() const { return threads_; }

#if STICKSLIP_ON_CUDA
  cudaStream_t stream() const { return stream_; }
#else
  Arena& arena() { return arena_; }
#endif

 private:
  struct Scratch {
    void* data = nullptr;
    std::size_t bytes = 0;
  };
  int threads_ = 1;
  bool capturing_ = false;
  std::shared_ptr<BlockPool> pool_ = std::make_shared<BlockPool>();
  Counters counters_;
  Trace* trace_ = nullptr;
  std::vector<Scratch> scratch_;
#if STICKSLIP_ON_CUDA
  cudaStream_t stream_ = nullptr;
#else
  Arena arena_;
#endif
};

}  // namespace stickslip::STICKSLIP_BACKEND
