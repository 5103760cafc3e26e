// Problems of joints alone, W r + q = 0: Krylov methods beside a solver of the lab [Tasora13 Fig. 3].
// Quantities per seed, of cg, of cr (conjugate residuals, which have the iterates of MINRES where W is
// positive definite) and of each method M of the claim: M.iterations until |W r + q| falls to the tolerance
// times |q|; and M.over_cg and M.over_minres. An iteration of each has one product with W.
#include <cmath>

#include "app/cli/lab.h"
#include "app/io/report/race_rank.h"
#include "bench/program/reproduce/measure.h"
#include "gpu/dfcp/problem/generators.h"

namespace stickslip {
namespace {

using Values = std::vector<double>;

Values product(const SparseRows& w, const Values& x) {
  Values y(x.size(), 0);
  for (std::size_t i = 0; i < y.size(); ++i)
    for (auto e = static_cast<std::size_t>(w.offsets[i]); e < static_cast<std::size_t>(w.offsets[i + 1]); ++e)
      y[i] += w.values[e] * x[static_cast<std::size_t>(w.indices[e])];
  return y;
}

double inner(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// y = x + factor y
void add_to(Values& y, const Values& x, double factor) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + factor * y[i];
}

void step_by(Values& x, const Values& direction, double length) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += length * direction[i];
}

/// Relative residuals of the iterates, from the start (1) until one is at most `tolerance`.
struct KrylovRun {
  Curve curve;
  int iterations = 0;
};

/// `minimal_residual`: conjugate residuals, else conjugate gradients, both for W x = -q.
KrylovRun krylov(const ContactProblem& local, bool minimal_residual, double tolerance, int most) {
  KrylovRun run{{minimal_residual ? "MINRES (as conjugate residuals)" : "CG", {}}, 0};
  Values residual = local.q;
  for (double& value : residual) value = -value;
  Values x(residual.size(), 0), direction = residual;
  Values w_residual = product(local.W, residual), w_direction = w_residual;
  const double first = std::sqrt(inner(residual, residual));
  double rho = minimal_residual ? inner(residual, w_residual) : inner(residual, residual);
  while (run.iterations < most) {
    const double curvature =
        minimal_residual ? inner(w_direction, w_direction) : inner(direction, w_direction);
    if (!(curvature > 0)) break;
    const double length = rho / curvature;
    step_by(x, direction, length);
    step_by(residual, w_direction, -length);
    ++run.iterations;
    const double relative = std::sqrt(inner(residual, residual)) / first;
    run.curve.points.emplace_back(run.iterations, relative);
    if (relative <= tolerance) break;
    w_residual = product(local.W, residual);
    const double next = minimal_residual ? inner(residual, w_residual) : inner(residual, residual);
    add_to(direction, residual, next / rho);
    add_to(w_direction, w_residual, next / rho);
    rho = next;
  }
  return run;
}

}  // namespace

Measurement measure_linear(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  if (run.sizes.size() != 1 || run.iterations <= 0 || run.tolerance <= 0)
    throw InputError("claim " + claim.name + ": measure linear needs a size, a tolerance and iterations");
  Measurement out;
  out.x_name = "iteration";
  out.y_name = "|W r + q| / |q|";
  out.x_log = out.y_log = true;
  for (int k = 0; k < run.starts; ++k) {
    const ContactProblem problem =
        generate(run.problem, static_cast<long>(run.sizes[0]), static_cast<std::uint64_t>(k) + 1);
    if (problem.contacts() > 0) throw InputError("claim " + claim.name + ": the problem has contacts");
    const ContactProblem local = to_local(problem);
    const std::unique_ptr<ContactLab> lab = (*context.labs)(context.backend, context.threads);
    lab->load(problem);
    const KrylovRun cg = krylov(local, false, run.tolerance, run.iterations);
    const KrylovRun cr = krylov(local, true, run.tolerance, run.iterations);
    out.add("cg.iterations", cg.iterations);
    out.add("minres.iterations", cr.iterations);
    if (k == 0) out.curves = {cg.curve, cr.curve};
    for (const ClaimMethod& method : methods_of(claim)) {
      context.check();
      LabOptions options;
      options.settings = method.settings;
      options.tolerance = run.tolerance;
      options.max_iterations = run.iterations;
      const SolveReport report =
          solve_or_refuse(*lab, problem, method.solver.empty() ? method.name : method.solver,
                          prepare_lab_params(options), {.cancel = context.cancel, .history = true});
      const double iterations = static_cast<double>(report.iterations);
      out.add(method.name + ".iterations", iterations);
      out.add(method.name + ".over_cg", iterations / cg.iterations);
      out.add(method.name + ".over_minres", iterations / cr.iterations);
      if (!report.converged) out.notes.push_back(method.name + " does not reach the tolerance");
      if (k > 0) continue;
      out.curves.push_back({method.name, {}});
      for (const HistoryPoint& point : report.history)
        if (point.iteration > 0)
          out.curves.back().points.emplace_back(static_cast<double>(point.iteration), point.residual);
    }
  }
  return out;
}

}  // namespace stickslip
