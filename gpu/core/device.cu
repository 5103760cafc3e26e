#include "gpu/core/device.h"

#if STICKSLIP_ON_CUDA
#include <cstring>
#else
#include <fstream>
#endif

#include "gpu/core/context.h"

namespace stickslip::STICKSLIP_BACKEND {

#if STICKSLIP_ON_CUDA

namespace {

/// Clock times two edges times the width of the bus; 0 where the driver does not say.
double sheet_bandwidth() {
  int kilohertz = 0, bits = 0;
  if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, 0) != cudaSuccess ||
      cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0) != cudaSuccess)
    return 0;
  return 2e3 * kilohertz * (bits / 8);
}

}  // namespace

DeviceInfo query_device() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return {"none", false, cudaGetErrorString(status), 0};
  if (count == 0) return {"none", false, "no CUDA device", 0};
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess)
    return {"none", false, "the device does not answer", 0};
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
