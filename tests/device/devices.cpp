#include "tests/device/devices.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace stickslip::emulation {
namespace {

constexpr std::size_t kKiB = std::size_t{1} << 10, kMiB = std::size_t{1} << 20, kGiB = std::size_t{1} << 30;
// NVIDIA's data sheets of the H100 SXM and the RTX 4090, and the tables of compute capabilities in the CUDA
// programming guide.
constexpr double kMicro = 1e-6;
constexpr DeviceSheet kDevices[] = {
    {"small",
     "emulated device with 4 processors",
     4,
     256,
     16,
     48 * kKiB,
     8 * kGiB,
     75,
     5'000'000,
     64,
     1.5e9,
     80e9,
     300e9,
     kMiB,
     96 * kKiB,
     64 * kKiB,
     65536,
     64,
     32,
     190,
     430,
     0.9 * kMicro,
     0.5 * kMicro,
     2.2 * kMicro,
     5.8 * kMicro,
     1.5 * kMicro,
     12e9},
    {"h100",       "emulated H100", 132,          2048,         32,           48 * kKiB, 32 * kGiB,
     90,           2'619'000,       5120,         1.755e9,      3.35e12,      5.5e12,    50 * kMiB,
     256 * kKiB,   228 * kKiB,      65536,        128,          40.7,         263,       479,
     0.9 * kMicro, 0.5 * kMicro,    2.2 * kMicro, 5.8 * kMicro, 1.5 * kMicro, 50e9},
    {"rtx4090",    "emulated RTX 4090", 128,          1536,         24,           48 * kKiB, 24 * kGiB,
     89,           10'501'000,          384,          2.52e9,       1.008e12,     5.0e12,    72 * kMiB,
     128 * kKiB,   100 * kKiB,          65536,        128,          43.4,         273,       541.5,
     0.9 * kMicro, 0.5 * kMicro,        2.2 * kMicro, 5.8 * kMicro, 1.5 * kMicro, 25e9},
};

}  // namespace

const DeviceSheet* find_device(const char* key) {
  for (const DeviceSheet& sheet : kDevices)
    if (std::strcmp(sheet.key, key) == 0) return &sheet;
  return nullptr;
}

const DeviceSheet& chosen_device() {
  static const DeviceSheet& device = []() -> const DeviceSheet& {
    const char* key = std::getenv("STICKSLIP_DEVICE");
    if (key == nullptr || *key == '\0') return kDevices[0];
    if (const DeviceSheet* found = find_device(key)) return *found;
    std::fprintf(stderr, "STICKSLIP_DEVICE: no device \"%s\"; known: small, h100, rtx4090\n", key);
    std::exit(2);
  }();
  return device;
}

}  // namespace stickslip::emulation
