#include "tests/device/races.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <unordered_set>
#include <vector>

namespace stickslip::emulation {

Races::Races(const char* base, std::size_t range) : base_(base) {
  void* p = mmap(nullptr, range / 4 * sizeof(Word), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  words_ = static_cast<Word*>(p);
}

bool Races::ordered(const Access& earlier, const Access& now, const LaneClock& lane) {
  if (earlier.launch != now.launch || earlier.lane == now.lane) return true;
  if (earlier.grid_barriers < now.grid_barriers) return true;
  if (earlier.block == now.block && earlier.block_barriers < now.block_barriers) return true;
  return knows(lane.known, earlier.lane, earlier.clock);
}

bool Races::knows(const Known* known, std::uint32_t lane, std::uint32_t clock) {
  // The writer of what is read is nearly always near the root of the graph.
  std::vector<const Known*> next;
  std::unordered_set<const Known*> seen;
  if (known != nullptr) next.push_back(known);
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (next[i]->lane == lane && next[i]->clock > clock) return true;
    for (const Known* more : {next[i]->a, next[i]->b})
      if (more != nullptr && seen.insert(more).second) next.push_back(more);
  }
  return false;
}

const Access* Races::check(const void* p, std::size_t bytes, const Access& now, const LaneClock& lane,
                           bool write) {
  const auto begin = static_cast<std::size_t>(static_cast<const char*>(p) - base_);
  const Access* race = nullptr;
  for (std::size_t w = begin / 4; w * 4 < begin + bytes; ++w) {
    unsigned mask = 0xF;
    if (w * 4 < begin) mask &= 0xFu << (begin - w * 4);
    if (w * 4 + 4 > begin + bytes) mask &= 0xFu >> (w * 4 + 4 - begin - bytes);
    Word& word = words_[w];
    Access mine = now;
    mine.bytes = static_cast<std::uint8_t>(mask);
    const auto conflicts = [&](const Access& other) {
      return (other.bytes & mask) != 0 && !(other.atomic && now.atomic) && !ordered(other, now, lane);
    };
    if (conflicts(word.write)) race = &(found_ = word.write);
    if (!write) {
      Access& slot = word.reads[0].launch != now.launch || word.reads[0].lane == now.lane ||
                             ordered(word.reads[0], now, lane)
                         ? word.reads[0]
                         : word.reads[1];
      slot = mine;
      continue;
    }
    for (const Access& read : word.reads)
      if (conflicts(read)) race = &(found_ = read);
    // Other bytes of the word that this launch wrote stay known, as this lane's.
    if (word.write.launch == now.launch && word.write.lane == now.lane) mine.bytes |= word.write.bytes;
    word.write = mine;
  }
  return race;
}

void Races::forget(const void* p, std::size_t bytes) {
  const auto begin = static_cast<std::size_t>(static_cast<const char*>(p) - base_);
  for (std::size_t w = begin / 4; w * 4 < begin + bytes; ++w) words_[w] = {};
}

void Races::release(const void* p, std::size_t bytes) {
  const auto begin = static_cast<std::size_t>(static_cast<const char*>(p) - base_);
  Word* first = words_ + begin / 4;
  Word* const end = words_ + (begin + bytes + 3) / 4;
  // Whole pages go back to the system, from where they come as zeros.
  constexpr std::uintptr_t kPage = 4096;
  const std::uintptr_t low = (reinterpret_cast<std::uintptr_t>(first) + kPage - 1) / kPage * kPage;
  const std::uintptr_t high = reinterpret_cast<std::uintptr_t>(end) / kPage * kPage;
  if (low >= high || madvise(reinterpret_cast<void*>(low), high - low, MADV_DONTNEED) != 0) {
    std::fill(first, end, Word{});
    return;
  }
  // Those that lie on these pages in part.
  for (; reinterpret_cast<std::uintptr_t>(first) < low; ++first) *first = {};
  for (Word* w = end; w > first && reinterpret_cast<std::uintptr_t>(w) > high;) *--w = {};
}

void Races::merge(const Known*& into, const Known* from) {
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  if (from == nullptr || into == from) return;
  into = into == nullptr ? from : &knowledge_.emplace_back(Known{kNone, 0, from, into});
}

void Races::fence(LaneClock& lane) {
  merge(lane.known, lane.acquired);
  lane.acquired = nullptr;
  ++lane.clock;
  lane.released = &knowledge_.emplace_back(Known{lane.lane, lane.clock, lane.known, nullptr});
}

void Races::atomic(const void* p, LaneClock& lane) {
  const Known*& seen = atomics_[p];
  merge(lane.acquired, seen);
  merge(seen, lane.released);
}

}  // namespace stickslip::emulation
