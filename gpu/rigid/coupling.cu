#include "gpu/rigid/coupling.cuh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/trace.h"
#include "gpu/linear/sparse_cholesky.h"
#include "gpu/model/lattice.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

// Cloth at rest over edges (box-cone) takes 200 to 300 rounds for a tolerance of 1e-3.
constexpr int kRounds = 400;
// Of PCG in a round: residual of a correction relative to the correction. The next round takes up what the
// last one left: kShare times the tolerance of the contact problem, between the two.
constexpr double kFineTolerance = 1e-3, kRoughTolerance = 0.2, kShare = 200;
// Velocities of a round are not precise. Where the residual is kEnough times the tolerance, they are computed
// to the precision of a step. If the residual then exceeds the tolerance, rounds go on with kSharper times
// the tolerance of PCG, at most kRefinements times.
constexpr double kEnough = 0.8, kSharper = 0.1;
constexpr int kRefinements = 3;
constexpr int kManifoldChecks = 2;    // check_interval of manifold_gs in a round: rounds need few iterations
constexpr double kBodiesShare = 0.3;  // share of the tolerance for the problem between bodies
// A round has diverged when its impulses give the particles velocities kRunaway times those of the problem
// (at that size rounding dominates: a load can be a million times heavier than its particles), or when its
// residual exceeds kHopeless.
constexpr double kRunaway = 1e9, kHopeless = 1e4;
// It has also diverged when its impulses add energy at kGain times the speeds of the problem; rounds
// with momentum overshoot.
constexpr double kGain = 100;
constexpr int kSetbacks = 6;                     // largest number of diverged rounds
constexpr std::size_t kMostFactoredRows = 6000;  // of coupling = factor: the dense W takes 0.3 GB
constexpr int kFactoredSolves = 4;
// Problems of at most so many rows continue with a factorisation when rounds stall, with so many times the
// iterations of a round.
constexpr std::size_t kMostStalledRows = 900;
constexpr int kStalledIterations = 20;
constexpr double kLeastBudget = 1e-6;  // [s]

const char* name_of(SolidCoupling coupling) {
  constexpr const char* kNames[] = {"rounds", "factor", "nodal_admm", "ica"};
  return kNames[static_cast<int>(coupling)];
}

/// What a solve with Coupling::has_other_law says where the residual, which is Coulomb's, is large.
std::string other_law(const Params& params) {
  if (params.coupling == SolidCoupling::nodal_admm)
    return " ended with nodal_projection = positions: contacts that act on each other then break the law";
  return " ended with friction cones of " + std::to_string(params.ica_facets) +
         " facets, or early (admm_tolerance); the residual is that of Coulomb's law";
}

/// Makes every contact its own predecessor: for problems that are rebuilt within a step.
void expect_same_contacts(Context& ctx, Buffer<RigidContact>& contacts) {
  RigidContact* contact = contacts.data();
  launch(ctx, contacts.size(),
         [=] SS_LAMBDA(std::size_t c) { contact[c].previous = static_cast<std::int32_t>(c); });
}

/// The impulse on each touched point, without torsion; `world`: of the contacts, on side a.
void share_impulses(Context& ctx, std::size_t points, const PointSides& sides, const Vec<double, 4>* world,
                    Vec3d* impulse) {
  const PointSides of = sides;
  launch(ctx, points, [=] SS_LAMBDA(std::size_t k) {
    const std::size_t c = of.contact(k);
    for (int i = 0; i < 3; ++i) impulse[k][i] = of.sign(k) * world[c][i];
  });
}

/// NodalPoints that a touched point may need: up to three nodes, which may follow four or eight others each.
int pieces_of_points(const Model& model) {
  int leaders = 0;
  for (const Object& object : model.objects)
    if (object.is_embedded())
      for (const LatticeFollower& f : followers(model, object))
        leaders = std::max(leaders, leader_count(f.controls));
  return std::max(1, (3 * leaders + 3) / 4);
}

/// The sums of one point.
struct StepOfPoint {
  const SurfacePoint* at;
  const BodyInverse* inverse;  // of the particles
  const Vec3d *now, *start, *last;
  const Vec3 *v, *v_start;

