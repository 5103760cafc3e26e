#include "gpu/rigid/nodal_admm.cuh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/stage_clock.h"
#include "gpu/core/trace.h"
#include "gpu/rigid/coupling.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

// Of PCG in an iteration: residual of the correction of v relative to it. The next iteration takes up the
// rest.
constexpr double kPcgShare = 0.2;
// Of admm_tolerance: what direct solves may leave of v before it is corrected by its residual.
constexpr double kMostDrift = 0.1;
// Searches where the iterations of a step end. The contacts that they find start iterations again.
constexpr int kMostFinalSearches = 3;
// Where the residual of the step exceeds contact.tolerance although the iterations change less than the
// tolerance in metres, this becomes smaller in proportion, within these limits, at most kMostChecks times.
constexpr double kLeastReduction = 0.05, kMostReduction = 0.5;
constexpr int kMostChecks = 8;

struct LargestOfTwo {
  SS_HD Vec<double, 2> operator()(const Vec<double, 2>& a, const Vec<double, 2>& b) const {
    return {a[0] < b[0] ? b[0] : a[0], a[1] < b[1] ? b[1] : a[1]};
  }
};

SS_HD double largest(const Vec3d& x) {
  double most = 0;
  for (int i = 0; i < 3; ++i) most = std::fabs(x[i]) > most ? std::fabs(x[i]) : most;
  return most;
}

/// |v - v_last| and |v - p| of a node, with p = y + v_free. Then v_last is v.
struct NodeChange {
  const Vec3 *v, *v_free;
  Vec3* v_last;
  bool has_last;
  const Vec3d* y;
  const double* weight;

  SS_HD Vec<double, 2> operator()(std::size_t i) const {
    const Vec3d now = v[i].template cast<double>();
    const double moved = has_last ? largest(now - v_last[i].template cast<double>()) : 0.0;
    v_last[i] = v[i];
    if (!(weight[i] > 0)) return {moved, 0};
    return {moved, largest(now - v_free[i].template cast<double>() - y[i])};
  }
};

/// The change of a rigid body's velocity; of its spin, times the radius of gyration sqrt(3 m^-1 / tr I^-1).
struct BodyChange {
  const BodyInverse* inverse;
  const double *now, *last;

  SS_HD Vec<double, 2> operator()(std::size_t b) const {
    const BodyInverse& of = inverse[b];
    if (!(of.mass > 0)) return {0, 0};
    const double turn = of.inertia[0] + of.inertia[1] + of.inertia[2];
    const double radius = turn > 0 ? std::sqrt(3 * of.mass / turn) : 0.0;
    Vec3d v, spin;
    for (std::size_t i = 0; i < 3; ++i) {
      v[static_cast<int>(i)] = now[6 * b + i] - last[6 * b + i];
      spin[static_cast<int>(i)] = radius * (now[6 * b + 3 + i] - last[6 * b + 3 + i]);
    }
    const double a = largest(v), c = largest(spin);
    return {a < c ? c : a, 0};
  }
};

void start_duals(Context& ctx, std::size_t n, const double* weight, const Vec3* at_nodes, Vec3d* lambda) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    lambda[i] = {0, 0, 0};
    if (at_nodes != nullptr && weight[i] > 0)
      lambda[i] = (1 / weight[i]) * at_nodes[i].template cast<double>();
  });
}

void set_relative(Context& ctx, std::size_t n, const Vec3* v, const Vec3* v_free, Vec3d* y) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { y[i] = (v[i] - v_free[i]).template cast<double>(); });
}

void add_free(Context& ctx, std::size_t n, const Vec3d* y, const Vec3* v_free, Vec3* p) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    p[i] = (y[i] + v_free[i].template cast<double>()).template cast<Real>();
  });
}

/// y = v - lambda - v_free: lambda is zero where no contact acts.
void set_without_duals(Context& ctx, std::size_t n, const Vec3* v, const Vec3* v_free, const Vec3d* lambda,
                       Vec3d* y) {
  launch(ctx, n,
         [=] SS_LAMBDA(std::size_t i) { y[i] = (v[i] - v_free[i]).template cast<double>() - lambda[i]; });
}

