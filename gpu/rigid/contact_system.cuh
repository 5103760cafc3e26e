// ContactSystem: the contact problem of one step of rigid bodies, from blocks to impulses and velocities.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/dfcp/judge/monitor.cuh"
#include "gpu/dfcp/operator/colouring.cuh"
#include "gpu/dfcp/operator/delassus.cuh"
#include "gpu/model/interaction.h"
#include "gpu/model/report.h"
#include "gpu/params/contact_solvers.h"
#include "gpu/params/lab_params.h"
#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/contact_blocks.h"
#include "gpu/rigid/friction_anchors.cuh"
#include "gpu/rigid/friction_rounds.cuh"
#include "gpu/rigid/joint_rows.h"
#include "gpu/rigid/law_check.cuh"
#include "gpu/rigid/manifold/manifold_solver.cuh"
#include "gpu/rigid/manifold/rough_contacts.cuh"
#include "gpu/rigid/penalty_forces.cuh"
#include "gpu/rigid/point_cores.h"
#include "gpu/rigid/shock_propagation.cuh"

namespace stickslip {

/// The constraints on the bodies in one step.
struct StepConstraints {
  const DeviceJoint* joints = nullptr;
  std::size_t joint_count = 0;
  const std::int32_t* block_joint =
      nullptr;  // per joint block: its joint; `block_part`: its index among that joint's blocks
  const std::int32_t* block_part = nullptr;
  std::size_t joint_blocks = 0;
  BlockGroups joint_groups{};             // the blocks of each joint
  const JointEnds* joint_ends = nullptr;  // needed only if some contacts are in no manifold
  bool plain = true;                      // all contacts of the scene are (PlainContacts)
  const RigidContact* contacts = nullptr;
  const std::int32_t* pair_start = nullptr;  // of the contacts: see RigidContacts
  std::size_t contact_count = 0, pairs = 0;
  std::size_t rigid_bodies = std::numeric_limits<std::int32_t>::max();  // behind them, points of solids
  std::size_t of_solids = 0;  // the last contacts, those of elastic solids: in none of these pairs
  SurfaceTable surfaces{};
  PointCores cores{};           // of the touched points of elastic solids
  ContactRowOptions options{};  // of contacts
  ErrorFeedback joint_feedback{};
  PenaltyOptions penalty{};
  AnchorView anchors{};       // of anchored friction
  bool soft = false;          // contacts are implicit penalties
  bool lags = false;          // some coefficients depend on the solution; see FrictionState
  bool coulomb_only = false;  // none does, even if materials ask for it: penalty forces
  bool warm_start = true;
  // [m/s] per block: residuals are relative to |q|. In |q| each block counts for at most most_speed; |q|
  // counts as at least least_speed per block.
  double least_speed = 0, most_speed = std::numeric_limits<double>::infinity();
};

/// Another form of a contact problem, for ContactSystem::solve_as.
struct DualForm {
  const ContactProblem& problem;  // global
  double pcg_tolerance = 0;       // relative residual of PCG with A; 0: factors
  bool kept = false;              // W is that of the last solve_as
};

/// Whether solve_as with a pcg_tolerance leaves W out.
inline bool takes_products(std::string_view solver, const LabParams& params) {
  const ContactSolverInfo* row = find_contact_solver(solver);
  return row && row->has(SolverTrait::products) && params.storage != DelassusStorage::assembled;
}

/// The message of a step whose solver manifold_gs refused.
inline std::string manifolds_refused(const std::string& why) {
  return "manifold_gs refuses (" + why + "): nsgs took its place";
}

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Blocks of D rows: joints first, then contacts in list order.
template <int D>
class ContactSystem {
 public:
  static constexpr bool kTakesManifolds = D < kRollingRows;

  /// Builds the blocks of this step's joints and contacts, warm-started from the last step, and W by bodies.
  /// Call after `bodies.predict`. One host read.
  void build(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list);
  /// Instead of contacts: explicit penalty forces. Adds their effect to `bodies.free`; `build` then gets
  /// a list without contacts. `steepness`: see PenaltyForces::push.
  void push_penalties(Context& ctx, DeviceBodies& bodies, const StepConstraints& list, double* steepness);
  /// The impulses of push_penalties on side a of the contacts, in world axes, torsion fourth.
  void pushed_impulses(Context& ctx, std::size_t first, std::size_t count, Vec<double, 4>* world) const;
  /// After `velocities`: moves the anchors of friction along. `bodies`: with the velocities at the end of the
  /// step; `pushed`: contacts are those of push_penalties.
  void advance_anchors(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list, bool pushed,
                       FrictionAnchors& anchors) const;
  /// While the flag is set, `solve` and throw_if_cancelled throw StepInterrupted; nullptr: never.
  void set_cancel(const std::atomic<bool>* flag) { cancel_ = flag; }
  void throw_if_cancelled() const;
  /// Forgets the impulses of earlier steps.
  void forget() { impulses_ = 0; }

