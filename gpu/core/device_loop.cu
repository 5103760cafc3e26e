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
    return cudaDriverGetVersion(&driver) == cudaSuccess && driver >= kConditionalNodes;
  }();
  return supported;
}

LoopGraph::~LoopGraph() { clear(); }

void LoopGraph::clear() noexcept {
  if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
  if (graph_ != nullptr) cudaGraphDestroy(graph_);
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
  cudaGraph_t body = nullptr;
  ctx.set_capturing(false);
  ctx.counters().launches = launches_before_;
  SS_CUDA(cudaStreamEndCapture(ctx.stream(), &body));
  check(recorded, "set_condition", __FILE__, __LINE__);  // without it the loop would never end
  SS_CUDA(cudaGraphInstantiate(&executable_, graph_, 0));
}

void LoopGraph::abandon(Context& ctx) noexcept {
  cudaGraph_t body = nullptr;
  ctx.set_capturing(false);
  cudaStreamEndCapture(ctx.stream(), &body);
  static_cast<void>(cudaGetLastError());
  clear();
}

void LoopGraph::launch(Context& ctx) {
  ++ctx.counters().graph_launches;
  SS_CUDA(cudaGraphLaunch(executable_, ctx.stream()));
}

#else

LoopGraph::~LoopGraph() = default;

#endif

}  // namespace stickslip::STICKSLIP_BACKEND
