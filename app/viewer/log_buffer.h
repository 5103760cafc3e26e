// Recent log messages for the log panel: a sink that spdlog writes to from any thread.
#pragma once

#include <spdlog/sinks/base_sink.h>

#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <string>

namespace stickslip {

struct LogLine {
  spdlog::level::level_enum level;
  std::string time, text;  // "12:34:56"
  std::chrono::steady_clock::time_point at{};
};

class LogBuffer final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  static constexpr std::size_t capacity = 500;

  /// Total number of messages so far.
  std::size_t count();
  /// Calls `visit` for the stored lines, oldest first. Other threads' messages are blocked meanwhile.
  void visit(const std::function<void(const LogLine&)>& visit);
  LogLine last();

 private:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}

  std::deque<LogLine> lines_;
  std::size_t count_ = 0;
};

/// Adds a sink to the default logger during its lifetime.
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
