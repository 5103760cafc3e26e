// The incremental potential of one implicit step [Guo24 §3; Li20]:
//   E(x) = 1/(2 beta dt^2) |x - y|_M^2 + Psi(x) + sigma sum_A b(d_i) + sum_A' phi(d_i) + sum D_j
//        + springs to scripted targets and the pointer + constraints of joints
// (A' and its potentials phi in the augmented Lagrangian only, see ContactPotential)
// in joules. Backward Euler: beta = 1, y = x_t + dt v_t + dt^2 g. Newmark:
// y = x_t + dt v_t + dt^2 (1/2 - beta) a_t + beta dt^2 g. Value, gradient and SPD Hessian, term by term.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "gpu/barrier/constraint_terms.cuh"
#include "gpu/barrier/contact_terms.cuh"
#include "gpu/energy/energy_terms.cuh"
#include "gpu/linear/split_matrix.cuh"
#include "gpu/model/device_model.cuh"

namespace stickslip {

/// A spring from up to three nodes, by weight, to their own targets; a node with weight zero is unaffected.
struct DragSpring {
  Vec3i nodes{0, 0, 0};
  Vec3 weights{0, 0, 0};
  Vec3 targets[3] = {};
  Real stiffness = 0;  // [N/m]
};

/// The fixed inputs of one step's minimisation. Pointers are backend memory of the caller.
struct StepInputs {
  Real dt = 0;
  Real beta = 1;                 // inertia resists with mass / (beta dt^2)
  const Vec3* x_t = nullptr;     // [m] at the start of the step
  const Vec3* v_t = nullptr;     // [m/s] there
  const Vec3* y = nullptr;       // [m] positions of free nodes without forces except gravity
  const Vec3* target = nullptr;  // [m] of scripted nodes at the end of the step
  bool scripts_blocked = false;  // scripted nodes that move are pulled by springs instead of being fixed
  Real script_stiffness = 0;     // of those springs, in units of mass / (beta dt^2)
  /// Friction and damping act on the velocities (x - still) / velocity_dt; null: (x - x_t) / dt.
  const Vec3* still = nullptr;  // [m]
  Real velocity_dt = 0;         // [s]
  DragSpring drag;
  Wind wind;  // at the end of the step
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

class IncrementalPotential {
 public:
  /// Values by term, in this order, in joules.
  enum Term { inertia, elastic, barrier, augmentation, friction, springs, term_count };
  using Values = std::array<double, term_count>;

  /// Up to `most_kept` elements keep their blocks within a step; more are linearised in a few batches of
  /// `smallest_batch` or more.
  void load(Context& ctx, const Model& model, const DeviceModel& device,
            std::size_t smallest_batch = std::size_t{1} << 14, std::size_t most_kept = std::size_t{1} << 18);
  void set_materials(Context& ctx, const Model& model);
  /// Factor on the stiffness that holds bodies which stand for rigid ones in shape. Between steps.
  void set_rigidity(Context& ctx, const Model& model, double factor);

  void begin_step(Context& ctx, const StepInputs& inputs, const ContactSettings& contact);
  ContactTerms& contacts() { return contacts_; }
  /// Of begin_step.
  const StepInputs& inputs() const { return inputs_; }
  ConstraintTerms& constraints() { return constraints_; }
  /// 1 for a node that is fixed in this step's minimisation.
  const std::uint8_t* fixed() const { return fixed_.data(); }

  /// [s] a force of this potential changes a free mass m by the speed force * momentum_dt / m.
  double momentum_dt() const { return double(inputs_.beta) * inputs_.dt; }

  /// All terms at x, barrier over everything in `near`. One host read.
  Values values(Context& ctx, const Proximity& near, const Vec3* x);
  /// Writes the same `term_count` values to backend memory, without the read.
  void launch_values(Context& ctx, const Proximity& near, const Vec3* x, double* out);
  /// Writes only those of contacts, at the x of their last update.
  void launch_contact_values(Context& ctx, const Proximity& near, const Vec3* x, double* out);
  /// Gradient [N] and SPD Hessian [N/m] at x over the current contact set. Within a step Hessians of elements
  /// that have hardly changed stay (see TetTerm::relinearise), with `kept_share` only within that share of
  /// the usual change.
  void linearise(Context& ctx, const Vec3* x, Real kept_share = 1);
  const Vec3* gradient() const { return gradient_.data(); }
  /// Of the last `linearise`: see SplitMatrix::node_stiffness; -1 at fixed nodes, too. Empty before. Two host
  /// reads.
  void node_stiffness(Context& ctx, std::vector<float>& out) const;
  /// Of the last `linearise`; empty before.
  MatrixParts matrix_parts(Context& ctx, std::int32_t most_cells) const {
    return is_linearised_ ? hessian_.parts(ctx, most_cells) : MatrixParts{};
  }
  SplitMatrix& hessian() { return hessian_; }
  /// Nodes of affine bodies that follow their control nodes. At a consistent x the gradient is that with
  /// respect to the control nodes, and zero at the followers.
  const Embedding& embedding() const { return embedding_; }
  /// J'g of the caller's vector, in place.
  void reduce(Context& ctx, Vec3* g) { embedding_.reduce(ctx, g); }

