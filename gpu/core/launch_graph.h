// LaunchGraph: launches that repeat with the same arguments, which a device starts without the host.
#pragma once

#include <cstring>
#include <type_traits>
#include <vector>

#include "gpu/core/device_loop.h"

namespace stickslip::STICKSLIP_BACKEND {

/// On CUDA, the launches of one body, recorded once they have come a few times. A graph starts a kernel in
/// half the time of a launch, but recording costs as much as some launches. Holds nothing on the CPU.
class LaunchGraph {
 public:
  LaunchGraph() = default;
  ~LaunchGraph();
  LaunchGraph(const LaunchGraph&) = delete;
  LaunchGraph& operator=(const LaunchGraph&) = delete;

  /// Runs body(), which only launches kernels, the same with the same arguments wherever `key` has the same
  /// bytes. A new key costs a new recording.
  template <class Key, class Body>
  void run([[maybe_unused]] Context& ctx, [[maybe_unused]] const Key& key, const Body& body) {
#if STICKSLIP_ON_CUDA
    static_assert(std::is_trivially_copyable_v<Key>);
    static const char kind = 0;  // its address tells keys of different types apart
    if (ctx.is_capturing() || !LoopGraph::is_supported() || !is_due(&kind, &key, sizeof key)) return body();
    if (executable_ == nullptr) {
      begin(ctx);
      try {
        body();
      } catch (...) {
        forget_error(end_capture(ctx));
        throw;
      }
      end(ctx);
    }
    launch(ctx);
#else
    body();
#endif
  }

#if STICKSLIP_ON_CUDA
 private:
  static constexpr int kDirect = 3;  // runs with one key before it is recorded
  /// Whether this key has come often enough.
  bool is_due(const void* kind, const void* key, std::size_t bytes);
  void begin(Context& ctx);
  void end(Context& ctx);
  void launch(Context& ctx);
  cudaError_t end_capture(Context& ctx) noexcept;
  void clear() noexcept;

  const void* kind_ = nullptr;
  std::vector<unsigned char> key_;
  int runs_ = 0;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  std::size_t launches_before_ = 0;
#endif
};

}  // namespace stickslip::STICKSLIP_BACKEND
