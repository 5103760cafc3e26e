// BarrierJudge: the judge of barrier steps. It measures the contacts of a step against Coulomb's law, and the
// momentum of its bodies against Newton's.
#pragma once

#include <limits>

#include "gpu/barrier/contact_terms.cuh"
#include "gpu/barrier/incremental_potential.cuh"
#include "gpu/law/drag_check.h"
#include "gpu/law/law_check.h"
#include "gpu/linear/embedding.cuh"

namespace stickslip {

/// A step that ended. Pointers are backend memory, one entry per node.
struct JudgedStep {
  const Vec3 *x_t, *v_t;  // [m], [m/s] at its start
  const Vec3 *x, *v;      // at its end
  const Vec3* y;          // [m] positions under inertia and gravity alone; Newmark's rule only, else null
  double dt, gravity;
  double beta = 1, gamma = 1;  // of Newmark's rule
  DragSpring drag = {};
  Wind wind = {};
  double most_speed = std::numeric_limits<double>::infinity();  // [m/s] of a contact's |q_c| that counts
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// A contact is a pair closer than d_hat, or a pair of A' that still has a force, at the end of the step:
/// * its impulse r = dt (force of barrier and multiplier along the normal, and of smoothed friction) on the
///   closest points, as the minimised potential has them;
/// * u_N = d / dt, since the law holds at the end: the gap d may close. u_T is the velocity of the closest
///   points;
/// * W_cc = sum w_k^2 / m_k of the nodes that can move, through control nodes for affine bodies. It has
///   masses alone: elasticity is not in it;
/// * q_c = u_c - W_cc r_c: the velocities of the points without this contact's impulse, but with those of all
///   others.
/// The barrier acts at a distance, and friction below eps_v is viscous. The judge counts both as errors: a
/// minimiser has errors e_c up to about d_hat / dt where a contact carries load, r_N u_N = r_N d / dt, and
/// sliding speeds up to eps_v where it sticks.
///
/// Momentum balances over objects without joints of which no script holds a node. Angular momentum leaves out
/// objects with damping, which resists finite rotations a little. Forces come from the formulas of
/// gpu/energy; gathers, matrices and solvers play no part, nor do the iterates of Newton's method.
class BarrierJudge {
 public:
  void load(Context& ctx, const Model& model, const DeviceModel& device, const Embedding& embedding);
  /// After masses or damping changed.
  void set_materials(Context& ctx, const Model& model, const DeviceModel& device, const Embedding& embedding);

  /// False if scripts move a part of an elastic solid, whose reaction is not summed up: then `work` is not
  /// all work.
  bool counts_work() const { return !has_unknown_work_; }

  /// Writes to backend memory; no host read. Allocates nothing in a steady state, unless friction lags and
  /// for more contacts than before.
  void measure(Context& ctx, const DeviceModel& device, const ContactTermsView& contacts,
               const Embedding& embedding, const JudgedStep& step, JudgeSums* out);
  /// The step that is judged next has other contacts.
  void forget_errors() { judged_ = 0; }
  /// e_c of each contact that was measured last [m/s], in their order; < 0 where it counts in the contact of
  /// its pair. Null unless there were `count`. Backend memory.
  const float* errors(std::size_t count) const {
    return count > 0 && count == judged_ ? errors_.data() : nullptr;
  }

 private:
  void count_by_groups(Context& ctx, const Model& model, std::vector<std::uint8_t>& counted);
  const std::int32_t* match_friction(Context& ctx, const ContactTermsView& contacts);

  bool has_unknown_work_ = false;
  Buffer<std::uint8_t> counted_;  // per group of objects, see the definitions of bits in the source
  Buffer<std::int32_t> group_, node_group_;  // per object and node: the first of its group (spring_groups)
  Buffer<double> body_mass_, partial_;
  Buffer<AirFace> air_faces_;
  std::size_t judged_ = 0;  // contacts
  Buffer<float> errors_;
  Buffer<ContactTotals> totals_;  // of contacts; of friction without a contact
  Buffer<MomentumSums> pushed_;
  Buffer<BodyMomentum> gained_;  // by all; the negative of what the air gave, and its work
  // Where friction lags: its stencils by contact.
  Buffer<std::uint64_t> keys_;
  Buffer<std::int32_t> order_, friction_of_;
  Buffer<std::uint8_t> orphan_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
