// Span: names a stretch of a step, for profilers (NVTX ranges on CUDA) and for the trace of a run.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/core/context.h"
#include "gpu/core/trace_span.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Collects the spans of a context while it is attached to it. On CUDA it puts an event at both ends of a
/// span; their times are read after the host's wait at the end of a step. An error of the device between
/// leaves spans without device times; the next launch reports it.
class Trace {
 public:
  explicit Trace(Context& ctx);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// A span in the step in which it began.
  struct Handle {
    std::size_t index = 0;
    std::uint64_t step = 0;
  };

  /// Waits for the device, and relates its clock to the host's: event times are precise over seconds only.
  /// Forgets what a failed step left.
  void begin_step();
  /// Waits for the device. The spans since `begin_step`, in the order in which they began; what is still open
  /// ends here.
  std::vector<TraceSpan> take();

  Handle open(const char* name);
  /// Nothing when the step of the span is over.
  void close(Handle span) noexcept;

 private:
  Context& ctx_;
  std::vector<TraceSpan> spans_;
  int depth_ = 0;
  std::uint64_t step_ = 0;
#if STICKSLIP_ON_CUDA
  enum class End : std::size_t { begin, end };
  void record(std::size_t span, End end) noexcept;
  void read_device_times();
  std::vector<cudaEvent_t> events_;  // two per span, kept between steps
  std::vector<bool> recorded_;       // in this step
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
  Trace::Handle handle_;
  bool ranged_ = false;
};

}  // namespace stickslip::STICKSLIP_BACKEND
