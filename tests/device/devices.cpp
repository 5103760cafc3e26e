#include "tests/device/devices.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace stickslip::emulation {
namespace {

constexpr std::size_t kKiB = std::size_t{1} << 10, kGiB = std::size_t{1} << 30;
// NVIDIA's data sheets of the H100 SXM and the RTX 4090, and the tables of compute capabilities in the CUDA
// programming guide.
constexpr DeviceSheet kDevices[] = {
    {"small", "emulated device with 4 processors", 4, 256, 16, 48 * kKiB, 8 * kGiB, 75, 5'000'000, 64},
    {"h100", "emulated H100", 132, 2048, 32, 48 * kKiB, 32 * kGiB, 90, 2'619'000, 5120},
    {"rtx4090", "emulated RTX 4090", 128, 1536, 24, 48 * kKiB, 24 * kGiB, 89, 10'501'000, 384},
};

}  // namespace

const DeviceSheet& chosen_device() {
  static const DeviceSheet& device = []() -> const DeviceSheet& {
    const char* key = std::getenv("STICKSLIP_DEVICE");
    if (key == nullptr || *key == '\0') return kDevices[0];
    for (const DeviceSheet& sheet : kDevices)
      if (std::strcmp(sheet.key, key) == 0) return sheet;
    std::fprintf(stderr, "STICKSLIP_DEVICE: no device \"%s\"; known: small, h100, rtx4090\n", key);
    std::exit(2);
  }();
  return device;
}

}  // namespace stickslip::emulation
