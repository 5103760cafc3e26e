#include "gpu/core/span_totals.h"

#include <string_view>

namespace stickslip {
namespace {

struct SpanRow {
  SpanTotal total;
  std::vector<std::size_t> children;
};

void list(const std::vector<SpanRow>& rows, std::size_t row, std::vector<SpanTotal>& out) {
  for (const std::size_t child : rows[row].children) {
    out.push_back(rows[child].total);
    list(rows, child, out);
  }
}

}  // namespace

std::vector<SpanTotal> span_totals(const std::vector<TraceSpan>& spans) {
  std::vector<SpanRow> rows(1);      // the first stands for the whole
  std::vector<std::size_t> open{0};  // the row of each depth, from that of the whole on
  const auto row_of = [&](const TraceSpan& span) {
    const std::size_t parent = open.back();
    for (const std::size_t child : rows[parent].children)
      if (std::string_view(rows[child].total.name) == span.name) return child;
    rows[parent].children.push_back(rows.size());
    rows.push_back({{span.name, span.depth, 0, 0, 0, true}, {}});
    return rows.size() - 1;
  };
  for (const TraceSpan& span : spans) {
    if (open.size() > static_cast<std::size_t>(span.depth) + 1)
      open.resize(static_cast<std::size_t>(span.depth) + 1);
    open.push_back(row_of(span));
    SpanTotal& total = rows[open.back()].total;
    ++total.count;
    total.host += span.end - span.begin;
    total.has_device = total.has_device && span.device_begin >= 0;
    if (span.device_begin >= 0) total.device += span.device_end - span.device_begin;
  }
  std::vector<SpanTotal> out;
  list(rows, 0, out);
  return out;
}

}  // namespace stickslip
