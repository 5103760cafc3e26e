// Races between the lanes of one launch, and between launches and copies of different streams: for each word
// of device memory the last write and two reads of different lanes are kept, and compared with every new
// access.
//
// Two accesses of different lanes, at least one a write and not both atomic, race unless an order exists: a
// barrier of the block or the grid between them, or a chain "fence, atomic on x" -> "atomic on x, fence".
// Two remembered reads suffice to find a write after reads of others: one of them is not the writer's.
//
// Work of one stream is ordered. Work of another stream comes before it only if the host had waited for that,
// by its stream or an event, when this was queued. Any thread's wait counts for all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace stickslip::emulation {

/// What a lane knows of others: that `lane` has come to `clock`, and what two others knew. A graph rather
/// than a table, because each visitor of a tree inherits what all below knew.
struct Known {
  std::uint32_t lane, clock;
  const Known *a, *b;
};

/// What orders one lane's accesses.
struct LaneClock {
  std::uint32_t lane = 0, block = 0;
  std::uint32_t clock = 1;  // advances at every fence
  const Known *known = nullptr, *released = nullptr, *acquired = nullptr;
};

struct Access {
  std::uint32_t launch = 0, lane = 0, block = 0;
  std::uint32_t place = 0;  // of the code, relative to the program
  std::uint32_t clock = 0;
  std::uint16_t block_barriers = 0, grid_barriers = 0;
  std::uint8_t bytes = 0;  // a bit each
  bool atomic = false;
};

/// For each stream the last ticket that the host has waited for.
using Tickets = std::vector<std::uint32_t>;
/// Where a launch or copy stands: tickets count what is queued, in all streams.
struct StreamOrder {
  std::uint32_t stream = 0, ticket = 0;
  std::shared_ptr<const Tickets> waited = nullptr;  // when it was queued
};

class Races {
 public:
  /// `range`: bytes of addresses from `base`.
  Races(const char* base, std::size_t range);

  /// Of a kernel, or of a copy.
  void begin_launch(const StreamOrder& order);
  std::uint32_t launch() const { return launch_; }
  /// Checks and records an access of `bytes` at p. Returns the earlier access that it races with, or nullptr.
  const Access* check(const void* p, std::size_t bytes, const Access& now, const LaneClock& lane, bool write);

  /// The memory has a new owner.
  void forget(const void* p, std::size_t bytes);
  /// The same, of a block that was freed: what was known about it took more memory than the block.
  void release(const void* p, std::size_t bytes);

  void atomic(const void* p, LaneClock& lane);
  void fence(LaneClock& lane);
  /// After a barrier each lane knows what any of them knew.
  void merge(const Known*& into, const Known* from);

 private:
  struct Word {
    Access write, reads[2];
  };
  bool ordered(const Access& earlier, const Access& now, const LaneClock& lane) const;
  static bool knows(const Known* known, std::uint32_t lane, std::uint32_t clock);

  const char* base_;
  Word* words_;
  std::uint32_t launch_ = 0;
  struct Launched {
    std::uint32_t stream, ticket;
  };
  bool waited_for(const Launched& earlier) const;
  std::vector<Launched> launches_{{0, 0}};              // by number
  std::vector<std::vector<std::uint32_t>> of_streams_;  // numbers of each stream's launches
  StreamOrder order_;                                   // of this launch
  std::uint32_t all_ordered_ = 0;                       // launches before this number come before this one
  Access found_;
  std::unordered_map<const void*, const Known*> atomics_;
  std::deque<Known> knowledge_;  // of this launch
};

}  // namespace stickslip::emulation
