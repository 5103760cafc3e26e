// LaunchGraph: launches that repeat with the same arguments, which a device starts without the host.
#pragma once

#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

#include "gpu/core/device_loop.h"

namespace stickslip::STICKSLIP_BACKEND {

/// On CUDA, launches that are recorded as graphs once they have come a few times. A graph starts a kernel in
/// half the time of a launch, but recording costs as much as some launches. Keeps the last four recordings.
/// Holds nothing on the CPU.
class LaunchGraph {
 public:
  LaunchGraph() = default;
  ~LaunchGraph();
  LaunchGraph(const LaunchGraph&) = delete;
  LaunchGraph& operator=(const LaunchGraph&) = delete;

  /// Runs body(), which only launches kernels: the same with the same arguments wherever `key` has the same
  /// bytes. It takes no scratch memory, which may move. A key with padding is recorded too often: its bytes
  /// are not defined.
  template <class Key, class Body>
  void run([[maybe_unused]] Context& ctx, [[maybe_unused]] const Key& key, const Body& body) {
#if STICKSLIP_ON_CUDA
    static_assert(std::is_trivially_copyable_v<Key>);
    static const char kind = 0;  // its address tells keys and bodies of different types apart
    if (ctx.is_capturing() || !LoopGraph::is_supported()) return body();
    Recording& recording = find(ctx, &kind, &key, sizeof key);
    if (recording.runs < kDirect) {
      ++recording.runs;
      return body();
    }
    if (recording.executable == nullptr) {
      begin(ctx, recording);
      try {
        body();
      } catch (...) {
        forget_error(end_capture(ctx));
        throw;
      }
      end(ctx, recording);
    }
    launch(ctx, recording);
#else
    body();
#endif
  }

#if STICKSLIP_ON_CUDA
 private:
  static constexpr int kDirect = 3;  // runs with one key before it is recorded
  struct Recording {
    const Context* context = nullptr;
    const void* kind = nullptr;
    std::vector<unsigned char> key;
    int runs = 0;
    std::size_t used = 0;  // when last
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
  };

  /// The recording of a key; for a new one the place of the one that was used longest ago.
  Recording& find(const Context& ctx, const void* kind, const void* key, std::size_t bytes);
  void begin(Context& ctx, Recording& recording);
  void end(Context& ctx, Recording& recording);
  void launch(Context& ctx, const Recording& recording);
  cudaError_t end_capture(Context& ctx) noexcept;
  static void clear(Recording& recording) noexcept;

  std::array<Recording, 4> recordings_;
  std::size_t uses_ = 0;
  std::size_t launches_before_ = 0;
#endif
};

}  // namespace stickslip::STICKSLIP_BACKEND
