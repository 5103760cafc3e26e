#include "gpu/contact_lab_backend.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <utility>

#include "gpu/dfcp/operator/spectrum.cuh"
#include "gpu/dfcp/problem/dynamics_inverse.h"
#include "gpu/dfcp/problem/rolling_rows.h"
#include "gpu/dfcp/solvers/infeasible.cuh"
#include "gpu/dfcp/solvers/solvers.cuh"
#include "gpu/rigid/manifold/manifold_lab.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// One loaded problem with blocks of D rows.
template <int D>
class LoadedProblem {
 public:
  LoadedProblem(Context& ctx, const ContactProblem& problem) : ctx_(ctx), problem_(problem) {
    std::vector<ContactLaw<D>> laws(problem.blocks());
    for (std::size_t c = 0; c < laws.size(); ++c) {
      for (int i = 0; i < D - 1; ++i) laws[c].mu[i] = problem.laws[c].mu[static_cast<std::size_t>(i)];
      laws[c].set = problem.laws[c].set;
      laws[c].flow = problem.laws[c].flow;
    }
    law_.upload(ctx, laws);
    r_.resize(ctx, problem.blocks());
  }

  SolveReport solve(std::string_view solver, const LabParams& params, const ContactLab::Options& options) {
    const ContactSolverInfo& info = *find_contact_solver(solver);
    // Heights are known where W is kept by bodies.
    const bool by_height =
        params.ordering == SweepOrder::height && std::ranges::find(info.groups, "sweep") != info.groups.end();
    build(params.storage, info.has(SolverTrait::bodies) || by_height);
    SolveReport report;
    report.solver = solver;
    if (params.warm_start && problem_.guess.size() == problem_.size()) upload_impulses(problem_.guess);
    else fill(ctx_, r_.data(), problem_.blocks(), Vec<double, D>::zero());
    colouring_.clear();
    Monitor<D> monitor(ctx_, W_, law_.data(),
                       {params.tolerance, params.max_iterations, params.time_budget, params.check_interval,
                        options.cancel, options.history, observer(options.iterates)});
    System<D> system{ctx_, W_, law_.data(), params, monitor, colouring_, r_.data()};
    // A start within the tolerance needs no solver.
    monitor.check(r_.data());
    if (by_height && !W_.factored())
      monitor.stop(
          SolveEnd::refused,
          "ordering = height needs a problem that is given by bodies, and storage = auto or factored");
    else if (!monitor.converged()) run(solver, system);
    ctx_.synchronize();
    report.seconds = monitor.seconds();
    fill_report(report, monitor);
    explain_failure(report, system);
    explain_asymmetry(report);
    return report;
  }

  Judgement judge(const std::vector<double>& r) {
    if (!built_) build(DelassusStorage::automatic, false);
    upload_impulses(r);
    return judge_fully(ctx_, W_, law_.data(), r_.data(), nullptr);
  }

 private:
  using Observer = decltype(Monitor<D>::Limits::observe);
  Observer observer(const IterateSink* sink) {
    if (sink == nullptr) return {};
    return [this, sink](long iteration, double residual, const Vec<double, D>* r, const Vec<double, D>* u) {
      if (sink->wants(iteration))
        sink->take({iteration, residual, without_cohesion(problem_, flat(r)), flat(u)});
    };
  }

  /// Uploads impulses; solvers measure them from the apices of cohesive cones.
  void upload_impulses(const std::vector<double>& r) {
    const std::vector<double> shifted = with_cohesion(problem_, r);
    copy_to_device(ctx_, reinterpret_cast<double*>(r_.data()), shifted.data(), shifted.size());
  }

  void run(std::string_view solver, System<D>& system) {
    if (!find_contact_solver(solver)->has(SolverTrait::manifolds)) {
      run_solver(solver, system);
      return;
    }
    if constexpr (D == 3) manifolds_.solve(system, problem_);
    else
      system.monitor.stop(SolveEnd::refused, D == kRollingRows
                                                 ? rolling_refusal()
                                                 : std::string(solver) + " refuses: blocks have torsion");
  }

