// ShockPropagation: after the solve, once more from the ground up with what lies below held still.
#pragma once

#include "gpu/rigid/staged_sweeps.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// Levels count the loaded contacts (r_N > 0) on the shortest way to something that cannot be pushed. Level
/// by level the blocks whose higher body is there are solved again, bodies of lower levels held at the
/// velocities that they have got by then [Guendelman03; Course §3.2.4; Erleben07]:
/// what a few iterations left to sink does not sink, at the price of momentum, which the held bodies do not
/// get. Impulses that solve the problem already are a fixed point. Deviation from the text: levels are
/// distances, so that bodies which hold each other up share one and are swept together.
template <int D>
class ShockPropagation {
 public:
  /// Changes velocities and spins v = free + A^-1 H' r [6 per body: free] of bodies with a level; impulses of
  /// the solve stay for the next step to start from. Joints are the first `joint_blocks`; they hold bodies of
  /// a level, but give none. Host reads: a few, and one per eight levels.
  void propagate(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law, std::size_t joint_blocks,
                 const Vec<double, D>* r, const double* free, int sweeps, Vec<double, 3>* velocity,
                 Vec<double, 3>* spin);

  /// Of the last call, per body: 1 for what lies on the ground; kNoLevel. Backend memory.
  static constexpr std::int32_t kNoLevel = std::numeric_limits<std::int32_t>::max();
  const std::int32_t* level() const { return level_.data(); }
  /// Impulses with which the pass ended, per block. Backend memory.
  const Vec<double, D>* impulses() const { return r_.data(); }

  // Stages; public because nvcc allows no device lambda in a private member.
  void find_levels(Context& ctx, const Delassus<D>& W, std::size_t joint_blocks, const Vec<double, D>* r);
  void choose_stages(Context& ctx, const Delassus<D>& W);

 private:
  Buffer<std::int32_t> level_, block_level_, changed_;
  Buffer<Vec<double, D>> r_;
  Buffer<double> v_;
  StagedSweeps<D> sweeps_;
};

extern template class ShockPropagation<3>;
extern template class ShockPropagation<4>;

}  // namespace stickslip::STICKSLIP_BACKEND
