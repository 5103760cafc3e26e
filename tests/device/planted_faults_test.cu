// Faults planted into small kernels and calls, each of which the emulated device must find under its name.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "gpu/core/atomics.h"
#include "gpu/core/buffer.h"
#include "gpu/core/device_loop.h"
#include "gpu/core/grid.h"
#include "gpu/core/launch.h"
#include "gpu/core/team.h"
#include "tests/device/faults.h"
#include "tests/device/runtime.h"

namespace stickslip::cuda {
namespace {

using emulation::FaultKind;

/// The compiler must not know it as a constant.
volatile double host_value = 1;
const double constant_value = 2;

struct Wide {
  double values[5000];
};

__global__ void use_arguments(Wide wide, double* out) { out[0] = wide.values[0]; }
__global__ void touch(double* out) { out[threadIdx.x] = 1; }
__global__ void sync_grid_in_ordinary_launch() { emulation::grid_barrier(); }
__global__ void leave_one_block(double* out) {
  if (blockIdx.x == 1) return;
  emulation::grid_barrier();
  out[blockIdx.x] = 1;
}
__global__ void leave_some_lanes(double* out) {
  if (threadIdx.x < 3) return;
  __syncthreads();
  out[threadIdx.x] = 1;
}
/// Reverses a block without a barrier between writing and reading.
__global__ void reverse_without_barrier(double* out) {
  SS_SHARED(double[64], shared);
  shared[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = shared[63 - threadIdx.x];
}
__global__ void read_shared_first(double* out) {
  SS_SHARED(double[64], shared);
  out[threadIdx.x] = shared[threadIdx.x];
}
__global__ void share_too_much() {
  SS_SHARED(double[7000], shared);
  shared[0] = 1;
}
__global__ void publish_stack(double** where, double* out) {
  double local = threadIdx.x;
  if (threadIdx.x == 0) *where = &local;
  __syncthreads();
  if (threadIdx.x == 1) out[0] = **where;
  __syncthreads();
}
__global__ void stop(double*) { __trap(); }

/// Starts a kernel of one block.
template <class... A>
void start(Context& ctx, void (*kernel)(A...), unsigned lanes, const std::type_identity_t<A>&... arguments) {
  static_cast<void>(start_kernel(ctx, kernel, 1, lanes, arguments...));
}

struct Planted {
  const char* name;
  FaultKind kind;
  std::function<void(Context&)> run;
};

void wait(Context& ctx) {
  try {
    ctx.synchronize();
  } catch (const std::exception&) {  // the device is lost
  }
}

/// Eight values, written.
Buffer<double> values(Context& ctx) { return Buffer<double>(ctx, std::vector<double>(8, 1.0)); }

void cooperative(Context& ctx, const void* kernel, unsigned blocks, double* out) {
  void* arguments[] = {&out};
  static_cast<void>(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(32), arguments, 0, ctx.stream()));
}

/// Leaves of a binary tree climb to the root; each parent adds up its children. Without fences a visitor may
/// not see what its sibling wrote.
void climb(Context& ctx, bool fences) {
  constexpr int leaves = 64;
  Buffer<double> sums(ctx, std::vector<double>(2 * leaves, 1.0));
  Buffer<std::int32_t> visits(ctx, std::vector<std::int32_t>(leaves, 0));
  double* sum = sums.data();
  std::int32_t* visit = visits.data();
  launch(ctx, leaves, [=] SS_LAMBDA(std::size_t i) {
    std::size_t node = leaves + i;
    sum[node] = static_cast<double>(i);
    while (node > 1) {
      node /= 2;
      const std::int32_t before = fences ? arrive(visit + node) : atomic_add(visit + node, 1);
      if (before == 0) return;
      sum[node] = sum[2 * node] + sum[2 * node + 1];
    }
  });
  wait(ctx);
}

/// Records one launch of `body` into a graph.
void record(Context& ctx, const std::function<void()>& body) {
  Buffer<std::int32_t> stop(ctx, std::vector<std::int32_t>(1, 1));
  LoopGraph graph;
  graph.begin(ctx, stop.data());
  try {
    body();
    graph.end(ctx, stop.data());
  } catch (const std::exception&) {
    graph.abandon(ctx);
  }
}

const std::vector<Planted>& planted() {
  static const std::vector<Planted> list{
      {"ReadPastTheEnd", FaultKind::address,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         double* p = v.data();
         launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { p[0] = p[4096]; });
         wait(ctx);
       }},
      {"WritePastTheEnd", FaultKind::address,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         double* p = v.data();
         launch(ctx, 4097, [=] SS_LAMBDA(std::size_t i) { p[i] = 1; });
         wait(ctx);
       }},
      {"ReadBeforeTheBegin", FaultKind::address,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         double* p = v.data();
         launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { p[0] = *(p - 1); });
         wait(ctx);
       }},
      {"ReadOfFreedMemory", FaultKind::address,
       [](Context& ctx) {
         void* block = nullptr;
         SS_CUDA(cudaMalloc(&block, 64));
         SS_CUDA(cudaFree(block));
         Buffer<double> v = values(ctx);
         double *p = v.data(), *freed = static_cast<double*>(block);
         launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { p[0] = freed[0]; });
         wait(ctx);
       }},
      {"NullPointer", FaultKind::address,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         double *p = v.data(), *null = nullptr;
         launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { p[0] = null[0]; });
         wait(ctx);
       }},
      {"HostPointerRead", FaultKind::address,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         const std::vector<double> host(1, 3.0);
         double* p = v.data();
         const double* h = host.data();
         launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { p[0] = h[0]; });
         wait(ctx);
       }},
      {"HostPointerWritten", FaultKind::address,
       [](Context& ctx) {
         std::vector<double> host(1, 3.0);
         double* h = host.data();
         launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { h[0] = 4; });
         wait(ctx);
       }},
      {"StackOfTheHost", FaultKind::address,
       [](Context& ctx) {
         double local = 0;
         double* h = &local;
         launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *h = 4; });
         wait(ctx);
       }},
      {"StackOfAnotherLane", FaultKind::address,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         Buffer<double*> where(ctx, 1);
         start(ctx, &publish_stack, 32, where.data(), v.data());
         wait(ctx);
       }},
      {"GlobalVariableOfTheHost", FaultKind::address,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         double* p = v.data();
         launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { p[0] = host_value; });
         wait(ctx);
       }},
      {"WriteToAConstant", FaultKind::address,
       [](Context& ctx) {
         double* p = const_cast<double*>(&constant_value);
         launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *p = 1; });
         wait(ctx);
       }},
      {"MisalignedAccess", FaultKind::address,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         auto* p = reinterpret_cast<double*>(reinterpret_cast<char*>(v.data()) + 4);
         launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *p = 1; });
         wait(ctx);
       }},
      {"UnwrittenRead", FaultKind::unwritten,
       [](Context& ctx) {
         Buffer<double> v(ctx, 8);
         double* p = v.data();
         launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { p[0] = p[1] + 1; });
         wait(ctx);
       }},
      {"UnwrittenAtomic", FaultKind::unwritten,
       [](Context& ctx) {
         Buffer<std::int32_t> v(ctx, 8);
         std::int32_t* p = v.data();
         launch(ctx, 8, [=] SS_LAMBDA(std::size_t) { atomic_add(p, 1); });
         wait(ctx);
       }},
      {"UnwrittenSharedMemory", FaultKind::unwritten,
       [](Context& ctx) {
         Buffer<double> v(ctx, 64);
         start(ctx, &read_shared_first, 64, v.data());
         wait(ctx);
       }},
      {"UnwrittenBytesCopiedToTheHost", FaultKind::unwritten,
       [](Context& ctx) {
         Buffer<double> v(ctx, 8);
         double* p = v.data();
         launch(ctx, 7, [=] SS_LAMBDA(std::size_t i) { p[i] = 1; });
         v.download(ctx);
       }},
      {"BarrierThatSomeLanesNeverReach", FaultKind::barrier,
       [](Context& ctx) {
         Buffer<double> v(ctx, 64);
         start(ctx, &leave_some_lanes, 64, v.data());
         wait(ctx);
       }},
      {"GridBarrierThatABlockNeverReaches", FaultKind::barrier,
       [](Context& ctx) {
         Buffer<double> v(ctx, 64);
         cooperative(ctx, kernel_address(&leave_one_block), 3, v.data());
         wait(ctx);
       }},
      {"GridBarrierInAnOrdinaryLaunch", FaultKind::barrier,
       [](Context& ctx) {
         start(ctx, &sync_grid_in_ordinary_launch, 32);
         wait(ctx);
       }},
      {"MissingBarrier", FaultKind::race,
       [](Context& ctx) {
         Buffer<double> v(ctx, 64);
         start(ctx, &reverse_without_barrier, 64, v.data());
         wait(ctx);
       }},
      {"TwoLanesWriteOneWord", FaultKind::race,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         double* p = v.data();
         launch(ctx, 64, [=] SS_LAMBDA(std::size_t i) { p[i % 8] = static_cast<double>(i); });
         wait(ctx);
       }},
      {"NeighboursReadWhatOthersWrite", FaultKind::race,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         double* p = v.data();
         launch(ctx, 8, [=] SS_LAMBDA(std::size_t i) { p[i] = 0.5 * (p[(i + 1) % 8] + p[(i + 7) % 8]); });
         wait(ctx);
       }},
      {"TwoBlocksOfAColourShareABody", FaultKind::race,
       [](Context& ctx) {
         // Contact i lies between the bodies i and i + 1: two colours are needed, here all have one.
         Buffer<double> v = values(ctx);
         double* p = v.data();
         launch(ctx, 7, [=] SS_LAMBDA(std::size_t i) {
           p[i] += 1;
           p[i + 1] -= 1;
         });
         wait(ctx);
       }},
      {"PlainReadOfAnAtomicCounter", FaultKind::race,
       [](Context& ctx) {
         Buffer<std::int32_t> v(ctx, std::vector<std::int32_t>(65, 0));
         std::int32_t* p = v.data();
         launch(ctx, 64, [=] SS_LAMBDA(std::size_t i) {
           atomic_add(p, 1);
           p[i + 1] = p[0];
         });
         wait(ctx);
       }},
      {"ClimbWithoutFences", FaultKind::race, [](Context& ctx) { climb(ctx, false); }},
      {"StreamsShareAWord", FaultKind::race,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         ctx.synchronize();
         Context other;
         double* p = v.data();
         launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { p[0] = 2; });
         launch(other, 1, [=] SS_LAMBDA(std::size_t) { p[1] = p[0]; });
         wait(ctx);
         wait(other);
       }},
      {"WaitForTheWrongStream", FaultKind::race,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         ctx.synchronize();
         Context other;
         double* p = v.data();
         launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { p[1] = p[0]; });
         wait(other);
         launch(other, 1, [=] SS_LAMBDA(std::size_t) { p[0] = 2; });
         wait(other);
         wait(ctx);
       }},
      {"UploadWithoutAWait", FaultKind::race,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         ctx.synchronize();
         Context other;
         double* p = v.data();
         const std::vector<double> host(8, 3.0);
         SS_CUDA(cudaMemcpyAsync(p, host.data(), 64, cudaMemcpyHostToDevice, ctx.stream()));
         launch(other, 1, [=] SS_LAMBDA(std::size_t) { p[0] += 1; });
         wait(other);
         wait(ctx);
       }},
      {"AllocationWhileRecording", FaultKind::capture,
       [](Context& ctx) {
         record(ctx, [] {
           void* block = nullptr;
           SS_CUDA(cudaMalloc(&block, 64));
         });
       }},
      {"WaitWhileRecording", FaultKind::capture,
       [](Context& ctx) { record(ctx, [&] { SS_CUDA(cudaStreamSynchronize(ctx.stream())); }); }},
      {"CopyToTheHostWhileRecording", FaultKind::capture,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         record(ctx, [&] {
           double host = 0;
           SS_CUDA(cudaMemcpyAsync(&host, v.data(), sizeof host, cudaMemcpyDeviceToHost, ctx.stream()));
         });
       }},
      {"WaitForARecordedEvent", FaultKind::capture,
       [](Context& ctx) {
         cudaEvent_t event = nullptr;
         SS_CUDA(cudaEventCreate(&event));
         record(ctx, [&] {
           SS_CUDA(cudaEventRecord(event, ctx.stream()));
           SS_CUDA(cudaEventSynchronize(event));
         });
       }},
      {"RecordingThatNeverEnds", FaultKind::capture,
       [](Context& ctx) {
         Buffer<std::int32_t> stop(ctx, std::vector<std::int32_t>(1, 1));
         LoopGraph graph;
         graph.begin(ctx, stop.data());
         emulation::leftovers();
         graph.abandon(ctx);
       }},
      {"FreedTwice", FaultKind::release,
       [](Context&) {
         void* block = nullptr;
         SS_CUDA(cudaMalloc(&block, 64));
         SS_CUDA(cudaFree(block));
         static_cast<void>(cudaFree(block));
       }},
      {"FreedInTheMiddle", FaultKind::release,
       [](Context&) {
         char* block = nullptr;
         SS_CUDA(cudaMalloc(&block, 64));
         static_cast<void>(cudaFree(block + 8));
       }},
      {"MemoryLeftBehind", FaultKind::release,
       [](Context&) {
         void* block = nullptr;
         SS_CUDA(cudaMalloc(&block, 64));
         emulation::leftovers();
       }},
      {"CooperativeGridTooLarge", FaultKind::limit,
       [](Context& ctx) {
         Buffer<double> v(ctx, 64);
         cooperative(ctx, kernel_address(&leave_one_block), 1u << 20, v.data());
       }},
      {"BlockTooLarge", FaultKind::limit,
       [](Context& ctx) {
         Buffer<double> v(ctx, 4096);
         start(ctx, &touch, 2048, v.data());
       }},
      {"TooManyBytesOfArguments", FaultKind::limit,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         static const Wide wide{};
         start(ctx, &use_arguments, 1, wide, v.data());
       }},
      {"TooMuchSharedMemory", FaultKind::limit,
       [](Context& ctx) {
         start(ctx, &share_too_much, 1);
         wait(ctx);
       }},
      {"CopyInTheWrongDirection", FaultKind::call,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         double host = 0;
         static_cast<void>(
             cudaMemcpyAsync(&host, v.data(), sizeof host, cudaMemcpyHostToDevice, ctx.stream()));
       }},
      {"DefaultStream", FaultKind::call,
       [](Context& ctx) {
         Buffer<double> v = values(ctx);
         static_cast<void>(cudaMemcpyAsync(v.data(), v.data() + 4, 8, cudaMemcpyDeviceToDevice, nullptr));
       }},
      {"LaunchOfNoKernel", FaultKind::call,
       [](Context& ctx) {
         void* arguments[] = {nullptr};
         static_cast<void>(cudaLaunchKernel(reinterpret_cast<const void*>(&wait), dim3(1), dim3(1), arguments,
                                            0, ctx.stream()));
       }},
      {"Trap", FaultKind::trap,
       [](Context& ctx) {
         start(ctx, &stop, 1, nullptr);
         wait(ctx);
       }},
  };
  return list;
}