  SS_HD StepSums operator()(std::int32_t k) const {
    const Vec3d dr = now[k] - start[k];
    Vec3d dv{0, 0, 0};
    for (int c = 0; c < 3; ++c)
      if (const std::int32_t node = at[k].nodes[c]; node >= 0)
        dv += at[k].weights[c] * (v[node] - v_start[node]).cast<double>();
    const double mobility = inverse[k].mass;
    return {dot(dr, dv), mobility * norm2(dr), mobility * dot(dr, now[k] - last[k]),
            mobility * mobility * norm2(now[k])};
  }
};

/// Jacobi sweeps of scenes with rigid bodies converge better without cores, which join many contacts.
/// Problems with torsion have none.
CoreUse core_use(int rows, std::string_view solver) {
  if (rows > 3) return CoreUse::none;
  return solver == "prox_jacobi" || solver == "pgs_jacobi" ? CoreUse::needed : CoreUse::all;
}

void set_difference(Context& ctx, std::size_t n, const Vec3d* a, const Vec3d* b, Vec3d* out) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t k) { out[k] = a[k] - b[k]; });
}

/// start = now + share (now - last), last = now.
template <class T>
struct Extrapolate {
  T share;
  const Vec<T, 3>* now;
  Vec<T, 3>*start, *last;

  SS_HD void operator()(std::size_t i) const {
    start[i] = share > 0 ? now[i] + share * (now[i] - last[i]) : now[i];
    last[i] = now[i];
  }
};

}  // namespace

void Coupling::load(Context& ctx, const Model& model) {
  solids_.load(ctx, model);
  if (!active()) return;
  touching_.load(ctx, solids_.model(), solids_.exempt_bodies());
  point_pieces_ = pieces_of_points(solids_.model());
  particles_.load(ctx, solids_, model);
  for (Buffer<Wrench>* b : {&wrench_, &wrench_start_, &wrench_last_})
    b->resize(ctx, particles_.frames().size());
  guard_.load(ctx, solids_.model(), solids_.exempt_bodies());
  for (Buffer<Vec3>* b :
       {&v_, &v_start_, &v_last_, &v_free_, &node_impulse_, &best_.v, &before_.v, &refined_.v, &aside_.v})
    b->resize(ctx, solids_.size());
  totals_.resize(ctx, 1);
  sums_.resize(ctx, particles_.objects());
  core_work_.resize(ctx, particles_.objects());
  shares_.load(ctx, particles_.objects());
  touching_.forget();
}

void Coupling::forget() {
  touching_.forget();
  guard_.forget();
  forgotten_ = true;
}

void Coupling::find_contacts(Context& ctx, const RigidContacts& between_bodies, const BodyMotionView& motion,
                             const TouchedSurfaces::Options& options, Keeping keeping) {
  shapes_ = between_bodies.shapes();
  motion_ = motion;
  bodies_ = shapes_.bodies;
  begin_guard(ctx, options.margin, keeping);
  touching_.find(ctx,
                 {&solids_.device(), solids_.x.data(), solids_.v.data(), shapes_, motion, bodies_, first_},
                 options);
  join_contacts(ctx, between_bodies);
  if (keeping != Keeping::nothing) keep_gaps(ctx, static_cast<std::size_t>(first_));
  has_guess_ = false;
}

void Coupling::join_contacts(Context& ctx, const RigidContacts& between_bodies) {
  first_ = static_cast<std::int32_t>(between_bodies.count());
  contacts_.resize(ctx, between_bodies.count() + touching_.count());
  copy(ctx, contacts_.data(), between_bodies.contacts(), between_bodies.count());
  copy(ctx, contacts_.data() + first_, touching_.contacts(), touching_.count());
}

/// R of the system's impulses, after keep_impulses.
template <int D>
void Coupling::take_impulses(Context& ctx, ContactSystem<D>& system) {
  share_impulses(ctx, impulse_.size(), touching_.sides(),
                 system.world_impulses() + system.joint_blocks() + first_, impulse_.data());
  particles_.frames().take_impulses(ctx, system.W().body_rows(), system.impulses(), wrench_.data());
}