/// lambda += p - v, target = p + lambda, both then extrapolated (see below), and W target of one node. Where
/// no contact acts all of them are zero.
struct DualUpdate {
  const double* weight;
  const Vec3 *v, *v_free;
  const Vec3d* y;
  bool accelerated;
  double share;
  Vec3d *lambda, *lambda_last, *target_last;
  Vec3* pull;

  SS_HD void operator()(std::size_t i) const {
    if (!(weight[i] > 0)) return;
    const Vec3d p = y[i] + v_free[i].template cast<double>();
    const Vec3d dual = lambda[i] + (p - v[i].template cast<double>()), target = p + dual;
    lambda[i] = dual;
    Vec3d to = target;
    if (share > 0) {
      lambda[i] += share * (dual - lambda_last[i]);
      to += share * (target - target_last[i]);
    }
    if (accelerated) {
      lambda_last[i] = dual;
      target_last[i] = target;
    }
    pull[i] = (weight[i] * to).template cast<Real>();
  }
};

/// x, last = x + share (x - last), x.
void extrapolate(Context& ctx, double share, std::size_t n, double* x, double* last) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    const double now = x[i];
    if (share > 0) x[i] = now + share * (now - last[i]);
    last[i] = now;
  });
}
template <int N>
void extrapolate(Context& ctx, double share, Buffer<Vec<double, N>>& x, Buffer<Vec<double, N>>& last) {
  last.resize(ctx, x.size());
  extrapolate(ctx, share, N * x.size(), reinterpret_cast<double*>(x.data()),
              reinterpret_cast<double*>(last.data()));
}

}  // namespace

template <int D>
void NodalAdmm<D>::begin(Context& ctx, const typename NodalProjection<D>::Input& in, const Vec<double, D>* r,
                         const Vec3* at_nodes, const Vec3* v_free) {
  nodes_ = in.node_count;
  rule_ = in.rule;
  rigid_ = in.rigid;
  weight_ = in.weight;
  inverse_ = in.W.body_rows().inverse;
  v_free_ = v_free;
  momentum_ = 1;
  change_ = last_change_ = std::numeric_limits<double>::infinity();
  for (Buffer<Vec3>* b : {&pull_, &pull_last_, &v_last_}) b->resize(ctx, nodes_);
  for (Buffer<Vec3d>* b : {&lambda_, &lambda_last_, &target_last_}) b->resize(ctx, nodes_);
  for (Buffer<Vec3>* b : {&pull_, &pull_last_}) fill(ctx, b->data(), nodes_, Vec3::zero());
  size_.resize(ctx, 2);
  projection_.build(ctx, in);
  projection_.clear_untouched(ctx, in.weight);
  projection_.start(ctx, in.W, r);
  bodies_found_.resize(ctx, 6 * rigid_);
  copy(ctx, bodies_found_.data(), projection_.bodies.data(), 6 * rigid_);
  start_duals(ctx, nodes_, weight_, at_nodes, lambda_.data());
}

template <int D>
void NodalAdmm<D>::project(Context& ctx, const Vec3* v, int sweeps, double sleep) {
  Vec3d* y = projection_.node.data();
  if (rule_ == ProjectionRule::impulses) {
    set_relative(ctx, nodes_, v, v_free_, y);
  } else {
    set_without_duals(ctx, nodes_, v, v_free_, lambda_.data(), y);
    projection_.start_without_impulses(ctx);
  }
  projection_.sweep(ctx, sweeps, std::isfinite(change_) ? sleep * change_ : 0.0);
}

template <int D>
void NodalAdmm<D>::feasible(Context& ctx, Vec3* out) const {
  add_free(ctx, nodes_, projection_.node.data(), v_free_, out);
}

