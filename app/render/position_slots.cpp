#include "app/render/position_slots.h"

#include <algorithm>

namespace stickslip {

SlotHold::SlotHold(const SlotHold& other)
    : slots_(other.slots_), index_(other.index_), value_(other.value_), box_(other.box_) {
  if (slots_) slots_->hold(index_);
}

SlotHold::~SlotHold() {
  if (slots_) slots_->release(index_);
}

void SlotHold::swap(SlotHold& other) noexcept {
  std::swap(slots_, other.slots_);
  std::swap(index_, other.index_);
  std::swap(value_, other.value_);
  std::swap(box_, other.box_);
}

std::span<const Vec<float, 3>> SlotHold::positions() const {
  // Only this thread closes the slots.
  if (!slots_ || slots_->closed_) return {};
  return slots_->read_(*this);
}

SlotHold PositionSlots::write(const Publish& publish) {
  const std::lock_guard lock(writing_);
  if (closed_) return {};
  SlotHold slot = take_free();
  if (!slot) return {};
  slot.value_ = ++value_;
  slot.box_ = publish(slot.index_, slot.value_);
  return slot;
}

void PositionSlots::close() {
  const std::lock_guard lock(writing_);
  closed_ = true;
}

SlotHold PositionSlots::take_free() {
  const std::lock_guard lock(counting_);
  const auto free = std::ranges::find(holders_, 0);
  SlotHold slot;
  if (free == holders_.end()) return slot;
  ++*free;
  slot.slots_ = shared_from_this();
  slot.index_ = static_cast<std::size_t>(free - holders_.begin());
  return slot;
}

void PositionSlots::hold(std::size_t slot) {
  const std::lock_guard lock(counting_);
  ++holders_[slot];
}

void PositionSlots::release(std::size_t slot) {
  const std::lock_guard lock(counting_);
  --holders_[slot];
}

}  // namespace stickslip
