// Measures on contact problems. Quantities of `solvers` for a method M and per seed: M.iterations, M.seconds,
// M.residual (at the end), M.solved (1 or 0), M.rises (share of the judge's checks that see a larger residual
// than the check before), M.order (of convergence, the best seen); with several sizes N the same as M_N, and
// M.growth (iterations at the last size over those at the first); for all but the first method
// M.iterations_ratio: how many times as many the first needs, and M.residual_ratio: how many times as large
// its residual is. Of `orderings`: ratio, the iterations of projected Gauss-Seidel on the normal rows in the
// worst order of the rows over those in the best.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/cli/lab.h"
#include "app/io/file/number_text.h"
#include "app/io/report/race_rank.h"
#include "bench/program/reproduce/measure.h"
#include "gpu/dfcp/problem/generators.h"

namespace stickslip {
namespace {

LabParams lab_params_of(const ClaimRun& run, const ClaimMethod& method) {
  LabOptions options;
  options.settings = run.settings;
  options.settings.insert(options.settings.end(), method.settings.begin(), method.settings.end());
  if (run.tolerance > 0) options.tolerance = run.tolerance;
  if (run.iterations > 0) options.max_iterations = run.iterations;
  return prepare_lab_params(options);
}

double share_of_rises(const std::vector<HistoryPoint>& history) {
  if (history.size() < 2) return 0;
  int rises = 0;
  for (std::size_t i = 1; i < history.size(); ++i) rises += history[i].residual > history[i - 1].residual;
  return rises / static_cast<double>(history.size() - 1);
}

/// The largest p of three checks in a row with r_k / r_(k-1) = (r_(k-1) / r_(k-2))^p, of those that begin
/// below 0.1, fall to a tenth at once and end above rounding; 0: there are none.
double best_order(const std::vector<HistoryPoint>& history) {
  double best = 0;
  for (std::size_t i = 2; i < history.size(); ++i) {
    const double a = history[i - 2].residual, b = history[i - 1].residual, c = history[i].residual;
    if (a < 0.1 && b < 0.1 * a && c < b && c > 1e-15)
      best = std::max(best, std::log(c / b) / std::log(b / a));
  }
  return best;
}

}  // namespace

SolveReport solve_claim(ContactLab& lab, const ContactProblem& problem, const ClaimRun& run,
                        const ClaimMethod& method, const MeasureContext& context, bool history) {
  const std::string solver = method.solver.empty() ? method.name : method.solver;
  find_contact_solver(list_lab_solvers(), solver, "method " + solver);
  SolveReport report = solve_or_refuse(lab, problem, solver, lab_params_of(run, method),
                                       {.cancel = context.cancel, .history = history});
  context.check();
  return report;
}

Measurement measure_solvers(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  const std::vector<ClaimMethod> methods = methods_of(claim);
  const std::vector<double> all_sizes = run.sizes.empty() ? std::vector<double>{0} : run.sizes;
  Measurement out;
  out.x_name = "iteration";
  out.y_name = "residual";
  out.x_log = out.y_log = true;
  for (int k = 0; k < run.starts; ++k) {
    std::vector<double> first_iterations(methods.size(), 0), sizes = all_sizes;
    if (run.start_per_size) sizes = {all_sizes[static_cast<std::size_t>(k)]};
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      ContactProblem problem =
          generate(run.problem, static_cast<long>(sizes[s]), static_cast<std::uint64_t>(k) + 1);
      apply_law(problem, run.law);
      const std::unique_ptr<ContactLab> lab = (*context.labs)(context.backend, context.threads);
      lab->load(problem);
      SolveReport first;
      for (std::size_t m = 0; m < methods.size(); ++m) {
        const SolveReport report = solve_claim(*lab, problem, run, methods[m], context, true);
        const double iterations = static_cast<double>(report.iterations);
        std::string name = methods[m].name;
        if (sizes.size() > 1) name.append("_").append(number_text(sizes[s]));
        out.add(name + ".iterations", iterations);
        out.add(name + ".seconds", report.seconds);
        out.add(name + ".residual", report.judgement.residual);
        out.add(name + ".solved", report.converged);
        out.add(name + ".rises", share_of_rises(report.history));
        if (const double order = best_order(report.history); order > 0) out.add(name + ".order", order);
        if (m == 0) first = report;
        else if (iterations > 0) {
          out.add(name + ".iterations_ratio", static_cast<double>(first.iterations) / iterations);
          if (report.judgement.residual > 0)
            out.add(name + ".residual_ratio", first.judgement.residual / report.judgement.residual);
          const double rises = share_of_rises(report.history);
          if (rises > 0) out.add(name + ".rises_ratio", share_of_rises(first.history) / rises);
        }
        if (s == 0) first_iterations[m] = std::max(iterations, 1.0);
        if (s + 1 == sizes.size() && s > 0)
          out.add(methods[m].name + ".growth", iterations / first_iterations[m]);
        if (k == 0) {
          Curve curve{name, {}};
          double last = 0;  // points of a logarithmic axis: each 2% further than the one before
          for (const HistoryPoint& point : report.history) {
            const double iteration = static_cast<double>(point.iteration);
            if (iteration < 1.02 * last || iteration <= 0 || point.residual <= 0) continue;
            curve.points.emplace_back(iteration, point.residual);
            last = iteration;
          }
          if (!curve.points.empty()) out.curves.push_back(std::move(curve));
        }
        if (!report.converged && k == 0)
          out.notes.push_back(name + " is not solved, end: " + name_of(report.end) +
                              (report.message.empty() ? "" : ", " + report.message));
      }
    }
  }
  return out;
}

