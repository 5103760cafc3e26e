// Finishes all outputs, then reports every failure.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

#include "app/io/file/output_file.h"

namespace stickslip {

class Failures {
 public:
  /// Calls `f` and stores any exception.
  template <class F>
  void of(F&& f) {
    try {
      f();
    } catch (const std::runtime_error& error) {
      if (!messages_.empty()) messages_ += "; ";
      messages_ += error.what();
    } catch (...) {
      if (!other_) other_ = std::current_exception();
    }
  }
  /// Throws the first failure that is not a std::runtime_error (for example std::bad_alloc), else one
  /// OutputError with all messages.
  void rethrow() const {
    if (other_) std::rethrow_exception(other_);
    if (!messages_.empty()) throw OutputError(messages_);
  }

 private:
  std::exception_ptr other_;
  std::string messages_;
};

}  // namespace stickslip
