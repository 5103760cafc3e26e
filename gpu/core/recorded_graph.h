// RecordedGraph: a CUDA graph made of launches, and the recording that fills it.
#pragma once

#include "gpu/core/context.h"

#if STICKSLIP_ON_CUDA

namespace stickslip::STICKSLIP_BACKEND {

/// Owns a graph and its executable form.
class RecordedGraph {
 public:
  RecordedGraph() = default;
  ~RecordedGraph() { clear(); }
  RecordedGraph(const RecordedGraph&) = delete;
  RecordedGraph& operator=(const RecordedGraph&) = delete;

  /// An empty graph in place of what there was.
  void create();
  void clear() noexcept;
  cudaGraph_t graph() const { return graph_; }
  bool is_executable() const { return executable_ != nullptr; }

  /// Until end_recording, what is launched on `ctx` goes into `target`, which is graph() or a part of it.
  void begin_recording(Context& ctx, cudaGraph_t target);
  /// The error of the recording, if any.
  cudaError_t end_recording(Context& ctx) noexcept;
  void make_executable();
  /// Starts it; the host does not wait.
  void launch(Context& ctx) const;

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  std::size_t launches_before_ = 0;
};

}  // namespace stickslip::STICKSLIP_BACKEND

#endif