namespace {

/// The normal rows of a problem: u = W r + q with 0 <= u, r.
struct NormalRows {
  std::vector<std::vector<double>> w;
  std::vector<double> q;
};

NormalRows normal_rows(const ContactProblem& problem) {
  const ContactProblem local = to_local(problem);
  const std::size_t blocks = local.blocks(), dim = static_cast<std::size_t>(local.dim);
  NormalRows rows{std::vector<std::vector<double>>(blocks, std::vector<double>(blocks, 0)), {}};
  for (std::size_t c = 0; c < blocks; ++c) {
    rows.q.push_back(local.q[c * dim]);
    const auto begin = static_cast<std::size_t>(local.W.offsets[c * dim]);
    const auto end = static_cast<std::size_t>(local.W.offsets[c * dim + 1]);
    for (std::size_t e = begin; e < end; ++e) {
      const auto column = static_cast<std::size_t>(local.W.indices[e]);
      if (column % dim == 0) rows.w[c][column / dim] = local.W.values[e];
    }
  }
  return rows;
}

/// Sweeps of projected Gauss-Seidel in this order until |min(r, u / W_ii)| falls to `tolerance` of its first
/// value.
int sweeps_in_order(const NormalRows& rows, const std::vector<std::size_t>& order, double tolerance,
                    int most) {
  const std::size_t n = order.size();
  std::vector<double> r(n, 0);
  const auto velocity = [&](std::size_t i) {
    double u = rows.q[i];
    for (std::size_t j = 0; j < n; ++j) u += rows.w[i][j] * r[j];
    return u;
  };
  double first = 0;
  for (int sweep = 0; sweep <= most; ++sweep) {
    double square = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double e = std::min(r[i], velocity(i) / rows.w[i][i]);
      square += e * e;
    }
    if (sweep == 0) first = square;
    if (square <= tolerance * tolerance * first) return sweep;
    for (const std::size_t i : order) r[i] = std::max(0.0, r[i] - velocity(i) / rows.w[i][i]);
  }
  return most;
}

}  // namespace

Measurement measure_orderings(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  if (run.sizes.size() != 1 || run.iterations <= 0 || run.tolerance <= 0)
    throw InputError("claim " + claim.name + ": measure orderings needs a size, a tolerance and iterations");
  Measurement out;
  const NormalRows rows = normal_rows(mass_chain(static_cast<long>(run.sizes[0]), 1));
  std::vector<std::size_t> order(rows.q.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (order.size() > 9) throw InputError("claim " + claim.name + ": too many orders of the contacts");
  std::map<int, int> counts;  // orders by sweeps
  do {
    context.check();
    ++counts[sweeps_in_order(rows, order, run.tolerance, run.iterations)];
  } while (std::next_permutation(order.begin(), order.end()));
  out.add("best", counts.begin()->first);
  out.add("worst", counts.rbegin()->first);
  out.add("ratio", counts.rbegin()->first / std::max(1.0, static_cast<double>(counts.begin()->first)));
  out.x_name = "sweeps";
  out.y_name = "orders";
  out.curves.push_back({"orders of the contacts", {}});
  for (const auto& [sweeps, orders] : counts) out.curves[0].points.emplace_back(sweeps, orders);
  return out;
}

}  // namespace stickslip