/// Step of the last round, from R_0 to R: dR = R - R_0. One host read.
Coupling::RoundStep Coupling::last_step(Context& ctx) {
  particles_.sum_by_object(ctx,
                           StepOfPoint{touching_.points(), particles_.inverse(), impulse_.data(),
                                       start_.data(), last_.data(), v_.data(), v_start_.data()},
                           sums_.data());
  step_.resize(ctx, impulse_.size());
  set_difference(ctx, impulse_.size(), impulse_.data(), start_.data(), step_.data());
  particles_.core_work(ctx, step_.data(), core_work_.data());
  particles_.frames().add_sums(ctx, {wrench_.data(), wrench_start_.data(), wrench_last_.data()}, v_.data(),
                               v_start_.data(), shares_.shares(), sums_.data(), core_work_.data());
  shares_.measure(ctx, sums_.data(), core_work_.data(), totals_.data());
  const StepTotals total = read_back(ctx, totals_.data());
  return {total.steepness, total.sums[2] < 0, std::sqrt(total.sums[3])};
}

/// Starts the next round further along this round's step by `share`; v is known there
/// too, as it is affine in R.
void Coupling::extrapolate(Context& ctx, double share) {
  launch(ctx, impulse_.size(), Extrapolate<double>{share, impulse_.data(), start_.data(), last_.data()});
  launch(ctx, 2 * wrench_.size(),
         Extrapolate<double>{share, reinterpret_cast<const Vec3d*>(wrench_.data()),
                             reinterpret_cast<Vec3d*>(wrench_start_.data()),
                             reinterpret_cast<Vec3d*>(wrench_last_.data())});
  launch(ctx, v_.size(),
         Extrapolate<Real>{static_cast<Real>(share), v_.data(), v_start_.data(), v_last_.data()});
}

/// The problem between bodies and particles; q is that without impulses, the reference of residuals.
template <int D>
void Coupling::build(Context& ctx, ContactSystem<D>& system, const StepConstraints& list) {
  particles_.move_free(ctx, touching_, v_free_.data(), nullptr, nullptr);
  list_ = list;
  if (particles_.frames().size() > 0) list_.joints = particles_.frames().joints();
  list_.cores = particles_.cores();
  system.build(ctx, particles_.all(), list_);
}

/// Moves q so that W r + q is the true u at the impulses r with `impulse` on the solids, whose velocities are
/// then v.
template <int D>
void Coupling::move_to(Context& ctx, ContactSystem<D>& system, const Vec3* v, const Vec3d* impulse,
                       const Wrench* wrench) {
  particles_.move_free(ctx, touching_, v, impulse, wrench);
  system.move_free(ctx, particles_.shift());
  system.move_points(ctx, list_, particles_.shift());
}

/// The residual of the coupled problem at the system's impulses R; `v` follows from them.
template <int D>
double Coupling::judge(Context& ctx, ContactSystem<D>& system, const Vec3* v) {
  move_to(ctx, system, v, impulse_.data(), wrench_.data());
  return system.residual(ctx);
}

/// One contact problem and one solve of the solids; returns the residual.
template <int D>
double Coupling::run_round(Context& ctx, ContactSystem<D>& system, std::string_view solver,
                           const LabParams& lab, ContactSolveRecord& record) {
  const Span span(ctx, "coupling round");
  move_to(ctx, system, v_start_.data(), start_.data(), wrench_start_.data());
  const long before = record.iterations;
  if (solver == "manifold_gs") system.solve_built(ctx, particles_.all(), list_, lab, record);
  else system.solve(ctx, particles_.all(), solver, lab, record);
  record.iterations += before;
  take_impulses(ctx, system);
  copy(ctx, v_.data(), v_start_.data(), v_.size());
  solve_solids(ctx, Impulses::current, v_.data(), precision_);
  ++done_.rounds;
  return judge(ctx, system, v_.data());
}

/// Problems that are built later in the step start from impulses of this one, not of the step before.
template <int D>
void Coupling::keep_guess(Context& ctx, const ContactSystem<D>& system) {
  if (has_guess_) return;
  has_guess_ = true;
  guess_.resize(ctx, D * system.blocks());
  copy(ctx, guess_.data(), reinterpret_cast<const double*>(system.guess()), guess_.size());
}

/// Zero impulses and the velocities without them: the fallback when every iterate is worse.
template <int D>
void Coupling::start_best(Context& ctx, ContactSystem<D>& system) {
  best_.residual = refined_.residual = std::numeric_limits<double>::infinity();
  best_.impulses.resize(ctx, D * system.blocks());
  fill(ctx, best_.impulses.data(), best_.impulses.size(), 0.0);
  copy(ctx, best_.v.data(), v_free_.data(), v_free_.size());
}

