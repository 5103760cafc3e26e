// The level of the log while a command runs.
#pragma once

#include <spdlog/spdlog.h>

namespace stickslip {

/// Messages below `level` are left out as long as this object lives; then the level of before holds again.
class LogLevel {
 public:
  explicit LogLevel(spdlog::level::level_enum level) { spdlog::set_level(level); }
  ~LogLevel() { spdlog::set_level(before_); }
  LogLevel(const LogLevel&) = delete;
  LogLevel& operator=(const LogLevel&) = delete;

 private:
  spdlog::level::level_enum before_ = spdlog::get_level();
};

}  // namespace stickslip
