// Coupling: elastic solids, colliders and rigid bodies in one contact problem.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "gpu/collide/rigid_contacts.cuh"
#include "gpu/core/stage_clock.h"
#include "gpu/dfcp/problem/dynamics_inverse.h"
#include "gpu/elastic/elastic_solids.cuh"
#include "gpu/elastic/penetration_guard.cuh"
#include "gpu/elastic/touched_surfaces.cuh"
#include "gpu/rigid/contact_particles.cuh"
#include "gpu/rigid/contact_system.cuh"
#include "gpu/rigid/coupled_problem.h"
#include "gpu/rigid/gap_extremes.h"
#include "gpu/rigid/nodal_admm.cuh"
#include "gpu/rigid/particle_shares.cuh"
#include "gpu/rigid/solid_check.cuh"

namespace stickslip {

/// The report of a coupled solve, besides the contact record.
struct CouplingRecord {
  int rounds = 0;                         // contact problems solved
  int pcg_iterations = 0;                 // of the elastic side, in total
  PcgStop pcg_stop = PcgStop::converged;  // of the last solve, for the velocities at the end of the step
  double linear_seconds = 0;              // of the elastic side
  InverseReport dual;                     // of PCG for dual_pcg_tolerance

  /// Adds a further solve of the same step.
  CouplingRecord& operator+=(const CouplingRecord& further) {
    rounds += further.rounds;
    pcg_iterations += further.pcg_iterations;
    pcg_stop = further.pcg_stop;
    linear_seconds += further.linear_seconds;
    dual += further.dual;
    return *this;
  }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// The contact problem of rigid bodies and elastic solids,
///   A_e v_e = f_e + B' R,   A_b v_b = f_b + H_b' r,   u = H (B v_e, v_b) + w + E r,   (u, r) in the law,
/// where B v_e are the velocities of the touched points of the elastic surfaces, and R the impulses r on them
/// in world axes. A contact between two meshes touches two points, with opposite impulses. The part of W for
/// these points, B A_e^-1 B', is dense and never formed. Instead each point is a free particle of mass m_k in
/// a problem between bodies, so that every contact solver can be used:
///   1. particles move at t = B v - R / m without impulses; solve for r, R;
///   2. v = A_e^-1 (f_e + B' R).
/// In most problems (core_use) a particle is attached to the core of its object: a rigid body with the
/// object's mass and inertia. So the problem between bodies contains the common motion of all points of an
/// object, and 1 / m is additional compliance. A side of a joint that a solid holds is a body with six
/// degrees of freedom in the same way: B also has the rows of its frame's velocity and angular velocity
/// (SolidFrames), R its impulse and torque, and 1 / m is a matrix, the mobility of the solid's rigid motion
/// at the frame and a part for the frame's tet. This is proximal gradient descent on the dual problem in the
/// metric m, like the splitting of Course Alg.16, which takes m from the diagonal of A. Its fixed point has u
/// = H (B v_e, v_b) + w for any m. It converges where B A_e^-1 B' <= diag(1 / m). m is a share of the
/// diagonal of A_e (ParticleShares), adapted so that this holds along the steps taken, and rounds are
/// accelerated by momentum with restarts [Daviet20 Alg.4 does so for ADMM]. The velocities at the end of a
/// round are computed from its impulses. At the end of a step they have the precision of a step. So the judge
/// uses the true u, and momentum is conserved even if the rounds end early.
/// With coupling = factor, and few enough rows, W = H A^-1 H' is formed on the host with a factorisation of
/// A_e (to_local), and the contact solver takes the problem in that form. It needs no rounds, however stiff
/// the solids are. Small problems whose rounds stall continue in the same way. With dual_pcg_tolerance PCG
/// takes the place of the factorisation, and solvers that need products with W alone do without W.
/// With coupling = nodal_admm or ica there are neither rounds nor a contact solver: see solve_nodal and
/// solve_by_anticipation.
class Coupling {
 public:
  void load(Context& ctx, const Model& model);
  bool active() const { return !solids_.empty(); }
  ElasticSolids& solids() { return solids_; }
  /// Whether a step minimises the elastic energy itself, by nodal_integrator = admm.
  bool splits_rods(const Params& params) const;
  void forget();
  /// After linearisations that diverged: the system of the first one, and particles as at the start of a
  /// scene.
  void start_again(Context& ctx, double time) {
    solids_.linearise_at_start(ctx, time);
    shares_.reset(ctx);
  }