  /// `by_bodies`: what `automatic` means for a problem that is given by bodies.
  void build(DelassusStorage storage, bool by_bodies) {
    // Once bodies have many contacts, the assembled W costs more than twice its factors, and applying
    // the factors costs no more.
    constexpr std::size_t kManyBlocks = 50000;
    const bool factored =
        storage == DelassusStorage::factored ||
        (storage == DelassusStorage::automatic &&
         ((by_bodies && problem_.form == ContactProblem::Form::bodies) || problem_.blocks() >= kManyBlocks));
    if (built_ && factored == asked_factored_) return;
    built_ = false;  // stays false if the next line throws
    const auto begin = std::chrono::steady_clock::now();
    W_.build(ctx_, problem_, factored);
    ctx_.synchronize();
    setup_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    built_ = true;
    asked_factored_ = factored;
  }

  void fill_report(SolveReport& report, Monitor<D>& monitor) {
    report.end = monitor.end();
    report.message = monitor.message();
    report.iterations = monitor.iterations();
    report.setup_seconds = setup_seconds_;
    report.history = monitor.history();
    report.judgement = judge_fully(ctx_, W_, law_.data(), monitor.best(), &report.errors);
    // Some solvers update u by differences; the report counts u computed from r.
    report.converged = report.judgement.residual <= monitor.limits().tolerance * kRounding;
    if (report.converged) report.end = SolveEnd::converged;
    else if (report.end == SolveEnd::converged) report.end = SolveEnd::stalled;
    report.contacts = problem_.contacts();
    report.blocks = problem_.blocks();
    report.dofs = problem_.moving_dofs();
    report.nu =
        report.dofs == 0 ? 0 : 3.0 * static_cast<double>(report.contacts) / static_cast<double>(report.dofs);
    if (colouring_.built()) report.colouring = colouring_.report();
    report.r = without_cohesion(problem_, flat(monitor.best()));
    check_equations(report, monitor.limits().tolerance);
    W_.apply(ctx_, monitor.best(), r_.data(), true);
    report.u = flat(r_.data());
    if (!spectrum_) spectrum_ = estimate_spectrum(ctx_, W_);
    report.lambda_max = spectrum_->largest;
    report.lambda_min = spectrum_->smallest;
  }

  /// A solution must also satisfy the equations of motion of the given problem.
  void check_equations(SolveReport& report, double tolerance) {
    if (problem_.form != ContactProblem::Form::global) return;
    if (!inverse_) inverse_ = std::make_unique<DynamicsInverse>(problem_.A);
    const std::vector<double> v = inverse_->solve(momenta(problem_, report.r));
    report.equation_residual = equation_residual(problem_, v, report.r);
    if (!report.converged || report.equation_residual <= std::max(tolerance, kEquations)) return;
    report.converged = false;
    report.end = SolveEnd::stalled;
    char text[160];
    std::snprintf(text, sizeof text,
                  "the contact law holds, but |A v - H' r - f| / |f| is %.2g: A is too badly conditioned",
                  report.equation_residual);
    report.message = text;
  }

  /// Solvers that minimise r' W r / 2 + q . r: that function does not exist where W is not symmetric.
  void explain_asymmetry(SolveReport& report) {
    const bool global = problem_.form == ContactProblem::Form::global;
    if (report.converged || report.end == SolveEnd::infeasible || report.end == SolveEnd::cancelled ||
        report.end == SolveEnd::refused || !minimises(report.solver) ||
        (!global && problem_.form != ContactProblem::Form::local))
      return;
    const double relative = asymmetry_of(global ? problem_.A : problem_.W).relative;
    if (relative <= kNoticed) return;
    char text[160];
    std::snprintf(text, sizeof text, "%s%s is not symmetric (by %.2g), which this solver takes for granted",
                  report.message.empty() ? "" : "; ", global ? "A" : "W", relative);
    report.message += text;
  }
  static bool minimises(std::string_view solver) {
    return solver == "spg" || solver == "apgd" || solver == "admm";
  }

  /// Checks whether the problem has no solution. Not part of the solve's time.
  void explain_failure(SolveReport& report, System<D>& system) {
    if (report.converged || report.end == SolveEnd::cancelled || report.end == SolveEnd::refused) return;
    if (system.monitor.converged()) return;  // the law holds: only the equations of motion fail
    const Infeasibility seen = certify_infeasible(system, system.monitor.best());
    if (!seen.found) return;
    report.end = SolveEnd::infeasible;
    report.message = seen.message;
  }

