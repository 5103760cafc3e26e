// Imported memory and semaphores of the CUDA runtime on the emulated device.
#include <sys/mman.h>
#include <unistd.h>

#include "tests/device/device.h"

using namespace stickslip::emulation;  // NOLINT: these functions belong to it

extern "C" {

// External memory: any descriptor that mmap takes, such as one of memfd_create.
cudaError_t cudaImportExternalMemory(cudaExternalMemory_t* memory,
                                     const cudaExternalMemoryHandleDesc* handle) {
  const Lock lock(device_mutex);
  if (handle->type != cudaExternalMemoryHandleTypeOpaqueFd) return device().fail(cudaErrorNotSupported);
  void* mapped = mmap(nullptr, handle->size, PROT_READ | PROT_WRITE, MAP_SHARED, handle->handle.fd, 0);
  if (mapped == MAP_FAILED) return device().fail(cudaErrorInvalidValue);
  close(handle->handle.fd);
  *memory = new CUexternalMemory_st{mapped, handle->size};
  return cudaSuccess;
}
cudaError_t cudaExternalMemoryGetMappedBuffer(void** p, cudaExternalMemory_t memory,
                                              const cudaExternalMemoryBufferDesc* part) {
  const Lock lock(device_mutex);
  if (part->offset + part->size > memory->bytes) return device().fail(cudaErrorInvalidValue);
  *p = static_cast<char*>(memory->mapped) + part->offset;
  return cudaSuccess;
}
cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t memory) {
  const Lock lock(device_mutex);
  munmap(memory->mapped, memory->bytes);
  delete memory;
  return cudaSuccess;
}
cudaError_t cudaImportExternalSemaphore(cudaExternalSemaphore_t* semaphore,
                                        const cudaExternalSemaphoreHandleDesc* handle) {
  const Lock lock(device_mutex);
  if (handle->type != cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd)
    return device().fail(cudaErrorNotSupported);
  *semaphore = new CUexternalSemaphore_st{0, handle->handle.fd};
  return cudaSuccess;
}
cudaError_t cudaDestroyExternalSemaphore(cudaExternalSemaphore_t semaphore) {
  const Lock lock(device_mutex);
  close(semaphore->fd);
  delete semaphore;
  return cudaSuccess;
}
cudaError_t cudaSignalExternalSemaphoresAsync(const cudaExternalSemaphore_t* semaphores,
                                              const cudaExternalSemaphoreSignalParams* params, unsigned count,
                                              cudaStream_t stream) {
  const Lock lock(device_mutex);
  for (unsigned i = 0; i < count; ++i) {
    Work work{.kind = Work::Kind::signal};
    work.timeline = &semaphores[i]->value;
    work.value = params[i].params.fence.value;
    if (const cudaError_t status = device().enqueue(stream, std::move(work)); status != cudaSuccess)
      return status;
  }
  return cudaSuccess;
}
}
