// Projected Newton with PCG on the incremental potential; every iterate is
// intersection-free [Li20; Guo24 §3].
#pragma once

#include <atomic>
#include <optional>

#include "gpu/barrier/barrier_schedule.cuh"
#include "gpu/barrier/friction_response.cuh"
#include "gpu/barrier/head_start.cuh"
#include "gpu/barrier/incremental_potential.cuh"
#include "gpu/barrier/object_balance.cuh"
#include "gpu/ccd/near_pairs.cuh"
#include "gpu/core/stage_clock.h"
#include "gpu/linear/linear_solver.cuh"
#include "gpu/model/report.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Of the gradient g and the Newton direction p, with the outcome of the solve.
struct NewtonNorms {
  double gradient2;     // |g|_2^2 over the free nodes
  double imbalance;     // [m/s], see ObjectBalance
  Real step;            // |p|_inf
  Vec<double, 2> turn;  // p'b and b'b, with the direction b of the iteration before
  PcgState pcg;
};

/// Data for the start of a line search, in one host read.
struct LineSearchStart {
  Real bounds[2];  // of the step, from contact pairs and half-spaces
  double before[IncrementalPotential::term_count], trial[IncrementalPotential::term_count];
  SS_HD Real bound() const { return bounds[1] < bounds[0] ? bounds[1] : bounds[0]; }
};

class BarrierNewton {
 public:
  void load(Context& ctx, const DeviceModel& device);
  /// See Preconditioner::set_chains.
  void set_chains(std::vector<std::vector<std::int32_t>> chains) {
    linear_solver_.set_chains(std::move(chains));
  }
  /// While the flag is set, `minimise` throws StepInterrupted before its next iteration; nullptr: never.
  void set_cancel(const std::atomic<bool>* flag) { cancel_ = flag; }

  /// Before the first search of a step: other nodes may be free than in the last one, and a step must not
  /// depend on the steps before it.
  void forget_pairs() { near_pairs_.forget(); }

  /// Whether no node goes farther than a Newton step may. One host read.
  bool is_short_enough(Context& ctx, const DeviceModel& device, const Vec3* way);

  /// Searches the pairs of a way from x that `step_bound` or `minimise` may take next: one search then serves
  /// several. One host read, and those of NearPairs::find.
  void search_ahead(Context& ctx, const DeviceModel& device, const Params& params, const Vec3* x,
                    const Vec3* way);
  /// The same for about the way with which `minimise` begins a step.
  void search_ahead(Context& ctx, const StepInputs& inputs, const DeviceModel& device, const Params& params,
                    const Vec3* x);

  /// Broad phase and contact set at x, at the start of a step before the first `minimise`.
  void find_contacts(Context& ctx, IncrementalPotential& potential, const DeviceModel& device, const Vec3* x,
                     Real d_hat);

  /// Largest step in [0, 1] along p from x that keeps a distance of `params.ccd_slack` from every impact. The
  /// candidates of the swept path stay available. Two host reads.
  Real step_bound(Context& ctx, const DeviceModel& device, const Params& params, const Vec3* x, const Vec3* p,
                  StageClock& clock, StageTimes& seconds);

  /// Moves x to an approximate minimiser. Stops at the tolerance, when the line search fails, when the report
  /// has params.newton_iterations, those of earlier minimisations of the step included, or when the clock
  /// passes params.budget_ms. Fills the report's Newton part. Throws SimulationError at a NaN.
  void minimise(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                const Params& params, Vec3* x, StageClock& clock, StepReport& report);

  /// The same for `ccd_al`, in place of the barrier (impact_newton.cu): x stays free of intersections, and a
  /// target y, which need not be, minimises the augmented Lagrangian of the constraints linearised at x.
  void minimise_constrained(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                            const Params& params, Vec3* x, StageClock& clock, StepReport& report);

  const Proximity& near() const { return near_; }
  /// See BroadPhase.
  void append_trees(Context& ctx, std::vector<TreeBox>& out) const { near_pairs_.append_trees(ctx, out); }

 private:
  /// The stopping criterion; the gradient counts from the second iteration on.
  struct Tolerance {
    const Params& params;
    double speed, imbalance;    // [m/s]
    double first_gradient = 0;  // [N]
    bool satisfied_by(const NewtonRecord& record) const;
    /// Within thirty times the tolerance.
    bool is_near(const NewtonRecord& record) const;
    /// With `displacement`, a small Newton step is not enough: a stiff contact or stiff friction makes steps
    /// small while the momentum of a whole object is still wrong.
    bool permits(double found) const {
      return params.newton_stop != NewtonStop::displacement || found <= imbalance;
    }
  };

  /// A Newton step of the target, with a line search on the energy, along at most `most_share` of the
  /// direction; returns the share that the line search took, 0 for none.
  Real descend_target(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                      const Params& params, Real most_share, Vec3* y, StageClock& clock, StepReport& report,
                      NewtonRecord& record);
  /// Moves x towards y as far as CCD allows; returns the share of the way. Marks the pairs that impact.
  /// If it `waits`, x moves only where the way is free or a pair impacts that is no constraint yet.
  Real advance_to(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                  const Params& params, const Vec3* y, bool waits, Vec3* x, StageClock& clock,
                  StageTimes& seconds);

