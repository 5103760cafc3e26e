#include "gpu/linear/linear_solver.cuh"

#include <algorithm>

#include "gpu/linear/sparse_cholesky.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Iterations of block_jacobi after which `two_level` pays: a coarse matrix costs about as much as 20 of
/// them, serves several solves, and a solve takes a tenth to a half as many.
constexpr int kManyIterations = 20;
/// Solves with one coarse matrix. Later ones take more iterations than the first saves.
constexpr int kCoarseSolves = 3;

bool needs_stiffness(const Params& params) {
  return params.linear_solver == LinearSolverKind::pcg &&
         (params.warm_start || params.pcg_stop == PcgCriterion::condition_x ||
          params.pcg_stop == PcgCriterion::condition_b);
}

void factorise(Context& ctx, const SplitMatrix& matrix, const Vec3* b, Vec3* x, const std::uint8_t* fixed) {
  const std::size_t n = matrix.node_count();
  std::vector<Vec3> rhs(n);
  std::vector<std::uint8_t> flags(fixed != nullptr ? n : 0);
  copy_to_host(ctx, rhs.data(), b, n);
  copy_to_host(ctx, flags.data(), fixed, flags.size());
  const std::vector<Vec3> solution = solve_cholesky(matrix.download(ctx), rhs, flags);
  copy_to_device(ctx, x, solution.data(), n);
  if (matrix.embedding() != nullptr) matrix.embedding()->expand(ctx, x);
}

PcgSettings settings_of(const Params& params, const Vec3* positions, bool same_system) {
  PcgSettings settings{static_cast<Real>(params.pcg_tolerance), params.pcg_iterations};
  settings.criterion = params.pcg_stop;
  settings.preconditioner = {params.preconditioner, params.additive_blocks};
  settings.positions = positions;
  settings.same_system = same_system;
  return settings;
}

}  // namespace

bool LinearSolver::apply_inverse(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x,
                                 const Params& params, const std::uint8_t* fixed, bool same_system) {
  return params.linear_solver == LinearSolverKind::pcg &&
         pcg_.apply_inverse(ctx, matrix, b, x, settings_of(params, current_, same_system), fixed);
}

void LinearSolver::prepare(SplitMatrix& matrix, const Params& params) {
  matrix.keep_stiffness(needs_stiffness(params));
}

PcgResult LinearSolver::solve(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x, const Params& params,
                              const std::uint8_t* fixed, bool same_system) {
  launch_solve(ctx, matrix, b, x, params, fixed, same_system);
  return result(read_back(ctx, outcome()));
}

void LinearSolver::launch_solve(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x,
                                const Params& params, const std::uint8_t* fixed, bool same_system) {
  groups_.clear();
  started_ = 0;
  direct_ = params.linear_solver == LinearSolverKind::cholesky;
  if (direct_) {
    factorise(ctx, matrix, b, x, fixed);
    PcgState solved{};
    solved.end(PcgStop::converged);
    return factorised_.upload(ctx, std::span(&solved, 1));
  }
  PcgSettings settings = settings_of(params, current_, same_system);
  if (needs_stiffness(params)) {
    warm_start_.group(ctx, matrix.stiffness(), fixed, matrix.node_count());
    settings.condition = warm_start_.condition();
    groups_ = warm_start_.groups();
  }
  // A node that follows a lattice would couple groups.
  const bool has_lattices = matrix.embedding() != nullptr && matrix.embedding()->has_lattices();
  if (params.warm_start && !has_lattices && groups_.size() >= 2) {
    started_ = warm_start_.solve(
        ctx, matrix, b, x, {static_cast<Real>(params.warm_start_tolerance), params.warm_start_iterations},
        fixed);
    settings.start_from_x = true;
  }
  if (may_take_two_levels(matrix, params, settings)) solve_by_two_levels(ctx, matrix, b, x, settings, fixed);
  else pcg_.launch_solve(ctx, matrix, b, x, settings, fixed);
}

