// The correction of a MotionSpace for the loops of CrewPcg. CPU backend only.
#pragma once

#include <vector>

#include "gpu/linear/chunk_rows.h"
#include "gpu/linear/motion_space.cuh"

namespace stickslip::cpu {

/// A chunk adds up the share that its nodes have in Z_g'r for each group g with nodes in it. After a barrier
/// every chunk finds the motions of its groups from the shares of all chunks; or one thread finds those of
/// all groups, and after another barrier every chunk takes them.
class CrewMotions {
 public:
  /// `inverse`: (Z_g' A Z_g)^-1 of each group; null where `solve` finds the motions. It, and what `motions`
  /// shows, must live until the next call.
  void load(Context& ctx, const ChunkView& rows, const MotionView& motions, const CoarseBlock* inverse);
  void sum(std::size_t chunk, const Lanes3* r);
  /// The motions of all groups, after `sum` of all chunks.
  void solve(Arena& arena, const CoarseFactors& factors);
  /// Adds the correction to z, after `sum` of all chunks or `solve`; returns the chunk's r'z.
  Real correct(std::size_t chunk, const Lanes3* r, Lanes3* z);

 private:
  /// Four columns: of y_0 and of the gradient.
  struct Motion {
    Lanes3 column[4];
  };

  Motion total(std::int32_t group) const;
  Motion motion(std::int32_t group) const;

  ChunkView rows_{};
  MotionView motions_{};
  const CoarseBlock* inverse_ = nullptr;
  Buffer<std::int32_t> share_of_slot_;                          // -1 where there is no motion
  Buffer<Lanes3> offset_;                                       // per slot
  Buffer<Motion> share_, motion_;                               // by chunk and group
  std::vector<std::int32_t> first_share_, group_;               // per chunk and one more; per share
  std::vector<std::int32_t> first_of_group_, shares_of_group_;  // into the second; ascending for each
  std::vector<std::int32_t> latest_;                            // per group: its latest share
  std::vector<AffineMotion> solved_;                            // of each group
};

}  // namespace stickslip::cpu
