#include "gpu/core/launch_graph.h"

#include <algorithm>

namespace stickslip::STICKSLIP_BACKEND {

#if STICKSLIP_ON_CUDA

LaunchGraph::~LaunchGraph() {
  for (Recording& recording : recordings_) clear(recording);
}

void LaunchGraph::clear(Recording& recording) noexcept {
  if (recording.executable != nullptr) forget_error(cudaGraphExecDestroy(recording.executable));
  if (recording.graph != nullptr) forget_error(cudaGraphDestroy(recording.graph));
  recording.executable = nullptr;
  recording.graph = nullptr;
}

LaunchGraph::Recording& LaunchGraph::find(const Context& ctx, const void* kind, const void* key,
                                          std::size_t bytes) {
  const auto is_it = [&](const Recording& r) {
    return r.context == &ctx && r.kind == kind && r.key.size() == bytes &&
           std::memcmp(key, r.key.data(), bytes) == 0;
  };
  auto found = std::find_if(recordings_.begin(), recordings_.end(), is_it);
  if (found == recordings_.end()) {
    found = std::min_element(recordings_.begin(), recordings_.end(),
                             [](const Recording& a, const Recording& b) { return a.used < b.used; });
    clear(*found);
    found->context = &ctx;
    found->kind = kind;
    const auto* first = static_cast<const unsigned char*>(key);
    found->key.assign(first, first + bytes);
    found->runs = 0;
  }
  found->used = ++uses_;
  return *found;
}

void LaunchGraph::begin(Context& ctx, Recording& recording) {
  clear(recording);
  SS_CUDA(cudaGraphCreate(&recording.graph, 0));
  launches_before_ = ctx.counters().launches;
  // Other threads may allocate meanwhile: their calls are theirs.
  SS_CUDA(cudaStreamBeginCaptureToGraph(ctx.stream(), recording.graph, nullptr, nullptr, 0,
                                        cudaStreamCaptureModeThreadLocal));
  ctx.set_capturing(true);
}

void LaunchGraph::end(Context& ctx, Recording& recording) {
  SS_CUDA(end_capture(ctx));
  SS_CUDA(cudaGraphInstantiate(&recording.executable, recording.graph, 0));
}

cudaError_t LaunchGraph::end_capture(Context& ctx) noexcept {
  cudaGraph_t recorded = nullptr;
  ctx.set_capturing(false);
  ctx.counters().launches = launches_before_;  // what was recorded did not run
  return cudaStreamEndCapture(ctx.stream(), &recorded);
}

void LaunchGraph::launch(Context& ctx, const Recording& recording) {
  ++ctx.counters().graph_launches;
  SS_CUDA(cudaGraphLaunch(recording.executable, ctx.stream()));
}

#else

LaunchGraph::~LaunchGraph() = default;

#endif

}  // namespace stickslip::STICKSLIP_BACKEND
