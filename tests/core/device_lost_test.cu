// CUDA errors that mean a lost device. Needs no device.
#include "gpu/core/context.h"

#if STICKSLIP_ON_CUDA

#include <gtest/gtest.h>

#include "gpu/core/device_lost.h"

namespace stickslip::cuda {

TEST(cuda_Errors, DistinguishALostDeviceFromAWrongCall) {
  for (const cudaError_t lost : {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorLaunchTimeout,
                                 cudaErrorECCUncorrectable, cudaErrorDevicesUnavailable, cudaErrorAssert}) {
    try {
      check(lost, "cudaAnything()", "file.cu", 7);
      ADD_FAILURE() << "an error was swallowed";
    } catch (const DeviceLost& error) {
      const std::string text = error.what();
      EXPECT_EQ(text.rfind("the device is lost: CUDA: cudaError", 0), 0u) << text;
      for (const char* part : {"cudaAnything() at file.cu:7", "the last frame is kept", "--backend cpu"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
  for (const cudaError_t wrong : {cudaErrorInvalidValue, cudaErrorInvalidConfiguration, cudaErrorNotReady}) {
    try {
      check(wrong, "cudaAnything()", "file.cu", 7);
      ADD_FAILURE() << "an error was swallowed";
    } catch (const DeviceLost& error) {
      ADD_FAILURE() << error.what();
    } catch (const std::runtime_error&) {
    }
  }
  EXPECT_NO_THROW(check(cudaSuccess, "cudaAnything()", "file.cu", 7));
}

}  // namespace stickslip::cuda

#endif
