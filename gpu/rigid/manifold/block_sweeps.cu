#include "gpu/rigid/manifold/block_sweeps.cuh"

#include "gpu/core/launch.h"
#include "gpu/rigid/manifold/block_sources.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Prepares block c.
template <int D, class Fill>
struct BlockMaker {
  Fill fill;
  const BodyInverse* inverse;
  SweptBlock<D>* block;
  Vec<double, 2>* soft;

  SS_HD void operator()(std::size_t c) const {
    const ConstraintBlock<D> rows = fill(c);
    block[c] = swept_block(rows, inverse);
    for (int i = 0; i < D; ++i)
      soft[c * D + static_cast<std::size_t>(i)] = Vec<double, 2>{rows.compliance[i], rows.w[i]};
  }
};

/// Updates the blocks of a group.
template <int D>
struct BlockGroupSweep {
  const std::int32_t *group, *start, *halt;
  bool backward;
  SweptBlock<D>* block;
  double *impulse, *v;

  SS_HD void operator()(std::size_t i) const {
    if (halt != nullptr && *halt != 0) return;
    const std::int32_t begin = start[group[i]], end = start[group[i] + 1];
    for (std::int32_t k = begin; k < end; ++k) {
      const auto c = static_cast<std::size_t>(backward ? begin + end - 1 - k : k);
      update_block(block[c], impulse + D * c, v);
    }
  }
};

/// Adds the velocities that the impulses of a group cause.
template <int D>
struct BlockGroupPush {
  const std::int32_t *group, *start;
  const SweptBlock<D>* block;
  const double* impulse;
  double* v;

  SS_HD void operator()(std::size_t i) const {
    for (auto c = static_cast<std::size_t>(start[group[i]]);
         c < static_cast<std::size_t>(start[group[i] + 1]); ++c)
      push_block(block[c], read_impulse<D>(impulse + D * c), v);
  }
};

}  // namespace

template <int D>
template <class Fill>
void BlockSweeps<D>::build(Context& ctx, std::size_t n, const BlockGroups& groups, const BodyInverse* inverse,
                           Fill fill) {
  groups_ = groups;
  blocks_.resize(ctx, n);
  soft_.resize(ctx, D * n);
  launch(ctx, n, BlockMaker<D, Fill>{fill, inverse, blocks_.data(), soft_.data()}, kHeavy);
}

template <int D>
void BlockSweeps<D>::sweep(Context& ctx, bool backward, const std::int32_t* halt, double* impulse,
                           double* v) {
  const int colours = size() > 0 ? groups_.count() : 0;
  for (int step = 0; step < colours; ++step) {
    const auto colour = static_cast<std::size_t>(backward ? colours - 1 - step : step);
    const std::size_t first = groups_.colours[colour];
    launch(
        ctx, groups_.colours[colour + 1] - first,
        BlockGroupSweep<D>{groups_.group + first, groups_.start, halt, backward, blocks_.data(), impulse, v},
        kMedium);
  }
}

template <int D>
void BlockSweeps<D>::apply(Context& ctx, const double* impulse, double* v) {
  const int colours = size() > 0 ? groups_.count() : 0;
  for (std::size_t colour = 0; colour < static_cast<std::size_t>(colours); ++colour) {
    const std::size_t first = groups_.colours[colour];
    launch(ctx, groups_.colours[colour + 1] - first,
           BlockGroupPush<D>{groups_.group + first, groups_.start, blocks_.data(), impulse, v}, kMedium);
  }
}

template class BlockSweeps<3>;
template class BlockSweeps<4>;
template void BlockSweeps<3>::build(Context&, std::size_t, const BlockGroups&, const BodyInverse*,
                                    StepBlocks<3>);
template void BlockSweeps<4>::build(Context&, std::size_t, const BlockGroups&, const BodyInverse*,
                                    StepBlocks<4>);
template void BlockSweeps<3>::build(Context&, std::size_t, const BlockGroups&, const BodyInverse*,
                                    BlockReader);

}  // namespace stickslip::STICKSLIP_BACKEND
