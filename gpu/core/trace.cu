#include "gpu/core/trace.h"

#include <algorithm>
#include <new>

#if STICKSLIP_ON_CUDA
#include <nvtx3/nvToolsExt.h>
#endif

namespace stickslip::STICKSLIP_BACKEND {

Trace::Trace(Context& ctx) : ctx_(ctx) {
#if STICKSLIP_ON_CUDA
  SS_CUDA(cudaEventCreate(&reference_));
#endif
  try {
    begin_step();
  } catch (...) {
#if STICKSLIP_ON_CUDA
    forget_error(cudaEventDestroy(reference_));
#endif
    throw;
  }
  ctx.attach_trace(this);
}

Trace::~Trace() {
  ctx_.attach_trace(nullptr);
#if STICKSLIP_ON_CUDA
  forget_error(cudaEventDestroy(reference_));
  for (cudaEvent_t event : events_)
    if (event != nullptr) forget_error(cudaEventDestroy(event));
#endif
}

void Trace::begin_step() {
  spans_.clear();
  depth_ = 0;
  ++step_;
#if STICKSLIP_ON_CUDA
  recorded_.clear();
  SS_CUDA(cudaStreamSynchronize(ctx_.stream()));
  SS_CUDA(cudaEventRecord(reference_, ctx_.stream()));
  SS_CUDA(cudaEventSynchronize(reference_));
  reference_time_ = trace_clock();
#endif
}

std::vector<TraceSpan> Trace::take() {
  for (TraceSpan& span : spans_)
    if (span.end < span.begin) span.end = trace_clock();
  depth_ = 0;
  ++step_;
#if STICKSLIP_ON_CUDA
  read_device_times();
#endif
  std::vector<TraceSpan> out;
  out.swap(spans_);
  spans_.reserve(out.size());
  return out;
}

Trace::Handle Trace::open(const char* name) {
  const std::size_t index = spans_.size();
  spans_.push_back({name, depth_, trace_clock(), -1});
  ++depth_;
#if STICKSLIP_ON_CUDA
  record(index, End::begin);
#endif
  return {index, step_};
}

void Trace::close(Handle span) noexcept {
  if (span.step != step_) return;
#if STICKSLIP_ON_CUDA
  if (!ctx_.is_capturing()) record(span.index, End::end);
#endif
  spans_[span.index].end = trace_clock();
  depth_ = spans_[span.index].depth;
}

#if STICKSLIP_ON_CUDA

/// Without a throw: a span also ends while an error unwinds.
void Trace::record(std::size_t span, End end) noexcept {
  const std::size_t index = 2 * span + static_cast<std::size_t>(end);
  try {
    while (events_.size() <= index) {
      events_.push_back(nullptr);
      if (!succeeded(cudaEventCreate(&events_.back()))) events_.back() = nullptr;
    }
    recorded_.resize(std::max(recorded_.size(), index + 1));
  } catch (const std::bad_alloc&) {
    return;
  }
  recorded_[index] = events_[index] != nullptr && succeeded(cudaEventRecord(events_[index], ctx_.stream()));
}

void Trace::read_device_times() {
  SS_CUDA(cudaStreamSynchronize(ctx_.stream()));
  const auto time_of = [&](std::size_t index) {
    float milliseconds = 0;
    SS_CUDA(cudaEventElapsedTime(&milliseconds, reference_, events_[index]));
    return reference_time_ + 1e-3 * milliseconds;
  };
  recorded_.resize(2 * spans_.size());
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    if (!recorded_[2 * i] || !recorded_[2 * i + 1]) continue;
    spans_[i].device_begin = time_of(2 * i);
    spans_[i].device_end = time_of(2 * i + 1);
  }
}

#endif

Span::Span(Context& ctx, const char* name) : trace_(ctx.is_capturing() ? nullptr : ctx.trace()) {
  if (trace_ != nullptr) handle_ = trace_->open(name);
#if STICKSLIP_ON_CUDA
  ranged_ = !ctx.is_capturing();
  if (ranged_) nvtxRangePushA(name);
#endif
}

Span::~Span() {
  if (trace_ != nullptr) trace_->close(handle_);
#if STICKSLIP_ON_CUDA
  if (ranged_) nvtxRangePop();
#endif
}

}  // namespace stickslip::STICKSLIP_BACKEND
