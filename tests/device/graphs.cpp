// Graphs, conditional nodes and recording of the CUDA runtime on the emulated device.
#include "tests/device/device.h"

using namespace stickslip::emulation;  // NOLINT: these functions belong to it

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  const Lock lock(device_mutex);
  if (device().sticky != cudaSuccess) return device().sticky;
  *graph = new CUgraph_st;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  if (cudaError_t error; device().refuses("cudaGraphDestroy", error)) return error;
  const Lock lock(device_mutex);
  if (graph == nullptr || graph->parent != nullptr) return device().fail(cudaErrorInvalidValue);
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned default_value, unsigned flags) {
  const Lock lock(device_mutex);
  Device& d = device();
  *handle = d.next_condition++;
  // Without the flag the value of the last launch stays.
  if (flags == cudaGraphCondAssignDefault) graph->conditions[*handle] = default_value;
  d.conditions[*handle] = 0;
  return cudaSuccess;
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*,
                                   std::size_t, const cudaKernelNodeParams* params) {
  const Lock lock(device_mutex);
  auto made = std::make_shared<Launch>();
  if (const cudaError_t status = make_launch(params->func, params->gridDim, params->blockDim,
                                             params->kernelParams, params->sharedMemBytes, false, *made);
      status != cudaSuccess)
    return device().fail(status);
  Work work{.kind = Work::Kind::kernel};
  work.launch = std::move(made);
  work.stage = current_stage();
  graph->nodes->push_back(std::move(work));
  // Nodes run in the order in which they are added, which is one that the dependencies permit.
  *node = reinterpret_cast<cudaGraphNode_t>(graph->nodes->size());
  return cudaSuccess;
}

static cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNodeParams* params) {
  const Lock lock(device_mutex);
  if (params->type != cudaGraphNodeTypeConditional || params->conditional.type != cudaGraphCondTypeWhile ||
      params->conditional.size != 1)
    return device().fail(cudaErrorNotSupported);
  graph->bodies.push_back(std::make_unique<CUgraph_st>());
  CUgraph_st& body = *graph->bodies.back();
  body.parent = graph;
  static thread_local cudaGraph_t out[1];
  out[0] = &body;
  params->conditional.phGraph_out = out;
  Work work{.kind = Work::Kind::loop};
  work.condition = params->conditional.handle;
  work.body = body.nodes;
  graph->nodes->push_back(std::move(work));
  *node = reinterpret_cast<cudaGraphNode_t>(graph->nodes->size());
  return cudaSuccess;
}
#if CUDART_VERSION >= 13000
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*,
                             const cudaGraphEdgeData*, std::size_t, cudaGraphNodeParams* params) {
  return add_node(node, graph, params);
}
#else
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*, std::size_t,
                             cudaGraphNodeParams* params) {
  return add_node(node, graph, params);
}
#endif

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t*,
                                          const cudaGraphEdgeData*, std::size_t, cudaStreamCaptureMode) {
  const Lock lock(device_mutex);
  if (stream == nullptr || stream->capture) return device().fail(cudaErrorIllegalState);
  stream->capture = graph->nodes;
  stream->capture_spoiled = false;
  stream->capturer = std::this_thread::get_id();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const Lock lock(device_mutex);
  Device& d = device();
  *graph = nullptr;
  if (stream == nullptr || !stream->capture) return d.fail(cudaErrorIllegalState);
  if (stream->capturer != std::this_thread::get_id()) return d.fail(cudaErrorStreamCaptureWrongThread);
  const bool spoiled = stream->capture_spoiled;
  stream->capture.reset();
  stream->capture_spoiled = false;
  if (spoiled) return d.fail(cudaErrorStreamCaptureInvalidated);
  if (cudaError_t error; d.refuses("cudaStreamEndCapture", error)) return error;  // ended all the same
  return cudaSuccess;
}

static void copy_nodes(const Works& from, Works& to) {
  for (const Work& work : from) {
    to.push_back(work);
    if (!work.body) continue;
    to.back().body = std::make_shared<Works>();
    copy_nodes(*work.body, *to.back().body);
  }
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  if (cudaError_t error; device().refuses("cudaGraphInstantiate", error)) return error;
  const Lock lock(device_mutex);
  if (device().sticky != cudaSuccess) return device().sticky;
  *executable = new CUgraphExec_st;
  copy_nodes(*graph->nodes, (*executable)->nodes);
  (*executable)->conditions = graph->conditions;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  if (cudaError_t error; device().refuses("cudaGraphExecDestroy", error)) return error;
  const Lock lock(device_mutex);
  // Documented: destroyed once its launches are done.
  if (executable->pending > 0) device().drain(nullptr);
  delete executable;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const Lock lock(device_mutex);
  ++device().totals.graph_launches;
  ++executable->pending;
  Work work{.kind = Work::Kind::graph};
  work.graph = executable;
  return device().enqueue(stream, std::move(work));
}
}
