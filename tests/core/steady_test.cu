// Behaviour common to all primitives: no allocation in steady use, counters, errors, timers.
#include <chrono>
#include <cstdint>
#include <thread>

#include "gpu/core/reduce.h"
#include "gpu/core/segmented.h"
#include "gpu/core/select.h"
#include "gpu/core/sort.h"
#include "gpu/core/timer.h"
#include "tests/backend_test.h"
#include "tests/core/fixture.h"

BACKEND_TEST(Steady, RepeatedUseAllocatesNothing) {
  const std::size_t most = 300000;
  Buffer<std::uint64_t> wide(ctx, most);
  Buffer<std::uint32_t> narrow(ctx, most);
  Buffer<std::int32_t> indices(ctx, most + 1), offsets(ctx, most + 1), count(ctx, 1);
  Buffer<double> sums(ctx, most);
  auto use_all = [&](std::size_t n) {
    std::uint64_t* w = wide.data();
    std::uint32_t* s = narrow.data();
    std::int32_t *o = offsets.data(), *order = indices.data();
    launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
      order[i] = static_cast<std::int32_t>(i);
      w[i] = i * 0x9E3779B97F4A7C15ull;
      s[i] = static_cast<std::uint32_t>(i * 2654435761u);
      o[i] = static_cast<std::int32_t>(i % 3);
    });
    exclusive_scan(ctx, n, o, o);
    select_indices(
        ctx, n, [=] SS_LAMBDA(std::size_t i) { return s[i] % 2 == 0; }, indices.data(), count.data());
    segmented_sum(
        ctx, n, o, [=] SS_LAMBDA(std::int32_t k) { return 0.5 * k; }, sums.data());
    reduce_sum(
        ctx, n, [=] SS_LAMBDA(std::size_t i) { return double(s[i]); }, sums.data());
    sort_pairs(ctx, n, w, indices.data());
    sort_pairs(ctx, n, s, indices.data());
    sort_keys(ctx, n, w);
  };
  use_all(most);
  const std::size_t allocations = ctx.counters().allocations;
  for (const std::size_t n : {most, most / 2, std::size_t{5}, most}) use_all(n);
  EXPECT_EQ(ctx.counters().allocations, allocations);
}

BACKEND_TEST(Steady, ScratchGrowsAndKeepsItsPlace) {
  const std::size_t before = ctx.counters().allocations;
  void* small = ctx.scratch(slot::first_free, 1000);
  EXPECT_EQ(ctx.scratch(slot::first_free, 10), small);
  EXPECT_EQ(ctx.counters().allocations, before + 1);
  EXPECT_NE(ctx.scratch(slot::first_free + 1, 1000), small);
  ctx.scratch(slot::first_free, 100000);
  EXPECT_EQ(ctx.counters().allocations, before + 3);
}

BACKEND_TEST(Steady, WhatOneBufferGaveBackServesTheNext) {
  if (BlockPool::most_kept() == 0) GTEST_SKIP() << "nothing is kept here";
  const double* place = nullptr;
  {
    const Buffer<double> first(ctx, 1000);
    place = first.data();
  }
  const std::size_t allocations = ctx.counters().allocations;
  const Buffer<float> second(ctx, 1990);  // of the same size class
  EXPECT_EQ(static_cast<const void*>(second.data()), place);
  EXPECT_EQ(ctx.counters().allocations, allocations);
  const Buffer<float> third(ctx, 1990);
  EXPECT_NE(third.data(), second.data());
  EXPECT_EQ(ctx.counters().allocations, allocations + 1);
}

BACKEND_TEST(Steady, ABufferMayOutliveItsContextAndChangeIt) {
  Buffer<int> buffer;
  {
    Context own;
    buffer.resize(own, 100);
    fill(own, buffer.data(), 100, 7);
    own.synchronize();
  }
  EXPECT_EQ(read_back(ctx, buffer.data() + 99), 7);
  buffer.resize(ctx, 10'000);
  fill(ctx, buffer.data(), 10'000, 8);
  EXPECT_EQ(read_back(ctx, buffer.data() + 9'999), 8);
}

BACKEND_TEST(Steady, MemoryIsCountedFromAllocationToRelease) {
  const std::size_t before = memory_use().live;
  forget_memory_peak();
  {
    Buffer<double> buffer(ctx, 1000);
    EXPECT_EQ(memory_use().live, before + 8000);
    buffer.resize(ctx, 10);
    EXPECT_EQ(memory_use().live, before + 8000) << "a buffer keeps its memory";
    ctx.scratch(slot::first_free, 1000);
    EXPECT_GE(memory_use().live, before + 9000);
    ctx.free_scratch();
    EXPECT_EQ(memory_use().live, before + 8000);
    EXPECT_NE(ctx.scratch(slot::first_free, 1000), nullptr);
    ctx.free_scratch();
  }
  EXPECT_EQ(memory_use().live, before);
  EXPECT_GE(memory_use().peak, before + 9000);
}

BACKEND_TEST(Timer, MeasuresAtLeastWhatPassed) {
  const Timer host;
  DeviceTimer device(ctx);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(host.seconds(), 5e-3);
  EXPECT_GE(device.seconds(), 0.0);
}

BACKEND_TEST(Errors, TooMuchMemoryIsRefused) {
  EXPECT_THROW(ctx.allocate(std::size_t{PTRDIFF_MAX} + 1), std::bad_alloc);
}

#if STICKSLIP_ON_CUDA

// These need no device: without a driver the calls fail too.
TEST(cuda_Errors, NameCallAndPlace) {
  try {
    SS_CUDA(cudaSetDevice(-1));
    FAIL() << "an error was swallowed";
  } catch (const std::runtime_error& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("cudaSetDevice(-1)"), std::string::npos) << text;
    EXPECT_NE(text.find("steady_test.cu:"), std::string::npos) << text;
    EXPECT_NE(text.find("cudaError"), std::string::npos) << text;
  }
  // Without a driver every call, including this one, reports that error.
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess) {
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "a caught error must not show at the next launch";
  }
}

#endif
