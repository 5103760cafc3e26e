// States without the nodes that follow others, for memories of many states. Host only.
#pragma once

#include <vector>

#include "gpu/model/lattice.h"
#include "gpu/model/model.h"
#include "gpu/model/state.h"

namespace stickslip {

/// Removes from states of one model the nodes that follow from the rest, and adds them again: nodes of rigid
/// bodies follow poses, those of affine bodies their control nodes, and surfaces of lattices the lattice. A
/// stepper ignores these nodes of a given state, so a compact state restores the same bits.
class StateCompactor {
 public:
  /// Removes nothing.
  StateCompactor() = default;
  /// For a finalized model.
  explicit StateCompactor(const Model& model);

  /// `positions` and `velocities` of the result have the other nodes, in their order. A state whose sizes are
  /// not those of the model stays as it is.
  State compact(State state) const;
  /// The inverse of `compact`. Nodes that follow are right to rounding.
  State expand(State state) const;

 private:
  struct BodyNode {
    std::int32_t node, body;
    Vec<double, 3> rest;  // [m] in the body's frame
  };

  std::size_t nodes_ = 0, bodies_ = 0;
  std::vector<std::int32_t> free_;  // nodes that follow no others, ascending
  std::vector<BodyNode> on_bodies_;
  std::vector<LatticeFollower> followers_;
};

}  // namespace stickslip