  /// The share of `way` that x may go at once. One host read.
  Real longest_advance(Context& ctx, const DeviceModel& device, const Vec3* way);

  // Stages of `minimise`.

  /// Before the first iteration of a step: moves x to the HeadStart, or half of the way to the first impact
  /// there, if the energy falls. Up to nine host reads, and one for every halving.
  void start_ahead(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                   const Params& params, const Tolerance& tolerance, Vec3* x, StageClock& clock,
                   StepReport& report);
  /// |p|_inf. One host read.
  Real longest(Context& ctx, const Vec3* p);
  /// Finds the candidates of the swept path (one host read), and search_->bounds.
  void launch_step_bound(Context& ctx, const DeviceModel& device, const Params& params, const Vec3* x,
                         const Vec3* p, StageClock& clock, StageTimes& seconds);
  /// The smaller of search_->bounds. One host read.
  Real read_step_bound(Context& ctx);
  NewtonNorms solve(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                    const Params& params, NewtonRecord& record);
  /// Solves to a relative residual of 1e-4, with the default cap of iterations or a larger one.
  NewtonNorms solve_again(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                          const Params& params, NewtonRecord& record);
  NewtonNorms norms(Context& ctx);
  /// The imbalance of all objects at x [m/s], with the contacts that were updated there. One host read.
  double imbalance(Context& ctx, IncrementalPotential& potential, const DeviceModel& device, const Vec3* x);
  /// Runs 100 more iterations for a direction that the line search could not use [Guo24 App. B];
  /// false when they gain nothing.
  bool resume(Context& ctx, const Params& params, NewtonRecord& record);
  /// Scales a direction with |p|_inf = `step` down to `longest` [m]; true if it was longer.
  bool shorten(Context& ctx, Real step, Real longest);
  /// One iteration: direction, bound and line search; moves x and returns the step's
  /// length, 0 if there was none.
  Real descend(Context& ctx, IncrementalPotential& potential, const DeviceModel& device, const Params& params,
               const Tolerance& tolerance, Real most_share, Vec3* x, StageClock& clock, StepReport& report,
               NewtonRecord& record);
  /// True if FrictionResponse has a direction that is worth a try instead of p: where the last steps were
  /// full and became little shorter, friction is what Newton's method waits for.
  bool follow_friction(Context& ctx, IncrementalPotential& potential, const Params& params, const Vec3* x,
                       const StepReport& report, NewtonRecord& record);
  /// The share of p to go, from the norms of p: at most `most`, and less where p points back along the step
  /// before.
  Real share_of(const NewtonNorms& norms, Real most) const;
  /// Searches along `way`, and with bodies that turn first along its turned form.
  Real search_turned(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                     const Params& params, const Vec3* way, const Vec3* x, std::size_t contact_limit,
                     StageClock& clock, StageTimes& seconds, NewtonRecord& record);
  /// The bound of a step along `path` from x, and a line search; returns the step's length, 0 for none.
  Real search(Context& ctx, IncrementalPotential& potential, const DeviceModel& device, const Params& params,
              const Vec3* path, const Vec3* x, std::size_t contact_limit, StageClock& clock,
              StageTimes& seconds, NewtonRecord& record);
  /// Starts from the step that `launch_step_bound` allows, which goes to record.ccd_bound; returns the step's
  /// length, 0 if none above `shortest` lowers the energy. The current contacts are those at x. One host
  /// read, and one for every halving.
  Real line_search(Context& ctx, IncrementalPotential& potential, const Vec3* path, const Vec3* x,
                   std::size_t contact_limit, Real shortest, NewtonRecord& record);

  const std::atomic<bool>* cancel_ = nullptr;
  std::size_t node_count_ = 0;
  NearPairs near_pairs_;
  Proximity near_{};
  LinearSolver linear_solver_;
  PcgResult direction_;
  /// Of a minimisation: the values where the last line search ended. Those of contacts have changed since.
  std::optional<IncrementalPotential::Values> at_x_;
  Buffer<Vec3> rhs_, p_, turned_, trial_;
  Buffer<Vec3> target_;  // of minimise_constrained
  Buffer<std::int32_t> new_impacts_;
  Buffer<std::uint8_t> impacts_;  // per pair of near_
  FrictionResponse response_;
  HeadStart head_start_;
  double rise_ = 0;  // [J] allowed in a line search
  /// p of the iteration before, and the share of it that was walked; 0 if the step was cut. Where the
  /// response of friction was walked instead, m is still near that of p.
  Buffer<Vec3> before_;
  Real share_ = 0;
  ObjectBalance balance_;
  Buffer<NewtonNorms> norms_;
  Buffer<LineSearchStart> search_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
