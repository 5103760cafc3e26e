// Spans collected by a trace.
#include <memory>
#include <stdexcept>
#include <string>

#include "gpu/core/launch.h"
#include "gpu/core/span_totals.h"
#include "gpu/core/trace.h"
#include "tests/backend_test.h"
#include "tests/core/fixture.h"

namespace stickslip::STICKSLIP_BACKEND {

inline std::vector<std::string> outline(const std::vector<TraceSpan>& spans) {
  std::vector<std::string> lines;
  for (const TraceSpan& span : spans) lines.push_back(std::string(2 * span.depth, ' ') + span.name);
  return lines;
}

/// Requires that each span begins and ends, on both clocks, within the last earlier span one level up.
inline void expect_nested(const std::vector<TraceSpan>& spans) {
  for (std::size_t i = 0; i < spans.size(); ++i) {
    EXPECT_LE(spans[i].begin, spans[i].end) << spans[i].name;
    EXPECT_EQ(spans[i].device_begin >= 0, bool(STICKSLIP_ON_CUDA)) << spans[i].name;
    EXPECT_LE(spans[i].device_begin, spans[i].device_end) << spans[i].name;
    if (spans[i].depth == 0) continue;
    std::size_t parent = i;
    while (spans[parent].depth >= spans[i].depth) ASSERT_GT(parent--, 0u) << spans[i].name;
    ASSERT_EQ(spans[parent].depth, spans[i].depth - 1);
    EXPECT_LE(spans[parent].begin, spans[i].begin) << spans[i].name;
    EXPECT_GE(spans[parent].end, spans[i].end) << spans[i].name;
    EXPECT_LE(spans[parent].device_begin, spans[i].device_begin) << spans[i].name;
    EXPECT_GE(spans[parent].device_end, spans[i].device_end) << spans[i].name;
  }
}

inline void count_up(Context& ctx, Buffer<double>& buffer) {
  double* x = buffer.data();
  launch(ctx, buffer.size(), [=] SS_LAMBDA(std::size_t i) { x[i] = double(i); });
}

inline void two_stages(Context& ctx, Buffer<double>& buffer) {
  const Span step(ctx, "step");
  {
    const Span contacts(ctx, "contacts");
    const Span broad(ctx, "broad phase");
    count_up(ctx, buffer);
  }
  for (int i = 0; i < 2; ++i) {
    const Span solve(ctx, "solve");
    count_up(ctx, buffer);
  }
}

}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Trace, KeepsNamesDepthsOrderAndTimes) {
  Buffer<double> buffer(ctx, 10000);
  Trace trace(ctx);
  const double before = trace_clock();
  two_stages(ctx, buffer);
  const std::vector<TraceSpan> spans = trace.take();
  EXPECT_EQ(outline(spans),
            (std::vector<std::string>{"step", "  contacts", "    broad phase", "  solve", "  solve"}));
  expect_nested(spans);
  EXPECT_GE(spans[0].begin, before);
  EXPECT_LE(spans[0].end, trace_clock());
  EXPECT_LE(spans[3].end, spans[4].begin);
  EXPECT_LE(spans[3].device_end, spans[4].device_begin);
}

BACKEND_TEST(Trace, EveryStepHasSpansOfItsOwn) {
  Buffer<double> buffer(ctx, 100);
  Trace trace(ctx);
  double last = 0;
  for (int step = 0; step < 3; ++step) {
    trace.begin_step();
    two_stages(ctx, buffer);
    if (step == 1) {
      const Span more(ctx, "more");  // a different number of events
      count_up(ctx, buffer);
    }
    const std::vector<TraceSpan> spans = trace.take();
    ASSERT_EQ(spans.size(), step == 1 ? 6u : 5u);
    expect_nested(spans);
    EXPECT_GE(spans[0].begin, last);
    last = spans[0].end;
  }
  EXPECT_TRUE(trace.take().empty());
}

