// Runs the lanes of a launch, on fibres, in an order that a seed decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/device/cost_model.h"
#include "tests/device/faults.h"
#include "tests/device/kernel.h"
#include "tests/device/memory.h"
#include "tests/device/races.h"

namespace stickslip::emulation {

/// A kernel with its arguments, as captured or queued.
struct Launch {
  Kernel kernel{};
  const void* function = nullptr;
  dim3 grid, block;
  bool cooperative = false;
  std::vector<std::byte> arguments;    // copies, one behind the other
  std::vector<std::size_t> positions;  // of each, in `arguments`
};

struct Checks {
  bool memory = false;  // every access of a kernel against the allocations and against unwritten bytes
  bool races = false;
  bool costs = false;  // counts for the cost model
  bool marks = false;  // of what is written; without `memory`, for launches that are not checked
  bool any() const { return memory || races || costs || marks; }
  bool only_marks() const { return marks && !memory && !costs; }
};

class Lanes {
 public:
  Lanes(Memory& memory, std::size_t shared_limit, unsigned seed);
  ~Lanes();

  void set_checks(const Checks& checks);
  /// Forgets what is known about a block that was freed.
  void release(const void* p, std::size_t bytes) {
    if (races_) races_->release(p, bytes);
  }
  const Checks& checks() const { return checks_; }
  /// Whether the running launch has anything to do at a load, or at a store.
  bool watches(bool write) const { return write ? watches_stores_ : watches_loads_; }
  /// After so many accesses only a sample of the launches is checked: of each kernel the first, and some of
  /// the others. 0: no limit. Starts to count anew.
  void limit_checks(std::size_t accesses);

  /// Runs the launch to its end; cudaSuccess, or the error that a device would have.
  cudaError_t run(const Launch& launch, const StreamOrder& order);
  /// Compares a copy's accesses to device memory with those of other streams. `place`: of the call.
  void check_copy(const void* to, const void* from, std::size_t bytes, const StreamOrder& order,
                  const void* place);
  const LaunchCost& cost() const { return cost_; }

  // Called by the running lane.
  struct Fibre;
  struct Lane;
  const Launch& launch() const { return *launch_; }
  void wait_for_block();
  void wait_for_grid();
  void fence();
  void access(const void* p, std::size_t bytes, bool write, bool atomic, const void* place);
  /// Whether live memory fits into the cache of the device, for the cost model.
  bool in_cache() const { return memory_.used() <= chosen_device().cache; }
  void misaligned(const void* p, std::size_t bytes, const void* place);
  void* shared_memory(const void* key, std::size_t bytes, std::size_t alignment);
  [[noreturn]] void stop_lane(FaultKind kind, const std::string& text, cudaError_t error);

 private:
  struct Block;
  void report_race(const char* what, const Access& now, const void* place, const Access& other) const;
  void count(Fibre& fibre, const void* p, std::size_t bytes, bool write, bool atomic);
  bool take_lane(Fibre& fibre);
  void run_lanes(Fibre& fibre);
  Fibre& idle_fibre();
  void resume(Fibre& fibre);
  void suspend(Fibre& fibre);
  void schedule();
  void release(std::vector<Fibre*>& waiting);
  void start_blocks(const std::vector<unsigned>& blocks);
  std::string lane_name(const Lane& lane) const;
  bool on_a_stack(const void* p) const;

  Memory& memory_;
  std::unique_ptr<Races> races_;
  bool is_sampled(const void* function);
  void use(const Checks& checks);
  Checks wanted_, checks_;  // of all launches, of the running one
  bool watches_loads_ = false, watches_stores_ = false;
  std::size_t limit_ = 0, checked_ = 0;                    // accesses
  std::unordered_map<const void*, std::size_t> launched_;  // times, of each kernel
  std::size_t shared_limit_;
  std::mt19937 random_;
  LaunchCost cost_;
  std::uint32_t* sectors_ = nullptr;  // for each of 32 bytes, the last launch that touched it
  std::uint32_t launch_number_ = 0;

  const Launch* launch_ = nullptr;
  std::vector<void*> argument_pointers_;
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::vector<Fibre*> idle_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> unstarted_;                             // lanes, counted within blocks_
  std::unordered_map<std::size_t, std::vector<void*>> shared_kept_;  // by size
  std::size_t finished_ = 0;
  std::uint16_t grid_barriers_ = 0;
  std::vector<Fibre*> at_grid_barrier_;
  cudaError_t error_ = cudaSuccess;
};

/// The scheduler of the running lane; nullptr outside kernels.
extern constinit thread_local Lanes* running_lanes;

}  // namespace stickslip::emulation
