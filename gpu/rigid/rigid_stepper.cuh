// RigidStepper: one time step of rigid bodies at the level of velocities.
#pragma once

#include <limits>
#include <optional>
#include <variant>
#include <vector>

#include "gpu/collide/rigid_contacts.cuh"
#include "gpu/core/stage_clock.h"
#include "gpu/model/interaction.h"
#include "gpu/model/report.h"
#include "gpu/params/lab_params.h"
#include "gpu/rigid/contact_surfaces.cuh"
#include "gpu/rigid/contact_system.cuh"
#include "gpu/rigid/coupling.cuh"
#include "gpu/rigid/device_joints.cuh"
#include "gpu/rigid/gap_extremes.h"
#include "gpu/rigid/islands.cuh"
#include "gpu/rigid/position_projection.cuh"
#include "gpu/rigid/start_overlaps.h"

namespace stickslip {

/// The backend data for a step's report, in one host read.
struct RigidSummary {
  GapExtremes gaps;
  BodySums before, sums;  // at the start, if they were unknown; at the end
  IslandCounts islands;
  JudgeSums judge;
  SolidsCheck solids;        // zero without any
  double penalty_steepness;  // of explicit penalties: see PenaltyForces::push
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Per step [Course §1.2, §3.4.5]: velocities without impulses; contacts at the present poses (semi-implicit)
/// or half a step ahead (Moreau's midpoint); the contact problem, its impulses and new velocities; poses. The
/// state changes only when the whole step succeeded.
class RigidStepper {
 public:
  /// Loads a finalized model with bodies, at its start.
  void load(Context& ctx, const Model& model);
  /// Updates masses and surfaces after materials, half-spaces or pairs changed.
  void set_materials(Context& ctx, const Model& model);
  /// Drops data from earlier steps: after a reset, or after the state is set from outside.
  void forget_history();
  /// What contacts of rigid bodies remember with anchored penalty friction: a part of the state.
  std::vector<ContactAnchor> anchors(Context& ctx) const { return anchors_.anchors(ctx, bodies_.size()); }
  /// After forget_history, for the next step.
  void set_anchors(Context& ctx, const std::vector<ContactAnchor>& anchors) { anchors_.set(ctx, anchors); }

  /// Finds bodies that overlap deeply in their present poses (DeepOverlap). Forgets the contacts of the last
  /// step.
  std::vector<DeepOverlap> find_overlaps(Context& ctx, const Model& model, const Params& params);

  /// See Engine::set_cancel.
  void set_cancel(const std::atomic<bool>* flag) { cancel_ = flag; }

  /// Wakes all bodies: an edit may invalidate sleep.
  void wake() { wake_ = true; }

  DeviceBodies& bodies() { return bodies_; }
  /// The elastic solids; empty without any.
  ElasticSolids& solids() { return coupling_.solids(); }
  /// Per body, 1 while it sleeps.
  std::vector<std::uint8_t> asleep(Context& ctx) const;

  /// Advances by params.dt from `time`. Throws SimulationError, with the state unchanged.
  StepReport step(Context& ctx, const Model& model, const Params& params, const LabParams& lab,
                  const std::optional<Drag>& drag, int frame, double time);

  /// The contacts of the last step.
  void contact_records(Context& ctx, const Model& model, double dt, std::vector<ContactRecord>& out);
  /// The trees of bodies, and of the triangles of solids: see append_tree.
  void append_trees(Context& ctx, std::vector<TreeBox>& out) const {
    contacts_.append_trees(ctx, out);
    coupling_.touching().meshes().append_trees(ctx, out);
  }
  /// See Engine::freeze.
  ContactProblem freeze(Context& ctx);