/// Restores the system's impulses, R and v.
template <int D>
void Coupling::return_to(Context& ctx, ContactSystem<D>& system, const Iterate& iterate) {
  copy(ctx, reinterpret_cast<double*>(system.impulses()), iterate.impulses.data(), iterate.impulses.size());
  system.keep_impulses(ctx);
  take_impulses(ctx, system);
  copy(ctx, v_.data(), iterate.v.data(), v_.size());
}

template <int D>
void Coupling::keep(Context& ctx, ContactSystem<D>& system, double residual, Iterate& iterate) {
  iterate.residual = residual;
  iterate.impulses.resize(ctx, D * system.blocks());
  copy(ctx, iterate.impulses.data(), reinterpret_cast<const double*>(system.impulses()),
       iterate.impulses.size());
  copy(ctx, iterate.v.data(), v_.data(), v_.size());
  iterate.pcg_stop = done_.pcg_stop;
}

/// The best round's velocities to the precision of a step, with the momentum of the impulses, and the
/// residual there. Later rounds count as better than this one only if they are so at the same precision.
template <int D>
double Coupling::refine(Context& ctx, ContactSystem<D>& system, const Params& params) {
  return_to(ctx, system, best_);
  best_.residual = std::numeric_limits<double>::infinity();
  solve_precisely(ctx, params.pcg_tolerance);
  const double residual = judge(ctx, system, v_.data());
  if (residual < refined_.residual || !std::isfinite(refined_.residual))
    keep(ctx, system, residual, refined_);
  return residual;
}

template <int D>
CouplingRecord Coupling::solve(Context& ctx, ContactSystem<D>& system, DeviceBodies& bodies,
                               const StepConstraints& list, std::string_view solver, const LabParams& lab,
                               const Params& params, ContactSolveRecord& record) {
  done_ = {};
  precision_ = std::clamp(kShare * lab.tolerance, kFineTolerance, kRoughTolerance);
  const StageClock clock;
  if (std::exchange(forgotten_, false)) shares_.reset(ctx);
  for (Buffer<Vec3d>* b : {&impulse_, &start_, &last_}) b->resize(ctx, touching_.point_count());
  const std::size_t rows = D * (list.joint_blocks + list.contact_count);
  const std::string why_rounds = why_no_other(params, dual_needs(params, solver, lab), rows);
  const SolidCoupling coupling = why_rounds.empty() ? params.coupling : SolidCoupling::rounds;
  particles_.stage(ctx, bodies, solids_, touching_, contacts_.data() + first_,
                   {list.joints, list.joint_count}, shares_.shares(),
                   coupling == SolidCoupling::rounds ? core_use(D, solver) : CoreUse::none);
  solve_free(ctx, params);
  build(ctx, system, list);
  keep_guess(ctx, system);
  start_best(ctx, system);
  system.keep_impulses(ctx);
  expect_same_contacts(ctx, contacts_);
  take_impulses(ctx, system);
  // Interrupted iterations go on from their v, which is not yet that of the impulses.
  if (searched_.iterations == 0) {
    solve_start(ctx, kFineTolerance);
    const double start = judge(ctx, system, v_.data());
    if (system.gain(ctx) <= system.W().norm_q() && start < best_.residual) keep(ctx, system, start, best_);
  }
  LabParams left = lab;
  if (lab.time_budget > 0)
    left.time_budget = std::max(kLeastBudget, lab.time_budget - clock.seconds_since_start());
  bool nodal_ended = false;
  if (coupling == SolidCoupling::factor)
    solve_factored(ctx, system, solver, left, params.dual_pcg_tolerance, record);
  else if (coupling == SolidCoupling::nodal_admm)
    nodal_ended = solve_nodal(ctx, system, bodies, left, params, record);
  else if (coupling == SolidCoupling::ica)
    nodal_ended = solve_by_anticipation(ctx, system, left, params, record);
  else if (run_rounds(ctx, system, list, solver, left, params, record) && rows <= kMostStalledRows &&
           why_no_factor({}, rows).empty())
    continue_factored(ctx, system, bodies, list, solver, lab, clock, record);
  if (is_interrupted()) return done_;
  if (!why_rounds.empty())
    record.message =
        why_rounds + ": rounds took its place" + (record.message.empty() ? "" : "; ") + record.message;
  else if (params.nodal_integrator == NodalIntegrator::admm && coupling == SolidCoupling::nodal_admm &&
           !solids_.can_split())
    record.message =
        "nodal_integrator = admm takes open rods without springs, and no other elastic object: "
        "newton took its place" +
        std::string(record.message.empty() ? "" : "; ") + record.message;
  finish(ctx, system, bodies, params, lab.tolerance, record);
  record.splitting_unfinished = splits_rods(params) && !nodal_ended;
  // Another law is a reason also where iterations ran out.
  if ((nodal_ended || (why_rounds.empty() && has_other_law(params))) && record.residual > lab.tolerance)
    record.message = std::string(name_of(coupling)) +
                     (has_other_law(params)
                          ? other_law(params)
                          : " ended before contact.tolerance was reached: take a smaller admm_tolerance");
  return done_;
}

