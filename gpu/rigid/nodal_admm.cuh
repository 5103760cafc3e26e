// NodalAdmm: ADMM on the velocities of the nodes that contacts touch [Daviet20 §5, Alg.2 and 4].
#pragma once

#include "gpu/rigid/nodal_projection.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// The variables of ADMM besides v: the feasible velocities p of nodes and rigid bodies (NodalProjection),
/// and the scaled dual lambda of p = v. After each projection W lambda = H_n' r: the projection sets W p = W
/// (v - lambda) + H_n' r, and then lambda += p - v. So v - lambda + W^-1 H_n' r, the warm start of [Daviet20
/// Alg.3], is v itself, and lambda of the first iteration follows from the impulses of the last step, which
/// contacts keep by name. With ProjectionRule::positions a projection starts at v - lambda, without impulses:
/// impulses of an earlier one would never be taken back. Rigid bodies have no lambda, as they are in the
/// projection alone.
template <int D>
class NodalAdmm {
 public:
  /// Starts from the impulses r (W_n^-1 `at_nodes` is lambda, null: zero) and from v = p. `v_free`: the
  /// velocities that in.W's q was computed with. Clears in.weight at nodes that no contact touches.
  void begin(Context& ctx, const typename NodalProjection<D>::Input& in, const Vec<double, D>* r,
             const Vec3* at_nodes, const Vec3* v_free);
  /// W (p + lambda) [N s] of the last `update_dual`, and of the one before.
  const Vec3* pull() const { return pull_.data(); }
  const Vec3* last_pull() const { return pull_last_.data(); }
  /// p = projection of v - lambda. `sleep`: contacts sleep that a sweep changes by less than this share of
  /// the last `change`.
  void project(Context& ctx, const Vec3* v, int sweeps, double sleep);
  /// After `project`: |v - v_last| + |v - p|, each the largest component [m/s], v_last of the last call.
  /// Velocities of rigid bodies count in the first, spins times the radius of gyration. `others` [m/s]: |v -
  /// p| of copies elsewhere, of which the largest counts. One host read.
  double change(Context& ctx, const Vec3* v, double others = 0);
  /// lambda += p - v. `accelerated`: with momentum, which starts again where `change` grew [Daviet20 Alg.4];
  /// r and the velocities of rigid bodies move with p and lambda, to which they belong. Returns the momentum,
  /// 0: none.
  double update_dual(Context& ctx, const Vec3* v, bool accelerated);

  /// p.
  void feasible(Context& ctx, Vec3* out) const;
  /// After `project`.
  void impulses(Context& ctx, Vec<double, D>* out) const { projection_.impulses(ctx, out); }
  int colours() const { return projection_.colours(); }
  const std::int32_t* colour() const { return projection_.colour(); }

 private:
  NodalProjection<D> projection_;
  std::size_t nodes_ = 0, rigid_ = 0;
  ProjectionRule rule_ = ProjectionRule::impulses;
  const double* weight_ = nullptr;
  const BodyInverse* inverse_ = nullptr;
  const Vec3* v_free_ = nullptr;
  double momentum_ = 1, change_ = 0, last_change_ = 0;
  Buffer<Vec3> pull_, pull_last_, v_last_;
  Buffer<Vec<double, 3>> lambda_, lambda_last_;
  Buffer<Vec<double, 3>> target_last_;  // p + lambda
  Buffer<Vec<double, D>> r_last_;
  Buffer<double> bodies_last_, bodies_found_;  // for the momentum; of the last projection
  Buffer<Vec<double, 2>> size_;
};

extern template class NodalAdmm<3>;
extern template class NodalAdmm<4>;
extern template class NodalAdmm<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
