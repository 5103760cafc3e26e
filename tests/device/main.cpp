// Runs device tests on the emulated device. A test fails when the device found a fault of the program in it.
#include <gtest/gtest.h>

#include "tests/device/faults.h"
#include "tests/device/runtime.h"

namespace {

class FaultListener : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override {
    stickslip::emulation::forget_faults();
    stickslip::emulation::limit_checks();
  }
  void OnTestEnd(const ::testing::TestInfo&) override {
    for (const auto& fault : stickslip::emulation::faults())
      ADD_FAILURE() << stickslip::emulation::name(fault.kind) << ": " << fault.text;
  }
};

}  // namespace

int main(int count, char** arguments) {
  stickslip::emulation::keep_exit_code();
  ::testing::InitGoogleTest(&count, arguments);
  ::testing::UnitTest::GetInstance()->listeners().Append(new FaultListener);
  return RUN_ALL_TESTS();
}
