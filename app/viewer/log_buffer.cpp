#include "app/viewer/log_buffer.h"

#include <fmt/chrono.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace stickslip {

std::size_t LogBuffer::count() {
  const std::lock_guard lock(mutex_);
  return count_;
}

void LogBuffer::visit(const std::function<void(const LogLine&)>& visit) {
  const std::lock_guard lock(mutex_);
  for (const LogLine& line : lines_) visit(line);
}

LogLine LogBuffer::last() {
  const std::lock_guard lock(mutex_);
  return lines_.empty() ? LogLine{spdlog::level::info, "", ""} : lines_.back();
}

void LogBuffer::sink_it_(const spdlog::details::log_msg& message) {
  const auto seconds = std::chrono::time_point_cast<std::chrono::seconds>(message.time);
  lines_.push_back(
      {message.level, fmt::format("{:%H:%M:%S}", fmt::localtime(spdlog::log_clock::to_time_t(seconds))),
       std::string(message.payload.data(), message.payload.size()), std::chrono::steady_clock::now()});
  if (lines_.size() > capacity) lines_.pop_front();
  ++count_;
}

LogCapture::LogCapture(std::shared_ptr<LogBuffer> buffer) : buffer_(std::move(buffer)) {
  spdlog::default_logger()->sinks().push_back(buffer_);
}

LogCapture::~LogCapture() { std::erase(spdlog::default_logger()->sinks(), spdlog::sink_ptr(buffer_)); }

}  // namespace stickslip
