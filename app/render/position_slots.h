// Slots that pass positions from the engine's thread (writer) to the renderer's thread (reader), with a count
// of the holds on each. No Vulkan code here.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "gpu/sharing.h"

namespace stickslip {

class PositionSlots;

/// One publication. Its slot is not written while a copy of this object exists.
class SlotHold {
 public:
  SlotHold() = default;
  SlotHold(const SlotHold& other);
  SlotHold(SlotHold&& other) noexcept { swap(other); }
  SlotHold& operator=(SlotHold other) noexcept {
    swap(other);
    return *this;
  }
  ~SlotHold();
  void swap(SlotHold& other) noexcept;

  explicit operator bool() const { return slots_ != nullptr; }
  bool is_of(const PositionSlots& slots) const { return slots_.get() == &slots; }
  std::size_t index() const { return index_; }
  std::uint64_t value() const { return value_; }  // value of the semaphore once the slot is filled
  const PublishedBox& box() const { return box_; }
  /// The positions on the host, for the reader's thread; valid while this object holds the slot. Empty once
  /// the slots are closed.
  std::span<const Vec<float, 3>> positions() const;

 private:
  friend class PositionSlots;
  std::shared_ptr<PositionSlots> slots_;
  std::size_t index_ = 0;
  std::uint64_t value_ = 0;
  PublishedBox box_ = PublishedBox::empty();
};

class PositionSlots : public std::enable_shared_from_this<PositionSlots> {
 public:
  /// One slot for the writer, one for the newest publication, the reader's current and previous ones, and two
  /// for pictures in flight. So a writer always finds a free slot.
  static constexpr std::size_t count = 6;

  using Publish = std::function<PublishedBox(std::size_t slot, std::uint64_t value)>;
  using Read = std::function<std::span<const Vec<float, 3>>(const SlotHold&)>;

  explicit PositionSlots(Read read) : read_(std::move(read)) {}

  /// Calls `publish` to fill a slot without holds. Without such a slot, or once closed, returns an empty hold
  /// without the call. An exception of `publish` frees the slot and is passed on. `publish` must not call
  /// this object.
  SlotHold write(const Publish& publish);
  /// Ends all reading and writing. Waits for a write in progress.
  void close();

 private:
  friend class SlotHold;
  SlotHold take_free();
  void hold(std::size_t slot);
  void release(std::size_t slot);

  Read read_;
  std::mutex writing_;               // held during a write
  std::atomic<bool> closed_{false};  // becomes true only when no write is in progress
  std::uint64_t value_ = 0;          // of the last publication; guarded by writing_
  std::mutex counting_;              // held only briefly
  std::array<int, count> holders_{};
};

}  // namespace stickslip
