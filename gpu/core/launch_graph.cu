#include "gpu/core/launch_graph.h"

namespace stickslip::STICKSLIP_BACKEND {

#if STICKSLIP_ON_CUDA

LaunchGraph::~LaunchGraph() { clear(); }

void LaunchGraph::clear() noexcept {
  if (executable_ != nullptr) forget_error(cudaGraphExecDestroy(executable_));
  if (graph_ != nullptr) forget_error(cudaGraphDestroy(graph_));
  executable_ = nullptr;
  graph_ = nullptr;
}

bool LaunchGraph::is_due(const void* kind, const void* key, std::size_t bytes) {
  const bool same = kind == kind_ && bytes == key_.size() && std::memcmp(key, key_.data(), bytes) == 0;
  if (!same) {
    clear();
    kind_ = kind;
    key_.assign(static_cast<const unsigned char*>(key), static_cast<const unsigned char*>(key) + bytes);
    runs_ = 0;
  }
  if (runs_ == kDirect) return true;
  ++runs_;
  return false;
}

void LaunchGraph::begin(Context& ctx) {
  clear();
  SS_CUDA(cudaGraphCreate(&graph_, 0));
  launches_before_ = ctx.counters().launches;
  // Other threads may allocate meanwhile: their calls are theirs.
  SS_CUDA(cudaStreamBeginCaptureToGraph(ctx.stream(), graph_, nullptr, nullptr, 0,
                                        cudaStreamCaptureModeThreadLocal));
  ctx.set_capturing(true);
}

void LaunchGraph::end(Context& ctx) {
  SS_CUDA(end_capture(ctx));
  SS_CUDA(cudaGraphInstantiate(&executable_, graph_, 0));
}

cudaError_t LaunchGraph::end_capture(Context& ctx) noexcept {
  cudaGraph_t recorded = nullptr;
  ctx.set_capturing(false);
  ctx.counters().launches = launches_before_;  // what was recorded did not run
  return cudaStreamEndCapture(ctx.stream(), &recorded);
}

void LaunchGraph::launch(Context& ctx) {
  ++ctx.counters().graph_launches;
  SS_CUDA(cudaGraphLaunch(executable_, ctx.stream()));
}

#else

LaunchGraph::~LaunchGraph() = default;

#endif

}  // namespace stickslip::STICKSLIP_BACKEND
