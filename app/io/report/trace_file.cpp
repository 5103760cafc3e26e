#include "app/io/report/trace_file.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace stickslip {
namespace {

using nlohmann::json;

constexpr std::string_view kEnd = "\n]}\n";
constexpr int process = 1, host_track = 1, device_track = 2;

double microseconds(double seconds) { return std::round(1e9 * seconds) * 1e-3; }

json span_event(const char* name, int track, double begin, double end, int frame) {
  const double from = microseconds(begin);
  return {{"ph", "X"},
          {"name", name},
          {"pid", process},
          {"tid", track},
          {"ts", from},
          {"dur", microseconds(end) - from},
          {"args", {{"frame", frame}}}};
}

}  // namespace

TraceFile::TraceFile(std::filesystem::path path, const std::string& name) : file_(std::move(path)) {
  file_.stream() << "{\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [";
  event({{"ph", "M"}, {"name", "process_name"}, {"pid", process}, {"args", {{"name", name}}}});
  name_track(host_track, "host");
  file_.checkpoint(kEnd);
}

void TraceFile::add(const StepReport& r) {
  if (r.trace.empty()) return;
  for (const TraceSpan& span : r.trace) {
    event(span_event(span.name, host_track, span.begin, span.end, r.frame));
    if (span.device_begin < 0) continue;
    if (!has_device_) name_track(device_track, "device");
    has_device_ = true;
    event(span_event(span.name, device_track, span.device_begin, span.device_end, r.frame));
  }
  const double end = r.trace.front().end;
  counter(end, "contacts", {{"contacts", r.contacts}});
  if (r.contact_solve) {
    counter(end, "residual", {{"residual", r.contact_solve->residual}});
    counter(end, "iterations", {{"contact solver", r.contact_solve->iterations}, {"pcg", r.pcg_iterations}});
  } else {
    if (!r.newton.empty()) counter(end, "residual", {{"residual", r.newton.back().gradient_norm}});
    counter(end, "iterations", {{"newton", r.newton_iterations}, {"pcg", r.pcg_iterations}});
  }
  counter(end, "copies to host", {{"copies", r.counters.copies_to_host}});
  counter(end, "bytes", {{"to host", r.counters.bytes_to_host}, {"to device", r.counters.bytes_to_device}});
  counter(end, "allocations", {{"allocations", r.counters.allocations}});
  counter(end, "memory", {{"bytes", r.memory_bytes}});
  file_.checkpoint(kEnd);
}

void TraceFile::commit() { file_.commit(); }

void TraceFile::event(const json& event) {
  file_.stream() << (first_ ? "\n" : ",\n") << event.dump();
  first_ = false;
}

void TraceFile::name_track(int track, const char* name) {
  event({{"ph", "M"}, {"name", "thread_name"}, {"pid", process}, {"tid", track}, {"args", {{"name", name}}}});
}

/// JSON cannot represent NaN, so it is left out.
void TraceFile::counter(double time, const char* name, json values) {
  for (const json& value : values)
    if (!std::isfinite(value.get<double>())) return;
  event({{"ph", "C"},
         {"name", name},
         {"pid", process},
         {"ts", microseconds(time)},
         {"args", std::move(values)}});
}

}  // namespace stickslip
