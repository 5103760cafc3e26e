// The last messages of the program, for the log panel: a sink that spdlog writes into from any thread.
#pragma once

#include <spdlog/sinks/base_sink.h>

#include <deque>
#include <functional>
#include <mutex>
#include <string>

namespace stickslip {

struct LogLine {
  spdlog::level::level_enum level;
  std::string time, text;  // "12:34:56"
};

class LogBuffer final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  static constexpr std::size_t capacity = 500;

  /// Number of messages so far.
  std::size_t count();
  /// Calls `visit` on the lines kept, oldest first. Other threads' messages wait meanwhile.
  void visit(const std::function<void(const LogLine&)>& visit);
  LogLine last();

 private:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}

  std::deque<LogLine> lines_;
  std::size_t count_ = 0;
};

/// Adds a sink to the default logger for as long as it lives.
class LogCapture {
 public:
  explicit LogCapture(std::shared_ptr<LogBuffer> buffer);
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

 private:
  std::shared_ptr<LogBuffer> buffer_;
};

}  // namespace stickslip
