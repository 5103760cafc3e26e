// The cost model on launches whose times are computed by hand, and the names by which it finds nvcc's
// figures.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gpu/core/buffer.h"
#include "gpu/core/launch.h"
#include "tests/device/kernel_names.h"
#include "tests/device/runtime.h"

namespace stickslip::cuda {
namespace {

using emulation::KernelResources;
using emulation::LaunchCost;
using emulation::resident_blocks;

const emulation::DeviceSheet& h100() { return *emulation::find_device("h100"); }
const emulation::DeviceSheet& rtx4090() { return *emulation::find_device("rtx4090"); }

KernelResources with_registers(int registers) { return {.registers = registers}; }

TEST(cuda_CostModel, RegistersLimitTheResidentBlocks) {
  // 64 warps fit a processor of an H100. 32 registers: 1024 per warp, 64 warps. 33: 1056, rounded to 1280, 51
  // warps, rounded to 48.
  EXPECT_EQ(resident_blocks(h100(), with_registers(32), 256), 8);
  EXPECT_EQ(resident_blocks(h100(), with_registers(33), 256), 6);
  EXPECT_EQ(resident_blocks(h100(), with_registers(64), 256), 4);
  EXPECT_EQ(resident_blocks(h100(), with_registers(128), 256), 2);
  // 8160, rounded to 8192 per warp: 8 warps.
  EXPECT_EQ(resident_blocks(h100(), with_registers(255), 128), 2);
  EXPECT_EQ(resident_blocks(h100(), with_registers(255), 1024), 0);
  // 48 warps fit a processor of an RTX 4090. 48 registers: 1536 per warp, 42 warps, rounded to 40.
  EXPECT_EQ(resident_blocks(rtx4090(), with_registers(40), 256), 6);
  EXPECT_EQ(resident_blocks(rtx4090(), with_registers(48), 256), 5);
}

TEST(cuda_CostModel, SoDoLanesBlocksAndSharedMemory) {
  EXPECT_EQ(resident_blocks(h100(), with_registers(16), 32), 32);
  EXPECT_EQ(resident_blocks(rtx4090(), with_registers(16), 32), 24);
  EXPECT_EQ(resident_blocks(h100(), {}, 1024), 2);
  // 100 lanes take four warps.
  EXPECT_EQ(resident_blocks(h100(), with_registers(32), 100), 16);
  // 48 KiB and 1 KiB of the system's: four times in 228 KiB, twice in 100 KiB.
  EXPECT_EQ(resident_blocks(h100(), {.registers = 32, .shared = 48 << 10}, 256), 4);
  EXPECT_EQ(resident_blocks(rtx4090(), {.registers = 32, .shared = 48 << 10}, 256), 2);
}

/// Ten thousand blocks, each lane of which waits for 1000 cycles.
LaunchCost waiting_lanes() {
  LaunchCost cost;
  cost.blocks = 10'000;
  cost.block = 256;
  cost.loading = 2'560'000;
  cost.longest_wait = 1000;
  cost.all_waits = 1000.0 * 2'560'000;
  return cost;
}

TEST(cuda_CostModel, OccupancyDecidesHowManyLanesWaitTogether) {
  const LaunchCost cost = waiting_lanes();
  const double fixed = 0.5e-6;  // of a node of a graph
  const auto predicted = [&](const KernelResources* kernel) {
    return predict(h100(), cost, true, true, kernel).seconds - fixed;
  };
  // Four loads overlap; 132 processors hold 1024, 512 and 2048 lanes each.
  const double one_lane = 1000.0 / 4 / 1.755e9, lanes = 2'560'000.0 / 132;
  const KernelResources large{.registers = 128}, small{.registers = 32};
  EXPECT_NEAR(predicted(nullptr), one_lane * lanes / 1024, 1e-12);
  EXPECT_NEAR(predicted(&large), one_lane * lanes / 512, 1e-12);
  EXPECT_NEAR(predicted(&small), one_lane * lanes / 2048, 1e-12);
  EXPECT_EQ(predict(h100(), cost, true, true, &large).bound, emulation::Bound::latency);
}

TEST(cuda_CostModel, StacksMoveThroughTheLevelThatHoldsThem) {
  LaunchCost cost = waiting_lanes();
  cost.longest_wait = cost.all_waits = 0;
  const double fixed = 0.5e-6, lanes = 2'560'000, l1 = 132 * 128 * 1.755e9;
  const auto predicted = [&](const KernelResources& kernel) {
    return predict(h100(), cost, true, true, &kernel);
  };
  // 512 lanes with 100 bytes fit 256 KiB of L1: 13 loads of 40.7 cycles per lane, less than the bandwidth
  // takes.
  const auto in_l1 = predicted({.registers = 128, .stack = 100});
  const double waits = 100 / 8.0 * 40.7 / 4 / 1.755e9 * lanes / 132 / 512;
  EXPECT_NEAR(in_l1.seconds - fixed, std::max(lanes * 200 / l1, waits), 1e-12);
  // 512 lanes of 132 processors with 700 bytes: 47.3 MB, which fit L2 but not L1.
  const auto in_l2 = predicted({.registers = 128, .stack = 700});
  EXPECT_NEAR(in_l2.seconds - fixed, lanes * 1400 / 5.5e12, 1e-9);
  // With 1000 bytes they are in device memory.
  const auto in_memory = predicted({.registers = 128, .stack = 1000});
  EXPECT_NEAR(in_memory.seconds - fixed, lanes * 2000 / 3.35e12, 1e-9);
  EXPECT_EQ(in_memory.bound, emulation::Bound::bandwidth);
  // Spill instructions that move more than the stack holds.
  const auto spills = predicted({.registers = 128, .stack = 100, .spill_stores = 300, .spill_loads = 500});
  EXPECT_NEAR(spills.seconds - fixed, std::max(lanes * 800 / l1, 5 * waits), 1e-12);
}

TEST(cuda_CostModel, LanesThatLoadNothingHaveNoStackTraffic) {
  LaunchCost cost = waiting_lanes();
  cost.longest_wait = cost.all_waits = 0;
  cost.loading = 0;
  const KernelResources kernel{.registers = 128, .stack = 1000};
  EXPECT_EQ(predict(h100(), cost, true, true, &kernel).seconds, predict(h100(), cost, true, true).seconds);
}

TEST(cuda_KernelNames, AreTheSameForBothCompilers) {
  using emulation::kernel_key;
  const auto nvcc = kernel_key(
      "void "
      "stickslip::cuda::detail::launch_kernel<stickslip::cuda::detail::BelowCount<stickslip::cuda::("
      "anonymous "
      "namespace)::round(stickslip::cuda::Context&, int const*) const::{lambda(unsigned long)#2}> >(unsigned "
      "long, "
      "stickslip::cuda::detail::BelowCount<stickslip::cuda::(anonymous "
      "namespace)::round(stickslip::cuda::Context&, "
      "int const*) const::{lambda(unsigned long)#2}>)");
  const auto clang = kernel_key(
      "void "
      "stickslip::cuda::detail::launch_kernel<stickslip::cuda::detail::BelowCount<stickslip::cuda::("
      "anonymous "
      "namespace)::round(stickslip::cuda::Context&, int const*) const::$_17> >(unsigned long, "
      "stickslip::cuda::detail::BelowCount<stickslip::cuda::(anonymous "
      "namespace)::round(stickslip::cuda::Context&, "
      "int const*) const::$_17>)");
  EXPECT_EQ(nvcc.name, "launch_kernel<BelowCount<round::lambda>>");
  EXPECT_EQ(clang.name, nvcc.name);
  EXPECT_EQ(nvcc.order, std::vector<int>{2});
  EXPECT_EQ(clang.order, std::vector<int>{17});
}

TEST(cuda_KernelNames, LambdasInParametersAreNotCounted) {
  const auto key = emulation::kernel_key(
      "void stickslip::cuda::detail::launch_kernel<stickslip::cuda::NodeGather::sum<stickslip::cuda::add("
      "stickslip::cuda::Context&)::{lambda(int)#1}>(stickslip::cuda::Context&, stickslip::cuda::add("
      "stickslip::cuda::Context&)::{lambda(int)#1}, int) const::{lambda(unsigned long)#3}>");
  EXPECT_EQ(key.name, "launch_kernel<NodeGather::sum<add::lambda>::lambda>");
  EXPECT_EQ(key.order.back(), 3);
}

TEST(cuda_KernelNames, FunctorsKeepTheirArgumentsAndOtherFunctionsAreNoKernels) {
  EXPECT_EQ(emulation::kernel_key("void stickslip::cuda::detail::launch_kernel<stickslip::PairCollider<"
                                  "(stickslip::PairClass)0> >(unsigned long, stickslip::PairCollider<"
                                  "(stickslip::PairClass)0>)")
                .name,
            "launch_kernel<PairCollider<(PairClass)0>>");
  EXPECT_EQ(
      emulation::kernel_key("void const* stickslip::kernel_address<unsigned long>(void (*)(unsigned long))")
          .name,
      "");
  EXPECT_EQ(emulation::kernel_key("stickslip::cuda::Lbvh::refit(stickslip::cuda::Context&)").name, "");
}

std::string kernel_of(const std::string& lambda) {
  return "void stickslip::cuda::detail::launch_kernel<stickslip::cuda::" + lambda + " >(unsigned long)";
}

TEST(cuda_KernelNames, KernelsOfOneFunctionAreMatchedInTheirOrder) {
  const int a = 0, b = 0, c = 0;
  const std::vector<emulation::ProgramKernel> program{
      {kernel_of("f(int)::$_12"), &a}, {kernel_of("f(int)::$_9"), &b}, {kernel_of("g(int)::$_1"), &c}};
  const std::vector<emulation::NamedResources> two{
      {kernel_of("f(int)::{lambda(unsigned long)#1}"), {.registers = 10}},
      {kernel_of("f(int)::{lambda(unsigned long)#4}"), {.registers = 40}}};
  auto found = match_resources(program, two);
  EXPECT_EQ(found.size(), 2u);
  EXPECT_EQ(found[&b].registers, 10);
  EXPECT_EQ(found[&a].registers, 40);
  // One more in the table: which is which is unknown.
  auto three = two;
  three.push_back({kernel_of("f(int)::{lambda(unsigned long)#5}"), {.registers = 20, .stack = 8}});
  found = match_resources(program, three);
  for (const int* kernel : {&a, &b}) {
    EXPECT_EQ(found[kernel].registers, 40);
    EXPECT_EQ(found[kernel].stack, 8u);
  }
}

TEST(cuda_KernelNames, TheProgramsKernelsAreFoundUnderTheirAddresses) {
  Context ctx;
  Buffer<double> v(ctx, std::vector<double>(8, 1.0));
  emulation::set_checks({.costs = true});
  emulation::forget_costs();
  double* p = v.data();
  launch(ctx, 8, [=] SS_LAMBDA(std::size_t i) { p[i] += 1; });
  ctx.synchronize();
  emulation::set_checks({});
  ASSERT_EQ(emulation::costs().kernels().size(), 1u);
  const auto& [function, known] = *emulation::costs().kernels().begin();
  EXPECT_FALSE(known);
  const auto all = emulation::kernels_of_program();
  const auto found =
      std::find_if(all.begin(), all.end(), [f = function](const auto& k) { return k.function == f; });
  ASSERT_NE(found, all.end());
  EXPECT_NE(emulation::kernel_key(found->name).name.find("TheProgramsKernelsAreFound"), std::string::npos);
}

TEST(cuda_CostModel, TheDeviceCountsResidentBlocksByRegisters) {
  // The small device holds 256 lanes per processor, 65536 registers: 255 of them leave 8 warps, no limit
  // here.
  const void* function = reinterpret_cast<const void*>(&h100);
  int blocks = 0;
  emulation::use_resources({{function, {.registers = 255, .shared = 40 << 10}}});
  SS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 32, 0));
  EXPECT_EQ(blocks, 1);  // 41 KiB of 64
  emulation::use_resources({});
  SS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 32, 0));
  EXPECT_EQ(blocks, 8);
}

}  // namespace
}  // namespace stickslip::cuda
