#include "gpu/core/device_loop.h"

#include <cstdlib>

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
    if (std::getenv("STICKSLIP_NO_DEVICE_LOOPS") != nullptr) return false;
    int driver = 0;
    return succeeded(cudaDriverGetVersion(&driver)) && driver >= kConditionalNodes;
  }();
  return supported;
}

void LoopGraph::begin(Context& ctx, const std::int32_t* stop) {
  graph_.create();
  cudaGraph_t graph = graph_.graph();
  SS_CUDA(cudaGraphConditionalHandleCreate(&again_, graph, 0, cudaGraphCondAssignDefault));

  // First a kernel that looks whether there is anything to do, then the loop.
  cudaGraphNode_t look = nullptr;
  void* arguments[] = {&again_, &stop};
  cudaKernelNodeParams kernel{};
  kernel.func = const_cast<void*>(kernel_address(&set_condition));
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  SS_CUDA(cudaGraphAddKernelNode(&look, graph, nullptr, 0, &kernel));

  cudaGraphNodeParams loop{};
  loop.type = cudaGraphNodeTypeConditional;
  loop.conditional.handle = again_;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  SS_CUDA(cudaGraphAddNode(&node, graph, &look, nullptr, 1, &loop));
#else
  SS_CUDA(cudaGraphAddNode(&node, graph, &look, 1, &loop));
#endif
  graph_.begin_recording(ctx, loop.conditional.phGraph_out[0]);
}

void LoopGraph::end(Context& ctx, const std::int32_t* stop) {
  const cudaError_t recorded = start_kernel(ctx, &set_condition, 1, 1, again_, stop);
  const cudaError_t ended = graph_.end_recording(ctx);
  // The first error is the cause of the second. Without set_condition the loop would never end.
  if (recorded != cudaSuccess) forget_error(ended);
  check(recorded, "set_condition", __FILE__, __LINE__);
  check(ended, "cudaStreamEndCapture", __FILE__, __LINE__);
  graph_.make_executable();
}

void LoopGraph::abandon(Context& ctx) noexcept {
  forget_error(graph_.end_recording(ctx));
  graph_.clear();
}

#endif

}  // namespace stickslip::STICKSLIP_BACKEND
