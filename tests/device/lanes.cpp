#include "tests/device/lanes.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <numeric>
#include <unordered_map>

#include "tests/device/faults.h"
#include "tests/device/lane_state.h"

namespace stickslip::emulation {

constinit thread_local Lanes* running_lanes = nullptr;
constinit thread_local Lanes::Fibre* running_fibre = nullptr;

Lanes::Lanes(Memory& memory, std::size_t shared_limit, unsigned seed)
    : memory_(memory), shared_limit_(shared_limit), random_(seed) {}
Lanes::~Lanes() {
  // Frames of kernels are never unwound: there is nothing in them to release.
  for (auto& fibre : fibres_) static_cast<void>(fibre.release());
}

void Lanes::limit_checks(std::size_t accesses) {
  limit_ = accesses;
  checked_ = 0;
  launched_.clear();
}

bool Lanes::is_sampled(const void* function) {
  constexpr std::size_t kFirst = 4, kEvery = 32;
  const std::size_t before = launched_[function]++;
  return limit_ == 0 || checked_ < limit_ || before < kFirst || before % kEvery == 0;
}

void Lanes::use(const Checks& checks) {
  checks_ = checks;
  watches_stores_ = checks.any();
  watches_loads_ = checks.any() && !checks.only_marks();
}

void Lanes::set_checks(const Checks& checks) {
  wanted_ = checks;
  use(wanted_);
  if (checks.races && !races_) races_ = std::make_unique<Races>(memory_.base(), Memory::kRange);
  if (checks.costs && sectors_ == nullptr) {
    void* mapped = mmap(nullptr, Memory::kRange / kSector * sizeof *sectors_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    sectors_ = static_cast<std::uint32_t*>(mapped);
  }
}

cudaError_t Lanes::run(const Launch& launch, const StreamOrder& order) {
  launch_ = &launch;
  const bool skipped = wanted_.memory && !wanted_.costs && !is_sampled(launch.function);
  use(skipped ? Checks{.marks = true} : wanted_);
  cost_ = {};
  ++launch_number_;
  error_ = cudaSuccess;
  argument_pointers_.clear();
  for (const std::size_t position : launch.positions)
    argument_pointers_.push_back(const_cast<std::byte*>(launch.arguments.data()) + position);
  if (races_) races_->begin_launch(order);
  grid_barriers_ = 0;

  std::vector<unsigned> indices(launch.grid.x);
  std::iota(indices.begin(), indices.end(), 0u);
  std::shuffle(indices.begin(), indices.end(), random_);
  // Lanes of several blocks mix; a cooperative launch has all its blocks at a time.
  const unsigned at_once = launch.cooperative ? launch.grid.x : 4;
  for (unsigned first = 0; first < launch.grid.x && error_ == cudaSuccess; first += at_once) {
    const unsigned last = std::min(first + at_once, launch.grid.x);
    start_blocks({indices.begin() + first, indices.begin() + last});
    schedule();
  }
  launch_ = nullptr;
  use(wanted_);
  cost_.blocks = launch.grid.x;
  cost_.block = launch.block.x;
  cost_.grid_barriers = grid_barriers_;
  if (launch.kernel.library)
    cost_.library_launches = reinterpret_cast<const LibraryCall*>(launch.arguments.data())->launches;
  return error_;
}

void Lanes::start_blocks(const std::vector<unsigned>& blocks) {
  blocks_.clear();
  blocks_.resize(blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) blocks_[b].index = blocks[b];
  unstarted_.resize(blocks.size() * launch_->block.x);
  std::iota(unstarted_.begin(), unstarted_.end(), 0u);
  std::shuffle(unstarted_.begin(), unstarted_.end(), random_);
  finished_ = 0;
}

bool Lanes::take_lane(Fibre& fibre) {
  fibre.has_lane = !unstarted_.empty();
  if (!fibre.has_lane) return false;
  const std::uint32_t lane = unstarted_.back();
  unstarted_.pop_back();
  fibre.lane.block = lane / launch_->block.x;
  fibre.lane.thread = lane % launch_->block.x;
  fibre.lane.block_index = blocks_[fibre.lane.block].index;
  fibre.lane.waits = 0;
  if (checks_.races) {
    const unsigned block = fibre.lane.block_index;
    fibre.lane.clock = {block * launch_->block.x + fibre.lane.thread, block, 1, nullptr, nullptr, nullptr};
  }
  return true;
}

void Lanes::run_lanes(Fibre& fibre) {
  while (take_lane(fibre)) {
    running_lanes = this;
    launch_->kernel.run(launch_->function, argument_pointers_.data());
    running_lanes = nullptr;
    cost_.longest_wait = std::max(cost_.longest_wait, fibre.lane.waits);
    if (fibre.lane.waits > 0) ++cost_.loading;
    cost_.all_waits += fibre.lane.waits;
    ++blocks_[fibre.lane.block].finished;
    ++finished_;
  }
  idle_.push_back(&fibre);
}

Lanes::Fibre& Lanes::idle_fibre() {
  if (idle_.empty()) {
    fibres_.push_back(std::make_unique<Fibre>(*this, fibres_.size()));
    return *fibres_.back();
  }
  Fibre& fibre = *idle_.back();
  idle_.pop_back();
  return fibre;
}

void Lanes::resume(Fibre& fibre) {
  running_fibre = &fibre;
  fibre.self = std::move(fibre.self).resume();
  running_fibre = nullptr;
}

void Lanes::suspend(Fibre& fibre) { fibre.caller = std::move(fibre.caller).resume(); }

void Lanes::schedule() {
  const std::size_t lanes = unstarted_.size();
  for (;;) {
    while (!unstarted_.empty() && error_ == cudaSuccess) resume(idle_fibre());
    if (error_ != cudaSuccess) {
      // The launch ends here. Fibres that wait keep their frames and are not used again.
      at_grid_barrier_.clear();
      unstarted_.clear();
      break;
    }
    if (finished_ == lanes) break;

    bool released = false;
    for (Block& block : blocks_) {
      if (block.waiting.size() != launch_->block.x) continue;
      ++block.barriers;
      release(block.waiting);
      released = true;
      if (error_ != cudaSuccess) break;
    }
    if (released) continue;
    if (at_grid_barrier_.size() == lanes) {
      ++grid_barriers_;
      release(at_grid_barrier_);
      continue;
    }
    for (const Block& block : blocks_) {
      if (block.waiting.empty()) continue;
      report_fault(FaultKind::barrier, "of " + std::to_string(launch_->block.x) + " lanes of block " +
                                           std::to_string(block.index) + ", " +
                                           std::to_string(block.waiting.size()) + " wait at a barrier, " +
                                           std::to_string(block.finished) + " have ended; kernel " +
                                           place_of(launch_->function, false));
      error_ = cudaErrorLaunchTimeout;
      break;
    }
    if (error_ == cudaSuccess) {
      report_fault(FaultKind::barrier, "of " + std::to_string(lanes) + " lanes of the grid, " +
                                           std::to_string(at_grid_barrier_.size()) +
                                           " wait at its barrier; kernel " +
                                           place_of(launch_->function, false));
      error_ = cudaErrorLaunchTimeout;
    }
  }
  for (Block& block : blocks_)
    for (const auto& [key, shared] : block.shared) shared_kept_[shared.bytes].push_back(shared.data);
  blocks_.clear();
}

void Lanes::release(std::vector<Fibre*>& waiting) {
  std::vector<Fibre*> go;
  go.swap(waiting);
  if (checks_.races) {
    const Known* known = nullptr;
    for (const Fibre* fibre : go) races_->merge(known, fibre->lane.clock.known);
    if (known != nullptr)
      for (Fibre* fibre : go) fibre->lane.clock.known = known;
  }
  if (checks_.costs) {
    // All go on when the slowest has come.
    double most = 0;
    for (const Fibre* fibre : go) most = std::max(most, fibre->lane.waits);
    for (Fibre* fibre : go) fibre->lane.waits = most + chosen_device().l1_wait;
  }
  std::shuffle(go.begin(), go.end(), random_);
  for (Fibre* fibre : go) {
    if (error_ != cudaSuccess) return;
    resume(*fibre);
  }
}

void Lanes::wait_for_block() {
  const Unchecked unchecked;
  Fibre& fibre = *running_fibre;
  blocks_[fibre.lane.block].waiting.push_back(&fibre);
  suspend(fibre);
}

void Lanes::wait_for_grid() {
  const Unchecked unchecked;
  Fibre& fibre = *running_fibre;
  if (!launch_->cooperative)
    stop_lane(FaultKind::barrier, "a barrier of the grid in a launch that is not cooperative",
              cudaErrorLaunchFailure);
  at_grid_barrier_.push_back(&fibre);
  suspend(fibre);
}

void Lanes::fence() {
  const Unchecked unchecked;
  if (checks_.races) races_->fence(running_fibre->lane.clock);
}

std::string Lanes::lane_name(const Lane& lane) const {
  return "lane " + std::to_string(lane.thread) + " of block " + std::to_string(blocks_[lane.block].index);
}

void Lanes::stop_lane(FaultKind kind, const std::string& text, cudaError_t error) {
  const Unchecked unchecked;
  Fibre& fibre = *running_fibre;
  report_fault(kind, text + "; " + lane_name(fibre.lane) + ", kernel " + place_of(launch_->function, false));
  if (error_ == cudaSuccess) error_ = error;
  suspend(fibre);
  std::abort();  // the scheduler does not resume it
}

void* Lanes::shared_memory(const void* key, std::size_t bytes, std::size_t alignment) {
  const Unchecked unchecked;
  Block& block = blocks_[running_fibre->lane.block];
  Block::Shared& shared = block.shared[key];
  if (shared.data == nullptr) {
    block.shared_bytes += bytes;
    if (block.shared_bytes > shared_limit_ || alignment > 256)
      stop_lane(FaultKind::limit, std::to_string(block.shared_bytes) + " bytes of shared memory",
                cudaErrorLaunchOutOfResources);
    std::vector<void*>& kept = shared_kept_[bytes];
    if (kept.empty()) kept.push_back(memory_.allocate(bytes));
    shared = {kept.back(), bytes};
    kept.pop_back();
    if (checks_.memory) memory_.mark_unwritten(shared.data, bytes);
    if (checks_.races) races_->forget(shared.data, bytes);  // what another block did there
  }
  return shared.data;
}

// What kernels call.

namespace {
Lanes& lanes() {
  if (running_lanes != nullptr) return *running_lanes;
  std::fprintf(stderr, "emulated device: device code called by the host\n");
  std::abort();
}
const Lanes::Lane& lane() {
  lanes();
  return running_fibre->lane;
}
}  // namespace

uint3 thread_index() { return {lane().thread, 0, 0}; }
uint3 block_index() { return {lane().block_index, 0, 0}; }
dim3 block_size() { return lanes().launch().block; }
dim3 grid_size() { return lanes().launch().grid; }
void block_barrier() { lanes().wait_for_block(); }
void grid_barrier() { lanes().wait_for_grid(); }
void fence() { lanes().fence(); }
void trap() { lanes().stop_lane(FaultKind::trap, "a trap", cudaErrorLaunchFailure); }
void* shared_memory(const void* key, std::size_t bytes, std::size_t alignment) {
  return lanes().shared_memory(key, bytes, alignment);
}

}  // namespace stickslip::emulation
