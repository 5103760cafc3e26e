// Runs device tests on the emulated device. A test fails when the device found a fault of the program in it.
// The option --checked=SEED stands for the variables of the long tier (tests/device/README.md).
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
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

/// The SEED of --checked=SEED; null: there is none. Any other option of ours ends the program: tests that run
/// unchecked by mistake would pass.
const char* checked_seed(int count, char** arguments) {
  constexpr std::string_view kChecked = "--checked=";
  const char* seed = nullptr;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument.starts_with("--gtest_")) continue;
    seed = arguments[i] + kChecked.size();
    if (!argument.starts_with(kChecked) || argument.size() == kChecked.size() ||
        argument.find_first_not_of("0123456789", kChecked.size()) != argument.npos) {
      std::cerr << "test_device: " << argument
                << " is neither --checked=NUMBER nor an option of GoogleTest\n";
      std::exit(2);
    }
  }
  return seed;
}

/// Before the device exists, which reads these variables once.
void check_everything(const char* seed) {
  setenv("STICKSLIP_DEVICE_SEED", seed, 1);
  setenv("STICKSLIP_DEVICE_CHECK", "races", 1);
  setenv("STICKSLIP_DEVICE_CHECK_MOST", "20", 1);
}

}  // namespace

int main(int count, char** arguments) {
  if (const char* seed = checked_seed(count, arguments)) check_everything(seed);
  stickslip::emulation::keep_exit_code();
  ::testing::InitGoogleTest(&count, arguments);
  ::testing::UnitTest::GetInstance()->listeners().Append(new FaultListener);
  return RUN_ALL_TESTS();
}
