#include "gpu/core/device.h"

#if STICKSLIP_ON_CUDA
#include <cuda_runtime.h>
#else
#include <fstream>

#include "gpu/core/context.h"
#endif

namespace stickslip::STICKSLIP_BACKEND {

#if STICKSLIP_ON_CUDA

DeviceInfo query_device() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return {"none", false, cudaGetErrorString(status)};
  if (count == 0) return {"none", false, "no CUDA device"};
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess)
    return {"none", false, "the device does not answer"};
  return {properties.name, true, ""};
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
  return {model + ", " + std::to_string(allowed_threads()) + " threads", true, ""};
}

#endif

}  // namespace stickslip::STICKSLIP_BACKEND
