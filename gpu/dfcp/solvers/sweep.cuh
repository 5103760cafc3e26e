// One Gauss-Seidel sweep over the blocks of a system, for any block update.
#pragma once

#include <algorithm>
#include <vector>

#include "gpu/core/launch.h"
#include "gpu/core/launch_graph.h"
#include "gpu/core/team.h"
#include "gpu/dfcp/solvers/system.cuh"
#include "gpu/law/projection.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Access of a sweep to velocities and new impulses: through the rows of W ...
template <int D>
struct AssembledSweep {
  BlockRows<D> w;
  const Vec<double, D>* q;
  Vec<double, D>* r;

  SS_HD Vec<double, D> velocity(std::size_t c) const { return w.times(c, r) + q[c]; }
  SS_HD void set(std::size_t c, const Vec<double, D>& value) const { r[c] = value; }
};

/// ... or through the velocities of bodies, v = A^-1 H' r.
template <int D>
struct FactoredSweep {
  BodyRows<D> h;
  const Vec<double, D>* q;
  Vec<double, D>* r;
  double* v;

  SS_HD Vec<double, D> velocity(std::size_t c) const {
    Vec<double, D> u = h.times(c, v) + q[c];
    for (int i = 0; i < D; ++i) u[i] += h.compliance[c][i] * r[c][i];
    return u;
  }
  SS_HD void set(std::size_t c, const Vec<double, D>& value) const {
    h.push(c, value - r[c], v);
    r[c] = value;
  }
};

/// True when sweeps of this system go by colours.
template <int D>
bool sweeps_by_colours([[maybe_unused]] const System<D>& s) {
#if STICKSLIP_ON_CUDA
  return true;
#else
  // Below this the overhead of colours exceeds the gain of two threads, and the
  // stored order converges faster.
  constexpr std::size_t kFew = 4096;
  if (s.params.ordering == SweepOrder::automatic) {
    // If all blocks share a body, there are as many colours as blocks.
    const std::size_t neighbours = s.W.pattern_column().size() / std::max<std::size_t>(s.blocks(), 1);
    return s.blocks() >= kFew && neighbours < s.blocks() / 8;
  }
  return s.params.ordering == SweepOrder::coloured;
#endif
}

/// All blocks in the order of `ordering` [Course 3.2.3]: at random (the same for every solve), with the
/// fastest approach of the free motion first, or by height (`block_levels`); as stored for `impulse`, which
/// sorts before each sweep. Empty where none is chosen, and for heights where W is assembled. Host memory,
/// which is the backend's wherever sweeps do not go by colours.
template <int D>
std::vector<std::int32_t> list_blocks(const System<D>& s);

/// The height of each block in contacts: that of its lower body. The height of a body is the number of
/// blocks on the shortest way to an immovable body; bodies without such a way are the highest. Factored W, on
/// the CPU backend only.
template <int D>
std::vector<std::int32_t> block_levels(const Delassus<D>& W);

/// Sorts blocks by their normal impulses, the largest first. Equal ones keep their order.
template <int D>
void sort_by_impulse(const Vec<double, D>* r, std::vector<std::int32_t>& blocks) {
  std::stable_sort(blocks.begin(), blocks.end(), [r](std::int32_t a, std::int32_t b) {
    return r[static_cast<std::size_t>(a)][0] > r[static_cast<std::size_t>(b)][0];
  });
}

/// r + omega (next - r), projected onto the cone where it may have left it.
template <int D>
SS_HD inline Vec<double, D> over_relaxed(const ContactLaw<D>& law, double omega, const Vec<double, D>& r,
                                         const Vec<double, D>& next) {
  if (omega == 1) return next;
  const Vec<double, D> further = r + omega * (next - r);
  return omega > 1 ? project(law, further) : further;
}

namespace sweep_detail {

/// Updates block c.
template <class Access, class Update>
struct UpdateBlock {
  Access access;
  Update update;

  SS_HD void operator()(std::size_t c) const {
    if (!update.skip(c)) access.set(c, update(c, access.r[c], access.velocity(c)));
  }
};

/// What tells the launches of two sweeps of one Sweeper apart. Updates have no padding, see LaunchGraph.
template <class Block>
struct SweepKey {
  Block block;
  std::int64_t backward;
};

/// Step i of a sweep in the stored order of n blocks.
template <class Block>
struct StoredOrder {
  Block block;
  std::size_t n;
  bool backward;

  SS_HD void operator()(std::size_t i) const { block(backward ? n - 1 - i : i); }
};

/// Step i of a sweep in the order of a list of n blocks.
template <class Block>
struct ListedOrder {
  Block block;
  const std::int32_t* order;
  std::size_t n;
  bool backward;

  SS_HD void operator()(std::size_t i) const {
    block(static_cast<std::size_t>(order[backward ? n - 1 - i : i]));
  }
};

/// Block i of a colour.
template <class Block>
struct OfColour {
  Block block;
  const std::int32_t* order;

  SS_HD void operator()(std::size_t i) const { block(static_cast<std::size_t>(order[i])); }
};

/// Run i of a colour: up to `length` successive blocks of n.
template <class Block>
struct RunOfColour {
  Block block;
  const std::int32_t* runs;
  std::size_t n, length;
  bool backward;

  SS_HD void operator()(std::size_t i) const {
    const std::size_t first = static_cast<std::size_t>(runs[i]) * length;
    const std::size_t count = first + length < n ? length : n - first;
    for (std::size_t j = 0; j < count; ++j) block(backward ? first + count - 1 - j : first + j);
  }
};

#if STICKSLIP_ON_CUDA
/// Colours [begin, end), one after the other, by one team of lanes: its barrier costs much less than a
/// launch.
template <class Block>
struct SmallColours {
  Block block;
  const std::int32_t *order, *offsets;
  int begin, end;
  bool backward;

