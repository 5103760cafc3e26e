// Each load and store of a lane: whether it may be made, what it races with, what it costs.
#include <link.h>

#include <algorithm>

#include "tests/device/faults.h"
#include "tests/device/lane_state.h"

namespace stickslip::emulation {

namespace {

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

bool Lanes::on_a_stack(const void* p) const {
  return std::any_of(fibres_.begin(), fibres_.end(), [&](const auto& fibre) { return fibre->holds(p); });
}

void Lanes::access(const void* p, std::size_t bytes, bool write, bool atomic, const void* place) {
  const Unchecked unchecked;
  if (checks_.only_marks()) {
    if (write && memory_.contains(p)) memory_.mark_written(p, bytes);
    return;
  }
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
  ++checked_;
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
    memory_.mark_written(p, bytes);  // so that the fault is reported once
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
                   (other.launch == now.launch ? "lane" : "stream, for which the host had not waited,") +
                   " at " + place_of(reinterpret_cast<const void*>(code)));
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
  if (checks_.only_marks() || !memory_.contains(p)) return;
  stop_lane(FaultKind::address,
            "access of " + std::to_string(bytes) + " bytes, misaligned, at " + place_of(place),
            cudaErrorMisalignedAddress);
}

}  // namespace stickslip::emulation
