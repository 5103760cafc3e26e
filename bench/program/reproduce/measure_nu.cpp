// Contact solvers on towers of boxes over nu = 3 contacts / dofs [Bertails11]. Quantities of a method M of
// `nu`: M.failed_below and M.failed_beyond, the shares of unsolved problems for nu <= 1 and above, and
// M.slowdown: mean iterations at the largest nu over those at the smallest. Of `nu_times`: M.slowdown, the
// same of median seconds. Curves: the share of unsolved problems with Wilson's 95% interval, and the median
// of seconds between the quartiles, unsolved problems included.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/program/reproduce/measure.h"
#include "bench/program/reproduce/nu_shares.h"
#include "gpu/dfcp/problem/generators.h"

namespace stickslip {

std::pair<double, double> wilson(double share, double n) {
  constexpr double z = 1.96;
  const double scale = 1 / (1 + z * z / n), middle = scale * (share + z * z / (2 * n));
  const double half = scale * z * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

std::string share_note(const std::string& name, const char* where, double failed, double n) {
  const auto [low, high] = wilson(failed / n, n);
  char text[200];
  std::snprintf(text, sizeof text,
                "%s: %.0f of %.0f problems with %s unsolved, 95%% interval %.1f%% to %.1f%%", name.c_str(),
                failed, n, where, 100 * low, 100 * high);
  return text;
}

namespace {

/// The solves of one method at one nu.
struct NuSample {
  double nu = 0, unsolved = 0, iterations = 0;  // numbers of problems, mean
  std::vector<double> seconds;                  // ascending

  double second(double share) const {
    return seconds[static_cast<std::size_t>(std::lround(share * static_cast<double>(seconds.size() - 1)))];
  }
};

/// `starts` towers at each nu of the run.
std::vector<NuSample> sample_nu(ContactLab& lab, const ClaimRun& run, const ClaimMethod& method,
                                const MeasureContext& context) {
  std::vector<NuSample> samples;
  for (const double nu : run.values) {
    NuSample sample{.nu = nu, .seconds = {}};
    for (int k = 0; k < run.starts; ++k) {
      const ContactProblem problem =
          over_constrained(nu, static_cast<long>(run.sizes[0]), static_cast<std::uint64_t>(k) + 1);
      lab.load(problem);
      const SolveReport report = solve_claim(lab, problem, run, method, context, false);
      sample.unsolved += report.converged ? 0 : 1;
      sample.iterations += static_cast<double>(report.iterations) / run.starts;
      sample.seconds.push_back(report.seconds);
    }
    std::ranges::sort(sample.seconds);
    samples.push_back(std::move(sample));
  }
  return samples;
}

void require_nu(const Claim& claim, const ClaimRun& run) {
  if (run.values.empty() || run.sizes.empty())
    throw InputError("claim " + claim.name + ": measures of nu need values (of nu) and a size");
}

}  // namespace

Measurement measure_nu(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  require_nu(claim, run);
  Measurement out;
  out.x_name = "nu = 3 contacts / dofs";
  out.y_name = "share of unsolved problems, with 95% intervals";
  const std::unique_ptr<ContactLab> lab = (*context.labs)(context.backend, context.threads);
  for (const ClaimMethod& method : methods_of(claim)) {
    Curve curve{method.name, {}, {}};
    double failed[2] = {0, 0}, count[2] = {0, 0};
    const std::vector<NuSample> samples = sample_nu(*lab, run, method, context);
    for (const NuSample& sample : samples) {
      const bool beyond = sample.nu > 1 + 1e-9;
      failed[beyond] += sample.unsolved;
      count[beyond] += run.starts;
      curve.points.emplace_back(sample.nu, sample.unsolved / run.starts);
      curve.band.push_back(wilson(sample.unsolved / run.starts, run.starts));
    }
    const char* where[2] = {"nu <= 1", "nu > 1"};
    const char* quantity[2] = {".failed_below", ".failed_beyond"};
    for (int side = 0; side < 2; ++side)
      if (count[side] > 0) {
        out.add(method.name + quantity[side], failed[side] / count[side]);
        out.notes.push_back(share_note(method.name, where[side], failed[side], count[side]));
      }
    out.add(method.name + ".slowdown", samples.back().iterations / std::max(samples.front().iterations, 1.0));
    out.curves.push_back(std::move(curve));
  }
  return out;
}

Measurement measure_nu_times(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  require_nu(claim, run);
  Measurement out;
  out.x_name = "nu = 3 contacts / dofs";
  out.y_name = "seconds, median and quartiles";
  out.y_log = true;
  const std::unique_ptr<ContactLab> lab = (*context.labs)(context.backend, context.threads);
  for (const ClaimMethod& method : methods_of(claim)) {
    Curve curve{method.name, {}, {}};
    const std::vector<NuSample> samples = sample_nu(*lab, run, method, context);
    for (const NuSample& sample : samples) {
      curve.points.emplace_back(sample.nu, sample.second(0.5));
      curve.band.emplace_back(sample.second(0.25), sample.second(0.75));
    }
    out.add(method.name + ".slowdown", samples.back().second(0.5) / samples.front().second(0.5));
    out.curves.push_back(std::move(curve));
  }
  return out;
}

}  // namespace stickslip
