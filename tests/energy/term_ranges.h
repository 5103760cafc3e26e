// A range of stencils has the derivatives that it has among all.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <tuple>

#include "gpu/core/buffer.h"
#include "gpu/core/index_range.h"
#include "gpu/energy/corner_values.h"
#include "tests/energy/numeric.h"

namespace stickslip::STICKSLIP_BACKEND {

/// `term`: an EnergyTerm or EnergyTerms, with all stencils from 0 on; `motion(kept)`: its motion, with
/// `x_t_kept` as given. Gradients without the Hessian may differ by rounding.
template <class Term, class Motion>
void expect_ranges_are_parts(Context& ctx, Term& term, Motion&& motion,
                             std::initializer_list<IndexRange> ranges) {
  const auto derivatives = [&](IndexRange range, bool kept) {
    Buffer<Vec3> corners(ctx, 4 * range.size()), bare(ctx, 4 * range.size());
    Buffer<Mat3> blocks(ctx, kCornerBlocks * range.size());
    term.gradient_and_hessian(ctx, motion(kept), range, corners.data(), blocks.data());
    term.gradient(ctx, motion(kept), range, bare.data());
    return std::tuple(corners.download(ctx), bare.download(ctx), blocks.download(ctx));
  };
  const auto [corners, bare, blocks] = derivatives({0, term.size()}, false);
  term.begin_step();
  for (const IndexRange range : ranges)
    for (const bool kept : {false, true}) {
      const auto [part, part_bare, part_blocks] = derivatives(range, kept);
      for (std::size_t i = 0; i < part.size(); ++i) {
        EXPECT_EQ(part[i], corners[4 * range.begin + i]);
        EXPECT_LE(norm(part_bare[i] - bare[4 * range.begin + i]), test::kRounding);
      }
      for (std::size_t i = 0; i < part_blocks.size(); ++i)
        for (int k = 0; k < 9; ++k)
          EXPECT_EQ(part_blocks[i].m[k], blocks[kCornerBlocks * range.begin + i].m[k]);
    }
}

}  // namespace stickslip::STICKSLIP_BACKEND
