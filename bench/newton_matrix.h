// The linear system of the first Newton iteration of a barrier step, in host memory, for studies of solvers.
#pragma once

#include <vector>

#include "gpu/linear/host_blocks.h"
#include "gpu/model/model.h"
#include "gpu/model/state.h"
#include "gpu/params/params.h"

namespace stickslip {

struct NewtonSystem {
  HostBlocks matrix;            // [N/m], SPD over the nodes that move
  std::vector<Vec3> rhs;        // [N], zero at fixed nodes
  std::vector<Vec3> positions;  // [m]
  std::vector<Real> stiffness;  // [N/m] assembled eigenvalues, see SplitMatrix::stiffness
  std::vector<std::uint8_t> fixed;
  std::size_t contacts = 0;
};

}  // namespace stickslip

namespace stickslip::cpu {

/// Of the step that follows `state`, with the barrier stiffness that balances the other forces, and no less
/// than what a node resists with. Scripted nodes stay. Throws std::invalid_argument for rigid or affine
/// bodies.
NewtonSystem newton_system(const Model& model, const Params& params, const State& state, int threads);

}  // namespace stickslip::cpu

namespace stickslip::cuda {
NewtonSystem newton_system(const Model& model, const Params& params, const State& state, int threads);
}  // namespace stickslip::cuda
