#include "gpu/core/external_memory.h"

namespace stickslip::STICKSLIP_BACKEND {

#if STICKSLIP_ON_CUDA

ExternalMemory::ExternalMemory(UniqueFd fd, std::size_t bytes, bool dedicated) {
  cudaExternalMemoryHandleDesc handle{};
  handle.type = cudaExternalMemoryHandleTypeOpaqueFd;
  handle.handle.fd = fd.get();
  handle.size = bytes;
  handle.flags = dedicated ? cudaExternalMemoryDedicated : 0;
  SS_CUDA(cudaImportExternalMemory(&memory_, &handle));
  static_cast<void>(fd.release());

  cudaExternalMemoryBufferDesc whole{};
  whole.size = bytes;
  void* mapped = nullptr;
  const cudaError_t status = cudaExternalMemoryGetMappedBuffer(&mapped, memory_, &whole);
  if (status != cudaSuccess) forget_error(cudaDestroyExternalMemory(memory_));
  check(status, "cudaExternalMemoryGetMappedBuffer", __FILE__, __LINE__);
  data_ = static_cast<std::byte*>(mapped);
}

ExternalMemory::~ExternalMemory() {
  forget_error(cudaFree(data_));  // the mapping, before the object that it maps
  forget_error(cudaDestroyExternalMemory(memory_));
}

ExternalTimeline::ExternalTimeline(UniqueFd fd) {
  int device = 0, supported = 0;
  SS_CUDA(cudaGetDevice(&device));
  SS_CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrTimelineSemaphoreInteropSupported, device));
  if (!supported) throw std::runtime_error("the device imports no timeline semaphores");
  cudaExternalSemaphoreHandleDesc handle{};
  handle.type = cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd;
  handle.handle.fd = fd.get();
  SS_CUDA(cudaImportExternalSemaphore(&semaphore_, &handle));
  static_cast<void>(fd.release());
}

ExternalTimeline::~ExternalTimeline() { forget_error(cudaDestroyExternalSemaphore(semaphore_)); }

void ExternalTimeline::signal(Context& ctx, std::uint64_t value) {
  cudaExternalSemaphoreSignalParams signal{};
  signal.params.fence.value = value;
  SS_CUDA(cudaSignalExternalSemaphoresAsync(&semaphore_, &signal, 1, ctx.stream()));
}

#else

ExternalMemory::ExternalMemory(UniqueFd, std::size_t, bool) {
  throw std::runtime_error("the cpu backend imports no memory of devices");
}
ExternalMemory::~ExternalMemory() = default;

ExternalTimeline::ExternalTimeline(UniqueFd) {
  throw std::runtime_error("the cpu backend imports no semaphores of devices");
}
ExternalTimeline::~ExternalTimeline() = default;
void ExternalTimeline::signal(Context&, std::uint64_t) {}

#endif

}  // namespace stickslip::STICKSLIP_BACKEND
