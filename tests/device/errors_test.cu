// Calls of the runtime that fail: what the library makes of them.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "gpu/core/device.h"
#include "gpu/core/device_loop.h"
#include "gpu/core/grid.h"
#include "gpu/core/launch.h"
#include "gpu/core/trace.h"
#include "tests/device/faults.h"
#include "tests/device/runtime.h"

namespace stickslip::cuda {
namespace {

/// The message of what `body` throws; empty if it throws nothing.
template <class Body>
std::string message_of(Body body) {
  try {
    body();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Counts up to 4 by a loop on the device; the value afterwards.
std::int32_t count_to_four(Context& ctx, LoopGraph& graph) {
  Buffer<std::int32_t> state(ctx, 2);
  fill(ctx, state.data(), 2, std::int32_t{0});
  std::int32_t *value = state.data(), *stop = value + 1;
  repeat_until(ctx, graph, stop, [&] {
    launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
      if (*stop == 0) *stop = ++*value == 4 ? 1 : 0;
    });
  });
  return read_back(ctx, value);
}

class cuda_RuntimeErrors : public ::testing::Test {
 protected:
  /// Every planted error was met, none is left, and the device works.
  void TearDown() override {
    EXPECT_EQ(emulation::refusals_left(), 0u);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    Context ctx;
    LoopGraph graph;
    EXPECT_EQ(count_to_four(ctx, graph), 4);
    emulation::revive();
    emulation::forget_faults();
  }
};

TEST_F(cuda_RuntimeErrors, ADeviceThatTheBuildHasNoCodeForIsNotAvailable) {
  for (const cudaError_t error :
       {cudaErrorNoKernelImageForDevice, cudaErrorInvalidDeviceFunction, cudaErrorUnsupportedPtxVersion}) {
    emulation::refuse_next("cudaFuncGetAttributes", error);
    const DeviceInfo device = query_device();
    EXPECT_FALSE(device.available);
    EXPECT_TRUE(contains(device.reason, "compute capability 7.5")) << device.reason;
    EXPECT_TRUE(contains(device.reason, "-DSTICKSLIP_CUDA_ARCH=75")) << device.reason;
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
  EXPECT_TRUE(query_device().available);
}

TEST_F(cuda_RuntimeErrors, ADeviceThatDoesNotAnswerIsNotAvailable) {
  emulation::refuse_next("cudaGetDeviceProperties", cudaErrorUnknown);
  EXPECT_FALSE(query_device().available);
  emulation::refuse_next("cudaFuncGetAttributes", cudaErrorUnknown);
  EXPECT_FALSE(query_device().available);
}

TEST_F(cuda_RuntimeErrors, AnUnknownBandwidthIsNoError) {
  emulation::refuse_next("cudaDeviceGetAttribute", cudaErrorInvalidValue);
  const DeviceInfo device = query_device();
  EXPECT_TRUE(device.available);
  EXPECT_EQ(device.bandwidth, 0);
}

TEST_F(cuda_RuntimeErrors, AReleaseThatFailsLeavesNoError) {
  {
    Context ctx;
    { Buffer<double> block(ctx, std::size_t{1} << 20); }
    emulation::refuse_next("cudaFree", cudaErrorInvalidValue);
    ctx.free_scratch();
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    LoopGraph graph;
    count_to_four(ctx, graph);
    emulation::refuse_next("cudaGraphExecDestroy", cudaErrorInvalidValue);
    emulation::refuse_next("cudaGraphDestroy", cudaErrorInvalidValue);
    count_to_four(ctx, graph);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    Trace trace(ctx);
    emulation::refuse_next("cudaEventCreate", cudaErrorMemoryAllocation);
    { const Span span(ctx, "without a time of the device"); }
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(trace.take().size(), 1u);
    emulation::refuse_next("cudaEventDestroy", cudaErrorInvalidValue);
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

// The driver reserves the stacks of all lanes at a kernel's first launch.
TEST_F(cuda_RuntimeErrors, ALaunchWithoutMemoryGetsWhatThePoolKeeps) {
  Context ctx;
  Buffer<int> value(ctx, 1);
  emulation::refuse_next("cudaLaunchKernel", cudaErrorMemoryAllocation);
  EXPECT_THROW(fill(ctx, value.data(), 1, 7), OutOfMemory) << "the pool has nothing";
  { Buffer<double> unused(ctx, 1000); }
  EXPECT_GT(ctx.pool()->kept(), 0u);
  emulation::refuse_next("cudaLaunchKernel", cudaErrorMemoryAllocation);
  fill(ctx, value.data(), 1, 7);
  EXPECT_EQ(ctx.pool()->kept(), 0u);
  EXPECT_EQ(read_back(ctx, value.data()), 7);
  // A kernel that stays resident.
  { Buffer<double> unused(ctx, 1000); }
  emulation::refuse_next("cudaLaunchCooperativeKernel", cudaErrorMemoryAllocation);
  int* const target = value.data();
  launch_grid(ctx, 1, [=] SS_LAMBDA(const Grid& grid) { grid.each(1, [&](std::size_t) { *target = 8; }); });
  EXPECT_EQ(read_back(ctx, value.data()), 8);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(cuda_RuntimeErrors, ARecordingThatCannotEndReportsItAndLeavesTheContextUsable) {
  Context ctx;
  LoopGraph graph;
  for (const char* call : {"cudaStreamEndCapture", "cudaGraphInstantiate"}) {
    emulation::refuse_next(call, cudaErrorUnknown);
    const std::string message = message_of([&] { count_to_four(ctx, graph); });
    EXPECT_TRUE(contains(message, call)) << message;
    EXPECT_FALSE(ctx.is_capturing());
    EXPECT_EQ(count_to_four(ctx, graph), 4);
  }
}

TEST_F(cuda_RuntimeErrors, AnErrorInsideARecordingIsTheOneReported) {
  Context ctx;
  LoopGraph graph;
  Buffer<std::int32_t> stop(ctx, 1);
  fill(ctx, stop.data(), 1, std::int32_t{1});
  int calls = 0;
  std::size_t launches = 0;
  const auto body = [&] {
    launch(ctx, 1, [] SS_LAMBDA(std::size_t) {});
    if (++calls == 1) launches = ctx.counters().launches;
    if (calls == 2) Buffer<double>(ctx, 64);  // memory, while launches are recorded
  };
  const std::string message = message_of([&] { repeat_until(ctx, graph, stop.data(), body); });
  EXPECT_TRUE(contains(message, "memory was asked for while launches are recorded")) << message;
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(ctx.counters().launches, launches) << "what was recorded did not run";
  EXPECT_FALSE(ctx.is_capturing());
}

TEST_F(cuda_RuntimeErrors, ALaunchThatFailsInsideARecordingIsTheOneReported) {
  Context ctx;
  LoopGraph graph;
  Buffer<std::int32_t> stop(ctx, 1);
  fill(ctx, stop.data(), 1, std::int32_t{1});
  int calls = 0;
  const std::string message = message_of([&] {
    repeat_until(ctx, graph, stop.data(), [&] {
      if (++calls == 2) emulation::refuse_next("cudaLaunchKernel", cudaErrorLaunchOutOfResources);
      launch(ctx, 1, [] SS_LAMBDA(std::size_t) {});
    });
  });
  EXPECT_TRUE(contains(message, "cudaErrorLaunchOutOfResources")) << message;
}

}  // namespace
}  // namespace stickslip::cuda