  enum class Keeping { nothing, for_search, guarded };
  /// Finds the contacts of the solids at the current poses; they follow those between the bodies. `keeping`:
  /// with admm_search_every or penetration_guard the gaps of these contacts are smaller by what they keep.
  void find_contacts(Context& ctx, const RigidContacts& between_bodies, const BodyMotionView& motion,
                     const TouchedSurfaces::Options& options, Keeping keeping);
  /// The distances that contacts keep; see `keeping`.
  KeptGaps kept_gaps() const { return {keep_, first_}; }
  /// After `solve`, with the guard: finds what the solids would cross in `dt`, and returns the numbers of
  /// contacts that would prevent it.
  PenetrationGuard::Crossings find_crossings(Context& ctx, double dt) {
    return guard_.find(ctx, guard_input(dt));
  }
  /// After `solve`, with admm_search_every: whether it ended for now, as the motion found so far would cross
  /// something. Add these contacts and `solve` again; it then continues from the impulses.
  bool is_interrupted() const { return searched_.found.total() > 0; }
  void add_found(Context& ctx) { add_crossings(ctx, std::exchange(searched_.found, {})); }
  /// Adds these contacts. Velocities of solids are then those of the start, and the step needs another
  /// `solve`.
  void add_crossings(Context& ctx, const PenetrationGuard::Crossings& count);
  /// Instead of solids().advance: moves the solids as far as nothing crosses, by the last `find_crossings`.
  /// Returns for each body the share of the step that it may move.
  const double* advance_guarded(Context& ctx, double dt, GuardRecord& record) {
    guard_.move(ctx, guard_input(dt), record);
    return guard_.body_shares();
  }
  const RigidContact* contacts() const { return contacts_.data(); }
  std::size_t contact_count() const { return contacts_.size(); }
  /// The surfaces that the solids' contacts touch; the first of these contacts is number `first_contact`.
  const TouchedSurfaces& touching() const { return touching_; }
  std::size_t first_contact() const { return static_cast<std::size_t>(first_); }

  /// The bodies followed by the particles, as of the last solve.
  const DeviceBodies& staged() const { return particles_.all(); }

  /// Computes the step's impulses and velocities of `bodies` (predicted) and solids; the contacts of
  /// `list` must be contacts(). Adds to record.iterations.
  template <int D>
  CouplingRecord solve(Context& ctx, ContactSystem<D>& system, DeviceBodies& bodies,
                       const StepConstraints& list, std::string_view solver, const LabParams& lab,
                       const Params& params, ContactSolveRecord& record);
  /// Between these two, `solve` may be used for another problem with the same contacts. Then impulses and
  /// velocities are again those of the problem of `list`.
  void set_aside() { std::swap(refined_, aside_); }
  template <int D>
  void bring_back(Context& ctx, ContactSystem<D>& system, DeviceBodies& bodies, const StepConstraints& list,
                  const Params& params, ContactSolveRecord& record);

  /// Explicit penalty forces: adds the impulses of the contacts of `list` to the velocities `bodies.free` and
  /// to the loads of the solids, to nodes by the weights of the touched points. `solve` then gets a list
  /// without contacts. Solids resist by their masses and, at the nodes, by their elastic forces, which is an
  /// estimate. `steepness`: see PenaltyForces::push.
  template <int D>
  void push_penalties(Context& ctx, ContactSystem<D>& system, DeviceBodies& bodies,
                      const StepConstraints& list, double* steepness);
  /// After that `solve`: contacts again, with the velocities at the end of the step in staged().
  void return_contacts(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list);
  /// The residual of the solids' equations alone; no host read.
  void check_equations(Context& ctx, SolidsCheck* out);

