#include "tests/device/memory.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace stickslip::emulation {
namespace {

constexpr std::size_t kPage = 4096, kAlignment = 256;
constexpr int kPattern = 0xDB;  // as a double: -1.3e131, as an index: far outside
// Addresses come back only when this much has been handed out since.
constexpr std::size_t kBeforeReuse = std::size_t{1} << 34;

template <class T>
T* reserve(std::size_t bytes, int protection) {
  void* p = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return static_cast<T*>(p);
}

std::size_t page_up(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

Memory::Memory(std::size_t limit)
    : base_(reserve<char>(kRange, PROT_NONE)),
      states_(reserve<WordState>(kRange / 4, PROT_READ | PROT_WRITE)),
      limit_(limit) {}

void* Memory::allocate(std::size_t bytes) {
  if (bytes == 0 || bytes > limit_ - used_) return nullptr;
  // A page of nothing lies between two blocks, so that accesses past an end hit no other block.
  const std::size_t whole = page_up(bytes) + kPage;
  char* begin = nullptr;
  if (top_ + whole <= kBeforeReuse) {
    begin = base_ + top_;
    top_ += whole;
  } else {
    for (auto gap = freed_.begin(); gap != freed_.end(); ++gap) {
      if (gap->second < whole) continue;
      begin = const_cast<char*>(gap->first);
      const std::size_t rest = gap->second - whole;
      freed_.erase(gap);
      if (rest > 0) freed_[begin + whole] = rest;
      break;
    }
    if (begin == nullptr) {
      if (top_ + whole > kRange) return nullptr;
      begin = base_ + top_;
      top_ += whole;
    }
  }
  mprotect(begin, page_up(bytes), PROT_READ | PROT_WRITE);
  std::memset(begin, kPattern, bytes);
  if (!open_) mprotect(begin, page_up(bytes), PROT_NONE);
  const std::size_t first = offset(begin);
  set_marks(first, first + bytes, 0xF0, true);
  set_marks(first, first + bytes, 0x0F, false);
  live_[begin] = bytes;
  used_ += bytes;
  return begin;
}

Memory::Freed Memory::free(void* p) {
  const auto found = live_.find(static_cast<const char*>(p));
  if (found == live_.end())
    return freed_.contains(static_cast<const char*>(p)) ? Freed::twice : Freed::never_allocated;
  const std::size_t bytes = found->second, first = offset(p);
  live_.erase(found);
  used_ -= bytes;
  set_marks(first, first + bytes, 0xFF, false);
  // Gives the pages back to the system, but keeps the addresses.
  madvise(p, page_up(bytes), MADV_DONTNEED);
  mprotect(p, page_up(bytes), PROT_NONE);
  freed_[static_cast<const char*>(p)] = page_up(bytes) + kPage;
  return Freed::yes;
}

const char* Memory::fault(const void* p, std::size_t bytes, bool must_be_written) const {
  const std::size_t begin = offset(p);
  if (begin + bytes > kRange) return "beyond device memory";
  for (std::size_t word = begin / 4; word * 4 < begin + bytes; ++word) {
    unsigned mask = 0xF;
    if (word * 4 < begin) mask &= 0xFu << (begin - word * 4);
    if (word * 4 + 4 > begin + bytes) mask &= 0xFu >> (word * 4 + 4 - begin - bytes);
    const WordState state = states_[word];
    if ((state >> 4 & mask) != mask) return "not allocated";
    if (must_be_written && (state & mask) != mask) return "never written";
  }
  return nullptr;
}

void Memory::set_marks(std::size_t begin, std::size_t end, std::uint8_t bits, bool on) {
  const auto set = [&](std::size_t word, unsigned mask) {
    const auto chosen = static_cast<WordState>(bits & (mask | mask << 4));
    if (on) states_[word] |= chosen;
    else states_[word] &= static_cast<WordState>(~chosen);
  };
  std::size_t word = begin / 4;
  if (begin % 4 != 0) {
    unsigned mask = 0xFu << (begin % 4) & 0xF;
    if (word * 4 + 4 > end) mask &= 0xFu >> (word * 4 + 4 - end);
    set(word++, mask);
  }
  for (; word * 4 + 4 <= end; ++word) set(word, 0xF);
  if (word * 4 < end) set(word, 0xFu >> (word * 4 + 4 - end));
}

void Memory::mark_written(const void* p, std::size_t bytes) {
  set_marks(offset(p), offset(p) + bytes, 0x0F, true);
}
void Memory::mark_unwritten(const void* p, std::size_t bytes) {
  set_marks(offset(p), offset(p) + bytes, 0x0F, false);
}

void Memory::copy_marks(const void* to, const void* from, std::size_t bytes) {
  const std::size_t target = offset(to), source = offset(from);
  if (target % 4 == 0 && source % 4 == 0 && bytes % 4 == 0) {
    std::memcpy(states_ + target / 4, states_ + source / 4, bytes / 4);
    return;
  }
  for (std::size_t i = 0; i < bytes; ++i) {
    const bool written = states_[(source + i) / 4] >> ((source + i) % 4) & 1;
    set_marks(target + i, target + i + 1, 0x0F, written);
  }
}

Memory::Block Memory::block_of(const void* p) const {
  const char* address = static_cast<const char*>(p);
  const auto before = [&](const std::map<const char*, std::size_t>& blocks, bool live) -> Block {
    auto next = blocks.upper_bound(address);
    if (next == blocks.begin()) return {};
    --next;
    return {next->first, next->second, live};
  };
  const Block live = before(live_, true), freed = before(freed_, false);
  return freed.begin > live.begin ? freed : live;
}

void Memory::open() {
  if (!open_ && top_ > 0) mprotect(base_, page_up(top_), PROT_READ | PROT_WRITE);
  open_ = true;
}
void Memory::close() {
  if (open_ && top_ > 0) mprotect(base_, page_up(top_), PROT_NONE);
  open_ = false;
}

}  // namespace stickslip::emulation
