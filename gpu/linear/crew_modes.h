// The correction of AffineModes for the loops of CrewPcg. CPU backend only.
#pragma once

#include <vector>

#include "gpu/linear/affine_modes.cuh"
#include "gpu/linear/chunk_rows.h"

namespace stickslip::cpu {

/// A chunk adds up the share that its nodes have in Z_o'r for each object o with nodes in it; after a barrier
/// every chunk finds the motions of its objects from the shares of all chunks.
class CrewModes {
 public:
  /// `modes` must outlive this object or the next call.
  void load(Context& ctx, const ChunkView& rows, const AffineModes& modes);
  void sum(std::size_t chunk, const Lanes3* r);
  /// Adds the correction to z, after `sum` of all chunks; returns the chunk's r'z.
  Real correct(std::size_t chunk, const Lanes3* r, Lanes3* z);

 private:
  /// Four columns: of y_0 and of the gradient.
  struct Motion {
    Lanes3 column[4];
  };

  Motion motion(std::int32_t object) const;

  ChunkView rows_{};
  ModesView modes_{};
  Buffer<std::int32_t> share_of_slot_;                            // -1 where there is no motion
  Buffer<Lanes3> offset_;                                         // per slot
  Buffer<Motion> share_, motion_;                                 // by chunk and object
  std::vector<std::int32_t> first_share_, object_;                // per chunk and one more; per share
  std::vector<std::int32_t> first_of_object_, shares_of_object_;  // into the second; ascending for each
  std::vector<std::int32_t> latest_;                              // per object: its latest share
};

}  // namespace stickslip::cpu
