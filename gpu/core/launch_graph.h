// LaunchGraph: launches that repeat with the same arguments, which a device starts without the host.
#pragma once

#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

#include "gpu/core/device_loop.h"
#include "gpu/core/recorded_graph.h"

namespace stickslip::STICKSLIP_BACKEND {

/// On CUDA, launches that are recorded as graphs once they have come a few times. A graph starts a kernel in
/// half the time of a launch, but recording costs as much as some launches. Keeps the last four recordings.
/// Holds nothing on the CPU.
class LaunchGraph {
 public:
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
    RecordedGraph& graph = recording.graph;
    if (!graph.is_executable()) {
      graph.create();
      graph.begin_recording(ctx, graph.graph());
      try {
        body();
      } catch (...) {
        forget_error(graph.end_recording(ctx));
        throw;
      }
      SS_CUDA(graph.end_recording(ctx));
      graph.make_executable();
    }
    graph.launch(ctx);
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
    RecordedGraph graph;
  };

  /// The recording of a key; for a new one the place of the one that was used longest ago.
  Recording& find(const Context& ctx, const void* kind, const void* key, std::size_t bytes);

  std::array<Recording, 4> recordings_;
  std::size_t uses_ = 0;
#endif
};

}  // namespace stickslip::STICKSLIP_BACKEND
