// ShockPropagation: after the solve, an additional pass from the ground up that holds lower bodies fixed.
#pragma once

#include "gpu/rigid/staged_sweeps.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// A body's level is the number of loaded contacts (r_N > 0) on the shortest path to an immovable body. Level
/// by level, the blocks whose higher body has that level are solved again, with bodies of lower levels held
/// at their current velocities [Guendelman03; Course §3.2.4; Erleben07]. This prevents the sinking that
/// remains after few iterations. It costs momentum, which the held bodies do not receive. Impulses that
/// already solve the problem are a fixed point. Deviation from the text: levels are distances, so bodies that
/// support each other share a level and are swept together.
template <int D>
class ShockPropagation {
 public:
  /// Changes velocities and spins v = free + A^-1 H' r [6 per body: free] of bodies with a level; the
  /// impulses of the solve stay as the next step's start. Joints are the first `joint_blocks`; they act on
  /// bodies of a level, but define no levels. Host reads: a few, and one per eight levels.
  void propagate(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law, std::size_t joint_blocks,
                 const Vec<double, D>* r, const double* free, int sweeps, Vec<double, 3>* velocity,
                 Vec<double, 3>* spin);

  /// From the last call, per body: 1 for bodies on the ground; kNoLevel. Backend memory.
  static constexpr std::int32_t kNoLevel = std::numeric_limits<std::int32_t>::max();
  const std::int32_t* level() const { return level_.data(); }
  /// Impulses at the end of the pass, per block. Backend memory.
  const Vec<double, D>* impulses() const { return r_.data(); }

 private:
  void find_levels(Context& ctx, const Delassus<D>& W, std::size_t joint_blocks, const Vec<double, D>* r);

  Buffer<std::int32_t> level_, block_level_, changed_;
  Buffer<Vec<double, D>> r_;
  Buffer<double> v_;
  StagedSweeps<D> sweeps_;
};

extern template class ShockPropagation<3>;
extern template class ShockPropagation<4>;
extern template class ShockPropagation<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
