// The emulated device itself: its streams, and what is queued in them.
#pragma once

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "tests/device/devices.h"
#include "tests/device/faults.h"
#include "tests/device/runtime.h"

namespace stickslip::emulation {

/// One node of a graph, or one entry of a stream.
struct Work {
  enum class Kind { kernel, copy, event, graph, signal, loop } kind;
  std::shared_ptr<const Launch> launch = nullptr;
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
  cudaMemcpyKind direction = cudaMemcpyDefault;
  CUevent_st* event = nullptr;
  CUgraphExec_st* graph = nullptr;
  cudaGraphConditionalHandle condition = 0;
  std::shared_ptr<std::vector<Work>> body = nullptr;  // of a loop
  std::uint64_t* timeline = nullptr;
  std::uint64_t value = 0;
  StreamOrder order = {};           // of an entry of a stream
  const char* stage = "";           // of the host, when it was queued or recorded
  std::vector<void*> callers = {};  // of a copy, innermost first; while memory is checked
};
using Works = std::vector<Work>;

}  // namespace stickslip::emulation

using stickslip::emulation::Work;
using stickslip::emulation::Works;

struct CUstream_st {
  std::uint32_t number = 0;
  std::uint32_t ticket = 0;  // of the last entry
  std::deque<Work> queue;
  std::shared_ptr<Works> capture;  // where launches go instead
  bool capture_spoiled = false;
  std::thread::id capturer;
};
struct CUevent_st {
  bool recorded = false, done = false, captured = false;
  CUstream_st* stream = nullptr;
  std::uint32_t stream_number = 0, ticket = 0;
  double seconds = 0;
};
struct CUgraph_st {
  std::shared_ptr<Works> nodes = std::make_shared<Works>();
  std::map<cudaGraphConditionalHandle, unsigned> conditions;  // with their defaults
  std::vector<std::unique_ptr<CUgraph_st>> bodies;
  CUgraph_st* parent = nullptr;
};
struct CUgraphExec_st {
  Works nodes;
  std::map<cudaGraphConditionalHandle, unsigned> conditions;
  int pending = 0;
};
struct CUexternalMemory_st {
  void* mapped = nullptr;
  std::size_t bytes = 0;
};
struct CUexternalSemaphore_st {
  std::uint64_t value = 0;
  int fd = -1;
};

namespace stickslip::emulation {

/// One per process; `Lock` guards it. The thread that runs a kernel holds the lock.
class Device {
 public:
  Device();

  /// Runs until the stream (nullptr: every stream) has nothing left.
  cudaError_t drain(CUstream_st* stream);
  /// `order`: of the entry of the stream that this is, or that this is part of.
  cudaError_t run(const Work& work, const StreamOrder& order, bool in_graph = false);
  cudaError_t run_all(const Works& works, const StreamOrder& order);
  /// The host has waited for this entry of a stream.
  void waited(std::uint32_t stream, std::uint32_t ticket);
  void waited_for_all();
  /// Whether a test wants this call to fail (`refuse_next`); if so, `error` is what it returns.
  bool refuses(const char* call, cudaError_t& error);
  /// Remembers the error until it is asked for; some for good.
  cudaError_t fail(cudaError_t error);
  /// Puts work into the stream, or into the graph that it records.
  cudaError_t enqueue(CUstream_st* stream, Work work);
  /// A call that no capture permits, made by this thread while one of its streams records: it spoils the
  /// recording.
  bool spoils_capture(const char* call);
  void install_handler();
  /// Blocks of `block` lanes per processor.
  int resident_blocks(const void* function, unsigned block) const;

  const DeviceSheet& sheet;
  Memory memory;
  Lanes lanes;
  std::mt19937 random;
  Totals totals;
  CostModel costs;
  cudaError_t last = cudaSuccess, sticky = cudaSuccess;
  std::map<std::string, cudaError_t> refused;  // by call
  std::list<CUstream_st*> streams;
  std::uint32_t streams_made = 0, tickets = 0;
  std::shared_ptr<const Tickets> host_waited = std::make_shared<Tickets>();
  std::unordered_map<const void*, Kernel> kernels;
  std::map<cudaGraphConditionalHandle, unsigned> conditions;  // values while graphs run
  cudaGraphConditionalHandle next_condition = 1;
};

Device& device();

/// The innermost range that this thread has opened (NVTX).
const char* current_stage();

extern std::recursive_mutex device_mutex;
using Lock = std::lock_guard<std::recursive_mutex>;

/// Makes a launch from the arguments of a call, or returns why the device refuses it.
cudaError_t make_launch(const void* function, dim3 grid, dim3 block, void* const* arguments,
                        std::size_t dynamic_shared, bool cooperative, Launch& out);

}  // namespace stickslip::emulation
