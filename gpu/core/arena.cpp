#include "gpu/core/arena.h"

#include <algorithm>
#include <system_error>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "gpu/core/index_range.h"

namespace stickslip {
namespace {

/// How often a thread looks for a new run before it sleeps: for 50 to 100 us. Waking one costs the caller
/// about 5 us.
constexpr int kPatience = 4000;
/// How often it looks before it takes pieces of others' shares: for 1 us. A look at a share costs its owner a
/// cache line's way back.
constexpr int kPatienceWithOthers = 40;
/// Pieces of a thread's share, so that one slow piece holds up little.
constexpr std::size_t kPieces = 8;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// A round, and below it a number of pieces: at most 2 kPieces + 2 a share, of at most 4096 shares.
constexpr int kNumberBits = 18;
constexpr std::uint64_t tagged(std::uint64_t round, std::size_t number) {
  return round << kNumberBits | number;
}
constexpr std::uint64_t round_of(std::uint64_t tagged) { return tagged >> kNumberBits; }
constexpr std::size_t number_of(std::uint64_t tagged) {
  return tagged & ((std::size_t{1} << kNumberBits) - 1);
}

/// The first member's is never empty.
IndexRange share_of(std::size_t n, std::size_t member, std::size_t members) {
  return {(n * member + members - 1) / members, (n * (member + 1) + members - 1) / members};
}

std::size_t count_pieces(std::size_t indices, std::size_t piece) { return (indices + piece - 1) / piece; }

}  // namespace

int Arena::allowed_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

Arena::Arena(int threads) : members_(static_cast<std::size_t>(std::max(1, threads))) {}

Arena::~Arena() {
  post({}, notice_.round.load(std::memory_order_relaxed) + 1);
  wake_sleepers();
  for (std::thread& worker : workers_) worker.join();
}

void Arena::start_workers() {
  workers_.reserve(members_.size() - 1);
  try {
    while (workers_.size() < members_.size() - 1)
      workers_.emplace_back([this, member = workers_.size() + 1] { serve(member); });
  } catch (const std::system_error&) {
    // The machine grants no more threads: those that there are do the work.
  }
}

void Arena::run_job(Job job) {
  const std::size_t members = members_.size();
  if (job.n == 0) return;
  if (members == 1 || job.n == 1) return job.call(job.object, 0, job.n);
  if (workers_.capacity() == 0) start_workers();
  job.piece = std::max({job.piece, job.n / (kPieces * members), std::size_t{1}});
  const std::uint64_t round = notice_.round.load(std::memory_order_relaxed) + 1;
  const IndexRange own = share_of(job.n, 0, members);
  // The first piece is the caller's: none that has to be taken.
  const std::size_t own_pieces = count_pieces(own.size(), job.piece);
  members_[0].left.store(tagged(round, own_pieces - 1), std::memory_order_relaxed);
  post(job, round);
  call(job, 0, std::min(own.end, job.piece));
  wake_sleepers();
  std::size_t done = 1;
  if (own_pieces > 1) done += do_share(job, round, 0);

  std::size_t pieces = own_pieces;
  for (std::size_t m = 1; m < members; ++m) {
    const std::size_t of_share = count_pieces(share_of(job.n, m, members).size(), job.piece);
    pieces += of_share;
    if (std::size_t none = 0; of_share == 0) take(m, round, 0, none);  // marks it as of this round
  }
  for (int k = 0; done_by_others(round) != pieces - done; ++k) {
    if (k == kPatienceWithOthers) done += do_other_shares(job, round, 0);
    else if (k < kPatience) pause();
    else std::this_thread::yield();
  }
  if (failed_.test(std::memory_order_relaxed)) {
    failed_.clear();
    std::rethrow_exception(std::exchange(error_, {}));
  }
}

/// All pieces of the job before are done. A thread may still read that job, or parts of both, but with its
/// round no piece can be taken any more.
void Arena::post(const Job& job, std::uint64_t round) {
  constexpr auto relaxed = std::memory_order_relaxed;
  notice_.call.store(job.call, relaxed);
  notice_.object.store(job.object, relaxed);
  notice_.n.store(job.n, relaxed);
  notice_.piece.store(job.piece, relaxed);
  notice_.round.store(round, std::memory_order_release);
  // Not a look after a fence, which would wait for the other threads' caches: see wake_sleepers.
  if (asleep_.load(relaxed) != 0) wake();
}

void Arena::wake() {
  ++calls_;
  calls_.notify_all();
}

/// Those that fell asleep while a run was posted. The round is visible by now in all likelihood, so the fence
/// costs little.
void Arena::wake_sleepers() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (asleep_.load(std::memory_order_relaxed) != 0) wake();
}

