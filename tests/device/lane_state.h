// What Lanes keeps of lanes, blocks and fibres; for lanes.cpp and accesses.cpp.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

#include "tests/device/lanes.h"

namespace stickslip::emulation {

namespace ctx = boost::context;

inline constexpr std::size_t kSector = 32;
inline constexpr std::size_t kStack = std::size_t{512} << 10;

extern constinit thread_local Lanes::Fibre* running_fibre;

/// The device's own code is not checked, though it runs on the lane's stack and copies memory.
class Unchecked {
 public:
  Unchecked() : lanes_(running_lanes) { running_lanes = nullptr; }
  ~Unchecked() { running_lanes = lanes_; }
  Unchecked(const Unchecked&) = delete;
  Unchecked& operator=(const Unchecked&) = delete;

 private:
  Lanes* lanes_;
};

struct Lanes::Lane {
  std::uint32_t block = 0;  // within blocks_
  std::uint32_t thread = 0;
  std::uint32_t block_index = 0;  // within the grid
  LaneClock clock;
  double waits = 0;  // [cycles] for what it loads
};

struct Lanes::Block {
  unsigned index = 0;  // within the grid
  std::uint32_t finished = 0;
  std::uint16_t barriers = 0;
  std::vector<Fibre*> waiting;
  struct Shared {
    void* data = nullptr;
    std::size_t bytes = 0;
  };
  std::unordered_map<const void*, Shared> shared;
  std::size_t shared_bytes = 0;
};

struct Lanes::Fibre {
  ctx::protected_fixedsize_stack allocator{kStack};
  ctx::stack_context stack;
  ctx::fiber self, caller;
  Lane lane;
  bool has_lane = false;

  /// Stacks that begin at the same place of their pages would share few sets of the cache.
  Fibre(Lanes& lanes, std::size_t index) : stack(allocator.allocate()) {
    const std::size_t shift = index % 61 * 1088;
    self = ctx::fiber(std::allocator_arg,
                      ctx::preallocated(static_cast<char*>(stack.sp) - shift, stack.size - shift, stack),
                      allocator, [this, &lanes](ctx::fiber&& from) {
                        caller = std::move(from);
                        for (;;) {
                          lanes.run_lanes(*this);
                          caller = std::move(caller).resume();
                        }
                        return std::move(caller);
                      });
  }
  bool holds(const void* p) const {
    return p < stack.sp && p >= static_cast<const char*>(stack.sp) - stack.size;
  }
};

}  // namespace stickslip::emulation