template <int D>
double NodalAdmm<D>::change(Context& ctx, const Vec3* v, double others) {
  const bool is_first = !std::isfinite(change_);
  Vec<double, 2>* size = size_.data();
  reduce(ctx, nodes_, NodeChange{v, v_free_, v_last_.data(), !is_first, projection_.node.data(), weight_},
         LargestOfTwo{}, Vec<double, 2>{0, 0}, size, kMedium);
  reduce(ctx, rigid_, BodyChange{inverse_, projection_.bodies.data(), bodies_found_.data()}, LargestOfTwo{},
         Vec<double, 2>{0, 0}, size + 1, kMedium);
  copy(ctx, bodies_found_.data(), projection_.bodies.data(), 6 * rigid_);
  Vec<double, 2> found[2];
  copy_to_host(ctx, found, size, 2);
  last_change_ = change_;
  change_ = std::max(found[0][0], found[1][0]) + std::max(found[0][1], others);
  return change_;
}

template <int D>
double NodalAdmm<D>::update_dual(Context& ctx, const Vec3* v, bool accelerated) {
  double share = 0;
  if (accelerated && change_ > last_change_) {
    momentum_ = 1;
  } else if (accelerated) {
    const double next = 0.5 * (1 + std::sqrt(1 + 4 * momentum_ * momentum_));
    share = (momentum_ - 1) / next;
    momentum_ = next;
  }
  pull_.swap(pull_last_);
  launch(ctx, nodes_,
         DualUpdate{weight_, v, v_free_, projection_.node.data(), accelerated, share, lambda_.data(),
                    lambda_last_.data(), target_last_.data(), pull_.data()});
  if (!accelerated) return share;
  extrapolate(ctx, share, projection_.r, r_last_);
  bodies_last_.resize(ctx, 6 * rigid_);
  extrapolate(ctx, share, bodies_last_.size(), projection_.bodies.data(), bodies_last_.data());
  return share;
}

template class NodalAdmm<3>;
template class NodalAdmm<4>;
template class NodalAdmm<5>;

