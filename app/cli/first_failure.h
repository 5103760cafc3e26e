// Several things that are all to be done, whatever fails among them.
#pragma once

#include <exception>

namespace stickslip {

class FirstFailure {
 public:
  /// Calls `f` and keeps what it throws, unless something was kept before.
  template <class F>
  void of(F&& f) {
    try {
      f();
    } catch (...) {
      if (!first_) first_ = std::current_exception();
    }
  }
  /// Throws what was kept.
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

}  // namespace stickslip