  /// After `solve`: judges the solids' velocities; no host read.
  template <int D>
  void check(Context& ctx, const ContactSystem<D>& system, const CohesivePulls& pulls, SolidsCheck* out);
  /// The last solve's problem in its global form, with its solution, and the impulses that the step started
  /// from as guess.
  template <int D>
  ContactProblem problem(Context& ctx, ContactSystem<D>& system);
  /// Adds energies and momenta of the solids; `moving`: number of movable bodies.
  void report(Context& ctx, const Params& params, std::size_t moving, StepReport& report);
  /// Replaces bodies by objects in records, and names the solids' contacts.
  void name_objects(Context& ctx, const Model& model, std::vector<ContactRecord>& records) const;

 private:
  struct RoundStep {
    double steepness;  // the largest of an object: above 1, its particles are too heavy
    bool turned;       // the step is opposite to the momentum [ODonoghue15: gradient scheme]
    double push;       // [m/s] |R / m|_2: velocity of the particles from the impulses alone
  };

  /// The system's impulses by rows, and the solids' velocities.
  struct Iterate {
    Buffer<double> impulses;
    Buffer<Vec3> v;
    double residual = 0;
    PcgStop pcg_stop = PcgStop::converged;  // of the solve for v
  };

  /// What coupling = factor needs: a W of limited size, a factorisation, both by default.
  struct DualNeeds {
    bool entries = true, factors = true;
  };
  static DualNeeds dual_needs(const Params& params, std::string_view solver, const LabParams& lab);

  void stage_points(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list);
  void join_contacts(Context& ctx, const RigidContacts& between_bodies);
  PenetrationGuard::Input guard_input(double dt);
  void begin_guard(Context& ctx, double margin, Keeping keeping);
  void keep_gaps(Context& ctx, std::size_t begin);
  template <int D>
  void build(Context& ctx, ContactSystem<D>& system, const StepConstraints& list);
  template <int D>
  bool run_rounds(Context& ctx, ContactSystem<D>& system, const StepConstraints& list,
                  std::string_view solver, const LabParams& lab, const Params& params,
                  ContactSolveRecord& record);
  template <int D>
  void solve_factored(Context& ctx, ContactSystem<D>& system, std::string_view solver, const LabParams& lab,
                      double pcg_tolerance, ContactSolveRecord& record);
  template <int D>
  void continue_factored(Context& ctx, ContactSystem<D>& system, DeviceBodies& bodies,
                         const StepConstraints& list, std::string_view solver, const LabParams& lab,
                         const StageClock& clock, ContactSolveRecord& record);
  std::string why_no_other(const Params& params, const DualNeeds& needs, std::size_t rows) const;
  std::string why_no_factor(const DualNeeds& needs, std::size_t rows) const;
  template <int D>
  bool solve_nodal(Context& ctx, ContactSystem<D>& system, DeviceBodies& bodies, const LabParams& lab,
                   const Params& params, ContactSolveRecord& record);
  bool search_is_due(const Params& params, int iterations, bool ends);
  template <int D>
  bool search(Context& ctx, ContactSystem<D>& system, DeviceBodies& bodies, double dt);
  template <int D>
  void take_velocities(Context& ctx, ContactSystem<D>& system, DeviceBodies& bodies);
  template <int D>
  bool solve_by_anticipation(Context& ctx, ContactSystem<D>& system, const LabParams& lab,
                             const Params& params, ContactSolveRecord& record);
  template <int D>
  void end_nodal(Context& ctx, ContactSystem<D>& system, bool splits);
  template <int D>
  double check_nodal(Context& ctx, ContactSystem<D>& system, const Params& params);
  template <int D>
  void go_on_nodal(Context& ctx, ContactSystem<D>& system);
  template <int D>
  double refine_nodal(Context& ctx, ContactSystem<D>& system, const Params& params);
  /// Whether nodal_projection or ica_cone make the sweeps end at another law than that of the judge.
  static bool has_other_law(const Params& params);
  template <int D>
  void move_to(Context& ctx, ContactSystem<D>& system, const Vec3* v, const Vec<double, 3>* impulse,
               const Wrench* wrench);
  template <int D>
  double judge(Context& ctx, ContactSystem<D>& system, const Vec3* v);
  template <int D>
  double run_round(Context& ctx, ContactSystem<D>& system, std::string_view solver, const LabParams& lab,
                   ContactSolveRecord& record);
  template <int D>
  void keep_guess(Context& ctx, const ContactSystem<D>& system);
  template <int D>
  void start_best(Context& ctx, ContactSystem<D>& system);
  template <int D>
  void keep(Context& ctx, ContactSystem<D>& system, double residual, Iterate& iterate);
  template <int D>
  void return_to(Context& ctx, ContactSystem<D>& system, const Iterate& iterate);
  template <int D>
  void finish(Context& ctx, ContactSystem<D>& system, DeviceBodies& bodies, const Params& params,
              double tolerance, ContactSolveRecord& record);
  template <int D>
  double refine(Context& ctx, ContactSystem<D>& system, const Params& params);
  SolidSystem solid_system(Context& ctx) const;
  template <int D>
  void take_impulses(Context& ctx, ContactSystem<D>& system);
  enum class Impulses { none, current };
  void solve_solids(Context& ctx, const Vec3* at_nodes, Vec3* v, double tolerance, double reference);
  bool follow_pull(Context& ctx, const Vec3* before, const Vec3* pull);
  const Vec3* solve_solids(Context& ctx, Impulses kind, Vec3* v, double tolerance, double reference = 0);
  void solve_free(Context& ctx, const Params& params);
  void solve_start(Context& ctx, double tolerance);
  void solve_precisely(Context& ctx, double tolerance);
  const Vec3* impulse_at_nodes(Context& ctx);
  RoundStep last_step(Context& ctx);
  void extrapolate(Context& ctx, double share);

