#include "gpu/core/context.h"

#include <cstdint>
#include <cstdlib>

namespace stickslip::STICKSLIP_BACKEND {

#if STICKSLIP_ON_CUDA

void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorName(status) + " (" +
                           cudaGetErrorString(status) + ") in " + call + " at " + file + ":" +
                           std::to_string(line));
}

void* allocate_bytes(std::size_t bytes) {
  void* pointer = nullptr;
  SS_CUDA(cudaMalloc(&pointer, bytes));
  return pointer;
}

void free_bytes(void* pointer) noexcept { cudaFree(pointer); }

Context::Context(int) : threads_(1) { SS_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }

Context::~Context() {
  for (Scratch& s : scratch_) free_bytes(s.data);
  cudaStreamDestroy(stream_);
}

void Context::synchronize() {
  ++counters_.synchronisations;
  SS_CUDA(cudaStreamSynchronize(stream_));
}

#else

namespace {
constexpr std::size_t kAlignment = 64;
}

void* allocate_bytes(std::size_t bytes) {
  void* pointer = nullptr;
  if (bytes <= PTRDIFF_MAX) {
    const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    pointer = std::aligned_alloc(kAlignment, rounded > 0 ? rounded : kAlignment);
  }
  if (pointer == nullptr)
    throw std::runtime_error("out of memory: " + std::to_string(bytes) + " bytes asked for");
  return pointer;
}

void free_bytes(void* pointer) noexcept { std::free(pointer); }

Context::Context(int threads)
    : threads_(threads > 0 ? threads : tbb::this_task_arena::max_concurrency()), arena_(threads_) {}

Context::~Context() {
  for (Scratch& s : scratch_) free_bytes(s.data);
}

void Context::synchronize() { ++counters_.synchronisations; }

#endif

void* Context::scratch(int slot, std::size_t bytes) {
  if (slot >= static_cast<int>(scratch_.size())) scratch_.resize(slot + 1);
  Scratch& s = scratch_[slot];
  if (s.bytes < bytes) {
    // Earlier launches may still read the old block.
    synchronize();
    free_bytes(s.data);
    s = {};
    const std::size_t grown = bytes + bytes / 2;
    s.data = allocate_bytes(grown);
    s.bytes = grown;
    ++counters_.allocations;
  }
  return s.data;
}

}  // namespace stickslip::STICKSLIP_BACKEND
