// The iterations of Pcg in phases over chunks of rows. CPU backend only.
#pragma once

#include "gpu/linear/chunk_halo.h"
#include "gpu/linear/crew_domains.h"
#include "gpu/linear/crew_factors.h"
#include "gpu/linear/crew_motions.h"
#include "gpu/linear/pcg_grid.cuh"

namespace stickslip::cpu {

/// The iterations, with the local preconditioner and perhaps the modes, the factors, the levels or the coarse
/// space.
class CrewPcg {
 public:
  /// Iterates while v.state->running(), as Pcg does. `rows`: of the matrix's mesh; `couplings`: of its
  /// stencils; v.q, v.other_p and v.run are not used. The result does not depend on the number of threads.
  void iterate(Context& ctx, const ChunkView& rows, const ChunkCouplings& couplings,
               Preconditioner& preconditioner, const PcgVectors& v);
  /// Without it, `iterate` takes preconditioner and fixed nodes to be those of the last call.
  void forget() { known_ = false; }

 private:
  bool known_ = false;
  // The vectors in lanes, per slot, and the columns of the preconditioner's blocks.
  Buffer<Lanes3> x_, r_, z_, p_, other_p_, q_, inverse_;
  Buffer<std::uint8_t> fixed_;
  ChunkHalo halo_;
  CrewMotions motions_;  // of the modes or the coarse space
  CrewFactors factors_;
  CrewDomains levels_;
};

}  // namespace stickslip::cpu
