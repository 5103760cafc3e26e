// The functions of the CUDA runtime that the project calls, on the emulated device.
//
// A function that is not here fails the link. Streams are deferred: work runs when the host waits for it, in
// the order of its stream, and in an order of the streams that a seed decides. Copies between host and device
// are deferred too, which the documentation permits for page-locked memory and for small copies to the
// device: the host's memory is read or written at the last moment.
#include <execinfo.h>

#include <cstdio>
#include <cstring>

#include "tests/device/device.h"

using namespace stickslip::emulation;  // NOLINT: these functions belong to it

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* index) {
  *index = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int index) {
  return index == 0 ? cudaSuccess : device().fail(cudaErrorInvalidDevice);
}
cudaError_t cudaDriverGetVersion(int* version) {
  if (cudaError_t error; device().refuses("cudaDriverGetVersion", error)) return error;
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int index) {
  if (cudaError_t error; device().refuses("cudaGetDeviceProperties", error)) return error;
  if (index != 0) return device().fail(cudaErrorInvalidDevice);
  const DeviceSheet& sheet = chosen_device();
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "%s", sheet.name);
  properties->totalGlobalMem = sheet.memory;
  properties->sharedMemPerBlock = sheet.shared_per_block;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->multiProcessorCount = sheet.processors;
  properties->maxThreadsPerMultiProcessor = sheet.lanes_per_processor;
  properties->major = sheet.capability / 10;
  properties->minor = sheet.capability % 10;
  std::snprintf(properties->uuid.bytes, sizeof properties->uuid.bytes, "emulated");
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int index) {
  if (cudaError_t error; device().refuses("cudaDeviceGetAttribute", error)) return error;
  if (index != 0) return device().fail(cudaErrorInvalidDevice);
  const DeviceSheet& sheet = chosen_device();
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      *value = sheet.processors;
      return cudaSuccess;
    case cudaDevAttrMemoryClockRate:
      *value = sheet.memory_clock;
      return cudaSuccess;
    case cudaDevAttrGlobalMemoryBusWidth:
      *value = sheet.bus_width;
      return cudaSuccess;
    case cudaDevAttrTimelineSemaphoreInteropSupported:
      *value = 1;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *value = sheet.capability / 10;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *value = sheet.capability % 10;
      return cudaSuccess;
    case cudaDevAttrCooperativeLaunch:
      *value = 1;
      return cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = sheet.lanes_per_processor;
      return cudaSuccess;
    default:
      report_fault(FaultKind::call,
                   "attribute " + std::to_string(attribute) + " of the device is not known here");
      return device().fail(cudaErrorInvalidValue);
  }
}

cudaError_t cudaGetLastError() {
  const Lock lock(device_mutex);
  Device& d = device();
  const cudaError_t error = d.sticky != cudaSuccess ? d.sticky : d.last;
  d.last = cudaSuccess;
  return error;
}

