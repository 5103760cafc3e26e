// ConstraintTerms: the constraints of joints in the incremental potential, with multipliers.
#pragma once

#include <vector>

#include "gpu/core/buffer.h"
#include "gpu/energy/constraint_share.h"
#include "gpu/energy/constraint_stencil.h"
#include "gpu/linear/node_gather.cuh"
#include "gpu/model/device_model.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// What constraints keep from step to step.
struct ConstraintMemory {
  bool forgotten = true, given = false;
  Buffer<Vec3> multipliers;
  Buffer<ConstraintStencil> stencils;  // gears count their turns in them
};

/// Multipliers stay from step to step; within one, minimisations and `update_multipliers` alternate until the
/// constraints hold.
class ConstraintTerms {
 public:
  void load(Context& ctx, const Model& model);
  /// Drops multipliers, at the next step.
  void forget() {
    forgotten_ = true;
    given_ = false;
  }
  /// [N] those of the last step; empty: none yet.
  std::vector<Vec<double, 3>> multipliers(Context& ctx) const;
  /// After `forget`: starts with these, if they are finite and as many as the constraints.
  void start_from(Context& ctx, const std::vector<Vec<double, 3>>& multipliers);
  /// For a step that fails: `restore` after `save` makes all as it was, also where `begin_step` came between.
  void save(Context& ctx, ConstraintMemory& to) const;
  void restore(Context& ctx, const ConstraintMemory& from);
  bool empty() const { return size() == 0; }
  std::size_t size() const { return stencils_.size(); }
  /// Stencils in `linearise`: one per constraint, up to six where it depends on more than four nodes.
  std::size_t share_count() const { return shares_.size(); }

  /// `x_t`: positions at the start of the step, which must stay until the next one.
  void begin_step(Context& ctx, Real dt, const Vec3* x_t);
  /// *out += the energy at x [J].
  void add_value(Context& ctx, const Vec3* x, double* out);
  /// Nodes, corner gradients and corner blocks at x, `share_count()` of each. Their sum is that of the
  /// constraints; a single one need not be positive semidefinite.
  void linearise(Context& ctx, const Vec3* x, Vec4i* nodes, CornerVectors* gradients, CornerBlocks* blocks);
  /// gradient += the gradient at x.
  void add_gradient(Context& ctx, const Vec3* x, Vec3* gradient);
  /// Every multiplier becomes the force at x. Returns the largest violation [m]; motors have none. One host
  /// read.
  double update_multipliers(Context& ctx, const Vec3* x);

 private:
  Real dt_ = 1;
  bool forgotten_ = true, given_ = false;
  Buffer<ConstraintStencil> stencils_;
  Buffer<MovedPoint> points_;
  Buffer<ConstraintShare> shares_;
  Buffer<Vec4i> nodes_;
  Buffer<Vec3> multipliers_;  // [N] of scalars the first number
  Buffer<Real> start_;        // [m] c at the start of the step
  Buffer<double> violations_, value_;
  Buffer<CornerVectors> gradients_;
  NodeGather gather_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
