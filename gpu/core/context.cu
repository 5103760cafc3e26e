#include "gpu/core/context.h"

#include <atomic>

#include "gpu/core/device_lost.h"
#if STICKSLIP_ON_CUDA
#include "gpu/core/kernel_start.h"
#endif

namespace stickslip::STICKSLIP_BACKEND {
namespace {

std::atomic<std::size_t> live_bytes{0}, peak_bytes{0}, most_bytes{0};

}  // namespace

void count_allocation(std::size_t bytes) {
  const std::size_t live = live_bytes += bytes, most = most_bytes;
  if (most > 0 && live > most) {
    live_bytes -= bytes;
    throw OutOfMemory(bytes);
  }
  std::size_t peak = peak_bytes;
  while (peak < live && !peak_bytes.compare_exchange_weak(peak, live)) {
  }
}
void count_release(std::size_t bytes) noexcept { live_bytes -= bytes; }

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
    case cudaErrorExternalDevice:
#if CUDART_VERSION >= 13000
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
#endif
      return true;
    default:
      return false;
  }
}

}  // namespace

bool succeeded(cudaError_t status) noexcept {
  if (status == cudaSuccess) return true;
  static_cast<void>(cudaGetLastError());
  return false;
}

void check(cudaError_t status, const char* call, const char* file, int line) {
  if (succeeded(status)) return;
  const std::string text = std::string("CUDA: ") + cudaGetErrorName(status) + " (" +
                           cudaGetErrorString(status) + ") in " + call + " at " + file + ":" +
                           std::to_string(line);
  if (status == cudaErrorMemoryAllocation) throw OutOfMemory(0);  // the runtime's own: of graphs and kernels
  if (loses_device(status)) throw DeviceLost(text);
  throw std::runtime_error(text);
}

bool made_room(Context& ctx, cudaError_t status) noexcept {
  if (status != cudaErrorMemoryAllocation || ctx.is_capturing() || ctx.pool()->kept() == 0) return false;
  forget_error(status);
  ctx.pool()->release();
  return true;
}

Context::Context(int) : threads_(1) { SS_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }

Context::~Context() {
  for (Scratch& s : scratch_) pool_->give(s.data, s.bytes);
  forget_error(cudaStreamDestroy(stream_));
}

void Context::synchronize() {
  ++counters_.synchronisations;
  SS_CUDA(cudaStreamSynchronize(stream_));
}

#else

Context::Context(int threads)
    : threads_(threads > 0 ? threads : Arena::allowed_threads()), arena_(threads_) {}

Context::~Context() {
  for (Scratch& s : scratch_) pool_->give(s.data, s.bytes);
}

void Context::synchronize() { ++counters_.synchronisations; }

#endif

void* Context::scratch(int slot, std::size_t bytes) {
  if (slot >= static_cast<int>(scratch_.size())) scratch_.resize(slot + 1);
  Scratch& s = scratch_[slot];
  if (s.bytes < bytes) {
    // Earlier launches may still read the old block: who takes it comes after them in the stream.
    pool_->give(s.data, s.bytes);
    s = {};
    const std::size_t grown = bytes + bytes / 2;
    s.data = allocate(grown);
    s.bytes = grown;
  }
  return s.data;
}

void Context::free_scratch() {
  synchronize();
  for (Scratch& s : scratch_) pool_->give(s.data, s.bytes);
  scratch_.clear();
  pool_->release();
}

void* Context::allocate(std::size_t bytes) {
  if (capturing_) throw std::logic_error("memory was asked for while launches are recorded");
  bool fresh = false;
  void* block = pool_->take(bytes, fresh);
  if (fresh) ++counters_.allocations;
  return block;
}

}  // namespace stickslip::STICKSLIP_BACKEND
