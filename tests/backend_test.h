// BACKEND_TEST(Suite, Name) { ... }: one test body, compiled and run for each backend as cpu_Suite and
// cuda_Suite. Without a device that runs this build, the cuda test is skipped with the reason. `ctx` is a
// fresh Context.
#pragma once

#include <gtest/gtest.h>

#include "gpu/core/context.h"
#include "gpu/core/device.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip::STICKSLIP_BACKEND {
inline const DeviceInfo& tested_device() {
  static const DeviceInfo device = query_device();
  return device;
}
}  // namespace stickslip::STICKSLIP_BACKEND

#define STICKSLIP_TEST_NAME2(backend, suite) backend##_##suite
#define STICKSLIP_TEST_NAME(backend, suite) STICKSLIP_TEST_NAME2(backend, suite)
// The body is a free function: nvcc allows no device lambda inside a private member such as TestBody.
#define BACKEND_TEST(suite, name)                                           \
  namespace stickslip::STICKSLIP_BACKEND {                                  \
  void suite##_##name(Context& ctx);                                        \
  }                                                                         \
  TEST(STICKSLIP_TEST_NAME(STICKSLIP_BACKEND, suite), name) {               \
    if (!stickslip::STICKSLIP_BACKEND::tested_device().available)           \
      GTEST_SKIP() << stickslip::STICKSLIP_BACKEND::tested_device().reason; \
    stickslip::STICKSLIP_BACKEND::Context ctx;                              \
    stickslip::STICKSLIP_BACKEND::suite##_##name(ctx);                      \
  }                                                                         \
  void stickslip::STICKSLIP_BACKEND::suite##_##name([[maybe_unused]] Context& ctx)
