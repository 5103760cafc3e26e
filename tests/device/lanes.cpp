#include "tests/device/lanes.h"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <numeric>
#include <unordered_map>

#include "tests/device/faults.h"

namespace stickslip::emulation {

namespace ctx = boost::context;

namespace {

constexpr std::size_t kSector = 32;
constexpr std::size_t kStack = std::size_t{512} << 10;

thread_local Lanes* running_lanes = nullptr;
thread_local Lanes::Fibre* running_fibre = nullptr;

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

/// Constants of the program, which nvcc places in constant memory or into the code.
bool is_constant(const void* p, std::size_t bytes) {
  struct Question {
    std::uintptr_t begin, end;
    bool found = false;
  } question{reinterpret_cast<std::uintptr_t>(p), reinterpret_cast<std::uintptr_t>(p) + bytes};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        auto& q = *static_cast<Question*>(out);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
          const bool constant =
              (part.p_type == PT_LOAD && !(part.p_flags & PF_W)) || part.p_type == PT_GNU_RELRO;
          if (constant && q.begin >= begin && q.end <= begin + part.p_memsz) q.found = true;
        }
        return 1;
      },
      &question);
  return question.found;
}

}  // namespace

Lanes* running() { return running_lanes; }

struct Lanes::Lane {
  std::uint32_t block = 0;  // within blocks_
  std::uint32_t thread = 0;
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

Lanes::Lanes(Memory& memory, std::size_t shared_limit, unsigned seed)
    : memory_(memory), shared_limit_(shared_limit), random_(seed) {}
Lanes::~Lanes() {
  // Frames of kernels are never unwound: there is nothing in them to release.
  for (auto& fibre : fibres_) static_cast<void>(fibre.release());
}

void Lanes::set_checks(const Checks& checks) {
  checks_ = checks;
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
  fibre.lane.waits = 0;
  if (checks_.races) {
    const unsigned block = blocks_[fibre.lane.block].index;
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

uint3 Lanes::thread_index() const { return {running_fibre->lane.thread, 0, 0}; }
uint3 Lanes::block_index() const { return {blocks_[running_fibre->lane.block].index, 0, 0}; }

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

bool Lanes::on_a_stack(const void* p) const {
  return std::any_of(fibres_.begin(), fibres_.end(), [&](const auto& fibre) { return fibre->holds(p); });
}

void Lanes::access(const void* p, std::size_t bytes, bool write, bool atomic, const void* place) {
  const Unchecked unchecked;
  Fibre& fibre = *running_fibre;
  const char* what = atomic ? "atomic operation" : write ? "write" : "read";
  const auto say = [&](const std::string& why) {
    return std::string(what) + " of " + std::to_string(bytes) + " bytes, " + why + ", at " + place_of(place);
  };
  if (!memory_.contains(p)) {
    if (fibre.holds(p)) return;
    const auto* begin = launch_->arguments.data();
    const bool argument = p >= begin && p < begin + launch_->arguments.size();
    const bool pointers =
        p >= argument_pointers_.data() && p < argument_pointers_.data() + argument_pointers_.size();
    if (!write && (argument || pointers || is_constant(p, bytes))) return;
    stop_lane(FaultKind::address,
              say(argument                ? "arguments of a kernel are constant"
                  : on_a_stack(p)         ? "the stack of another lane"
                  : is_constant(p, bytes) ? "a constant"
                                          : "memory of the host"),
              cudaErrorIllegalAddress);
  }
  if (checks_.costs) count(fibre, p, bytes, write, atomic);
  if (!checks_.memory) return;
  // Copies of whole objects carry their padding, so only single values need be written.
  const bool single = bytes <= 16;
  if (const char* why = memory_.fault(p, bytes, atomic || (!write && single))) {
    const Memory::Block block = memory_.block_of(p);
    std::string text = why;
    if (block.begin != nullptr)
      text += " (" + std::to_string(static_cast<const char*>(p) - block.begin) + " bytes into a block of " +
              std::to_string(block.bytes) + (block.live ? ")" : ", freed)");
    const bool unwritten = std::string(why) == "never written";
    if (!unwritten) stop_lane(FaultKind::address, say(text), cudaErrorIllegalAddress);
    report_fault(FaultKind::unwritten,
                 say("never written") + "; kernel " + place_of(launch_->function, false));
    memory_.mark_written(p, bytes);  // says it once
  }
  if (write) memory_.mark_written(p, bytes);
  if (!checks_.races) return;
  Access now;
  now.launch = races_->launch();
  now.lane = fibre.lane.clock.lane;
  now.block = fibre.lane.clock.block;
  now.place = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(place));
  now.clock = fibre.lane.clock.clock;
  now.block_barriers = blocks_[fibre.lane.block].barriers;
  now.grid_barriers = grid_barriers_;
  now.atomic = atomic;
  if (const Access* other = races_->check(p, bytes, now, fibre.lane.clock, write))
    report_race(what, now, place, *other);
  if (atomic) races_->atomic(p, fibre.lane.clock);
}

void Lanes::report_race(const char* what, const Access& now, const void* place, const Access& other) const {
  // The upper half of an address of code is the same for all of the program.
  const auto code = (reinterpret_cast<std::uintptr_t>(place) & ~std::uintptr_t{0xFFFFFFFF}) | other.place;
  report_fault(FaultKind::race,
               std::string(what) + " at " + place_of(place) + " against " +
                   (other.atomic ? "the atomic operation" : "the access") + " of another " +
                   (other.launch == now.launch ? "lane" : "stream, for which the host had not waited,") + " at " +
                   place_of(reinterpret_cast<const void*>(code)));
}

void Lanes::check_copy(const void* to, const void* from, std::size_t bytes, const StreamOrder& order,
                       const void* place) {
  if (!checks_.races) return;
  races_->begin_launch(order);
  Access now;
  now.launch = races_->launch();
  now.place = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(place));
  const LaneClock clock;
  if (memory_.contains(from))
    if (const Access* other = races_->check(from, bytes, now, clock, false))
      report_race("read by a copy", now, place, *other);
  if (memory_.contains(to))
    if (const Access* other = races_->check(to, bytes, now, clock, true))
      report_race("write by a copy", now, place, *other);
}

void Lanes::count(Fibre& fibre, const void* p, std::size_t bytes, bool write, bool atomic) {
  const DeviceSheet& device = chosen_device();
  for (const auto& [key, shared] : blocks_[fibre.lane.block].shared) {
    const auto* from = static_cast<const std::byte*>(shared.data);
    if (p < from || p >= from + shared.bytes) continue;
    fibre.lane.waits += device.l1_wait;  // the same memory as the L1 cache
    return;
  }
  (write ? cost_.bytes_written : cost_.bytes_read) += bytes;
  const auto begin = static_cast<std::size_t>(static_cast<const char*>(p) - memory_.base());
  bool fresh = false;
  for (std::size_t s = begin / kSector; s <= (begin + bytes - 1) / kSector; ++s) {
    if (sectors_[s] == launch_number_) continue;
    sectors_[s] = launch_number_;
    ++cost_.sectors;
    fresh = true;
  }
  if (write && !atomic) return;  // lanes do not wait for stores
  const double far = in_cache() ? device.cache_wait : device.memory_wait;
  fibre.lane.waits += atomic ? device.cache_wait : fresh ? far : device.l1_wait;
}

void Lanes::misaligned(const void* p, std::size_t bytes, const void* place) {
  // The stack's own alignment is the host compiler's.
  if (!memory_.contains(p)) return;
  stop_lane(FaultKind::address,
            "access of " + std::to_string(bytes) + " bytes, misaligned, at " + place_of(place),
            cudaErrorMisalignedAddress);
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
}  // namespace

uint3 thread_index() { return lanes().thread_index(); }
uint3 block_index() { return lanes().block_index(); }
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
