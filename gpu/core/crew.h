// Crew: threads that stay together through many short phases. Host only, for loops of the CPU backend.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/core/arena.h"

namespace stickslip {

/// Borrows the threads of an arena, which can do nothing else until the end of this object's life. A phase
/// costs about half a microsecond where a loop of the arena costs two or three, and gives the same pieces to
/// the same threads as the phase before, so that what a thread wrote is still in its cache. A thread that
/// comes late, or never, delays nothing: another takes its share.
class Crew {
 public:
  /// `threads` >= 1, the caller's own among them.
  Crew(Arena& arena, int threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Calls f(piece) for every piece in [0, pieces), in any order and in parallel; returns when all are done.
  /// f must not throw.
  template <class F>
  void run(std::size_t pieces, const F& f) {
    run_phase({[](const void* object, std::size_t piece) { (*static_cast<const F*>(object))(piece); }, &f},
              pieces);
  }

 private:
  struct Phase {
    void (*call)(const void* object, std::size_t piece) = nullptr;
    const void* object = nullptr;
  };
  /// The pieces of one thread, in one go.
  struct alignas(64) Share {
    std::atomic<std::uint32_t> taken{0};  // the last round in which a member took it
  };

  void run_phase(Phase phase, std::size_t pieces);
  void take_shares(std::size_t member, std::uint32_t round);
  void serve();

  Arena& arena_;
  Phase phase_;
  std::size_t pieces_ = 0;
  std::vector<Share> shares_;                         // by member; the caller is the first
  alignas(64) std::atomic<std::uint32_t> round_{0};   // odd while a phase is open
  alignas(64) std::atomic<std::uint32_t> active_{0};  // members, without the caller, that are in a phase
  std::atomic<std::uint32_t> members_{1};
  std::atomic<bool> ending_{false};
  [[maybe_unused]] cpu::ForkJoin sync_;
};

}  // namespace stickslip
