// Who holds which of the slots that an engine's positions are handed over in. Nothing of Vulkan in here: an
// engine's thread writes, the thread of the renderer reads.
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

/// One publication. While a copy of this exists, its slot is not written.
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
  std::uint64_t value() const { return value_; }  // that the semaphore has once the slot is filled
  const PublishedBox& box() const { return box_; }
  /// The positions on the host, for the reader's thread; as long as this is held. Empty once the slots are
  /// closed.
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
  /// The writer's one, the newest, the one that the reader turned to, the one that it turned away from, and
  /// those of two pictures that the device is still drawing: with these a writer always finds a slot.
  static constexpr std::size_t count = 6;

  using Publish = std::function<PublishedBox(std::size_t slot, std::uint64_t value)>;
  using Read = std::function<std::span<const Vec<float, 3>>(const SlotHold&)>;

  explicit PositionSlots(Read read) : read_(std::move(read)) {}

  /// Has `publish` fill a slot that nobody holds. Without such a slot, and once closed, it is not called, and
  /// nothing is returned. What it throws is passed on, and the slot is free again. `publish` calls nothing of
  /// this object.
  SlotHold write(const Publish& publish);
  /// Nobody writes or reads from now on. Waits for a write in progress.
  void close();

 private:
  friend class SlotHold;
  SlotHold take_free();
  void hold(std::size_t slot);
  void release(std::size_t slot);

  Read read_;
  std::mutex writing_;               // held during a write
  std::atomic<bool> closed_{false};  // turns true while nobody writes
  std::uint64_t value_ = 0;          // of the last publication; guarded by writing_
  std::mutex counting_;              // never held for longer than a look
  std::array<int, count> holders_{};
};

}  // namespace stickslip
