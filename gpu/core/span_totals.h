// SpanTotal: the sum of the times of all spans of a name.
#pragma once

#include <vector>

#include "gpu/core/trace_span.h"

namespace stickslip {

/// Spans of one name under the same parents.
struct SpanTotal {
  const char* name = "";
  int depth = 0, count = 0;
  double host = 0, device = 0;  // [s] with what is nested in them
  bool has_device = false;      // all of them were timed on a device
};

/// Of spans in the order in which they began: parents before what they hold, siblings in the order of their
/// first spans.
std::vector<SpanTotal> span_totals(const std::vector<TraceSpan>& spans);

}  // namespace stickslip