/// What a piece throws may leave neither its thread nor the job while others are at it.
void Arena::call(const Job& job, std::size_t begin, std::size_t end) {
  try {
    job.call(job.object, begin, end);
  } catch (...) {
    if (!failed_.test_and_set()) error_ = std::current_exception();
  }
}

/// Takes the next piece of a share that has `pieces` in this round. False if none is left, or if the round is
/// over: its caller has then seen every share without pieces left.
bool Arena::take(std::size_t share, std::uint64_t round, std::size_t pieces, std::size_t& piece) {
  std::atomic<std::uint64_t>& left = members_[share].left;
  std::uint64_t seen = left.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t of = round_of(seen);
    if (of > round || (of == round && number_of(seen) == 0)) return false;
    const std::size_t n = of == round ? number_of(seen) : pieces;
    const std::uint64_t then = tagged(round, n == 0 ? 0 : n - 1);  // also marks a share without pieces
    piece = pieces - n;
    if (left.compare_exchange_weak(seen, then, std::memory_order_acq_rel, std::memory_order_relaxed))
      return n > 0;
  }
}

/// Number of pieces done here.
std::size_t Arena::do_share(const Job& job, std::uint64_t round, std::size_t share) {
  const IndexRange range = share_of(job.n, share, members_.size());
  const std::size_t pieces = count_pieces(range.size(), job.piece);
  std::size_t done = 0;
  for (std::size_t piece = 0; take(share, round, pieces, piece); ++done) {
    const std::size_t begin = range.begin + piece * job.piece;
    call(job, begin, std::min(range.end, begin + job.piece));
  }
  return done;
}

std::size_t Arena::do_other_shares(const Job& job, std::uint64_t round, std::size_t member) {
  std::size_t done = 0;
  for (std::size_t k = 1; k < members_.size(); ++k)
    done += do_share(job, round, (member + k) % members_.size());
  return done;
}

std::size_t Arena::done_by_others(std::uint64_t round) const {
  std::size_t done = 0;
  for (std::size_t m = 1; m < members_.size(); ++m)
    if (const std::uint64_t theirs = members_[m].done.load(std::memory_order_acquire);
        round_of(theirs) == round)
      done += number_of(theirs);
  return done;
}

void Arena::serve(std::size_t member) {
  constexpr auto relaxed = std::memory_order_relaxed;
  std::atomic<std::uint64_t>& done = members_[member].done;
  std::uint64_t seen = 0;
  std::size_t own = 0;
  Job job;
  for (int k = 0;;) {
    const std::uint64_t round = notice_.round.load(std::memory_order_acquire);
    if (round != seen) {
      job = {notice_.call.load(relaxed), notice_.object.load(relaxed), notice_.n.load(relaxed),
             notice_.piece.load(relaxed)};
      if (job.call == nullptr) return;
      own = do_share(job, round, member);
      if (own > 0) done.store(tagged(round, own), std::memory_order_release);
      seen = round;
      k = 0;
    } else if (++k == kPatienceWithOthers && round != 0) {
      if (const std::size_t others = do_other_shares(job, round, member); others > 0) {
        done.store(tagged(round, own + others), std::memory_order_release);
        k = kPatienceWithOthers;
      }
    } else if (k < kPatience) {
      pause();
    } else {
      sleep_after(round);
      k = kPatienceWithOthers;
    }
  }
}

/// Until there is another round.
void Arena::sleep_after(std::uint64_t round) {
  const std::uint32_t calls = calls_;
  ++asleep_;
  if (notice_.round == round) calls_.wait(calls);
  --asleep_;
}

}  // namespace stickslip
