// Runs device tests on the emulated device. A test fails when the device found a fault of the program in it.
// The option --checked=SEED stands for the variables of the long tier (tests/device/README.md).
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "tests/device/faults.h"
#include "tests/device/runtime.h"

namespace {

class FaultListener : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override {
    stickslip::emulation::forget_faults();
    stickslip::emulation::limit_checks(stickslip::emulation::limit_of_environment());
  }
  void OnTestEnd(const ::testing::TestInfo&) override {
    for (const auto& fault : stickslip::emulation::faults())
      ADD_FAILURE() << stickslip::emulation::name(fault.kind) << ": " << fault.text;
  }
};

/// Before the device exists, which reads these variables once.
void check_everything(const char* seed) {
  setenv("STICKSLIP_DEVICE_SEED", seed, 1);
  setenv("STICKSLIP_DEVICE_CHECK", "races", 1);
  setenv("STICKSLIP_DEVICE_CHECK_MOST", "20", 1);
}

}  // namespace

int main(int count, char** arguments) {
  constexpr std::string_view kChecked = "--checked=";
  for (int i = 1; i < count; ++i)
    if (std::string_view(arguments[i]).starts_with(kChecked))
      check_everything(arguments[i] + kChecked.size());
  stickslip::emulation::keep_exit_code();
  ::testing::InitGoogleTest(&count, arguments);
  ::testing::UnitTest::GetInstance()->listeners().Append(new FaultListener);
  return RUN_ALL_TESTS();
}