struct NamedError {
  cudaError_t error;
  const char* name;
};
#define SS_NAMED(error) \
  NamedError { error, #error }
constexpr NamedError kErrors[] = {
    SS_NAMED(cudaSuccess),
    SS_NAMED(cudaErrorInvalidValue),
    SS_NAMED(cudaErrorMemoryAllocation),
    SS_NAMED(cudaErrorInvalidConfiguration),
    SS_NAMED(cudaErrorInvalidDeviceFunction),
    SS_NAMED(cudaErrorNoDevice),
    SS_NAMED(cudaErrorInvalidDevice),
    SS_NAMED(cudaErrorInvalidResourceHandle),
    SS_NAMED(cudaErrorNotReady),
    SS_NAMED(cudaErrorIllegalAddress),
    SS_NAMED(cudaErrorLaunchOutOfResources),
    SS_NAMED(cudaErrorLaunchTimeout),
    SS_NAMED(cudaErrorAssert),
    SS_NAMED(cudaErrorLaunchFailure),
    SS_NAMED(cudaErrorCooperativeLaunchTooLarge),
    SS_NAMED(cudaErrorNotSupported),
    SS_NAMED(cudaErrorStreamCaptureUnsupported),
    SS_NAMED(cudaErrorStreamCaptureInvalidated),
    SS_NAMED(cudaErrorStreamCaptureUnmatched),
    SS_NAMED(cudaErrorStreamCaptureWrongThread),
    SS_NAMED(cudaErrorCapturedEvent),
    SS_NAMED(cudaErrorMisalignedAddress),
    SS_NAMED(cudaErrorECCUncorrectable),
    SS_NAMED(cudaErrorDevicesUnavailable),
    SS_NAMED(cudaErrorInvalidAddressSpace),
    SS_NAMED(cudaErrorInvalidPc),
    SS_NAMED(cudaErrorIllegalInstruction),
    SS_NAMED(cudaErrorHardwareStackError),
    SS_NAMED(cudaErrorContextIsDestroyed),
    SS_NAMED(cudaErrorUnknown),
};
#undef SS_NAMED

const char* cudaGetErrorName(cudaError_t error) {
  for (const NamedError& named : kErrors)
    if (named.error == error) return named.name;
  return "cudaError of the emulated device";
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "as reported by the emulated device";
}

cudaError_t cudaMalloc(void** p, std::size_t bytes) {
  if (cudaError_t error; device().refuses("cudaMalloc", error)) return error;
  const Lock lock(device_mutex);
  Device& d = device();
  if (d.sticky != cudaSuccess) return d.sticky;
  if (d.spoils_capture("cudaMalloc")) return d.fail(cudaErrorStreamCaptureUnsupported);
  *p = d.memory.allocate(bytes);
  return *p != nullptr || bytes == 0 ? cudaSuccess : d.fail(cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void* p) {
  const Lock lock(device_mutex);
  Device& d = device();
  if (p == nullptr) return cudaSuccess;
  if (d.sticky != cudaSuccess) return d.sticky;
  if (d.spoils_capture("cudaFree")) return d.fail(cudaErrorStreamCaptureUnsupported);
  if (!d.memory.contains(p)) return d.fail(cudaErrorInvalidValue);
  // Waits for the device, as the real one does.
  d.waited_for_all();
  if (const cudaError_t status = d.drain(nullptr); status != cudaSuccess) return status;
  const std::size_t bytes = d.memory.block_of(p).bytes;
  switch (d.memory.free(p)) {
    case Memory::Freed::yes:
      d.lanes.release(p, bytes);
      if (cudaError_t error; d.refuses("cudaFree", error)) return error;
      return cudaSuccess;
    case Memory::Freed::twice:
      report_fault(FaultKind::release, "a block was freed twice");
      break;
    case Memory::Freed::never_allocated:
      report_fault(FaultKind::release, "cudaFree of no block's begin");
      break;
  }
  return d.fail(cudaErrorInvalidValue);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind direction,
                            cudaStream_t stream) {
  const Lock lock(device_mutex);
  Device& d = device();
  if (bytes == 0) return cudaSuccess;
  const bool from_device = d.memory.contains(from), to_device = d.memory.contains(to);
  const bool fits = direction == cudaMemcpyDefault ||
                    (direction == cudaMemcpyHostToDevice && !from_device && to_device) ||
                    (direction == cudaMemcpyDeviceToHost && from_device && !to_device) ||
                    (direction == cudaMemcpyDeviceToDevice && from_device && to_device);
  if (!fits) {
    report_fault(FaultKind::call, "a copy whose addresses do not fit its direction");
    return d.fail(cudaErrorInvalidValue);
  }
  if (stream != nullptr && stream->capture && !(from_device && to_device)) {
    stream->capture_spoiled = true;
    report_fault(FaultKind::capture, "a copy of the host's memory is recorded");
    return d.fail(cudaErrorStreamCaptureUnsupported);
  }
  Work work{.kind = Work::Kind::copy};
  work.to = to;
  work.from = from;
  work.bytes = bytes;
  if (d.lanes.checks().memory) {
    work.callers.resize(12);
    work.callers.resize(static_cast<std::size_t>(backtrace(work.callers.data(), 12)));
  }
  return d.enqueue(stream, std::move(work));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  const Lock lock(device_mutex);
  if (device().sticky != cudaSuccess) return device().sticky;
  *stream = new CUstream_st;
  (*stream)->number = device().streams_made++;
  device().streams.push_back(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Lock lock(device_mutex);
  Device& d = device();
  if (stream == nullptr) return d.fail(cudaErrorInvalidResourceHandle);
  const cudaError_t status = d.drain(stream);
  d.streams.remove(stream);
  delete stream;
  return status;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const Lock lock(device_mutex);
  Device& d = device();
  ++d.totals.waits;
  if (d.lanes.checks().costs) d.costs.add_wait(current_stage());
  if (stream == nullptr) return d.fail(cudaErrorInvalidResourceHandle);
  if (stream->capture) {
    stream->capture_spoiled = true;
    report_fault(FaultKind::capture, "a wait for a stream that records");
    return d.fail(cudaErrorStreamCaptureUnsupported);
  }
  d.waited(stream->number, stream->ticket);
  return d.drain(stream);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  if (cudaError_t error; device().refuses("cudaEventCreate", error)) return error;
  const Lock lock(device_mutex);
  if (device().sticky != cudaSuccess) return device().sticky;
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (cudaError_t error; device().refuses("cudaEventDestroy", error)) return error;
  const Lock lock(device_mutex);
  if (event == nullptr) return device().fail(cudaErrorInvalidResourceHandle);
  if (event->recorded && !event->done) device().drain(event->stream);
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const Lock lock(device_mutex);
  if (event == nullptr) return device().fail(cudaErrorInvalidResourceHandle);
  event->captured = stream != nullptr && stream->capture != nullptr;
  event->recorded = true;
  event->done = false;
  event->stream = stream;
  Work work{.kind = Work::Kind::event};
  work.event = event;
  const cudaError_t status = device().enqueue(stream, std::move(work));
  if (stream != nullptr) event->stream_number = stream->number, event->ticket = stream->ticket;
  return status;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const Lock lock(device_mutex);
  Device& d = device();
  ++d.totals.waits;
  if (d.lanes.checks().costs) d.costs.add_wait(current_stage());
  if (event->captured) {
    report_fault(FaultKind::capture, "a wait for an event that was recorded into a graph");
    return d.fail(cudaErrorCapturedEvent);
  }
  if (event->recorded) d.waited(event->stream_number, event->ticket);
  if (!event->recorded || event->done) return d.sticky;
  return d.drain(event->stream);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  const Lock lock(device_mutex);
  if (!from->recorded || !to->recorded) return device().fail(cudaErrorInvalidResourceHandle);
  if (!from->done || !to->done) return device().fail(cudaErrorNotReady);
  *milliseconds = static_cast<float>(1e3 * (to->seconds - from->seconds));
  return cudaSuccess;
}

static cudaError_t enqueue_launch(const void* function, dim3 grid, dim3 block, void** arguments,
                                  std::size_t shared, bool cooperative, cudaStream_t stream) {
  const Lock lock(device_mutex);
  Device& d = device();
  if (d.sticky != cudaSuccess) return d.sticky;
  auto made = std::make_shared<Launch>();
  const cudaError_t status = make_launch(function, grid, block, arguments, shared, cooperative, *made);
  if (status != cudaSuccess) return d.fail(status);
  Work work{.kind = Work::Kind::kernel};
  work.launch = std::move(made);
  return d.enqueue(stream, std::move(work));
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  if (cudaError_t error; device().refuses("cudaLaunchKernel", error)) return error;
  return enqueue_launch(function, grid, block, arguments, shared, false, stream);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared, cudaStream_t stream) {
  if (cudaError_t error; device().refuses("cudaLaunchCooperativeKernel", error)) return error;
  return enqueue_launch(function, grid, block, arguments, shared, true, stream);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block,
                                                          std::size_t) {
  const Lock lock(device_mutex);
  *blocks = device().resident_blocks(function, static_cast<unsigned>(block));
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                   int block, std::size_t shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block, shared);
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  if (cudaError_t error; device().refuses("cudaFuncGetAttributes", error)) return error;
  const Lock lock(device_mutex);
  *attributes = {};
  return device().kernels.contains(function) ? cudaSuccess : device().fail(cudaErrorInvalidDeviceFunction);
}
}
