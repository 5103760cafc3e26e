// RodSplitting: ADMM as the integrator of rods [Narain16; Daviet20 §6.1].
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/energy/rod_copies.h"
#include "gpu/energy/rod_terms.cuh"
#include "gpu/model/device_model.cuh"
#include "gpu/model/model.h"

namespace stickslip {

/// A node of a strand x0, y0, x1, y1, ..., xn, y_i the ghost of segment i.
struct RodSlot {
  std::int32_t node;
  std::int32_t segment;  // that begins here, or whose ghost this is; of all strands, one behind at xn
  std::int32_t before;   // segments of the strand before that one
  std::int32_t after;    // segments of the strand behind it; -1 at xn
  std::int32_t is_ghost;
};

struct RodSplitView;  // what kernels see

/// The band of a row of L D L' left of the diagonal, the nearest last, and 1/d.
struct ScalarRow {
  static constexpr int width = 4;
  Real l[width];
  Real inverse_pivot;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// A step of implicit Euler is the minimum of |v - v*|^2 / 2 in the norm of the masses + sum_i U_i(D_i x), x
/// = x_t + dt v, over the elements i of rods. Each has copies z_i = D_i x of its own (rod_copies.h), with a
/// metric S_i and scaled duals u_i. An iteration is
///   1. z_i = argmin U_i(z) + |z - D_i x - u_i|^2 / 2 in the norm of S_i,   u_i += D_i x - z_i
///   2. A v = f + dt sum_i D_i' S_i (z_i - u_i - D_i x_t) + W (p + lambda),   A = M + dt^2 sum_i D_i' S_i D_i
///      + W,
/// with the W, p and lambda of contacts (NodalAdmm). A is the same for the three axes: of each strand it is a
/// band of scalars, four wide, which is factorised once per contact problem. At the fixed point S_i u_i is
/// the gradient of U_i, so the step is the nonlinear one; nothing is linearised, and no Hessian is assembled.
/// Deviation from [Narain16]: metrics are not multiples of the identity. Strains of a vertex depend on
/// differences of its two segments, so S_i has its bending and torsional stiffness there; the rest of S_i
/// would only hold nodes back, and is small (see `weigh`).
class RodSplitting {
 public:
  /// `mass` [kg] etc. per node; `load`: f = M (v_t + dt g) + other impulses without elastic ones [N s].
  struct Step {
    const DeviceModel* device;
    RodViews rods;
    const Vec3* x_t;      // [m]
    const Vec3* turned;   // [m] x_t turned as strands turn in the step; where the duals start
    const Real* inertia;  // [N/m] the diagonal of A / dt^2 without elasticity
    const Vec3* load;     // [N s]
    double dt = 0;
    double tolerance = 0;  // [m] of the local steps
  };

  /// Models with has_open_rods_alone.
  void load(Context& ctx, const Model& model);
  bool empty() const { return slots_.size() == 0; }

  /// The metrics of a step, and duals of elements that are strained as at `turned`. `v`: the velocities that
  /// iterations start from.
  void begin_step(Context& ctx, const Step& step, const Vec3* v);
  /// A with these weights W [kg] per node.
  void factorise(Context& ctx, const Step& step, const double* weight, const Vec3* v);
  /// Line 1. Returns the largest component of D x - z [m]; one host read.
  double separate(Context& ctx, const Step& step, const Vec3* v);
  /// Line 2, after z and u are extrapolated by `momentum` [Daviet20 Alg.4]. `pull`: W (p + lambda) [N s];
  /// `weight` as for `factorise`.
  void join(Context& ctx, const Step& step, const Vec3* pull, const double* weight, double momentum, Vec3* v);

 private:
  RodSplitView view(const Step& step);

  Buffer<double> most_;  // of `separate`: of segments, of vertices
  std::size_t strands_ = 0, segments_ = 0;
  Buffer<std::int32_t> strand_begin_;  // into the slots, one more than strands
  Buffer<RodSlot> slots_;
  Buffer<std::int32_t> segment_slot_;                      // per segment: the slot of x0
  Buffer<std::int32_t> segment_element_, vertex_element_;  // in RodViews; of vertices -1 at the last segment
  Buffer<Real> length_, arm_;                              // [m] per segment at rest
  Buffer<PairMetric> segment_metric_, vertex_metric_;      // 1 per segment, 2 per vertex
  Buffer<Vec3> segment_still_, vertex_still_;
  // Per segment 2, per vertex 4: z, u, those of the last iteration, and S (z - u - D x).
  Buffer<Vec3> segment_z_, segment_u_, segment_z_last_, segment_u_last_, segment_pull_;
  Buffer<Vec3> vertex_z_, vertex_u_, vertex_z_last_, vertex_u_last_, vertex_pull_;
  Buffer<Real> drag_;  // [kg] per slot, in the diagonal of A
  Buffer<ScalarRow> rows_;
  Buffer<Vec3> y_;  // by slot
};

}  // namespace stickslip::STICKSLIP_BACKEND