/// True if all rounds, or setbacks, were spent without a solution.
template <int D>
bool Coupling::run_rounds(Context& ctx, ContactSystem<D>& system, const StepConstraints& list,
                          std::string_view solver, const LabParams& lab, const Params& params,
                          ContactSolveRecord& record) {
  const StageClock clock;
  StepConstraints again = list;
  again.warm_start = true;
  LabParams inner = lab;
  inner.tolerance = kBodiesShare * lab.tolerance;
  double momentum = 1;
  extrapolate(ctx, 0);
  int setbacks = 0, refinements = 0;
  bool stalled = false;
  std::string fallback;
  if (solver == "manifold_gs" && inner.check_interval == 0) inner.check_interval = kManifoldChecks;
  const auto out_of_time = [&] {
    const double spent = clock.seconds_since_start();
    if (lab.time_budget > 0) inner.time_budget = lab.time_budget - spent;
    return lab.time_budget > 0 && spent >= lab.time_budget;
  };
  for (;;) {
    const bool is_good = best_.residual <= kEnough * lab.tolerance;
    if (is_good && (refine(ctx, system, params) <= lab.tolerance || refinements++ == kRefinements)) break;
    stalled = done_.rounds >= kRounds || setbacks >= kSetbacks;
    if (stalled || out_of_time()) break;
    if (is_good) {
      precision_ *= kSharper;
      momentum = 1;
      extrapolate(ctx, 0);
    }
    const double residual = run_round(ctx, system, solver, inner, record);
    if (solver == "manifold_gs" && !record.message.empty()) {
      fallback = record.message;
      solver = "nsgs";
    }
    const RoundStep step = last_step(ctx);
    const double q = system.W().norm_q(), gain = system.gain(ctx);
    // Too heavy particles also add energy; then steepness > 1.
    const bool gains = !(gain <= kGain * q) && !(step.steepness > 1);
    const bool diverged =
        gains || !(residual <= kHopeless) || !std::isfinite(step.steepness) || !(step.push <= kRunaway * q);
    if (diverged) {
      ++setbacks;
      inner.omega = std::min(inner.omega, 1.0);  // no over-relaxation
      if (solver == "nsgs") {
        // The particles may be too heavy by more than the steps so far indicate.
        shares_.divide(ctx, 4);
        particles_.weigh(ctx, shares_.shares());
      } else {
        fallback = std::string(solver) + " diverges: nsgs took its place";
        solver = "nsgs";
      }
      return_to(ctx, system, best_);
      build(ctx, system, again);
      momentum = 1;
      extrapolate(ctx, 0);
      continue;
    }
    if (gain <= q && residual < best_.residual) keep(ctx, system, residual, best_);
    // The first round also corrects the velocities that it starts from: their change says nothing of the
    // masses.
    const bool is_first = done_.rounds == 1;
    if (!is_first) shares_.keep_largest(ctx);
    double share = 0;
    if (step.steepness > 1 && !is_first) {
      shares_.lighten(ctx);
      particles_.weigh(ctx, shares_.shares());
      build(ctx, system, again);
      momentum = 1;
    } else if (step.turned) {
      momentum = 1;
    } else {
      const double next = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
      share = (momentum - 1) / next;
      momentum = next;
    }
    extrapolate(ctx, share);
  }
  shares_.raise(ctx);
  if (!fallback.empty()) record.message = fallback;
  return stalled;
}

/// Why rounds have to take the place of the chosen coupling; empty: they do not.
std::string Coupling::why_no_other(const Params& params, const DualNeeds& needs, std::size_t rows) const {
  if (params.coupling != SolidCoupling::factor) return {};
  const std::string why = why_no_factor(needs, rows);
  return why.empty() ? why : std::string("coupling = ") + name_of(params.coupling) + " " + why;
}

