#include "gpu/core/trace.h"

#include "gpu/core/timer.h"

#if STICKSLIP_ON_CUDA
#include <nvtx3/nvToolsExt.h>
#endif

namespace stickslip::STICKSLIP_BACKEND {

Trace::Trace(Context& ctx) : ctx_(ctx) {
#if STICKSLIP_ON_CUDA
  SS_CUDA(cudaEventCreate(&reference_));
#endif
  ctx.attach_trace(this);
  begin_step();
}

Trace::~Trace() {
  ctx_.attach_trace(nullptr);
#if STICKSLIP_ON_CUDA
  cudaEventDestroy(reference_);
  for (cudaEvent_t event : events_) cudaEventDestroy(event);
#endif
}

void Trace::begin_step() {
  spans_.clear();
  depth_ = 0;
#if STICKSLIP_ON_CUDA
  SS_CUDA(cudaStreamSynchronize(ctx_.stream()));
  SS_CUDA(cudaEventRecord(reference_, ctx_.stream()));
  SS_CUDA(cudaEventSynchronize(reference_));
  reference_time_ = trace_clock();
#endif
}

std::vector<TraceSpan> Trace::take() {
#if STICKSLIP_ON_CUDA
  SS_CUDA(cudaStreamSynchronize(ctx_.stream()));
  const auto time_of = [&](cudaEvent_t event) {
    float milliseconds = 0;
    SS_CUDA(cudaEventElapsedTime(&milliseconds, reference_, event));
    return reference_time_ + 1e-3 * milliseconds;
  };
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    spans_[i].device_begin = time_of(event(2 * i));
    spans_[i].device_end = time_of(event(2 * i + 1));
  }
#endif
  std::vector<TraceSpan> out;
  out.swap(spans_);
  return out;
}

std::size_t Trace::open(const char* name) {
  const std::size_t index = spans_.size();
  spans_.push_back({name, depth_++, trace_clock(), 0});
#if STICKSLIP_ON_CUDA
  SS_CUDA(cudaEventRecord(event(2 * index), ctx_.stream()));
#endif
  return index;
}

void Trace::close(std::size_t span) {
#if STICKSLIP_ON_CUDA
  // A span is also closed while an error unwinds: no throw from here.
  static_cast<void>(cudaEventRecord(event(2 * span + 1), ctx_.stream()));
#endif
  spans_[span].end = trace_clock();
  --depth_;
}

#if STICKSLIP_ON_CUDA
cudaEvent_t Trace::event(std::size_t index) {
  while (events_.size() <= index + 1) {
    cudaEvent_t made = nullptr;
    SS_CUDA(cudaEventCreate(&made));
    events_.push_back(made);
  }
  return events_[index];
}
#endif

Span::Span(Context& ctx, const char* name) : trace_(ctx.is_capturing() ? nullptr : ctx.trace()) {
#if STICKSLIP_ON_CUDA
  ranged_ = !ctx.is_capturing();
  if (ranged_) nvtxRangePushA(name);
#endif
  if (trace_ != nullptr) index_ = trace_->open(name);
}

Span::~Span() {
  if (trace_ != nullptr) trace_->close(index_);
#if STICKSLIP_ON_CUDA
  if (ranged_) nvtxRangePop();
#endif
}

}  // namespace stickslip::STICKSLIP_BACKEND
