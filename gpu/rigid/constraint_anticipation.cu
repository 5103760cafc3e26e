// Coupling: Jacobi splitting of A, iterative constraint anticipation [Course §4.3.6, Alg.16; Otaduy09].
#include <cmath>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/stage_clock.h"
#include "gpu/core/trace.h"
#include "gpu/rigid/coupling.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr double kRunawayMotion = 1e6;  // [m] that a node moves in a step by one iteration

/// Sets v = y + v_free. Returns the largest change of a component since v_last.
struct TakeNode {
  const Vec<double, 3>* y;
  const Vec3 *v_free, *v_last;
  Vec3* v;

  SS_HD double operator()(std::size_t i) const {
    const Vec<double, 3> now = y[i] + v_free[i].template cast<double>();
    double most = 0;
    for (int k = 0; k < 3; ++k) {
      const double change = std::fabs(now[k] - static_cast<double>(v_last[i][k]));
      most = change > most ? change : most;
    }
    v[i] = now.template cast<Real>();
    return most;
  }
};

void set_start(Context& ctx, std::size_t n, const Vec3* v, const Vec3* v_free, Vec<double, 3>* y) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { y[i] = (v[i] - v_free[i]).template cast<double>(); });
}

}  // namespace

/// With A = D + (A - D), D diagonal, an iteration moves nodes by a Jacobi step and finds the velocities that
/// obey the contact law and are nearest to that in the metric D: Gauss-Seidel sweeps over the contacts, with
/// the matrix H D^-1 H' of [Course Alg.16], of which no entry is stored (NodalProjection). Impulses carry
/// over, so that few sweeps are enough. Rigid bodies have their own A_b in the sweeps.
///
/// The text's D is the diagonal of A, with which stiff solids diverge. Here D is a third of the trace of each
/// node's block, enlarged by one factor where A exceeds 2 D. The number of iterations grows with the ratio of
/// the largest to the smallest eigenvalue of D^-1 A; it is here for comparison with ADMM and rounds. As with
/// them, the velocities at the end of a step are those of the impulses. ica_cone = facets makes it the solver
/// of [Otaduy09], whose cones are pyramids; the law of the step's judge stays Coulomb's. Returns whether
/// admm_tolerance ended the iteration.
template <int D>
bool Coupling::solve_by_anticipation(Context& ctx, ContactSystem<D>& system, const LabParams& lab,
                                     const Params& params, ContactSolveRecord& record) {
  const Span span(ctx, "constraint anticipation");
  const StageClock clock;
  NodalProjection<D>& projection = std::get<NodalProjection<D>>(anticipation_);
  move_to(ctx, system, v_free_.data(), nullptr, nullptr);
  node_weight_.resize(ctx, solids_.size());
  solids_.jacobi_weights(ctx, node_weight_.data());
  projection.build(
      ctx, {system.W(), system.law(), particles_.bodies(), touching_.points(), touching_.point_count(),
            solids_.embedding(), point_pieces_, particles_.frames(), node_weight_.data(), solids_.size(),
            true, ProjectionRule::impulses, params.ica_cone == IcaCone::facets ? params.ica_facets : 0});
  projection.start(ctx, system.W(), system.impulses());
  Buffer<double> change(ctx, 1);
  bool is_small = false;
  record.changes.clear();
  for (int k = 1;; ++k) {
    // With the impulses so far in it, a Jacobi step is what the sweeps start from and change.
    copy(ctx, v_start_.data(), v_.data(), solids_.size());
    solids_.jacobi(ctx, impulse_at_nodes(ctx), node_weight_.data(), v_.data());
    set_start(ctx, solids_.size(), v_.data(), v_free_.data(), projection.node.data());
    const StageClock projecting;
    projection.sweep(ctx, params.projection_sweeps);
    record.iterations += params.projection_sweeps;
    ++done_.rounds;
    reduce(ctx, solids_.size(), TakeNode{projection.node.data(), v_free_.data(), v_start_.data(), v_.data()},
           Maximum{}, 0.0, change.data(), kMedium);
    const double moved = params.dt * read_back(ctx, change.data());
    record.changes.push_back(moved);
    record.projection_seconds += projecting.seconds_since_start();
    if (!(moved < kRunawayMotion)) {  // not a number, too: `finish` takes the start of the iteration
      record.message = "ica diverges";
      return false;
    }
    projection.impulses(ctx, system.impulses());
    system.keep_impulses(ctx);
    take_impulses(ctx, system);
    system.throw_if_cancelled();
    is_small = moved < params.admm_tolerance;
    if (is_small || k == params.admm_iterations ||
        (lab.time_budget > 0 && clock.seconds_since_start() >= lab.time_budget))
      break;
  }
  record.colours = projection.colours();
  system.take_colours(ctx, projection.colour());
  record.message.clear();
  std::swap(best_, before_);
  refine_nodal(ctx, system, params);
  return is_small;
}

template bool Coupling::solve_by_anticipation(Context&, ContactSystem<3>&, const LabParams&, const Params&,
                                              ContactSolveRecord&);
template bool Coupling::solve_by_anticipation(Context&, ContactSystem<4>&, const LabParams&, const Params&,
                                              ContactSolveRecord&);
template bool Coupling::solve_by_anticipation(Context&, ContactSystem<5>&, const LabParams&, const Params&,
                                              ContactSolveRecord&);

}  // namespace stickslip::STICKSLIP_BACKEND
