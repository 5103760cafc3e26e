// Passing positions between threads: no slot is written while it is read.
#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "app/render/position_slots.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

std::shared_ptr<PositionSlots> plain_slots() {
  return std::make_shared<PositionSlots>([](const SlotHold&) { return std::span<const Vec3f>(); });
}
SlotHold write_slot(PositionSlots& slots) {
  return slots.write([](std::size_t, std::uint64_t) { return PublishedBox::empty(); });
}

TEST(PositionSlots, HeldSlotsAreNotWritten) {
  const auto slots = plain_slots();
  std::vector<SlotHold> held;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < PositionSlots::count; ++i) {
    held.push_back(write_slot(*slots));
    ASSERT_TRUE(held.back());
    EXPECT_GT(held.back().value(), before) << "a timeline only grows";
    before = held.back().value();
    for (std::size_t k = 0; k < i; ++k) EXPECT_NE(held[k].index(), held[i].index());
  }
  EXPECT_FALSE(write_slot(*slots)) << "all are held";
  const SlotHold copy = held[2];
  held[2] = {};
  EXPECT_FALSE(write_slot(*slots)) << "a copy holds it still";
  const std::size_t free = held[4].index();
  held[4] = {};
  const SlotHold next = write_slot(*slots);
  ASSERT_TRUE(next);
  EXPECT_EQ(next.index(), free);
}

TEST(PositionSlots, AFailedWriteLeavesItsSlotFree) {
  const auto slots = plain_slots();
  for (std::size_t i = 0; i < 2 * PositionSlots::count; ++i)
    EXPECT_THROW(
        slots->write([](std::size_t, std::uint64_t) -> PublishedBox { throw std::runtime_error("lost"); }),
        std::runtime_error);
  std::vector<SlotHold> held;
  for (std::size_t i = 0; i < PositionSlots::count; ++i) held.push_back(write_slot(*slots));
  EXPECT_TRUE(held.back());
}

TEST(PositionSlots, ClosedMeansNeitherWrittenNorRead) {
  int reads = 0, writes = 0;
  const std::vector<Vec3f> nodes(3);
  const auto slots = std::make_shared<PositionSlots>([&](const SlotHold&) {
    ++reads;
    return std::span<const Vec3f>(nodes);
  });
  const SlotHold held = write_slot(*slots);
  EXPECT_EQ(held.positions().size(), 3u);
  slots->close();
  EXPECT_TRUE(held.positions().empty());
  EXPECT_FALSE(slots->write([&](std::size_t, std::uint64_t) {
    ++writes;
    return PublishedBox::empty();
  }));
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(writes, 0);
}

TEST(PositionSlots, ClosingWaitsForTheWriter) {
  const auto slots = plain_slots();
  test::Gate gate;
  std::atomic<bool> written = false, closed = false;
  std::thread writer([&] {
    slots->write([&](std::size_t, std::uint64_t) {
      gate.pass();
      EXPECT_FALSE(closed) << "its memory would be gone";
      written = true;
      return PublishedBox::empty();
    });
  });
  gate.wait_for_arrival();
  std::thread closer([&] {
    slots->close();
    EXPECT_TRUE(written);
    closed = true;
  });
  gate.open();
  writer.join();
  closer.join();
  EXPECT_TRUE(closed);
}

/// A writer at full speed, and a reader with two pictures in flight. The data of a held slot do not change,
/// and the writer always finds a free slot.
TEST(PositionSlots, NothingIsOverwrittenWhileItIsRead) {
  const auto slots = plain_slots();
  std::array<std::array<std::uint64_t, 64>, PositionSlots::count> memory{};  // not atomic: a race is an error
  TripleBuffer<SlotHold> frames;
  std::atomic<bool> over = false;
  std::atomic<long> lacking = 0;
  std::thread writer([&] {
    while (!over) {
      frames.back() = {};
      frames.back() = slots->write([&](std::size_t slot, std::uint64_t value) {
        memory[slot].fill(value);
        return PublishedBox::empty();
      });
      if (!frames.back()) ++lacking;
      frames.publish();
      std::this_thread::yield();
    }
  });
  struct InFlight {
    SlotHold held;
    bool intact(const decltype(memory)& all) const {
      return std::ranges::all_of(all[held.index()], [&](std::uint64_t word) { return word == held.value(); });
    }
  };
  std::array<InFlight, 2> pictures;
  SlotHold shown;
  std::uint64_t newest = 0;
  long torn = 0, back_in_time = 0;
  for (int picture = 0; picture < 300;) {
    if (!frames.update()) {
      std::this_thread::yield();
      continue;
    }
    shown = frames.front();
    if (!shown) continue;
    back_in_time += shown.value() <= newest;
    newest = shown.value();
    InFlight& slot = pictures[static_cast<std::size_t>(picture++ % 2)];
    if (slot.held) torn += !slot.intact(memory);  // until now the device was drawing it
    slot.held = shown;
  }
  over = true;
  writer.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(back_in_time, 0);
  EXPECT_EQ(lacking, 0);
}

}  // namespace
}  // namespace stickslip