  /// Computes the impulses with a solver of the lab; with nsgs if that solver refuses, and then
  /// record.message gives the reason. Throws std::invalid_argument for an unknown solver.
  void solve(Context& ctx, const DeviceBodies& bodies, std::string_view solver, const LabParams& params,
             ContactSolveRecord& record);
  /// As `build`, for ManifoldSolver, which takes no rolling rows: see kTakesManifolds. Builds neither blocks
  /// nor W: see make_blocks.
  void build_manifolds(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list);
  /// Continues from the current impulses.
  void solve_manifolds(Context& ctx, const LabParams& params, ContactSolveRecord& record);
  /// After solve_manifolds: goes on from its impulses with a solver of the lab. Keeps the better result by
  /// the judge; record.message names that solver if it is its own.
  void finish_manifolds(Context& ctx, const DeviceBodies& bodies, std::string_view solver,
                        const LabParams& params, ContactSolveRecord& record);
  /// After `build`, like `solve` with manifold_gs, of the velocities without impulses as they are now. If
  /// manifold_gs refuses, nsgs takes its place, and record.message gives the reason.
  void solve_built(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list,
                   const LabParams& params, ContactSolveRecord& record);
  /// After `build`, like `solve`, with the assembled W of another form of the same problem. With a
  /// pcg_tolerance W is not assembled if the solver needs its products alone and storage does not ask for it.
  void solve_as(Context& ctx, const DualForm& form, std::string_view solver, const LabParams& params,
                ContactSolveRecord& record);
  /// PCG with A since the last solve_as that did not keep W.
  InverseReport inverse_report() const {
    InverseReport sum = replaced_;
    return sum += assembled_.inverse_report();
  }
  /// The next `build` begins a step: coefficients of friction that depend on the solution start from the
  /// state at its start. Later builds of the step keep those of the last update_friction.
  void start_friction() { friction_.clear(); }
  /// After a solve, with the new velocities in `bodies`: moves these coefficients to its solution, for the
  /// next `build`. Returns how much friction impulses change by that, relative to all impulses. One host
  /// read.
  double update_friction(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list);
  /// After build_manifolds: builds the blocks and W, which every method but `velocities` needs.
  void keep_r_factors(Context& ctx, const LabParams& params);
  void make_blocks(Context& ctx, const DeviceBodies& bodies);
  /// v = free + A^-1 H' r of all bodies.
  void velocities(Context& ctx, DeviceBodies& bodies);
  /// Judges `bodies` with their new velocities and the current impulses; see LawChecker. Writes to backend
  /// memory.
  void check_law(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list,
                 const CountedBodies& counted, const MouseSpring& held, const Cohesion& cohesion,
                 JudgeSums* out);
  /// Corrects the velocities level by level from the ground up; see ShockPropagation.
  void propagate_shocks(Context& ctx, DeviceBodies& bodies);

  std::size_t blocks() const { return blocks_; }
  std::size_t joint_blocks() const { return joint_blocks_; }
  const ContactLaw<D>* law() const { return law_.data(); }
  const Delassus<D>& W() const { return W_; }
  /// One per block. After changing them from outside, call keep_impulses. It also restores the impulses of
  /// blocks between sleeping bodies from the time when the bodies fell asleep: no solver can recompute those.
  Vec<double, D>* impulses() { return r_.data(); }
  void keep_impulses(Context& ctx);
  /// For `records`, until the next build: the colours of sweeps outside this class, one per block.
  void take_colours(Context& ctx, const std::int32_t* colour);
  /// The impulses that `build` started from.
  const Vec<double, D>* guess() const { return guess_.data(); }
  /// True if impulses of contacts are stored from the last step. They are not after explicit penalties, or if
  /// the number of rows per block has changed.
  bool remembers_contacts() const { return impulses_ > contacts_from_; }
  /// In world axes, of all blocks, as of the last keep_impulses (zero for joints); torsion fourth.
  const Vec<double, 4>* world_impulses() const { return world_.data(); }
  /// Call when the bodies' velocities without impulses have changed by `change` (6 numbers each) since the
  /// problem was built. The residual stays relative to the original q.
  void move_free(Context& ctx, const double* change) { W_.move_free(ctx, change); }
  /// As move_free, for particles that cores replaced in `list`.
  void move_points(Context& ctx, const StepConstraints& list, const double* change);
  /// Copies the bodies' velocities at the start of the step, as of `build`.
  void start_velocities(Context& ctx, DeviceBodies& bodies) const { law_checker_.start(ctx, bodies); }
  /// The judge's residual of the current impulses.
  double residual(Context& ctx);
  /// After `residual`, of the same impulses: mean velocity along the impulses, r . u / |r| [m/s]. Contacts
  /// and joints dissipate energy: r . u <= 0 where the law holds.
  double gain(Context& ctx);