Coupling::DualNeeds Coupling::dual_needs(const Params& params, std::string_view solver,
                                         const LabParams& lab) {
  const bool by_pcg = params.dual_pcg_tolerance > 0;
  return {!(by_pcg && takes_products(solver, lab)), !by_pcg};
}

/// Empty: a factorisation, or PCG in its place, takes this problem.
std::string Coupling::why_no_factor(const DualNeeds& needs, std::size_t rows) const {
  if (needs.factors && !has_cholesky()) return "needs Eigen, which this build lacks";
  if (needs.entries && rows > kMostFactoredRows)
    return "takes " + std::to_string(kMostFactoredRows) + " rows, not " + std::to_string(rows);
  if (needs.factors && solids_.size() > kMostCholeskyNodes)
    return "takes " + std::to_string(kMostCholeskyNodes) + " nodes, not " + std::to_string(solids_.size());
  return {};
}

/// The impulses by the exact W; those of the start stay where they are better. The solver measures its
/// residual with the masses in W, the judge with those of the particles: what is too large for the judge is
/// solved again from there, more precisely.
template <int D>
void Coupling::solve_factored(Context& ctx, ContactSystem<D>& system, std::string_view solver,
                              const LabParams& lab, double pcg_tolerance, ContactSolveRecord& record) {
  const StageClock clock;
  const ContactProblem between_bodies = system.problem(ctx, particles_.all());
  const ContactProblem exact = coupled_problem(between_bodies, particles_.bodies(), solid_system(ctx));
  LabParams left = lab;
  left.tolerance = kBodiesShare * lab.tolerance;
  int used = 0;
  for (int repeat = 0; repeat < kFactoredSolves; ++repeat) {
    left.max_iterations = lab.max_iterations - used;
    if (lab.time_budget > 0)
      left.time_budget = std::max(kLeastBudget, lab.time_budget - clock.seconds_since_start());
    system.solve_as(ctx, {exact, pcg_tolerance, repeat > 0}, solver, left, record);
    record.iterations = used += record.iterations;
    take_impulses(ctx, system);
    solve_solids(ctx, Impulses::current, v_.data(), kFineTolerance);
    const double residual = judge(ctx, system, v_.data());
    if (residual < best_.residual) keep(ctx, system, residual, best_);
    if (!record.message.empty() || used >= lab.max_iterations ||
        !(residual > kEnough * lab.tolerance && residual < kHopeless))
      break;
    if (lab.time_budget > 0 && clock.seconds_since_start() >= lab.time_budget) break;
    left.tolerance *= std::min(kBodiesShare, kBodiesShare * lab.tolerance / residual);
  }
  done_.dual += system.inverse_report();
}

/// As with coupling = factor, from the best round: a soft object may need more rounds than a step has. Its
/// particles have no cores, so residuals are those of other particles, and are measured again.
template <int D>
void Coupling::continue_factored(Context& ctx, ContactSystem<D>& system, DeviceBodies& bodies,
                                 const StepConstraints& list, std::string_view solver, const LabParams& lab,
                                 const StageClock& clock, ContactSolveRecord& record) {
  LabParams left = lab;
  left.max_iterations = std::min(lab.max_iterations, 100000) * kStalledIterations;
  if (lab.time_budget > 0) left.time_budget = lab.time_budget - clock.seconds_since_start();
  if (lab.time_budget > 0 && !(left.time_budget > 0)) return;
  return_to(ctx, system, refined_.residual < best_.residual ? refined_ : best_);
  expect_same_contacts(ctx, contacts_);
  particles_.stage(ctx, bodies, solids_, touching_, contacts_.data() + first_,
                   {list.joints, list.joint_count}, shares_.shares(), CoreUse::none);
  StepConstraints again = list;
  again.warm_start = true;
  build(ctx, system, again);
  start_best(ctx, system);
  take_impulses(ctx, system);
  solve_solids(ctx, Impulses::current, v_.data(), kFineTolerance);
  keep(ctx, system, judge(ctx, system, v_.data()), best_);
  const auto before = record.iterations;
  const std::string message = std::exchange(record.message, {});
  solve_factored(ctx, system, solver, left, 0, record);
  record.iterations += before;
  record.message = message + (message.empty() ? "" : "; ") +
                   "rounds stalled: a factorisation took their place" + (record.message.empty() ? "" : "; ") +
                   record.message;
}