  /// What the barrier does at the start of a step, over the free nodes near contacts; zeros without contact.
  struct StartingBarrier {
    /// -(sum grad b)'(grad E) / |sum grad b|^2 [Guo24 §3]: the sigma that best balances all other forces.
    double balancing_stiffness = 0;
    /// [J/kg] per unit of sigma: the energy of the barrier over the mass of these nodes.
    double energy = 0;
    /// [m] by which the contacts would close in this step without forces but gravity, a mean weighted by
    /// |grad b|.
    double approach = 0;
  };
  StartingBarrier starting_barrier(Context& ctx, const Vec3* x);  // one host read
  /// out = -N p at free nodes, zero elsewhere, after `linearise` at x: see FrictionResponse.
  void friction_change(Context& ctx, const Vec3* x, const Vec3* p, Vec3* out);
  /// Writes to backend memory: the elastic energy [J], the smallest det F of all elements (+infinity without
  /// any) and the number of elements with det F <= 0 at x.
  void launch_elastic_state(Context& ctx, const Vec3* x, double* energy, double* volume_ratio_min,
                            double* inverted);
  /// True if an element is inverted at x whose energy does not allow it. At most one host read.
  bool is_inverted(Context& ctx, const Vec3* x);
  /// [J] a bound on the rounding error of a sum of `values`: of elastic energy near rest, and relative to the
  /// sum, whose terms have the precision of Real.
  double energy_rounding(double sum) const {
    constexpr double relative = std::max(1e-12, 16.0 * std::numeric_limits<Real>::epsilon());
    return relative * std::abs(sum) + elastic_.energy_rounding();
  }

 private:
  /// [kg] per node, as the springs of scripts have it.
  const Real* pulled_mass() const {
    return pulled_mass_.size() == 0 ? device_->mass.data() : pulled_mass_.data();
  }
  Real inverse_beta_dt2() const { return Real(1) / (inputs_.beta * inputs_.dt * inputs_.dt); }
  SolidMotion motion(const Vec3* x) const {
    return {x,
            inputs_.x_t,
            inputs_.velocity_dt,
            inputs_.still == inputs_.x_t ? nullptr : inputs_.still,
            true,
            {.start = inputs_.x_t, .still = inputs_.still}};
  }
  /// Elements in batches: corners and blocks of all elements would take half of all memory. Calls
  /// work(elements) for each batch, once with an empty one if there are no elements.
  template <class F>
  void for_batches(F work) const;
  /// Adds the elements' gradients, and assembles their Hessians.
  void linearise_elements(Context& ctx, const Vec3* x, Real kept_share);

  const DeviceModel* device_ = nullptr;
  StepInputs inputs_;
  EnergyTerms elastic_;
  Embedding embedding_;
  Buffer<std::uint8_t> fixed_;
  ContactTerms contacts_;
  ConstraintTerms constraints_;
  SplitMatrix hessian_;
  NodeGather contact_gather_;  // for the stiffness fit, which precedes any Hessian
  Buffer<Vec3> gradient_, barrier_gradient_;
  std::size_t batch_ = 0;
  bool keeps_blocks_ = false, knows_blocks_ = false;
  bool is_linearised_ = false;
  Buffer<std::uint8_t> renewed_;  // per element, see KeptBlocks
  Buffer<Vec3> element_corners_;  // of one batch
  Buffer<Mat3> element_blocks_;
  Buffer<Real> node_diagonal_;
  Buffer<Real> pulled_mass_;  // empty: that of the device model
  Buffer<double> values_;
  struct Starting {
    Vec<double, 3> sums, approach;
    double energy;
  };
  Buffer<Starting> starting_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
