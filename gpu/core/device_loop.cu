#include "gpu/core/device_loop.h"

#include "gpu/core/kernel_start.h"

namespace stickslip::STICKSLIP_BACKEND {

#if STICKSLIP_ON_CUDA

namespace {

__global__ void set_condition(cudaGraphConditionalHandle again, const std::int32_t* stop) {
  cudaGraphSetConditional(again, *stop == 0 ? 1U : 0U);
}

}  // namespace

bool LoopGraph::is_supported() {
  constexpr int kConditionalNodes = 12040;
  static const bool supported = [] {
    int driver = 0;
    return succeeded(cudaDriverGetVersion(&driver)) && driver >= kConditionalNodes;
  }();
  return supported;
}

LoopGraph::~LoopGraph() { clear(); }

void LoopGraph::clear() noexcept {
  if (executable_ != nullptr) forget_error(cudaGraphExecDestroy(executable_));
  if (graph_ != nullptr) forget_error(cudaGraphDestroy(graph_));
  executable_ = nullptr;
  graph_ = nullptr;
}

void LoopGraph::begin(Context& ctx, const std::int32_t* stop) {
  clear();
  SS_CUDA(cudaGraphCreate(&graph_, 0));
  SS_CUDA(cudaGraphConditionalHandleCreate(&again_, graph_, 0, cudaGraphCondAssignDefault));

  // First a kernel that looks whether there is anything to do, then the loop.
  cudaGraphNode_t look = nullptr;
  void* arguments[] = {&again_, &stop};
  cudaKernelNodeParams kernel{};
  kernel.func = const_cast<void*>(kernel_address(&set_condition));
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  SS_CUDA(cudaGraphAddKernelNode(&look, graph_, nullptr, 0, &kernel));

  cudaGraphNodeParams loop{};
  loop.type = cudaGraphNodeTypeConditional;
  loop.conditional.handle = again_;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  SS_CUDA(cudaGraphAddNode(&node, graph_, &look, nullptr, 1, &loop));
#else
  SS_CUDA(cudaGraphAddNode(&node, graph_, &look, 1, &loop));
#endif
  launches_before_ = ctx.counters().launches;
  // Other threads may allocate meanwhile: their calls are theirs.
  SS_CUDA(cudaStreamBeginCaptureToGraph(ctx.stream(), loop.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                        cudaStreamCaptureModeThreadLocal));
  ctx.set_capturing(true);
}

void LoopGraph::end(Context& ctx, const std::int32_t* stop) {
  const cudaError_t recorded = start_kernel(ctx, &set_condition, 1, 1, again_, stop);
  const cudaError_t ended = end_capture(ctx);
  // The first error is the cause of the second. Without set_condition the loop would never end.
  if (recorded != cudaSuccess) forget_error(ended);
  check(recorded, "set_condition", __FILE__, __LINE__);
  check(ended, "cudaStreamEndCapture", __FILE__, __LINE__);
  SS_CUDA(cudaGraphInstantiate(&executable_, graph_, 0));
}

void LoopGraph::abandon(Context& ctx) noexcept {
  forget_error(end_capture(ctx));
  clear();
}

cudaError_t LoopGraph::end_capture(Context& ctx) noexcept {
  cudaGraph_t body = nullptr;
  ctx.set_capturing(false);
  ctx.counters().launches = launches_before_;  // what was recorded did not run
  return cudaStreamEndCapture(ctx.stream(), &body);
}

void LoopGraph::launch(Context& ctx) {
  ++ctx.counters().graph_launches;
  SS_CUDA(cudaGraphLaunch(executable_, ctx.stream()));
}

#else

LoopGraph::~LoopGraph() = default;

#endif

}  // namespace stickslip::STICKSLIP_BACKEND