 private:
  StepReport try_step(Context& ctx, const Model& model, const Params& params, const LabParams& lab,
                      const std::optional<Drag>& drag, int frame, double time);
  void begin_step(Context& ctx, const Model& model, const Params& params, const std::optional<Drag>& drag,
                  double time, double before);
  void advance(Context& ctx, double dt, const std::uint8_t* asleep, GuardRecord* guard);
  void find_contacts(Context& ctx, const Params& params);
  double search_seconds() const;
  void update_islands(Context& ctx, const Params& params, std::int32_t disturbed);
  std::size_t fresh_contacts(Context& ctx);
  std::vector<DeepOverlap> overlaps(Context& ctx, const Model& model) const;
  void project(Context& ctx, const Params& params);
  template <int D>
  void solve(Context& ctx, ContactSystem<D>& system, const Params& params, const LabParams& lab,
             StageClock& clock, StepReport& report);
  template <int D>
  void solve_among_solids(Context& ctx, ContactSystem<D>& system, const Params& params, const LabParams& lab,
                          StepReport& report);
  template <int D>
  CouplingRecord solve_coupled(Context& ctx, ContactSystem<D>& system, std::string_view solver,
                               const Params& params, const LabParams& lab, StepReport& report);
  template <int D>
  void prevent_crossings(Context& ctx, ContactSystem<D>& system, std::string_view solver,
                         const Params& params, const LabParams& lab, const StageClock& since_start,
                         CouplingRecord& total, StepReport& report);
  template <int D>
  CouplingRecord solve_searched(Context& ctx, ContactSystem<D>& system, const StepConstraints& list,
                                std::string_view solver, const LabParams& lab, const Params& params,
                                ContactSolveRecord& record);
  bool corrects_positions(const Params& params) const;
  template <int D>
  void correct_positions(Context& ctx, ContactSystem<D>& system, std::string_view solver,
                         const Params& params, const LabParams& lab, const StageClock& since_start,
                         CouplingRecord& total, StepReport& report);
  void advance_corrected(Context& ctx, double dt, const std::uint8_t* asleep, GuardRecord* guard);
  void apply_cohesion(Context& ctx, const Params& params);
  void keep_start(Context& ctx);
  void return_to_start(Context& ctx);
  template <int D>
  void solve_bodies(Context& ctx, ContactSystem<D>& system, const Params& params, const LabParams& lab,
                    StageClock& clock, StepReport& report);
  template <int D>
  void solve_once(Context& ctx, ContactSystem<D>& system, const StepConstraints& list,
                  std::string_view solver, const Params& params, const LabParams& lab, bool is_cold,
                  StageClock& clock, StepReport& report);
  template <int D>
  void settle_friction(Context& ctx, ContactSystem<D>& system, std::string_view solver, const Params& params,
                       const LabParams& lab, const StageClock& since_start, CouplingRecord& total,
                       StepReport& report);
  static bool may_settle(const ContactSolveRecord& record, const Params& params, const LabParams& lab,
                         const StageClock& since_start, LabParams& left);
  std::string_view solver_in_use(const Params& params, std::string& why_not) const;
  void check_friction(const Model& model) const;
  /// Contacts have rolling rows.
  bool rolls() const { return std::holds_alternative<ContactSystem<5>>(system_); }
  void finish(Context& ctx, const Params& params, StepReport& report);
  void begin_energy(Context& ctx, double gravity);
  void choose_system(const Params& params);
  /// False with explicit penalties, which solve no contact problem.
  bool checks_law() const { return !penalties_; }
  StepConstraints constraints(const Params& params, const LabParams& lab) const;

  DeviceBodies bodies_;
  RigidContacts contacts_;
  /// Four rows where a material has torsion, five where a pair of materials has rolling resistance.
  std::variant<ContactSystem<3>, ContactSystem<4>, ContactSystem<5>> system_;
  DeviceJoints joints_;
  ContactSurfaces surfaces_;
  Buffer<RigidSummary> summary_;
  Coupling coupling_;
  Cohesion cohesion_;
  bool coheres_ = false;  // some material has a cohesion
  bool lags_ = false;     // the scene has_lagged_friction
  bool has_tensors_ = false;
  bool has_torsion_ = false, has_rolling_ = false;  // some material; some pair of materials
  Buffer<RigidContact> same_contacts_;              // of a further friction round, each its own predecessor
  Islands islands_;
  PositionProjection projection_;
  FrictionAnchors anchors_;
  Buffer<double> reach_;
  Buffer<Pose> found_at_;
  Buffer<Vec<double, 3>> start_velocity_, start_spin_;  // before the first of several linearisations
  Buffer<std::int32_t> fresh_;
  /// Velocities of bodies and of the nodes of solids.
  struct Motion {
    Buffer<Vec<double, 3>> velocity, spin;
    Buffer<Vec3> v;
    void resize(Context& ctx, std::size_t bodies, std::size_t nodes);
    void take(Context& ctx, const DeviceBodies& bodies, const ElasticSolids& solids);
    void give(Context& ctx, DeviceBodies& bodies, ElasticSolids& solids) const;
  } corrected_, ended_;        // with geometric_correction = position: of the positions, and of the end
  bool is_corrected_ = false;  // in this step
  Buffer<GapExtremes> deepest_;
  StepConstraints last_;
  MouseSpring held_;
  struct Energy {
    double gravity = std::numeric_limits<double>::quiet_NaN();  // [m/s^2] of these energies; NaN: unknown
    double total = 0, solids = 0;  // [J] at the end of the last step; of the solids before this one
    int scripts = 0;               // DeviceModel::script_changes: it is that of nodes without a script
  } energy_;
  const std::atomic<bool>* cancel_ = nullptr;
  PcgStop pcg_stop_ = PcgStop::converged;  // of the last step's elastic solids
  bool plain_ = true;                      // see PlainContacts
  bool stepped_ = false, wake_ = true, sleeping_ = false, penalties_ = false;
  bool resolving_initial_overlap_ = true;  // true while every step since the start had deep overlaps
};

}  // namespace stickslip::STICKSLIP_BACKEND