  std::vector<double> flat(const Vec<double, D>* x) {
    std::vector<double> out(problem_.size());
    copy_to_host(ctx_, out.data(), reinterpret_cast<const double*>(x), out.size());
    return out;
  }

  static constexpr double kRounding = 1 + 1e-6;  // u computed in another way
  static constexpr double kEquations = 1e-10;    // of the equations of motion: rounding
  static constexpr double kNoticed = 1e-6;       // asymmetry that may have an effect

  Context& ctx_;
  const ContactProblem& problem_;
  Delassus<D> W_;
  Buffer<ContactLaw<D>> law_;
  Buffer<Vec<double, D>> r_;
  Colouring colouring_;
  ManifoldLab manifolds_;
  std::optional<Spectrum> spectrum_;
  std::unique_ptr<DynamicsInverse> inverse_;  // of a global problem
  bool built_ = false, asked_factored_ = false;
  double setup_seconds_ = 0;
};

class BackendContactLab final : public ContactLab {
 public:
  explicit BackendContactLab(int threads) : ctx_(threads) {}

  void load(const ContactProblem& problem) override {
    check(problem);
    three_.reset();
    four_.reset();
    five_.reset();
    problem_ = problem;
    if (problem_.dim == 3) three_ = std::make_unique<LoadedProblem<3>>(ctx_, problem_);
    else if (problem_.dim == 4) four_ = std::make_unique<LoadedProblem<4>>(ctx_, problem_);
    else load_rolling();
  }

  SolveReport solve(std::string_view solver, const LabParams& params, const Options& options) override {
    require_problem();
    require_solver(solver);
    if (three_) return three_->solve(solver, params, options);
    if (four_) return four_->solve(solver, params, options);
    const IterateSink in_given_units{[&](long iteration) { return options.iterates->wants(iteration); },
                                     [&](LabIterate iterate) {
                                       scale_rolling_rows(lengths_, 1, iterate.r);
                                       scale_rolling_rows(lengths_, -1, iterate.u);
                                       options.iterates->take(std::move(iterate));
                                     }};
    Options scaled = options;
    if (options.iterates != nullptr) scaled.iterates = &in_given_units;
    SolveReport report = five_->solve(solver, params, scaled);
    scale_rolling_rows(lengths_, 1, report.r);
    scale_rolling_rows(lengths_, -1, report.u);
    return report;
  }

  Judgement judge(const std::vector<double>& r) override {
    require_problem();
    if (r.size() != problem_.size())
      throw std::invalid_argument("impulses: " + std::to_string(r.size()) + " values for " +
                                  std::to_string(problem_.size()) + " rows");
    if (three_) return three_->judge(r);
    if (four_) return four_->judge(r);
    std::vector<double> scaled = r;
    scale_rolling_rows(lengths_, -1, scaled);
    return five_->judge(scaled);
  }

 private:
  /// Rolling rows are solved and judged in lengths that make them commensurate with the others: e_c is a
  /// velocity, and W well conditioned for small and large bodies.
  void load_rolling() {
    lengths_ = rolling_lengths(problem_);
    problem_ = in_rolling_lengths(problem_, lengths_);
    five_ = std::make_unique<LoadedProblem<5>>(ctx_, problem_);
  }
  void require_problem() const {
    if (!three_ && !four_ && !five_) throw std::logic_error("the lab has no problem loaded");
  }
  static void require_solver(std::string_view solver) {
    std::vector<std::string_view> names;
    for (const ContactSolverInfo& info : list_lab_solvers()) names.push_back(info.name);
    if (std::find(names.begin(), names.end(), solver) != names.end()) return;
    const std::string near = nearest_name(names, solver);
    throw std::invalid_argument("unknown contact solver '" + std::string(solver) + "'" +
                                (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }

  Context ctx_;
  ContactProblem problem_;
  std::unique_ptr<LoadedProblem<3>> three_;
  std::unique_ptr<LoadedProblem<4>> four_;
  std::unique_ptr<LoadedProblem<5>> five_;
  std::vector<double> lengths_;  // of five_, per block
};

}  // namespace

std::unique_ptr<ContactLab> make_backend_contact_lab(int threads) {
  return std::make_unique<BackendContactLab>(threads);
}

}  // namespace stickslip::STICKSLIP_BACKEND
