#include "gpu/core/block_pool.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "gpu/core/context.h"

#if !STICKSLIP_ON_CUDA && defined(__linux__)
#include <sys/mman.h>
#endif

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr std::size_t kSmallest = 256;

/// A size is one of four per power of two, so that a block fits whoever asks for its class.
std::size_t rounded(std::size_t bytes) {
  const std::size_t quarter = std::bit_floor(std::max(bytes, kSmallest)) / 4;
  return (bytes + quarter - 1) / quarter * quarter;
}

std::size_t class_of(std::size_t size) {
  const auto power = static_cast<std::size_t>(std::bit_width(size)) - 1;
  return 4 * power + ((size >> (power - 2)) & 3u);
}

#if STICKSLIP_ON_CUDA

/// Null where there is none left.
void* allocate(std::size_t size) {
  void* pointer = nullptr;
  const cudaError_t status = cudaMalloc(&pointer, size);
  if (status == cudaErrorMemoryAllocation) {
    forget_error(status);
    return nullptr;
  }
  SS_CUDA(status);
  return pointer;
}
void deallocate(void* pointer) noexcept { forget_error(cudaFree(pointer)); }

#else

void* allocate(std::size_t size) {
  constexpr std::size_t kAlignment = 64, kHugePage = std::size_t{2} << 20;
  const bool large = size >= 2 * kHugePage;
  const std::size_t alignment = large ? kHugePage : kAlignment;
  const std::size_t whole = (size + alignment - 1) / alignment * alignment;
  void* pointer = std::aligned_alloc(alignment, whole);
#ifdef MADV_HUGEPAGE
  // A wish, not a need. Scattered writes into many megabytes otherwise wait for the page tables.
  if (large && pointer != nullptr) madvise(pointer, whole, MADV_HUGEPAGE);
#endif
  return pointer;
}
void deallocate(void* pointer) noexcept { std::free(pointer); }

#endif

}  // namespace

std::size_t BlockPool::most_kept() {
#if defined(__SANITIZE_ADDRESS__)
  return 0;
#else
  static const bool none = std::getenv("STICKSLIP_KEEP_NO_MEMORY") != nullptr;
  return none ? 0 : std::size_t{256} << 20;
#endif
}

BlockPool::~BlockPool() { release(); }

void* BlockPool::take(std::size_t bytes, bool& fresh) {
  fresh = false;
  if (bytes > PTRDIFF_MAX) throw OutOfMemory(bytes);
  count_allocation(bytes);
  const std::size_t size = rounded(bytes);
  void* block = take_kept(size);
  if (block != nullptr) return block;
  fresh = true;
  try {
    block = allocate(size);
    if (block == nullptr) {
      release();
      block = allocate(size);
    }
  } catch (...) {
    count_release(bytes);
    throw;
  }
  if (block != nullptr) return block;
  count_release(bytes);
  throw OutOfMemory(bytes);
}

void BlockPool::give(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return;
  count_release(bytes);
  if (!keep(block, rounded(bytes))) deallocate(block);
}

std::size_t BlockPool::kept() noexcept {
  const std::lock_guard lock(mutex_);
  return kept_;
}

void* BlockPool::take_kept(std::size_t size) {
  const std::lock_guard lock(mutex_);
  std::vector<void*>& list = lists_[class_of(size)];
  if (list.empty()) return nullptr;
  void* block = list.back();
  list.pop_back();
  kept_ -= size;
  return block;
}

bool BlockPool::keep(void* block, std::size_t size) noexcept {
  const std::lock_guard lock(mutex_);
  if (kept_ + size > most_kept()) return false;
  try {
    lists_[class_of(size)].push_back(block);
  } catch (const std::bad_alloc&) {
    return false;
  }
  kept_ += size;
  return true;
}

void BlockPool::release() noexcept {
  const std::lock_guard lock(mutex_);
  for (std::vector<void*>& list : lists_) {
    for (void* block : list) deallocate(block);
    list.clear();
  }
  kept_ = 0;
}

}  // namespace stickslip::STICKSLIP_BACKEND
