// The correction of a MotionSpace for the loops of CrewPcg. CPU backend only.
#pragma once

#include <vector>

#include "gpu/linear/chunk_rows.h"
#include "gpu/linear/motion_space.cuh"

namespace stickslip::cpu {

/// A chunk adds up the share that its nodes have in Z_g'r for each group g with nodes in it. After a barrier
/// every chunk finds the motions of its groups from the shares of all chunks; or one thread finds those of
/// all groups, and every chunk takes them where it reads z.
class CrewMotions {
 public:
  /// Four columns: of y_0 and of the gradient.
  struct alignas(64) Motion {
    Lanes3 column[4];
    Lanes3 at(const Lanes3& d) const {
      return column[0] + d[0] * column[1] + d[1] * column[2] + d[2] * column[3];
    }
    void ask_for(bool to_write) const;
  };

  /// `inverse`: (Z_g' A Z_g)^-1 of each group, for `correct`; null where `solve` finds the motions, which are
  /// zero before. It, and what `motions` shows, must live until the next call.
  void load(Context& ctx, const ChunkView& rows, const MotionView& motions, const CoarseBlock* inverse);
  /// Asks for the memory that `sum` writes.
  void ask_for_shares(std::size_t chunk) const;
  void sum(std::size_t chunk, const Lanes3* r);
  /// Adds the correction to z, after `sum` of all chunks; returns the chunk's r'z.
  Real correct(std::size_t chunk, const Lanes3* r, Lanes3* z);

  /// Finds the motions of all groups, after `sum` of all chunks; returns the correction's part of r'z.
  Real solve(Arena& arena, const CoarseFactors& factors);
  /// Asks for the motions of a chunk's groups.
  void ask_for_motions(std::size_t chunk) const;
  /// No correction of z until the next `solve`.
  void clear();
  /// The corrections of z that `solve` found.
  struct Corrections {
    const std::int32_t* group;
    const Lanes3* offset;
    const Motion* solved;
    Lanes3 operator[](std::int32_t slot) const { return solved[group[slot]].at(offset[slot]); }
  };
  /// Per slot.
  Corrections corrections() const { return {group_of_slot_.data(), offset_.data(), solved_.data()}; }

 private:
  Motion total(std::int32_t group) const;
  Motion motion(std::int32_t group) const;

  ChunkView rows_{};
  MotionView motions_{};
  const CoarseBlock* inverse_ = nullptr;
  Buffer<std::int32_t> share_of_slot_;                          // -1 where there is no motion
  Buffer<std::int32_t> group_of_slot_;                          // ... where it is `groups`
  Buffer<Lanes3> offset_;                                       // per slot
  Buffer<Motion> share_, motion_;                               // by chunk and group
  std::vector<std::int32_t> first_share_, group_;               // per chunk and one more; per share
  std::vector<std::int32_t> first_of_group_, shares_of_group_;  // into the second; ascending for each
  std::vector<std::int32_t> latest_;                            // per group: its latest share
  Buffer<Motion> solved_;                                       // of each group, and none
  std::vector<AffineMotion> total_, solution_;
};

}  // namespace stickslip::cpu
