// Beyond the limit of checked accesses: the first launches of a kernel are checked and some of the others,
// and what the others write counts as written.
#include <gtest/gtest.h>

#include "gpu/core/buffer.h"
#include "gpu/core/launch.h"
#include "tests/device/faults.h"
#include "tests/device/runtime.h"

namespace stickslip::cuda {
namespace {

struct TwoLanesWriteOneWord {
  double* to;
  SS_HD void operator()(std::size_t i) const { to[i % 8] = static_cast<double>(i); }
};

class cuda_Samples : public ::testing::Test {
 protected:
  void SetUp() override {
    emulation::set_checks({.memory = true, .races = true});
    emulation::find_places(false);
  }
  void TearDown() override {
    emulation::limit_checks(emulation::limit_of_environment());
    emulation::find_places(true);
    emulation::set_checks({});
    emulation::forget_faults();
  }
  /// Launches a kernel with a race. True if the race is found.
  bool finds_the_race() {
    emulation::forget_faults();
    launch(ctx_, 16, TwoLanesWriteOneWord{values_.data()});
    ctx_.synchronize();
    return !emulation::faults().empty();
  }
  Context ctx_;
  Buffer<double> values_{ctx_, 8};
};

TEST_F(cuda_Samples, TheFirstLaunchesAndSomeOfTheOthersAreChecked) {
  emulation::limit_checks(1);
  for (int i = 0; i < 70; ++i) EXPECT_EQ(finds_the_race(), i < 4 || i % 32 == 0) << i;
  emulation::limit_checks(0);
  for (int i = 0; i < 70; ++i) EXPECT_TRUE(finds_the_race()) << i;
}

TEST_F(cuda_Samples, TheLimitCountsAccesses) {
  // 16 of each launch.
  emulation::limit_checks(16 * 10);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(finds_the_race(), i < 10) << i;
}

TEST_F(cuda_Samples, WhatOtherLaunchesWriteIsWritten) {
  emulation::limit_checks(1);
  for (int i = 0; i < 4; ++i) finds_the_race();
  Buffer<double> fresh(ctx_, 16);
  double *to = values_.data(), *from = fresh.data();
  emulation::forget_faults();
  launch(ctx_, 8, TwoLanesWriteOneWord{from});
  launch(ctx_, 1, [=] SS_LAMBDA(std::size_t) { to[0] = from[7]; });
  ctx_.synchronize();
  EXPECT_TRUE(emulation::faults().empty());
  launch(ctx_, 1, [=] SS_LAMBDA(std::size_t) { to[0] = from[8]; });
  ctx_.synchronize();
  EXPECT_EQ(emulation::faults().size(), 1u);
}

}  // namespace
}  // namespace stickslip::cuda