/// [Daviet20 Alg.2] for the impulses of the step. The iteration starts at the velocities with the impulses of
/// the last step (`v_`), where the paper starts at those without impulses: of objects that rest they are the
/// solution. So the first solve for v is left out, and no solve ends after one iteration. The velocities at
/// the end of the step are those of the impulses, v = A^-1 (f + H' r), which `finish` computes to the
/// precision of a step: momentum is that of the impulses, which are in their cones. The paper takes p, which
/// obeys the law and loses W (p - v) of momentum. As these velocities differ from those of the iteration by
/// A^-1 W (p - p_last), up to admm_beta times the change that admm_tolerance bounds, and as a tolerance in
/// metres is no share of the motion of a step, the judge decides where the iteration ends: see
/// check_nodal. Returns whether the iteration ended before admm_iterations.
/// With nodal_integrator = admm the elements of rods have copies beside p (RodSplitting), and A is theirs. At
/// the end the elastic forces are linearised at the v found, for the report and for a last step of Newton's
/// method with the impulses found.
/// With admm_search_every, what p would cross ends the iterations for now: see searched().
template <int D>
bool Coupling::solve_nodal(Context& ctx, ContactSystem<D>& system, DeviceBodies& bodies, const LabParams& lab,
                           const Params& params, ContactSolveRecord& record) {
  const Span span(ctx, "nodal ADMM");
  const StageClock clock;
  NodalAdmm<D>& admm = std::get<NodalAdmm<D>>(admm_);
  move_to(ctx, system, v_free_.data(), nullptr, nullptr);
  node_weight_.resize(ctx, solids_.size());
  // Joints act on nodes that no contact touches.
  solids_.nodal_weights(ctx, particles_.frames().size() > 0 ? nullptr : &touching_.gather(),
                        node_weight_.data());
  const Vec3* at_nodes = impulse_at_nodes(ctx);
  if (at_nodes != nullptr) solids_.move_to_controls(ctx, node_impulse_.data());
  admm.begin(ctx,
             {system.W(), system.law(), particles_.bodies(), touching_.points(), touching_.point_count(),
              solids_.embedding(), point_pieces_, particles_.frames(), node_weight_.data(), solids_.size(),
              params.admm_isotropic, params.nodal_projection},
             system.impulses(), at_nodes, v_free_.data());
  const bool splits = splits_rods(params);
  if (splits) solids_.begin_splitting(ctx, node_weight_.data(), v_.data());
  else solids_.add_weights(ctx, node_weight_.data());
  const bool is_checked = !splits && !has_other_law(params);
  double tolerance = params.admm_tolerance;
  double momentum = 0, drift = std::numeric_limits<double>::infinity();  // [m] of v, by direct solves
  bool is_small = false, is_refined = false;
  int checks = 0;
  // The residual so far is that of less precise velocities, at the impulses of the last step or none.
  std::swap(best_, before_);
  const int before = std::exchange(searched_.iterations, 0);
  if (before == 0) {
    record.changes.clear();
    searched_.at_end = 0;
  }
  for (int l = 1;; ++l) {
    bool follows = false;
    if (l > 1 && splits) {
      solids_.join(ctx, admm.pull(), node_weight_.data(), momentum, v_.data());
    } else if (l > 1) {
      const Vec3* pull = admm.pull();
      follows = follow_pull(ctx, drift <= kMostDrift * tolerance ? admm.last_pull() : nullptr, pull);
    }
    is_refined = false;
    const double apart = splits ? solids_.separate(ctx, v_.data()) / params.dt : 0;
    const StageClock projecting;
    admm.project(ctx, v_.data(), params.projection_sweeps, params.admm_sleep);
    record.iterations += params.projection_sweeps;
    ++done_.rounds;
    const double change = params.dt * admm.change(ctx, v_.data(), apart);
    record.changes.push_back(change);
    record.projection_seconds += projecting.seconds_since_start();
    system.throw_if_cancelled();
    // The v of the first iteration is less precise than admm_tolerance may be.
    if (l > 1) drift = (follows ? drift : 0.0) + std::max(solids_.left_by_inverse(), 0.0) * change;
    is_small = change < tolerance &&
               (l > 1 ? splits || drift <= kMostDrift * tolerance : system.blocks() == 0 && !splits);
    if (!std::isfinite(change) || before + l >= params.admm_iterations ||
        (lab.time_budget > 0 && clock.seconds_since_start() >= lab.time_budget))
      break;
    if ((l > 1 || is_small) && search_is_due(params, before + l, is_small) &&
        search(ctx, system, bodies, params.dt)) {
      searched_.iterations = before + l;
      break;
    }
    if (is_small && is_checked) {
      const double residual = check_nodal(ctx, system, params);
      is_refined = true;
      if (residual <= lab.tolerance || ++checks == kMostChecks || !std::isfinite(residual)) break;
      go_on_nodal(ctx, system);
      tolerance *= std::clamp(kMostReduction * lab.tolerance / residual, kLeastReduction, kMostReduction);
      drift = std::numeric_limits<double>::infinity();
    } else if (is_small) {
      break;
    }
    momentum = admm.update_dual(ctx, v_.data(), params.admm_accelerated);
  }
  const bool goes_on = searched_.found.total() > 0;
  if (splits && !goes_on && std::isfinite(record.changes.back())) solids_.linearise_at(ctx, v_.data());
  if (!is_refined) end_nodal(ctx, system, splits);
  record.colours = admm.colours();
  system.take_colours(ctx, admm.colour());
  record.message.clear();
  if (goes_on) return false;
  if (splits) before_.residual = std::numeric_limits<double>::infinity();  // of another linearisation
  if (!is_refined) refine_nodal(ctx, system, params);
  return is_small;
}

/// The system has the impulses of the last projection, and the solids A in place of A + W.
template <int D>
void Coupling::end_nodal(Context& ctx, ContactSystem<D>& system, bool splits) {
  if (!splits) solids_.remove_weights(ctx);
  std::get<NodalAdmm<D>>(admm_).impulses(ctx, system.impulses());
  system.keep_impulses(ctx);
  take_impulses(ctx, system);
}

