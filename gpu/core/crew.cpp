#include "gpu/core/crew.h"

#include <algorithm>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace stickslip {
namespace {

/// Waits a moment. `k` counts how often in a row there was nothing to do.
void pause(int& k) {
  constexpr int kPatience = 1000;
  if (k == kPatience) return std::this_thread::yield();
  ++k;
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

Crew::Crew(Arena& arena, int threads) : arena_(arena), shares_(static_cast<std::size_t>(threads)) {
  if (threads < 2) return;
  try {
    arena_.start_helpers(
        threads - 1, [](void* crew) { static_cast<Crew*>(crew)->serve(); }, this);
  } catch (...) {
    ending_ = true;
    arena_.join_helpers();
    throw;
  }
}

Crew::~Crew() {
  ending_ = true;
  if (shares_.size() > 1) arena_.join_helpers();
}

void Crew::run_phase(Phase phase, std::size_t pieces) {
  if (shares_.size() == 1 || pieces <= 1) {
    for (std::size_t piece = 0; piece < pieces; ++piece) phase.call(phase.object, piece);
    return;
  }
  phase_ = phase;
  pieces_ = pieces;
  take_shares(0, ++round_);
  // All shares are taken. A member that took one stays active until it is done, and no other can enter.
  ++round_;
  for (int k = 0; active_ != 0;) pause(k);
}

void Crew::take_shares(std::size_t member, std::uint32_t round) {
  const std::size_t members = shares_.size();
  for (std::size_t k = 0; k < members; ++k) {
    const std::size_t m = (member + k) % members;
    if (shares_[m].taken.load(std::memory_order_relaxed) == round ||
        shares_[m].taken.exchange(round) == round)
      continue;
    const std::size_t end = pieces_ * (m + 1) / members;
    for (std::size_t piece = pieces_ * m / members; piece < end; ++piece) phase_.call(phase_.object, piece);
  }
}

void Crew::serve() {
  sync_.task_begins();
  const std::size_t member = members_++;
  std::uint32_t seen = 0;
  for (int k = 0; !ending_;) {
    const std::uint32_t round = round_;
    if (round == seen || round % 2 == 0) {
      pause(k);
      continue;
    }
    ++active_;
    // The caller waits for those that were active before it closed the phase.
    if (round_ == round) take_shares(member, round);
    --active_;
    seen = round;
    k = 0;
  }
  sync_.task_ends();
}

}  // namespace stickslip