  ElasticSolids solids_;
  TouchedSurfaces touching_;
  ContactParticles particles_;
  PenetrationGuard guard_;
  ShapeView shapes_{};       // of the last find_contacts
  BodyMotionView motion_{};  // of the last find_contacts
  double keep_ = 0;          // [m] with the guard
  std::int32_t bodies_ = 0;
  std::int32_t first_ = 0;  // index of the solids' first contact in contacts_
  int point_pieces_ = 1;    // see NodalProjection
  ParticleShares shares_;
  bool forgotten_ = false;
  CouplingRecord done_;
  SolidChecker checker_;
  Buffer<RigidContact> contacts_;
  // R, per touched point: of this round, at its start, of the last round.
  Buffer<Vec<double, 3>> impulse_, start_, last_;
  Buffer<Wrench> wrench_, wrench_start_, wrench_last_;  // likewise per frame
  Buffer<Vec3> v_, v_start_, v_last_, v_free_;          // the solids' velocities for these R, and for R = 0
  Buffer<Vec3> node_impulse_;
  Buffer<Vec<double, 4>> pushed_;  // impulses of explicit penalties, per contact of the solids
  Buffer<double> guess_;           // of the step's first problem, by rows
  bool has_guess_ = false;         // in this step
  Iterate best_, refined_;  // the best round since the last refinement; the best result with the precision of
                            // a step
  double precision_ = 0;    // of PCG in a round
  double fall_ = 0;         // residual of the solids' velocities at the start of the step, without impulses
  StepConstraints list_;    // of the last build
  Buffer<Vec<double, 3>> step_;
  Buffer<StepSums> sums_;  // per object, like core_work_
  Buffer<double> core_work_;
  Buffer<StepTotals> totals_;
  std::tuple<NodalAdmm<3>, NodalAdmm<4>, NodalAdmm<5>> admm_;
  std::tuple<NodalProjection<3>, NodalProjection<4>, NodalProjection<5>> anticipation_;
  struct Searched {
    PenetrationGuard::Crossings found;  // while the iterations are interrupted
    int iterations = 0;                 // before they were
    int at_end = 0;                     // searches where they would have ended
  } searched_;
  Iterate aside_;   // see set_aside
  Iterate before_;  // what solve_nodal or solve_by_anticipation started from
  Buffer<double> node_weight_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
