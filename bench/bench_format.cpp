#include <cmath>
#include <cstdio>

#include "bench/bench.h"

namespace stickslip {
namespace {

std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    if (static_cast<unsigned char>(c) >= ' ') json += c;
  }
  return json + "\"";
}

std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string number_if_positive(double value) { return value > 0 ? number(value) : "null"; }

/// The elements, bracketed and comma-separated.
template <class T, class F>
std::string array(const std::vector<T>& elements, F json_of) {
  std::string json = "[";
  for (const T& element : elements) json += (json.size() > 1 ? ",\n    " : "\n    ") + json_of(element);
  return json + "]";
}

std::string figure_json(const BenchFigure& f) {
  return R"({"name": )" + quoted(f.name) + R"(, "value": )" + number(f.value) + R"(, "unit": )" +
         quoted(f.unit) + R"(, "floor": )" + number_if_positive(f.floor) + R"(, "floor_name": )" +
         quoted(f.floor_name) + R"(, "peer": )" + number_if_positive(f.peer) + R"(, "peer_name": )" +
         quoted(f.peer_name) + "}";
}

}  // namespace

std::string bench_json(const BenchResult& r) {
  return R"({"bench": )" + quoted(r.bench) + R"(, "backend": )" + quoted(r.backend) + R"(, "device": )" +
         quoted(r.device) + R"(, "threads": )" + std::to_string(r.threads) +
         ",\n  \"figures\": " + array(r.figures, figure_json) + ",\n  \"notes\": " + array(r.notes, quoted) +
         "}";
}

std::string bench_text(const BenchResult& r) {
  std::string text = r.bench + " on " + r.backend + " (" + r.device + ")\n";
  char line[256];
  for (const BenchFigure& f : r.figures) {
    std::snprintf(line, sizeof line, "  %-46s %10.4g %-15s", f.name.c_str(), f.value, f.unit.c_str());
    text += line;
    if (f.floor > 0) {
      const bool is_rate = f.unit.ends_with("/s");
      std::snprintf(line, sizeof line, is_rate ? " %5.1f%% of %.4g (%s)" : " %5.2f times %.4g (%s)",
                    (is_rate ? 100 : 1) * f.value / f.floor, f.floor, f.floor_name.c_str());
      text += line;
    }
    if (f.peer > 0) {
      std::snprintf(line, sizeof line, " %.2f times as fast as %.4g (%s)",
                    f.unit.ends_with("/s") ? f.value / f.peer : f.peer / f.value, f.peer,
                    f.peer_name.c_str());
      text += line;
    }
    text += "\n";
  }
  for (const std::string& note : r.notes) text += "  " + note + "\n";
  return text;
}

}  // namespace stickslip