BACKEND_TEST(Trace, AnErrorLeavesWholeSpansAndTheNextStepUntouched) {
  Buffer<double> buffer(ctx, 100);
  Trace trace(ctx);
  try {
    const Span step(ctx, "step");
    const Span solve(ctx, "solve");
    throw std::runtime_error("in the middle");
  } catch (const std::runtime_error&) {
  }
  const std::vector<TraceSpan> failed = trace.take();
  EXPECT_EQ(outline(failed), (std::vector<std::string>{"step", "  solve"}));
  expect_nested(failed);
  trace.begin_step();
  two_stages(ctx, buffer);
  const std::vector<TraceSpan> spans = trace.take();
  ASSERT_EQ(spans.size(), 5u);
  EXPECT_EQ(spans[0].depth, 0);
}

BACKEND_TEST(Trace, AStepCanEndWithoutItsSpansBeingTaken) {
  Buffer<double> buffer(ctx, 100);
  Trace trace(ctx);
  two_stages(ctx, buffer);
  trace.begin_step();
  two_stages(ctx, buffer);
  EXPECT_EQ(trace.take().size(), 5u);
}

BACKEND_TEST(Trace, ASpanThatIsOpenWhenSpansAreTakenEndsThere) {
  Trace trace(ctx);
  auto open = std::make_unique<Span>(ctx, "open");
  const std::vector<TraceSpan> spans = trace.take();
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_GE(spans[0].end, spans[0].begin);
  EXPECT_EQ(spans[0].device_end, -1) << "its end was not recorded";
  trace.begin_step();
  const Span next(ctx, "next");
  open.reset();  // must not close the span that now has its slot
  const Span inner(ctx, "inner");
  EXPECT_EQ(outline(trace.take()), (std::vector<std::string>{"next", "  inner"}));
}

BACKEND_TEST(Trace, WhatIsCapturedIntoAGraphHasNoSpans) {
  Trace trace(ctx);
  {
    const Span step(ctx, "step");
    ctx.set_capturing(true);
    const Span inner(ctx, "captured");
    ctx.set_capturing(false);
  }
  EXPECT_EQ(outline(trace.take()), (std::vector<std::string>{"step"}));
}

BACKEND_TEST(Trace, WithoutOneSpansDoNothing) {
  Buffer<double> buffer(ctx, 100);
  const Counters before = ctx.counters();
  {
    const Span step(ctx, "step");
    const Span inner(ctx, "inner");
  }
  { const Trace trace(ctx); }
  EXPECT_EQ(ctx.trace(), nullptr);
  two_stages(ctx, buffer);
  const Counters done = ctx.counters() - before;
  EXPECT_EQ(done.synchronisations, 0u) << "spans and traces wait on their own account";
  EXPECT_EQ(done.allocations, 0u);
  EXPECT_EQ(done.launches, 3u);
}

BACKEND_TEST(Trace, TotalsAddSpansOfOnePlace) {
  const auto span = [](const char* name, int depth, double begin, double end, double device) {
    return TraceSpan{name, depth, begin, end, device < 0 ? -1 : begin, device < 0 ? -1 : begin + device};
  };
  const std::vector<SpanTotal> totals = span_totals({
      span("step", 0, 0, 10, 9),
      span("newton", 1, 1, 4, 3),
      span("ccd", 2, 1, 2, 0.5),
      span("newton", 1, 5, 9, 4),
      span("solve", 2, 5, 6, -1),
      span("ccd", 2, 6, 8, 1.5),
      span("ccd", 1, 9, 10, 0.25),
      span("step", 0, 11, 12, 1),
  });
  std::vector<std::string> lines;
  for (const SpanTotal& t : totals)
    lines.push_back(std::string(2 * t.depth, ' ') + t.name + " x" + std::to_string(t.count));
  EXPECT_EQ(lines,
            (std::vector<std::string>{"step x2", "  newton x2", "    ccd x2", "    solve x1", "  ccd x1"}));
  EXPECT_EQ(totals[0].host, 11);
  EXPECT_EQ(totals[0].device, 10);
  EXPECT_EQ(totals[2].host, 3);
  EXPECT_EQ(totals[2].device, 2);
  EXPECT_TRUE(totals[2].has_device);
  EXPECT_FALSE(totals[3].has_device);
  EXPECT_TRUE(span_totals({}).empty());
}
