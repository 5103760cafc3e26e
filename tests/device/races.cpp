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

void Races::begin_launch(const StreamOrder& order) {
  ++launch_;
  atomics_.clear();
  knowledge_.clear();
  order_ = order;
  launches_.push_back({order.stream, order.ticket});
  if (of_streams_.size() <= order.stream) of_streams_.resize(order.stream + 1);
  of_streams_[order.stream].push_back(launch_);
  all_ordered_ = launch_;
  for (std::uint32_t stream = 0; stream < of_streams_.size(); ++stream) {
    if (stream == order.stream) continue;
    const std::vector<std::uint32_t>& numbers = of_streams_[stream];
    const auto first = std::partition_point(
        numbers.begin(), numbers.end(), [&](std::uint32_t number) { return waited_for(launches_[number]); });
    if (first != numbers.end()) all_ordered_ = std::min(all_ordered_, *first);
  }
}

bool Races::waited_for(const Launched& earlier) const {
  return order_.waited != nullptr && earlier.stream < order_.waited->size() &&
         earlier.ticket <= (*order_.waited)[earlier.stream];
}

bool Races::ordered(const Access& earlier, const Access& now, const LaneClock& lane) const {
  if (earlier.launch != now.launch) {
    if (earlier.launch < all_ordered_) return true;
    const Launched& other = launches_[earlier.launch];
    return other.stream == order_.stream || waited_for(other);
  }
  if (earlier.lane == now.lane) return true;
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
      word.reads[ordered(word.reads[0], now, lane) ? 0 : 1] = mine;
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
