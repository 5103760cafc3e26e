// TraceFile: the spans of a run in the trace event format that chrome://tracing and Perfetto read.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/io/file/output_file.h"
#include "gpu/model/report.h"

namespace stickslip {

/// Streams: holds no more than a step. The temporary file is valid JSON after every step, whatever ends the
/// program then: the list is closed after each, and the next step is written over its end.
class TraceFile {
 public:
  /// `process` is what the trace is called, as "stickslip run drop on cpu". Throws InputError naming the
  /// path.
  TraceFile(std::filesystem::path path, const std::string& process);

  /// The spans of a traced step on the tracks "host" and, where they were timed there, "device", and its
  /// figures as counters. Throws OutputError.
  void add(const StepReport& report);
  /// Gives the file its name. Throws OutputError when something could not be written.
  void commit();

 private:
  void event(const nlohmann::json& event);
  void name_track(int track, const char* name);
  void counter(double time, const char* name, nlohmann::json values);

  OutputFile file_;
  bool first_ = true, has_device_ = false;
};

}  // namespace stickslip
