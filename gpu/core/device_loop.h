// repeat_until(ctx, graph, stop, body): launches that the device repeats by itself, without the host.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/core/recorded_graph.h"

namespace stickslip::STICKSLIP_BACKEND {

/// On CUDA, the launches of one body as a graph in a conditional while node. Holds nothing on the CPU.
class LoopGraph {
 public:
#if STICKSLIP_ON_CUDA
  /// Whether driver and device support conditional nodes (CUDA 12.4), and the environment has no
  /// STICKSLIP_NO_DEVICE_LOOPS, with which loops run as under an older driver.
  static bool is_supported();
  /// Everything launched on `ctx` between the two becomes the body; an error in between needs `abandon`.
  void begin(Context& ctx, const std::int32_t* stop);
  void end(Context& ctx, const std::int32_t* stop);
  void abandon(Context& ctx) noexcept;
  /// Runs the body while *stop is zero; the host does not wait.
  void launch(Context& ctx) const { graph_.launch(ctx); }

 private:
  RecordedGraph graph_;
  cudaGraphConditionalHandle again_ = 0;
#endif
};

/// Calls body() at least once and then for as long as *stop (backend memory) is zero. `body` must launch the
/// same work each time and do nothing of consequence while *stop is not zero; it may not read back, wait or
/// allocate, except in its first call. The host does not wait for the end on CUDA, unless the driver lacks
/// conditional nodes.
template <class Body>
void repeat_until(Context& ctx, [[maybe_unused]] LoopGraph& graph, const std::int32_t* stop, Body body) {
#if STICKSLIP_ON_CUDA
  // This one loads kernels and lets scratch memory grow, which a capture may not.
  body();
  if (!LoopGraph::is_supported()) {
    constexpr int kBetweenLooks = 16;
    while (read_back(ctx, stop) == 0)
      for (int k = 0; k < kBetweenLooks; ++k) body();
    return;
  }
  graph.begin(ctx, stop);
  try {
    body();
  } catch (...) {
    graph.abandon(ctx);
    throw;
  }
  graph.end(ctx, stop);
  graph.launch(ctx);
#else
  ++ctx.counters().graph_launches;
  body();
  const std::size_t launches = ctx.counters().launches;
  while (*stop == 0) body();
  ctx.counters().launches = launches;  // as where a device repeats
#endif
}

}  // namespace stickslip::STICKSLIP_BACKEND