/// Whether `automatic` may become `two_level`: in barrier steps, where CrewPcg can apply it.
bool LinearSolver::may_take_two_levels(const SplitMatrix& matrix, const Params& params,
                                       const PcgSettings& settings) const {
  return !STICKSLIP_ON_CUDA && params.preconditioner == PreconditionerKind::automatic && !has_modes_ &&
         !has_chains_ && matrix.embedding() == nullptr && settings.criterion == PcgCriterion::relative &&
         !settings.same_system && !settings.start_from_x && settings.positions != nullptr;
}

/// The first solve of a step that takes many iterations, or stagnates, goes on with `two_level`; those after
/// it begin so.
void LinearSolver::solve_by_two_levels(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x,
                                       PcgSettings settings, const std::uint8_t* fixed) {
  const int most = settings.max_iterations;
  if (!is_slow_) {
    settings.max_iterations = std::min(most, kManyIterations);
    pcg_.launch_solve(ctx, matrix, b, x, settings, fixed);
    const PcgResult found = Pcg::result_of(*pcg_.state());  // on a processor: no device to ask
    if ((found.stop != PcgStop::iteration_cap && found.stop != PcgStop::stagnated) ||
        found.iterations == most)
      return;
    is_slow_ = true;
    started_ = found.iterations;
    settings.max_iterations = most - started_;
    settings.start_from_x = true;
  }
  settings.preconditioner.kind = PreconditionerKind::two_level;
  PcgResult found = solve_by_kept_levels(ctx, matrix, b, x, settings, fixed);
  if (found.stop == PcgStop::running) {
    pcg_.launch_solve(ctx, matrix, b, x, settings, fixed);
    found = Pcg::result_of(*pcg_.state());
    coarse_iterations_ = found.iterations;
    coarse_solves_ = 1;
  }
  // Contacts 1e15 times stiffer than bodies are too much for the factors of the coarse matrix.
  if (found.stop != PcgStop::indefinite) return;
  coarse_solves_ = 0;
  if (started_ + found.iterations >= most) return;
  started_ += found.iterations;
  settings.max_iterations = most - started_;
  settings.preconditioner.kind = PreconditionerKind::block_jacobi;
  settings.start_from_x = false;
  pcg_.launch_solve(ctx, matrix, b, x, settings, fixed);
}

/// With the coarse matrix of an earlier solve of the step, if that is young. `running`: it did not bring the
/// solve to its end, and `settings` are those for going on with a new one.
PcgResult LinearSolver::solve_by_kept_levels(Context& ctx, SplitMatrix& matrix, const Vec3* b, Vec3* x,
                                             PcgSettings& settings, const std::uint8_t* fixed) {
  if (coarse_solves_ == 0 || coarse_solves_ == kCoarseSolves) return {};
  const int most = settings.max_iterations;
  settings.preconditioner.keep_coarse = true;
  settings.max_iterations = std::min(most, 2 * coarse_iterations_ + kManyIterations / 2);
  pcg_.launch_solve(ctx, matrix, b, x, settings, fixed);
  const PcgResult found = Pcg::result_of(*pcg_.state());
  const bool grows_old = 2 * found.iterations > 3 * coarse_iterations_;
  coarse_solves_ = grows_old ? 0 : coarse_solves_ + 1;
  if (found.stop == PcgStop::converged || found.iterations == most) return found;
  started_ += found.iterations;
  settings.preconditioner.keep_coarse = false;
  settings.max_iterations = most - found.iterations;
  settings.start_from_x = true;
  return {};
}

bool LinearSolver::resume(Context& ctx, int iterations, const Params& params, PcgResult& result) {
  const PcgResult before = result;
  iterations = std::min(iterations, params.pcg_iterations - before.iterations);
  if (params.linear_solver != LinearSolverKind::pcg || iterations <= 0) return false;
  result = counted(pcg_.resume(ctx, iterations));
  return result.residual < before.residual;
}

}  // namespace stickslip::STICKSLIP_BACKEND
