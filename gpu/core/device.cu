#include "gpu/core/device.h"

#if STICKSLIP_ON_CUDA
#include <cstring>
#else
#include <fstream>
#endif

#include "gpu/core/kernel_start.h"

namespace stickslip::STICKSLIP_BACKEND {

#if STICKSLIP_ON_CUDA

namespace {

/// Clock times two edges times the width of the bus; 0 where the driver does not say.
double sheet_bandwidth() {
  int kilohertz = 0, bits = 0;
  if (!succeeded(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, 0)) ||
      !succeeded(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0)))
    return 0;
  return 2e3 * kilohertz * (bits / 8);
}

__global__ void do_nothing() {}

/// Empty if the device can run the kernels of this build. All are compiled for the same processors.
std::string why_no_kernel_runs(const cudaDeviceProp& device) {
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, kernel_address(&do_nothing));
  if (succeeded(status)) return "";
  switch (status) {
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion: {
      const std::string capability = std::to_string(device.major) + std::to_string(device.minor);
      return std::string("this build has no code for ") + device.name + " (compute capability " +
             std::to_string(device.major) + "." + std::to_string(device.minor) +
             "); configure it with -DSTICKSLIP_CUDA_ARCH=" + capability;
    }
    default:
      return std::string(device.name) + " runs no kernel: " + cudaGetErrorString(status);
  }
}

}  // namespace

DeviceInfo query_device() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (!succeeded(status)) return {"none", false, cudaGetErrorString(status), 0};
  if (count == 0) return {"none", false, "no CUDA device", 0};
  cudaDeviceProp properties{};
  if (!succeeded(cudaGetDeviceProperties(&properties, 0)))
    return {"none", false, "the device does not answer", 0};
  if (std::string reason = why_no_kernel_runs(properties); !reason.empty())
    return {properties.name, false, std::move(reason), 0};
  return {properties.name, true, "", sheet_bandwidth()};
}

std::optional<DeviceUuid> device_uuid() {
  int device = 0;
  SS_CUDA(cudaGetDevice(&device));
  cudaDeviceProp properties{};
  SS_CUDA(cudaGetDeviceProperties(&properties, device));
  DeviceUuid uuid;
  static_assert(sizeof(properties.uuid.bytes) == sizeof(uuid));
  std::memcpy(uuid.data(), properties.uuid.bytes, sizeof(uuid));
  return uuid;
}

#else

DeviceInfo query_device() {
  std::string model = "CPU";
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("model name")) continue;
    model = line.substr(line.find(':') + 2);
    break;
  }
  return {model + ", " + std::to_string(Arena::allowed_threads()) + " threads", true, "", 0};
}

std::optional<DeviceUuid> device_uuid() { return std::nullopt; }

#endif

}  // namespace stickslip::STICKSLIP_BACKEND
