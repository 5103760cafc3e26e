// TraceFile: the spans of a run in the trace event format that chrome://tracing and Perfetto read.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/io/file/output_file.h"
#include "gpu/model/report.h"

namespace stickslip {

/// Streaming: holds at most one step in memory. After every step the list is closed, so the temporary file is
/// valid JSON even if the program is killed. The next step overwrites the end of the list.
class TraceFile {
 public:
  /// `process` is the title of the trace, for example "stickslip run drop on cpu". Throws InputError with the
  /// path.
  TraceFile(std::filesystem::path path, const std::string& process);

  /// Adds the spans of a traced step on the tracks "host" and, if timed there, "device"; its values become
  /// counters. Throws OutputError.
  void add(const StepReport& report);
  /// Renames the file to its final name. Throws OutputError when a write failed.
  void commit();

 private:
  void event(const nlohmann::json& event);
  void name_track(int track, const char* name);
  void counter(double time, const char* name, nlohmann::json values);

  OutputFile file_;
  bool first_ = true, has_device_ = false;
};

}  // namespace stickslip
