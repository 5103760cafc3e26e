#include "gpu/core/recorded_graph.h"

#if STICKSLIP_ON_CUDA

namespace stickslip::STICKSLIP_BACKEND {

void RecordedGraph::create() {
  clear();
  SS_CUDA(cudaGraphCreate(&graph_, 0));
}

void RecordedGraph::clear() noexcept {
  if (executable_ != nullptr) forget_error(cudaGraphExecDestroy(executable_));
  if (graph_ != nullptr) forget_error(cudaGraphDestroy(graph_));
  executable_ = nullptr;
  graph_ = nullptr;
}

void RecordedGraph::begin_recording(Context& ctx, cudaGraph_t target) {
  launches_before_ = ctx.counters().launches;
  // Other threads may allocate meanwhile: their calls are theirs.
  SS_CUDA(cudaStreamBeginCaptureToGraph(ctx.stream(), target, nullptr, nullptr, 0,
                                        cudaStreamCaptureModeThreadLocal));
  ctx.set_capturing(true);
}

cudaError_t RecordedGraph::end_recording(Context& ctx) noexcept {
  cudaGraph_t recorded = nullptr;
  ctx.set_capturing(false);
  ctx.counters().launches = launches_before_;  // what was recorded did not run
  return cudaStreamEndCapture(ctx.stream(), &recorded);
}

void RecordedGraph::make_executable() { SS_CUDA(cudaGraphInstantiate(&executable_, graph_, 0)); }

void RecordedGraph::launch(Context& ctx) const {
  ++ctx.counters().graph_launches;
  SS_CUDA(cudaGraphLaunch(executable_, ctx.stream()));
}

}  // namespace stickslip::STICKSLIP_BACKEND

#endif