/// Returns impulses and velocities of the best round, the solids' velocities to the requested precision.
template <int D>
void Coupling::finish(Context& ctx, ContactSystem<D>& system, DeviceBodies& bodies, const Params& params,
                      double tolerance, ContactSolveRecord& record) {
  const bool is_refined = std::isfinite(refined_.residual);
  if (!is_refined || best_.residual < refined_.residual) refine(ctx, system, params);
  return_to(ctx, system, refined_);
  impulse_at_nodes(ctx);
  done_.pcg_stop = refined_.pcg_stop;
  copy(ctx, solids_.v.data(), v_.data(), v_.size());
  record.tolerance = tolerance;
  record.residual = judge(ctx, system, solids_.v.data());
  record.scale = system.W().norm_q();
  take_velocities(ctx, system, bodies);
  particles_.settle(ctx, touching_, solids_.v.data(), v_free_.data());
}

/// The velocities of the bodies with the system's impulses.
template <int D>
void Coupling::take_velocities(Context& ctx, ContactSystem<D>& system, DeviceBodies& bodies) {
  DeviceBodies& all = particles_.all();
  system.velocities(ctx, all);
  copy(ctx, bodies.velocity.data(), all.velocity.data(), bodies.size());
  copy(ctx, bodies.spin.data(), all.spin.data(), bodies.size());
}

template <int D>
void Coupling::bring_back(Context& ctx, ContactSystem<D>& system, DeviceBodies& bodies,
                          const StepConstraints& list, const Params& params, ContactSolveRecord& record) {
  build(ctx, system, list);
  std::swap(refined_, aside_);
  best_.residual = std::numeric_limits<double>::infinity();
  finish(ctx, system, bodies, params, record.tolerance, record);
}

template CouplingRecord Coupling::solve(Context&, ContactSystem<3>&, DeviceBodies&, const StepConstraints&,
                                        std::string_view, const LabParams&, const Params&,
                                        ContactSolveRecord&);
template CouplingRecord Coupling::solve(Context&, ContactSystem<4>&, DeviceBodies&, const StepConstraints&,
                                        std::string_view, const LabParams&, const Params&,
                                        ContactSolveRecord&);
template CouplingRecord Coupling::solve(Context&, ContactSystem<5>&, DeviceBodies&, const StepConstraints&,
                                        std::string_view, const LabParams&, const Params&,
                                        ContactSolveRecord&);
template void Coupling::bring_back(Context&, ContactSystem<3>&, DeviceBodies&, const StepConstraints&,
                                   const Params&, ContactSolveRecord&);
template void Coupling::bring_back(Context&, ContactSystem<4>&, DeviceBodies&, const StepConstraints&,
                                   const Params&, ContactSolveRecord&);
template void Coupling::bring_back(Context&, ContactSystem<5>&, DeviceBodies&, const StepConstraints&,
                                   const Params&, ContactSolveRecord&);
// For solve_nodal.
template void Coupling::take_velocities(Context&, ContactSystem<3>&, DeviceBodies&);
template void Coupling::take_velocities(Context&, ContactSystem<4>&, DeviceBodies&);
template void Coupling::take_velocities(Context&, ContactSystem<5>&, DeviceBodies&);
template void Coupling::move_to(Context&, ContactSystem<3>&, const Vec3*, const Vec3d*, const Wrench*);
template void Coupling::move_to(Context&, ContactSystem<4>&, const Vec3*, const Vec3d*, const Wrench*);
template void Coupling::move_to(Context&, ContactSystem<5>&, const Vec3*, const Vec3d*, const Wrench*);
template void Coupling::take_impulses(Context&, ContactSystem<3>&);
template void Coupling::take_impulses(Context&, ContactSystem<4>&);
template void Coupling::take_impulses(Context&, ContactSystem<5>&);
template double Coupling::refine(Context&, ContactSystem<3>&, const Params&);
template double Coupling::refine(Context&, ContactSystem<4>&, const Params&);
template double Coupling::refine(Context&, ContactSystem<5>&, const Params&);
template void Coupling::keep(Context&, ContactSystem<3>&, double, Iterate&);
template void Coupling::keep(Context&, ContactSystem<4>&, double, Iterate&);
template void Coupling::keep(Context&, ContactSystem<5>&, double, Iterate&);

}  // namespace stickslip::STICKSLIP_BACKEND