  struct Nothing {};
  __device__ void operator()(std::size_t, const Team& team, Nothing&) const {
    for (int step = 0; step < end - begin; ++step) {
      const int k = backward ? end - 1 - step : begin + step;
      const std::int32_t first = offsets[k];
      team.each(offsets[k + 1] - first, [&](int i) { block(static_cast<std::size_t>(order[first + i])); });
    }
  }
};
#endif

}  // namespace sweep_detail

/// Prepares sweeps over one system and runs them.
template <int D>
class Sweeper {
 public:
  explicit Sweeper(System<D>& s) : s_(s), coloured_(sweeps_by_colours(s)) {
    if (coloured_ && !s.colouring.built()) colour_conflicts(s);
    if (!coloured_) list_ = list_blocks(s);
    if (s.W.factored()) v_.resize(s.ctx, s.W.bodies() * static_cast<std::size_t>(s.W.body_dofs()));
  }

  /// To be called when r changed by other means: recomputes the velocities of bodies.
  void refresh(Vec<double, D>* r) {
    if (s_.W.factored()) s_.W.body_velocities(s_.ctx, r, v_.data());
  }

  /// Body velocities that r causes; empty for an assembled W.
  Buffer<double>& velocities() { return v_; }

  /// For every block in turn: r_c = update(c, r_c, u_c), with u_c at the newest impulses, unless
  /// update.skip(c). `refresh` first.
  template <class Update>
  void run(Vec<double, D>* r, Update update, bool backward = false) {
    if (s_.W.factored())
      run_with(FactoredSweep<D>{s_.W.body_rows(), s_.W.q(), r, v_.data()}, update, backward);
    else run_with(AssembledSweep<D>{s_.W.rows(), s_.W.q(), r}, update, backward);
  }

  /// The sweep chosen by the parameters: forth, and back with `symmetric_sweeps`.
  template <class Update>
  void run_both_ways(Vec<double, D>* r, const Update& update) {
    run(r, update);
    if (s_.params.symmetric_sweeps) run(r, update, true);
  }

 private:
  template <class Access, class Update>
  void run_with(const Access& access, const Update& update, bool backward) {
    using Block = sweep_detail::UpdateBlock<Access, Update>;
    const Block block{access, update};
    const std::size_t n = s_.blocks();
    if (!coloured_ && list_.empty()) {
      launch(s_.ctx, n, sweep_detail::StoredOrder<Block>{block, n, backward}, Grain{n});
      return;
    }
    if (!coloured_) {
      if (s_.params.ordering == SweepOrder::impulse) sort_by_impulse<D>(access.r, list_);
      launch(s_.ctx, n, sweep_detail::ListedOrder<Block>{block, list_.data(), n, backward}, Grain{n});
      return;
    }
    const sweep_detail::SweepKey<Block> key{block, backward ? 1 : 0};
    graph_.run(s_.ctx, key, [&] { run_colours(block, backward); });
  }

#if STICKSLIP_ON_CUDA
  /// A launch per large colour, and one for a range of small ones: the n contacts of a body all conflict, so
  /// they need n colours, most of them small.
  template <class Block>
  void run_colours(const Block& block, bool backward) {
    const Colouring& colours = s_.colouring;
    const auto size = [&](int k) { return colours.offset(k + 1) - colours.offset(k); };
    constexpr std::size_t kSmall = 128;  // as many lanes as the team has
    const int n = colours.colours();
    const auto nth = [&](int step) { return backward ? n - 1 - step : step; };
    for (int step = 0; step < n;) {
      int next = step;
      while (next < n && size(nth(next)) <= kSmall) ++next;
      if (next > step + 1) {
        const int begin = backward ? nth(next - 1) : step, end = backward ? nth(step) + 1 : next;
        launch_teams<typename sweep_detail::SmallColours<Block>::Nothing>(
            s_.ctx, 1,
            sweep_detail::SmallColours<Block>{block, colours.order(), colours.offsets(), begin, end,
                                              backward});
        step = next;
        continue;
      }
      const int k = nth(step++);
      launch(s_.ctx, size(k), sweep_detail::OfColour<Block>{block, colours.order() + colours.offset(k)});
    }
  }
#else
  template <class Block>
  void run_colours(const Block& block, bool backward) {
    const std::size_t n = s_.blocks();
    const Colouring& colours = s_.colouring;
    const std::size_t length = colours.run_length();
    for (int step = 0; step < colours.colours(); ++step) {
      const int k = backward ? colours.colours() - 1 - step : step;
      if (length > 1)
        launch(s_.ctx, colours.run_offset(k + 1) - colours.run_offset(k),
               sweep_detail::RunOfColour<Block>{block, colours.runs() + colours.run_offset(k), n, length,
                                                backward},
               Grain{1});
      else
        launch(s_.ctx, colours.offset(k + 1) - colours.offset(k),
               sweep_detail::OfColour<Block>{block, colours.order() + colours.offset(k)}, kMedium);
    }
  }
#endif

  System<D>& s_;
  bool coloured_;
  Buffer<double> v_;
  std::vector<std::int32_t> list_;  // of all blocks, where neither colours nor the stored order decide
  LaunchGraph graph_;               // of sweeps by colours
};

/// Colours the blocks of a system by the pattern of W. On the CPU it colours runs of blocks: reading memory
/// out of order costs several times the sweep, and one colour's runs are enough for many threads.
template <int D>
void colour_conflicts(System<D>& s);

}  // namespace stickslip::STICKSLIP_BACKEND
