// One writer, one reader, three slots: neither waits, and the reader always gets the newest value.
#pragma once

#include <array>
#include <atomic>

namespace stickslip {

template <class T>
class TripleBuffer {
 public:
  /// Writer: the slot to fill. It keeps an old value, so that memory is reused.
  T& back() { return slots_[back_]; }
  /// Writer: publishes the filled slot.
  void publish() { back_ = middle_.exchange(back_ | fresh, std::memory_order_acq_rel) & index; }

  /// Reader: takes the newest value; false when there is none since the last call.
  bool update() {
    if (!(middle_.load(std::memory_order_relaxed) & fresh)) return false;
    front_ = middle_.exchange(front_, std::memory_order_acq_rel) & index;
    return true;
  }
  /// Reader: the value of the last update.
  const T& front() const { return slots_[front_]; }

 private:
  static constexpr unsigned index = 3, fresh = 4;
  std::array<T, 3> slots_{};
  unsigned back_ = 0;
  std::atomic<unsigned> middle_{1};
  unsigned front_ = 2;
};

}  // namespace stickslip
