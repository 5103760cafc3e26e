#include "gpu/core/context.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include "gpu/core/device_lost.h"

#if !STICKSLIP_ON_CUDA && defined(__linux__)
#include <sys/mman.h>
#endif

namespace stickslip::STICKSLIP_BACKEND {
namespace {

std::atomic<std::size_t> live_bytes{0}, peak_bytes{0}, most_bytes{0};

void refuse_beyond_limit(std::size_t bytes) {
  const std::size_t most = most_bytes;
  if (most > 0 && (bytes > most || live_bytes > most - bytes)) throw OutOfMemory(bytes);
}

void count_allocation(std::size_t bytes) {
  const std::size_t live = live_bytes += bytes;
  std::size_t peak = peak_bytes;
  while (peak < live && !peak_bytes.compare_exchange_weak(peak, live)) {
  }
}

void count_release(const void* pointer, std::size_t bytes) {
  if (pointer != nullptr) live_bytes -= bytes;
}

}  // namespace

MemoryUse memory_use() { return {live_bytes, peak_bytes}; }
void forget_memory_peak() { peak_bytes = live_bytes.load(); }
void limit_memory(std::size_t bytes) { most_bytes = bytes; }

#if STICKSLIP_ON_CUDA

namespace {

/// Whether every later call of the process fails too.
bool loses_device(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorAssert:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorDevicesUnavailable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorCudartUnloading:
      return true;
    default:
      return false;
  }
}

}  // namespace

void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  // The runtime keeps an error until it is asked for: the next launch would be blamed for a caught one.
  static_cast<void>(cudaGetLastError());
  const std::string text = std::string("CUDA: ") + cudaGetErrorName(status) + " (" +
                           cudaGetErrorString(status) + ") in " + call + " at " + file + ":" +
                           std::to_string(line);
  if (loses_device(status)) throw DeviceLost(text);
  throw std::runtime_error(text);
}

void* allocate_bytes(std::size_t bytes) {
  refuse_beyond_limit(bytes);
  void* pointer = nullptr;
  const cudaError_t status = cudaMalloc(&pointer, bytes);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw OutOfMemory(bytes);
  }
  SS_CUDA(status);
  count_allocation(bytes);
  return pointer;
}

void free_bytes(void* pointer, std::size_t bytes) noexcept {
  count_release(pointer, bytes);
  cudaFree(pointer);
}

Context::Context(int) : threads_(1) { SS_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }

Context::~Context() {
  for (Scratch& s : scratch_) free_bytes(s.data, s.bytes);
  cudaStreamDestroy(stream_);
}

void Context::synchronize() {
  ++counters_.synchronisations;
  SS_CUDA(cudaStreamSynchronize(stream_));
}

#else

namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kMostKept = 0;  // what is kept could be used after its release
#else
constexpr std::size_t kMostKept = std::size_t{256} << 20;
#endif

/// Blocks that were given back, by size: what a step needs for a while it needs again in the next one, and
/// the system's own memory would come with page faults each time.
class KeptBlocks {
 public:
  /// A size is one of four per power of two, so that a block fits whoever asks for its class.
  static std::size_t rounded(std::size_t bytes) {
    const std::size_t quarter = std::bit_floor(std::max(bytes, 4 * kAlignment)) / 4;
    return (bytes + quarter - 1) / quarter * quarter;
  }

  void* take(std::size_t size) {
    const std::lock_guard lock(mutex_);
    std::vector<void*>& list = lists_[index(size)];
    if (list.empty()) return nullptr;
    void* block = list.back();
    list.pop_back();
    bytes_ -= size;
    return block;
  }
  /// False: there are enough.
  bool keep(void* block, std::size_t size) noexcept {
    const std::lock_guard lock(mutex_);
    if (bytes_ + size > kMostKept) return false;
    try {
      lists_[index(size)].push_back(block);
    } catch (const std::bad_alloc&) {
      return false;
    }
    bytes_ += size;
    return true;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    for (std::vector<void*>& list : lists_) {
      for (void* block : list) std::free(block);
      list.clear();
    }
    bytes_ = 0;
  }

 private:
  static std::size_t index(std::size_t size) {
    const auto power = static_cast<std::size_t>(std::bit_width(size)) - 1;
    return 4 * power + ((size >> (power - 2)) & 3u);
  }

  std::mutex mutex_;
  std::array<std::vector<void*>, 4 * 64> lists_;
  std::size_t bytes_ = 0;
};

/// Never destroyed: buffers with static storage may be given back later.
KeptBlocks& kept_blocks() {
  static auto* const blocks = new KeptBlocks;
  return *blocks;
}

}  // namespace

int allowed_threads() {
#if STICKSLIP_HAS_TBB
  return tbb::this_task_arena::max_concurrency();
#else
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#endif
}

void* allocate_bytes(std::size_t bytes) {
  if (bytes > PTRDIFF_MAX) throw OutOfMemory(bytes);
  refuse_beyond_limit(bytes);
  const std::size_t size = KeptBlocks::rounded(bytes);
  const bool large = size >= 2 * kHugePage;
  const std::size_t alignment = large ? kHugePage : kAlignment;
  const std::size_t whole = (size + alignment - 1) / alignment * alignment;
  void* pointer = kept_blocks().take(size);
  if (pointer == nullptr) pointer = std::aligned_alloc(alignment, whole);
  if (pointer == nullptr) {
    kept_blocks().release();
    pointer = std::aligned_alloc(alignment, whole);
  }
  if (pointer == nullptr) throw OutOfMemory(bytes);
#ifdef MADV_HUGEPAGE
  // A wish, not a need. Scattered writes into many megabytes otherwise wait for the page tables.
  if (large) madvise(pointer, whole, MADV_HUGEPAGE);
#endif
  count_allocation(bytes);
  return pointer;
}

void free_bytes(void* pointer, std::size_t bytes) noexcept {
  if (pointer == nullptr) return;
  count_release(pointer, bytes);
  if (!kept_blocks().keep(pointer, KeptBlocks::rounded(bytes))) std::free(pointer);
}

Context::Context(int threads) : threads_(threads > 0 ? threads : allowed_threads()), arena_(threads_) {}

Context::~Context() {
  for (Scratch& s : scratch_) free_bytes(s.data, s.bytes);
}

void Context::synchronize() { ++counters_.synchronisations; }

#endif

void* Context::scratch(int slot, std::size_t bytes) {
  if (slot >= static_cast<int>(scratch_.size())) scratch_.resize(slot + 1);
  Scratch& s = scratch_[slot];
  if (s.bytes < bytes) {
    // Earlier launches may still read the old block.
    synchronize();
    free_bytes(s.data, s.bytes);
    s = {};
    const std::size_t grown = bytes + bytes / 2;
    s.data = allocate_bytes(grown);
    s.bytes = grown;
    ++counters_.allocations;
  }
  return s.data;
}

void Context::free_scratch() {
  synchronize();
  for (Scratch& s : scratch_) free_bytes(s.data, s.bytes);
  scratch_.clear();
}

}  // namespace stickslip::STICKSLIP_BACKEND
