// WarmStart: a start for PCG from separate solves of groups of equally stiff nodes [Guo24 §4.2].
#pragma once

#include <vector>

#include "gpu/core/device_loop.h"
#include "gpu/linear/preconditioner.cuh"
#include "gpu/linear/split_matrix.cuh"
#include "gpu/model/report.h"

namespace stickslip {

struct WarmStartSettings {
  Real tolerance = Real(0.1);  // per group, on |r| / |b| in the norm sqrt(r' P^-1 r)
  int max_iterations = 100;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Group of node j: floor(log10 e_j), e_j its assembled eigenvalue. The sub-systems A_gg x_g = b_g of all
/// groups are solved at once, by conjugate gradients with one alpha and one beta per group and a product that
/// skips blocks between groups, so that each group is solved as if it were alone. The paper leaves the
/// accuracy open; the settings give it.
class WarmStart {
 public:
  /// Number of decades of stiffness with a group of their own; softer nodes join the softest group.
  static constexpr int kGroups = 16;
  using Sums = Vec<Real, kGroups>;

  /// Groups the nodes that move (fixed[i] == 0; `fixed` may be null) by e [N/m]. One host read.
  void group(Context& ctx, const Real* stiffness, const std::uint8_t* fixed, std::size_t n);
  /// By exponent; together all nodes that move.
  const std::vector<StiffnessGroup>& groups() const { return groups_; }
  /// Largest over smallest e: the estimate of the condition number of App. B.
  Real condition() const { return condition_; }
  /// The group of every node, in backend memory, any for nodes that do not move.
  const NodeGroup* group_of_node() const { return group_.data(); }

  /// x_g = A_gg^-1 b_g, approximately, for each group g of the last `group`; zero where nodes do not move.
  /// Returns the number of iterations. Scalars stay on the backend, as in Pcg.
  int solve(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x, const WarmStartSettings& settings,
            const std::uint8_t* fixed = nullptr);

  struct State {
    Sums rz, alpha, beta, target;
    std::int32_t iterations, stop;
  };
  struct Extent {
    Real least, most;
  };
  struct StiffnessHistogram {
    Extent stiffness;
    Vec<std::int32_t, kGroups> nodes;
  };

 private:
  std::vector<StiffnessGroup> groups_;
  Real condition_ = 1;
  Buffer<NodeGroup> group_;
  Buffer<StiffnessHistogram> histogram_;
  Preconditioner preconditioner_;
  Buffer<Vec3> r_, z_, p_, q_;
  Buffer<Sums> sums_;
  Buffer<State> state_;
  LoopGraph loop_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
