// Span: names a stretch of a step, for profilers (NVTX ranges on CUDA) and for the trace of a run.
#pragma once

#include <vector>

#include "gpu/core/context.h"
#include "gpu/core/trace_span.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Collects the spans of a context while it is attached to it. On CUDA it puts an event at both ends of a
/// span; their times are read after the host's wait at the end of a step.
class Trace {
 public:
  explicit Trace(Context& ctx);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Waits for the device, and relates its clock to the host's: event times are precise over seconds only.
  void begin_step();
  /// Waits for the device. The spans since `begin_step`, in the order in which they began.
  std::vector<TraceSpan> take();

  std::size_t open(const char* name);
  void close(std::size_t span);

 private:
  Context& ctx_;
  std::vector<TraceSpan> spans_;
  int depth_ = 0;
#if STICKSLIP_ON_CUDA
  cudaEvent_t event(std::size_t index);
  std::vector<cudaEvent_t> events_;  // two per span, kept between steps
  cudaEvent_t reference_ = nullptr;
  double reference_time_ = 0;
#endif
};

/// From its construction to its destruction. Does nothing while launches are captured into a graph.
class Span {
 public:
  /// `name` must be static.
  Span(Context& ctx, const char* name);
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  Trace* trace_;
  std::size_t index_ = 0;
  bool ranged_ = false;
};

}  // namespace stickslip::STICKSLIP_BACKEND