/// The residual of the step if the iteration ended here. go_on_nodal takes it up again.
template <int D>
double Coupling::check_nodal(Context& ctx, ContactSystem<D>& system, const Params& params) {
  copy(ctx, v_last_.data(), v_.data(), v_.size());
  end_nodal(ctx, system, false);
  return refine_nodal(ctx, system, params);
}

template <int D>
void Coupling::go_on_nodal(Context& ctx, ContactSystem<D>& system) {
  copy(ctx, v_.data(), v_last_.data(), v_.size());
  move_to(ctx, system, v_free_.data(), nullptr, nullptr);
  solids_.add_weights(ctx, node_weight_.data(), true);
}

bool Coupling::search_is_due(const Params& params, int iterations, bool ends) {
  if (params.admm_search_every == 0) return false;
  return ends ? searched_.at_end++ < kMostFinalSearches : iterations % params.admm_search_every == 0;
}

/// Along p and the motion of rigid bodies with the present impulses. Contacts of the problem are not found
/// again, as p keeps them apart.
template <int D>
bool Coupling::search(Context& ctx, ContactSystem<D>& system, DeviceBodies& bodies, double dt) {
  NodalAdmm<D>& admm = std::get<NodalAdmm<D>>(admm_);
  admm.feasible(ctx, solids_.v.data());
  admm.impulses(ctx, system.impulses());
  take_velocities(ctx, system, bodies);
  searched_.found = guard_.find(ctx, guard_input(dt));
  solids_.return_to_start(ctx);
  return searched_.found.total() > 0;
}

/// v of (A + W) v = f + `pull`. `before`: the pull that v belongs to, null: by the residual of v. Whether it
/// took the difference of both.
bool Coupling::follow_pull(Context& ctx, const Vec3* before, const Vec3* pull) {
  const Span span(ctx, "elastic solve");
  const StageClock clock;
  if (before == nullptr || !solids_.follow(ctx, before, pull, v_.data())) {
    solve_solids(ctx, pull, v_.data(), kPcgShare, 0);
    return false;
  }
  ++done_.pcg_iterations;
  done_.pcg_stop = PcgStop::converged;
  done_.linear_seconds += clock.seconds_since_start();
  return true;
}

/// The impulses found, or those of the start (`before_`) where they are worse, with precise velocities. Those
/// of another law are kept in any case, so that a step shows that law. Returns the residual.
template <int D>
double Coupling::refine_nodal(Context& ctx, ContactSystem<D>& system, const Params& params) {
  keep(ctx, system, std::numeric_limits<double>::infinity(), best_);
  const double residual = refine(ctx, system, params);
  if (has_other_law(params) && std::isfinite(residual)) {
    keep(ctx, system, residual, refined_);
  } else if (!(residual <= before_.residual)) {
    std::swap(best_, before_);
    refine(ctx, system, params);
  }
  return residual;
}

bool Coupling::splits_rods(const Params& params) const {
  return params.coupling == SolidCoupling::nodal_admm && params.nodal_integrator == NodalIntegrator::admm &&
         solids_.can_split();
}

bool Coupling::has_other_law(const Params& params) {
  return params.coupling == SolidCoupling::nodal_admm ? params.nodal_projection == ProjectionRule::positions
                                                      : params.ica_cone == IcaCone::facets;
}

template double Coupling::refine_nodal(Context&, ContactSystem<3>&, const Params&);
template double Coupling::refine_nodal(Context&, ContactSystem<4>&, const Params&);
template double Coupling::refine_nodal(Context&, ContactSystem<5>&, const Params&);
template bool Coupling::solve_nodal(Context&, ContactSystem<3>&, DeviceBodies&, const LabParams&,
                                    const Params&, ContactSolveRecord&);
template bool Coupling::solve_nodal(Context&, ContactSystem<4>&, DeviceBodies&, const LabParams&,
                                    const Params&, ContactSolveRecord&);
template bool Coupling::solve_nodal(Context&, ContactSystem<5>&, DeviceBodies&, const LabParams&,
                                    const Params&, ContactSolveRecord&);

}  // namespace stickslip::STICKSLIP_BACKEND
