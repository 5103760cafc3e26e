#include "gpu/rigid/manifold/block_sweeps.cuh"

#include "gpu/core/launch.h"
#include "gpu/rigid/manifold/block_sources.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Prepares block c.
template <class Fill>
struct BlockMaker {
  Fill fill;
  const BodyInverse* inverse;
  SweptBlock* block;

  SS_HD void operator()(std::size_t c) const { block[c] = swept_block(fill(c), inverse); }
};

/// Updates the blocks of a group.
struct GroupSweep {
  const std::int32_t *group, *start, *halt;
  bool backward;
  SweptBlock* block;
  double *impulse, *v;

  SS_HD void operator()(std::size_t i) const {
    if (halt != nullptr && *halt != 0) return;
    const std::int32_t begin = start[group[i]], end = start[group[i] + 1];
    for (std::int32_t k = begin; k < end; ++k) {
      const auto c = static_cast<std::size_t>(backward ? begin + end - 1 - k : k);
      update_block(block[c], impulse + 3 * c, v);
    }
  }
};

/// Adds the velocities that the impulses of a group cause.
struct GroupPush {
  const std::int32_t *group, *start;
  const SweptBlock* block;
  const double* impulse;
  double* v;

  SS_HD void operator()(std::size_t i) const {
    for (auto c = static_cast<std::size_t>(start[group[i]]);
         c < static_cast<std::size_t>(start[group[i] + 1]); ++c)
      push_block(block[c], {impulse[3 * c], impulse[3 * c + 1], impulse[3 * c + 2]}, v);
  }
};

}  // namespace

template <class Fill>
void BlockSweeps::build(Context& ctx, std::size_t n, const BlockGroups& groups, const BodyInverse* inverse,
                        Fill fill) {
  groups_ = groups;
  blocks_.resize(ctx, n);
  launch(ctx, n, BlockMaker<Fill>{fill, inverse, blocks_.data()}, kHeavy);
}

template void BlockSweeps::build(Context&, std::size_t, const BlockGroups&, const BodyInverse*,
                                 JointBlocks<3>);
template void BlockSweeps::build(Context&, std::size_t, const BlockGroups&, const BodyInverse*, BlockReader);

void BlockSweeps::sweep(Context& ctx, bool backward, const std::int32_t* halt, double* impulse, double* v) {
  const int colours = size() > 0 ? groups_.count() : 0;
  for (int step = 0; step < colours; ++step) {
    const auto colour = static_cast<std::size_t>(backward ? colours - 1 - step : step);
    const std::size_t first = groups_.colours[colour];
    launch(ctx, groups_.colours[colour + 1] - first,
           GroupSweep{groups_.group + first, groups_.start, halt, backward, blocks_.data(), impulse, v},
           kMedium);
  }
}

void BlockSweeps::apply(Context& ctx, const double* impulse, double* v) {
  const int colours = size() > 0 ? groups_.count() : 0;
  for (std::size_t colour = 0; colour < static_cast<std::size_t>(colours); ++colour) {
    const std::size_t first = groups_.colours[colour];
    launch(ctx, groups_.colours[colour + 1] - first,
           GroupPush{groups_.group + first, groups_.start, blocks_.data(), impulse, v}, kMedium);
  }
}

}  // namespace stickslip::STICKSLIP_BACKEND