class cuda_PlantedFaults : public ::testing::TestWithParam<Planted> {};

TEST_P(cuda_PlantedFaults, AreFound) {
  emulation::set_checks({.memory = true, .races = true});
  emulation::find_places(false);
  {
    Context ctx;
    GetParam().run(ctx);
    std::set<std::string> kinds;
    for (const emulation::Fault& fault : emulation::faults()) kinds.insert(emulation::name(fault.kind));
    EXPECT_TRUE(kinds.contains(emulation::name(GetParam().kind)));
    emulation::revive();
  }
  emulation::find_places(true);
  emulation::set_checks({});
  emulation::forget_faults();
}

INSTANTIATE_TEST_SUITE_P(Each, cuda_PlantedFaults, ::testing::ValuesIn(planted()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(cuda_Emulation, WithoutAPlantedFaultNothingIsFound) {
  emulation::set_checks({.memory = true, .races = true});
  Context ctx;
  climb(ctx, true);
  Buffer<double> v = values(ctx);
  double* p = v.data();
  launch(ctx, 8, [=] SS_LAMBDA(std::size_t i) { p[i] = constant_value * p[i]; });
  EXPECT_EQ(v.download(ctx), std::vector<double>(8, 2.0));
  EXPECT_TRUE(emulation::faults().empty());
  emulation::set_checks({});
}

TEST(cuda_Emulation, StreamsThatTheHostHasWaitedForAreOrdered) {
  emulation::set_checks({.memory = true, .races = true});
  Context one, other;
  Buffer<double> v = values(one);
  double* p = v.data();
  cudaEvent_t event = nullptr;
  SS_CUDA(cudaEventCreate(&event));
  launch(one, 8, [=] SS_LAMBDA(std::size_t i) { p[i] += 1; });
  one.synchronize();
  launch(other, 8, [=] SS_LAMBDA(std::size_t i) { p[i] *= 2; });
  SS_CUDA(cudaEventRecord(event, other.stream()));
  launch(other, 8, [=] SS_LAMBDA(std::size_t i) { p[i] += 0; });
  // What comes after the event is not waited for.
  SS_CUDA(cudaEventSynchronize(event));
  EXPECT_TRUE(emulation::faults().empty());
  launch(one, 8, [=] SS_LAMBDA(std::size_t i) { p[i] += 1; });
  one.synchronize();
  EXPECT_FALSE(emulation::faults().empty());
  emulation::forget_faults();
  other.synchronize();
  EXPECT_EQ(v.download(other), std::vector<double>(8, 5.0));
  EXPECT_TRUE(emulation::faults().empty());
  SS_CUDA(cudaEventDestroy(event));
  emulation::set_checks({});
}

TEST(cuda_Emulation, AFaultNamesItsLines) {
  emulation::set_checks({.memory = true, .races = true});
  Context ctx;
  Buffer<double> v(ctx, 64);
  start(ctx, &reverse_without_barrier, 64, v.data());
  wait(ctx);
  ASSERT_FALSE(emulation::faults().empty());
  EXPECT_NE(emulation::faults().front().text.find("tests/device/planted_faults_test.cu:"), std::string::npos);
  emulation::set_checks({});
  emulation::revive();
  emulation::forget_faults();
}

TEST(cuda_Emulation, CountsTheBytesThatKernelsMove) {
  emulation::set_checks({.memory = true, .costs = true});
  Context ctx;
  Buffer<double> v = values(ctx);
  double* p = v.data();
  ctx.synchronize();
  const emulation::Totals before = emulation::totals();
  launch(ctx, 8, [=] SS_LAMBDA(std::size_t i) { p[i] = 2 * p[i]; });
  ctx.synchronize();
  const emulation::Totals after = emulation::totals();
  EXPECT_EQ(after.launches - before.launches, 1u);
  EXPECT_EQ(after.bytes_read - before.bytes_read, 8 * sizeof(double));
  EXPECT_EQ(after.bytes_written - before.bytes_written, 8 * sizeof(double));
  emulation::set_checks({});
}

TEST(cuda_Emulation, ACopyWithoutAWaitHasNotHappened) {
  Context ctx;
  Buffer<double> v = values(ctx);
  double host = 0;
  SS_CUDA(cudaMemcpyAsync(&host, v.data(), sizeof host, cudaMemcpyDeviceToHost, ctx.stream()));
  EXPECT_EQ(host, 0);
  ctx.synchronize();
  EXPECT_EQ(host, 1);
}

TEST(cuda_EmulationDeathTest, TheHostMayNotTouchDeviceMemory) {
  Context ctx;
  Buffer<double> v = values(ctx);
  volatile double* p = v.data();
  EXPECT_DEATH(*p = 1, "host access");
}

TEST(cuda_Emulation, AnErrorStaysOnceTheDeviceIsLost) {
  Context ctx;
  start(ctx, &stop, 1, nullptr);
  EXPECT_EQ(cudaStreamSynchronize(ctx.stream()), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  void* block = nullptr;
  EXPECT_EQ(cudaMalloc(&block, 64), cudaErrorLaunchFailure);
  emulation::revive();
  emulation::forget_faults();
}

}  // namespace
}  // namespace stickslip::cuda