  /// The problem on the host, with guess and solution of the last solve.
  ContactProblem problem(Context& ctx, const DeviceBodies& bodies) const;
  /// Records of all contacts, with the last step's impulses. `gap` and positions are those at its start.
  void records(Context& ctx, const StepConstraints& list, double dt, std::vector<ContactRecord>& out);

  /// As `records`, after push_penalties.
  void penalty_records(Context& ctx, const StepConstraints& list, double dt, std::vector<ContactRecord>& out);

 private:
  void forget_colours() {
    colouring_.clear();
    has_sweep_colour_ = false;
  }
  /// Backend memory; null: no solver of this problem had any.
  const std::int32_t* colours_of_contacts() const {
    if (has_sweep_colour_) return sweep_colour_.data() + joint_blocks_;
    return colouring_.built() ? colouring_.colour() + joint_blocks_ : nullptr;
  }
  void begin_friction(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list);
  void fill_joints(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list,
                   const BlockWriter<D>& writer);
  void fill_contacts(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list,
                     const BlockWriter<D>& writer);
  void warm_start(Context& ctx, const StepConstraints& list);
  ManifoldInput<D> manifold_input(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list,
                                  bool same_order);
  /// Of rolling resistance on side a of the contacts as of the last keep_impulses, in world axes; null:
  /// blocks have no rolling rows.
  const Vec<double, 3>* moments() const {
    return moment_.size() > 0 ? moment_.data() + contacts_from_ : nullptr;
  }
  std::string try_solver(Context& ctx, Delassus<D>& W, std::string_view solver, const LabParams& params,
                         ContactSolveRecord& record);
  void take_form(Context& ctx, const DualForm& form, bool by_products);
  Delassus<D>& chosen(Context& ctx, const DeviceBodies& bodies, std::string_view solver,
                      const LabParams& params);

  std::size_t blocks_ = 0, joint_blocks_ = 0;
  const std::atomic<bool>* cancel_ = nullptr;
  bool by_manifolds_ = false, made_ = true;
  bool ordered_ = false;           // solve_built knows the contacts
  std::size_t impulses_ = 0;       // blocks of the last step, whose impulses are stored; 0: none
  std::size_t contacts_from_ = 0;  // index of its first contact block
  double least_q_ = 0;             // [m/s] lower bound for |q|
  Buffer<ContactLaw<D>> law_;
  Buffer<Vec<double, D>> r_, guess_, u_, joint_r_;
  Buffer<Vec<double, 4>> world_;   // of the last step: impulse in world axes, torsion
  Buffer<Vec<double, 3>> moment_;  // likewise, of rolling resistance; empty without its rows
  Buffer<double> delta_;           // 6 per body
  Buffer<Vec<double, 4>> sums_;    // of the judge
  Buffer<Vec<double, 2>> work_;    // r . u, |r|^2
  Delassus<D> W_, assembled_;
  InverseReport replaced_;  // of products whose solver failed, see inverse_report
  LawChecker<D> law_checker_;
  FrictionRounds<D> friction_;
  ManifoldSolver<D> manifolds_;
  RoughContacts rough_;
  PenaltyForces<D> penalties_;
  ShockPropagation<D> shocks_;
  Buffer<ConstraintBlock<D>> penalty_block_;
  Colouring colouring_;
  Buffer<std::int32_t> sweep_colour_;  // per block, of take_colours
  bool has_sweep_colour_ = false;
  BlockSteps steps_;  // of the last solve
};

}  // namespace stickslip::STICKSLIP_BACKEND
